"""Positions whose answers are known: their files, and those that come with the project."""

from pathlib import Path

import make_positions as make_positions_script
import numpy as np
import pytest
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.searches import exact_value
from make_positions import make_positions

from alphazero.arena.solved_positions import read_positions, solved_positions, stages_of
from alphazero.errors import GameError
from alphazero.games import make_game
from alphazero.games.game import PLY
from alphazero.solvers.exhaustive import ILLEGAL, solve_all_positions


def test_as_many_positions_of_each_stage_are_drawn_as_there_are():
    every = solve_all_positions(TIC_TAC_TOE)
    early = int((every.states[:, PLY] < 3).sum())
    some = solved_positions(TIC_TAC_TOE, each=2 * early)
    assert np.bincount(stages_of(TIC_TAC_TOE, some.states)).tolist() == [early] + 2 * [2 * early]
    known = {
        state.tobytes(): values for state, values in zip(every.states, every.values, strict=True)
    }
    assert [known.pop(state.tobytes()) for state in some.states] == some.values.tolist()


def test_made_positions_have_the_answers_of_exhaustive_search(tmp_path):
    game = TIC_TAC_TOE
    every = solve_all_positions(game)
    known = {
        # By the board alone: a drawing does not tell the last move.
        game.render(state): (value, values)
        for state, value, values in zip(*every, strict=True)
    }
    path = tmp_path / "positions.txt"
    path.write_text(make_positions(game, each=3, seed=3))
    made = read_positions(game, path)
    assert np.bincount(stages_of(game, made.states)).tolist() == [3, 3, 3]
    for state, value, values in zip(*made, strict=True):
        exact, each = known[game.render(state)]
        assert (value, values.tolist()) == (exact, each.tolist())
        assert len(set(values.tolist()) - {ILLEGAL}) > 1, "no move is wrong here"
    assert make_positions(game, each=3, seed=3) == path.read_text() != make_positions(game, 3, 4)


def test_a_stage_without_enough_positions_is_said_and_not_searched_for_ever(monkeypatch):
    monkeypatch.setattr(make_positions_script, "MOST_TRIES", 20)
    with pytest.raises(GameError, match=r"after 0 to 2 moves there are only \d+ of 500 positions"):
        make_positions(TIC_TAC_TOE, each=500, seed=1)
    with pytest.raises(GameError, match="after 8 to 2 moves there are only 0"):
        make_positions(TIC_TAC_TOE, each=1, seed=1, first_ply=8)


def test_the_packed_positions_are_read_with_their_stages():
    packed = solved_positions(CONNECT_FOUR)
    assert np.bincount(stages_of(CONNECT_FOUR, packed.states)).tolist() == [200, 200, 200]
    assert len({state.tobytes() for state in packed.states}) == 600
    assert all(len(set(values.tolist()) - {ILLEGAL}) > 1 for values in packed.action_values)


def test_the_answers_of_packed_late_positions_are_those_of_plain_minimax():
    packed = solved_positions(CONNECT_FOUR)
    late = np.flatnonzero(packed.states[:, PLY] >= 33)
    assert len(late) > 20

    known: dict[bytes, int] = {}
    for index in late:
        state, expected = packed.states[index], packed.action_values[index]
        legal = np.flatnonzero(CONNECT_FOUR.legal_action_mask(state)).tolist()
        assert np.flatnonzero(expected != ILLEGAL).tolist() == legal
        values = [
            -exact_value(CONNECT_FOUR, CONNECT_FOUR.play(state, action), known) for action in legal
        ]
        assert expected[legal].tolist() == values


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


def test_positions_are_read_as_they_are_written(tmp_path):
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


@pytest.mark.parametrize(
    "line",
    [
        "121212 18",
        "121212 18 +------ more",
        "121212 18 +-----",
        "121212 18 +-----*",
        "121212 18 .------",  # column 1 is not full
        "111111 0 ===-==-",  # column 1 is full
        "111111 0 .==-==x",
        "121212 -18 +------",  # the score contradicts the labels
        "121212 eighteen +------",
        "121212 nan +------",
        "121218 18 +------",  # no column 8
        "1111111 18 .------",  # column 1 is full before
        "1212121 -1 -------",  # the game is over
        "12121213 -1 -------",  # and goes on
        "121212 " + "9" * 5_000 + " +------",
        "1" * 100_000 + " 1 +------",
        "121212 18 +-----\0",
        "\N{SUPERSCRIPT TWO} 18 +------",
    ],
)
def test_a_line_that_is_no_solved_position_is_named_and_costs_only_itself(
    tmp_path, capsys, line: str
):
    path = written(tmp_path, "\ufeff" + GOOD + line + "\n" + GOOD)
    assert read_positions(CONNECT_FOUR, path).values.tolist() == 2 * [1, 1, -1, 0]
    (text,) = capsys.readouterr().err.splitlines()
    assert text.startswith(f"left out: {path}:5: expected 'MOVES SCORE LABELS'")
    assert text.isprintable()
    assert len(text) < 500
    path = written(tmp_path, line + "\n")
    with pytest.raises(GameError, match=":1: expected 'MOVES SCORE LABELS'"):
        read_positions(CONNECT_FOUR, path)


def test_a_file_without_positions_is_refused(tmp_path):
    for text in ("", "\n \n"):
        with pytest.raises(GameError, match="no positions"):
            read_positions(CONNECT_FOUR, written(tmp_path, text))


def test_blank_lines_between_positions_cost_no_warning(tmp_path, capsys):
    path = written(tmp_path, GOOD + "\n  \n" + GOOD)
    assert len(read_positions(CONNECT_FOUR, path).values) == 8
    assert capsys.readouterr().err == ""


def test_each_damaged_line_is_read_or_refused_in_one_line(tmp_path, capsys):
    rng = np.random.default_rng(0)
    refused = []
    for _ in range(300):
        data = bytearray(GOOD.encode())
        for _ in range(rng.integers(1, 4)):
            place, removed, added = rng.integers([len(data), 10, 10]).tolist()
            data[place : place + removed] = rng.bytes(added)
        path = written(tmp_path, bytes(data))
        try:
            answer = read_positions(CONNECT_FOUR, path)
        except GameError as error:
            refused.append(str(error))
        else:
            assert answer.optimal.any(axis=1).all()
    refused += [line.removeprefix("left out: ") for line in capsys.readouterr().err.splitlines()]
    assert len(refused) > 150
    assert all(text.startswith(f"{path}:") and text.isprintable() for text in refused)


def test_late_stages_that_few_games_reach_have_fewer_positions(monkeypatch, tmp_path):
    monkeypatch.setattr(make_positions_script, "MOST_TRIES", 50)
    game, path = make_game("breakthrough", rows=5, columns=3), tmp_path / "positions.txt"
    path.write_text(make_positions(game, each=8, seed=1))
    made = read_positions(game, path)
    first, second, third = np.bincount(stages_of(game, made.states), minlength=3)
    assert (first + second, third) == (16, 0)
