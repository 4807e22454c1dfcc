"""Exact answers against a plain minimax, and what is made of them: grades and position files.

Letters: P positions, A actions, S state size.
"""

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from alphazero.errors import GameError
from alphazero.games import State, make_game
from alphazero.games.game import LAST, PLY
from alphazero.games.lines import CELLS
from alphazero.players.grade import Grade, grade, read_positions
from alphazero.players.player import Decisions, Player, RandomPlayer
from alphazero.search.minimax import Solution, solve

TIC_TAC_TOE, CONNECT_FOUR = make_game("tic_tac_toe"), make_game("connect_four")
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@functools.cache
def plain_value(board: str) -> int:
    """Minimax on nine characters: +1, 0 or -1 for the player to move, X when stones are even."""
    mover, other = ("X", "O") if board.count("X") == board.count("O") else ("O", "X")
    if any(board[a] == board[b] == board[c] == other for a, b, c in LINES):
        return -1
    free = [cell for cell in range(9) if board[cell] == "."]
    return max((-plain_value(put(board, cell, mover)) for cell in free), default=0)


def put(board: str, cell: int, stone: str) -> str:
    return board[:cell] + stone + board[cell + 1 :]


def board_of(state: State) -> str:
    return "".join(".XO"[stone] for stone in state[CELLS:])


@pytest.fixture(scope="module")
def solution() -> Solution:
    return solve(TIC_TAC_TOE)


# Exact answers


def test_tic_tac_toe_is_a_draw_and_its_first_position_comes_first(solution: Solution):
    assert solution.states[0].tolist() == TIC_TAC_TOE.initial_state().tolist()
    assert solution.values[0] == 0
    assert solution.optimal[0].all()  # every first move draws


def test_every_answer_is_that_of_a_plain_minimax(solution: Solution):
    for state, value, optimal in zip(*solution, strict=True):
        board = board_of(state)
        mover = "XO"[state[PLY] % 2]
        assert value == plain_value(board)
        expected = [
            board[cell] == "." and -plain_value(put(board, cell, mover)) == value
            for cell in range(9)
        ]
        assert optimal.tolist() == expected


def test_every_unfinished_position_is_there_once_for_each_last_move(solution: Solution):
    # Walked here by plain rules: the boards that plain_value met, and who moved last.
    reached, boards = {("." * 9, -1)}, ["." * 9]
    seen = set(boards)
    for board in boards:
        mover = "X" if board.count("X") == board.count("O") else "O"
        for cell in range(9):
            after = put(board, cell, mover)
            won = any(after[a] == after[b] == after[c] == mover for a, b, c in LINES)
            if board[cell] == "." and not won and "." in after:
                reached.add((after, cell))
                if after not in seen:
                    seen.add(after)
                    boards.append(after)
    found = [(board_of(state), int(state[LAST])) for state in solution.states]
    assert len(found) == len(set(found))
    assert set(found) == reached
    assert len(seen) == 4520  # 5478 boards, of which 958 are finished


def test_the_first_player_wins_three_in_a_line_on_three_rows_of_four():
    answer = solve(make_game("mnk", rows=3, columns=4, length=3))
    assert answer.values[0] == 1
    # X wins from the middle row's two inner cells, and not from every cell.
    assert answer.optimal[0][[5, 6]].all()
    assert not answer.optimal[0].all()


def test_the_first_player_wins_two_in_a_line_with_any_move():
    answer = solve(make_game("mnk", rows=2, columns=2, length=2))
    assert answer.values[0] == 1
    assert answer.optimal[0].all()


def test_a_game_with_more_positions_than_the_limit_is_refused_in_one_line():
    with pytest.raises(GameError) as caught:
        solve(CONNECT_FOUR, limit=1_000)
    assert "1,000 positions" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_limit_may_be_reached_but_not_passed():
    game = make_game("mnk", rows=2, columns=2, length=2)
    count = len(solve(game).states)
    assert len(solve(game, limit=count).states) == count
    with pytest.raises(GameError):
        solve(game, limit=count - 1)


# Grades


class TablePlayer(Player):
    """Answers from the exact table, some turns late; `worst` plays the worst move instead."""

    def __init__(self, solution: Solution, tables: int, worst: bool = False) -> None:
        self.answers = {
            state.tobytes(): (np.flatnonzero(optimal), value)
            for state, value, optimal in zip(*solution, strict=True)
        }
        self.states = np.zeros((tables, solution.states.shape[1]), np.int64)
        self.waiting: dict[int, int] = {}
        self.worst = worst

    def start(self, tables: np.ndarray, states: State) -> None:
        self.states[tables] = states

    def follow(self, tables: np.ndarray, actions: np.ndarray) -> None:
        raise AssertionError("no move is played when moves are graded")

    def ask(self, tables: np.ndarray) -> None:
        for table in tables.tolist():
            assert table not in self.waiting
            self.waiting[table] = int(self.states[table].sum()) % 3

    def think(self) -> None:
        self.waiting = {table: turns - 1 for table, turns in self.waiting.items()}

    def decide(self) -> Decisions:
        ready = [table for table, turns in self.waiting.items() if turns < 0]
        actions, values = [], []
        for table in ready:
            del self.waiting[table]
            optimal, value = self.answers[self.states[table].tobytes()]
            legal = np.flatnonzero(TIC_TAC_TOE.legal_action_mask(self.states[table]))
            wrong = np.setdiff1d(legal, optimal)
            actions.append(wrong[0] if self.worst and len(wrong) else optimal[-1])
            values.append(value)
        policies = np.eye(9, dtype=np.float32)[np.array(actions, np.int64)]
        return Decisions(
            np.array(ready, np.int64),
            np.array(actions, np.int64),
            policies,
            np.array(values, np.float32),
        )


@pytest.mark.parametrize(("tables", "workers"), [(1, 1), (128, 1), (50, 2), (20_000, 3)])
def test_a_player_that_knows_the_answers_gets_full_marks(
    solution: Solution, tables: int, workers: int
):
    shown: list[int] = []
    result = grade(
        TIC_TAC_TOE,
        lambda seats: TablePlayer(solution, seats),
        solution,
        tables,
        workers,
        shown.append,
    )
    assert result == Grade(len(solution.states), len(solution.states), 0.0, "")
    assert result.share == 1
    assert sum(shown) == len(solution.states)


@pytest.mark.parametrize(("tables", "workers"), [(1, 1), (64, 2)])
def test_a_player_that_errs_whenever_it_can_is_right_only_where_every_move_is(
    solution: Solution, tables: int, workers: int
):
    result = grade(
        TIC_TAC_TOE,
        lambda seats: TablePlayer(solution, seats, worst=True),
        solution,
        tables,
        workers,
    )
    legal = np.array([state[CELLS:] == 0 for state in solution.states])
    assert result.optimal == int((solution.optimal == legal).all(axis=1).sum())
    assert result.value_error == 0


def test_a_mistake_is_drawn_with_what_was_played_and_what_was_right(solution: Solution):
    state = TIC_TAC_TOE.parse("X X .\nO O .\n. . .")
    one = Solution(state[None], np.array([1]), np.eye(9, dtype=np.bool_)[[2]])
    answers = Solution(state[None], np.array([1]), np.eye(9, dtype=np.bool_)[[8]])
    result = grade(TIC_TAC_TOE, lambda seats: TablePlayer(answers, seats), one)
    assert (result.positions, result.optimal) == (1, 0)
    assert result.first_mistake == f"{TIC_TAC_TOE.render(state)}\nplayed c1; optimal: c3"


def test_a_random_player_gets_the_share_that_chance_gives(solution: Solution):
    generators = iter(np.random.default_rng(4).spawn(20))
    chances = solution.optimal.sum(axis=1) / (solution.states[:, CELLS:] == 0).sum(axis=1)
    expected = chances.mean()
    deviation = np.sqrt((chances * (1 - chances)).sum()) / len(chances)
    results = [
        grade(
            TIC_TAC_TOE,
            lambda seats: RandomPlayer(TIC_TAC_TOE, seats, next(generators)),
            solution,
            500,
            workers,
        )
        for workers in (1, 2)
    ]
    for result in results:
        assert abs(result.share - expected) < 4 * deviation
        # It takes every position for even.
        assert result.value_error == pytest.approx(np.abs(solution.values).mean())
    assert results[0].optimal != results[1].optimal
    assert 4 * deviation < 0.02 < expected < 0.98


# Position files

# Only the first line's answer is the true one: a reader cannot know.
GOOD = """\
121212 18 +------
 1 ===+===
11 -1 -------
111111 0 .==-==-
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "positions.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_positions_are_read_as_they_are_written(tmp_path: Path):
    answer = read_positions(CONNECT_FOUR, written(tmp_path, GOOD))
    assert answer.values.tolist() == [1, 1, -1, 0]
    drawings = [CONNECT_FOUR.render(state) for state in answer.states]
    assert drawings[0].split("\n")[2:] == [
        ". . . . . . .",
        "X O . . . . .",
        "X O . . . . .",
        "X O . . . . .",
        "1 2 3 4 5 6 7",
    ]
    assert answer.states[1].tolist() == CONNECT_FOUR.initial_state().tolist()
    assert answer.states[2].tolist() == CONNECT_FOUR.from_moves(["1", "1"]).tolist()
    columns = [np.flatnonzero(optimal).tolist() for optimal in answer.optimal]
    assert columns == [[0], [3], [0, 1, 2, 3, 4, 5, 6], [1, 2, 4, 5]]


@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
def test_the_last_line_may_end_as_it_likes(tmp_path: Path, ending: str):
    text = GOOD.strip("\n").replace("\n", ending or "\n") + ending
    assert len(read_positions(CONNECT_FOUR, written(tmp_path, text)).states) == 4


def test_a_graded_player_can_be_asked_in_positions_from_a_file(tmp_path: Path):
    solution = read_positions(CONNECT_FOUR, written(tmp_path, GOOD))
    rng = np.random.default_rng(0)
    result = grade(CONNECT_FOUR, lambda seats: RandomPlayer(CONNECT_FOUR, seats, rng), solution)
    assert result.positions == 4
    assert result.value_error == 0.75


def assert_one_line_names(number: int, read: Callable[[], object], path: Path) -> None:
    with pytest.raises(GameError) as caught:
        read()
    text = str(caught.value)
    assert text.startswith(f"{path}:{number}: expected 'MOVES SCORE LABELS'")
    assert text.isprintable()
    assert len(text) < 500


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        "121212",
        "121212 18",
        "121212 18 +------ more",
        "121212 18 +-----",
        "121212 18 +-------",
        "121212 18 +-----*",
        "121212 18 .------",  # column 1 is not full
        "111111 0 ===-==-",  # column 1 is full
        "111111 0 .==-==x",
        "121212 -18 +------",  # the score contradicts the labels
        "121212 0 +------",
        "121212 18 =------",
        "121212 eighteen +------",
        "121212 1.5 +------",
        "121212 nan +------",
        "121218 18 +------",  # no column 8
        "1a1212 18 +------",
        "1111111 18 .------",  # column 1 is full before
        "1212121 -1 -------",  # the game is over
        "1212121 -1 .......",
        "12121213 -1 -------",  # and goes on
        "121212 " + "9" * 5_000 + " +------",
        "121212 " + "9" * 4_000 + " -------",
        "1" * 100_000 + " 1 +------",
        "121212 18 " + "+" * 100_000,
        "121212 18 +-----\0",
        "\N{SUPERSCRIPT TWO} 18 +------",
        "\N{ARABIC-INDIC DIGIT ONE} 18 +------",
    ],
)
def test_a_line_that_is_no_solved_position_is_named(tmp_path: Path, line: str):
    path = written(tmp_path, GOOD + line + "\n" + GOOD)
    assert_one_line_names(5, lambda: read_positions(CONNECT_FOUR, path), path)


def test_an_empty_file_is_told_to_hold_no_positions(tmp_path: Path):
    path = written(tmp_path, "")
    with pytest.raises(GameError, match="no positions"):
        read_positions(CONNECT_FOUR, path)


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path: Path):
    rng = np.random.default_rng(0)
    refused = []
    for _ in range(300):
        data = bytearray(GOOD.encode())
        for _ in range(rng.integers(1, 4)):
            place = int(rng.integers(len(data)))
            match int(rng.integers(3)):
                case 0:
                    data[place] = int(rng.integers(256))
                case 1:
                    del data[place : place + int(rng.integers(1, 10))]
                case _:
                    data[place:place] = rng.bytes(int(rng.integers(1, 10)))
        path = written(tmp_path, bytes(data))
        try:
            answer = read_positions(CONNECT_FOUR, path)
        except GameError as error:
            refused.append(str(error))
        else:
            assert answer.optimal.any(axis=1).all()
    assert 150 < len(refused) < 300
    assert all(text.startswith(f"{path}:") and text.isprintable() for text in refused)
