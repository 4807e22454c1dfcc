"""What people type wrongly: each game answers with what is wrong and what would be right."""

from typing import Any

import pytest

import alphazero
from alphazero.errors import GameError
from alphazero.games import make_game
from alphazero.games.registry import read_game

# Moves

HUGE = ["1" * 10_000, "00012", "a" * 10**6, "a1" + "1" * 10**6, "1" * 5]
FOREIGN = ["٣", "３", "²", "①", "a２", "a٢", "\u212a1", "ａ1", "1\x00", "ß3"]  # noqa: RUF001
LINES = ["3\n4\n5", "\x1b[2J", "a\r\nb"]
NO_CELLS = ["", "b", "2", "d1", "a4", "a0", "a-1", "aa1", "a1 b2"]

TEXTS = {
    "connect_four": (
        [*HUGE, *FOREIGN, *LINES, "0", "8", "", " ", "-1", "+1", "1.0", "a", "x" * 50, "1 2"],
        " is no column; type a number from 1 to 7",
    ),
    "tic_tac_toe": (
        [*HUGE, *FOREIGN, *LINES, *NO_CELLS, "a1.0"],
        " is no cell; type a letter and a number, a1 to c3",
    ),
    "mnk:rows=12,columns=12": ([*FOREIGN, *LINES], " is no cell; type a letter and a number, a1 "),
    "hex:size=3,swap=1": (
        [*HUGE, *FOREIGN, *LINES, *NO_CELLS, "a01"],
        " is no cell; type a letter and a number, a1 to c3, or swap",
    ),
    "othello": (
        [*HUGE, *FOREIGN, *LINES, "", "z9", "d", "3", "d33", "i1", "a9", "a0", "dd3", "pas"],
        " is no cell; type a letter and a number, a1 to h8, or pass",
    ),
    "go": (
        [*FOREIGN, *LINES, "", "I5", "K5", "A0", "A10", "5", "pas", "A1 B2"],
        "; type a letter and a number, A1 to J9, or pass",
    ),
    "nim": (
        [*HUGE, *FOREIGN, *LINES, "", "0", "4", "-1", "one", "1.0"],
        " is no number of chips; type 1 to 3",
    ),
}
"""Texts that name no move, and how the answer ends."""


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_names_no_move_is_answered_in_one_short_line_with_the_range(name: str):
    game, (texts, answer) = read_game(name), TEXTS[name]
    for text in texts:
        with pytest.raises(GameError) as error:
            game.parse_action(game.initial_state(), text)
        assert answer in str(error.value), text
        assert str(error.value).isprintable()
        assert len(str(error.value)) < 100


@pytest.mark.parametrize(
    ("name", "moves", "text", "message"),
    [
        (
            "connect_four:rows=2,columns=4,length=3",
            "2 2",
            "2",
            "column 2 is full; free columns: 1, 3, 4",
        ),
        ("tic_tac_toe", "b2", "B2", "b2 is taken; type an empty cell"),
        ("hex:size=3", "b2", "B2", "B2 is taken; type an empty cell"),
        ("hex:size=3", "b1 a1 b2 a2 b3", "c3", "the game is over"),
        ("tic_tac_toe", "a1 a2 b1 b2 c1", "c3", "the game is over"),
        ("connect_four", "1 2 1 2 1 2 1", "3", "the game is over"),
        ("go", "C3", "c3", "C3 is taken; type an empty point"),
        ("othello", "", "a1", "a1 encloses nothing; type one of d3 c4 f5 e6"),
        ("othello", "", "d4", "d4 encloses nothing; type one of d3 c4 f5 e6"),
        ("othello", "", "PASS", "a disc can be placed; type one of d3 c4 f5 e6"),
        ("nim:heap=5", "3", "3", "only 2 left; type 1 to 2"),
        ("nim:heap=5", "3 2", "1", "the game is over"),
    ],
)
def test_a_move_that_is_not_legal_is_explained(name: str, moves: str, text: str, message: str):
    game = read_game(name)
    with pytest.raises(GameError) as error:
        game.parse_action(game.from_moves(moves.split()), text)
    assert str(error.value) == message


def test_what_is_no_game_is_refused():
    wrong: Any = 3
    for use in (
        alphazero.check_game,
        alphazero.Position,
        lambda game: alphazero.match("random", "uct:5", game=game, games=2),
        lambda game: alphazero.load_player("tic_tac_toe", game=game),
    ):
        with pytest.raises(GameError, match="expected a game, or its name such as 'hex', got 3"):
            use(wrong)


@pytest.mark.parametrize("action", ["b2", None, 4.0, [4]])
def test_what_is_no_action_is_not_played(action: Any):
    game = read_game("tic_tac_toe")
    with pytest.raises(GameError) as error:
        game.play(game.initial_state(), action)
    assert str(error.value) == f"an action is a number, got {action!r}; parse_action reads names"


@pytest.mark.parametrize("moves", [[4, 0], ["b2", 0], 4, None])
def test_what_is_no_name_of_a_move_is_refused(moves: Any):
    with pytest.raises(GameError) as error:
        read_game("tic_tac_toe").from_moves(moves)
    assert str(error.value) == f"expected names of moves, got {moves!r}; Game.play takes actions"
    with pytest.raises(GameError, match=r"expected names of moves, got .*; Game\.play takes"):
        alphazero.Position("tic_tac_toe").play(moves)


# Options


def test_an_option_given_twice_is_refused():
    with pytest.raises(GameError, match="'hex': size is given twice"):
        read_game("hex:size=5,size=7")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("conect_four", {}, "unknown game 'conect_four'; did you mean 'connect_four'?"),
        ("zzz", {}, "unknown game 'zzz' (known: breakthrough, "),
        ("hex:size=5", {}, "unknown game 'hex:size=5'; give its options apart (known: "),
        (None, {}, "expected the name of a game, such as 'hex', got None"),
        (["hex"], {}, "expected the name of a game, such as 'hex', got ['hex']"),
        ("mnk", {"row": 3}, "mnk has no option 'row'; did you mean 'rows'?"),
        ("mnk", {"qqq": 3}, "mnk has no option 'qqq' (options: rows, columns, length)"),
        ("mnk", {"rows": "3"}, "mnk's option 'rows' must be int, got '3'"),
        ("mnk", {"rows": 3.0}, "mnk's option 'rows' must be int, got 3.0"),
        ("mnk", {"rows": True}, "mnk's option 'rows' must be int, got True"),
        ("mnk", {"rows": 0}, "rows must be 1 to 26, got 0"),
        ("mnk", {"columns": 27}, "columns must be 1 to 26, got 27"),
        ("connect_four", {"rows": -1}, "rows must be 1 to 26, got -1"),
        ("connect_four", {"length": 8}, "length must be 2 to 7, the longer side of the board"),
        ("connect_four", {"length": 1}, "length must be 2 to 7, the longer side of the board"),
        ("connect_four", {"rows": 10**30}, "rows must be 1 to 26, got 1"),
        ("hex", {"size": 1}, "size must be 2 to 26, got 1"),
        ("hex", {"size": 27}, "size must be 2 to 26, got 27"),
        ("hex", {"swap": 2}, "swap must be 0 (off) or 1 (on), got 2"),
        *(
            ("othello", {"size": size}, f"size must be one of 4, 6, 8, got {size}")
            for size in (0, 2, 5, 10, -8)
        ),
        ("nim", {"heap": 0}, "heap must be 1 to 1000, got 0"),
        ("nim", {"heap": 1001}, "heap must be 1 to 1000, got 1001"),
        ("nim", {"most": 0}, "most must be 1 to 15, the whole heap, got 0"),
        ("nim", {"most": 16}, "most must be 1 to 15, the whole heap, got 16"),
        ("go", {"rows": 0}, "rows must be 1 to 19, got 0"),
        ("go", {"columns": 20}, "columns must be 1 to 19, got 20"),
        (
            "go",
            {"superko": 3},
            "superko must be 0 to 2 (0 simple, 1 positional, 2 situational), got 3",
        ),
        ("go", {"suicide": -1}, "suicide must be 0 to 1 (0 forbidden, 1 allowed), got -1"),
        ("go", {"komi_half_points": 1001}, "komi_half_points must be -1000 to 1000, got 1001"),
        ("go", {"moves": 5001}, "moves must be 0 to 5000 (0: twice the board's points), got 5001"),
        ("go", {"features": 2}, "features must be 0 to 1 (0: AlphaGo Zero's planes, 1: liberties"),
        ("go", {"komi": 7}, "go has no option 'komi' (options: rows, columns, komi_half_points, "),
    ],
)
def test_a_game_that_cannot_be_made_is_explained(name: Any, options: dict[str, int], message: str):
    with pytest.raises(GameError) as error:
        make_game(name, **options)
    assert str(error.value).startswith(message)


# Diagrams

BLANK = ". . .\n. . .\n. . .\n"
START = ". . . .\n. O X .\n. X O .\n. . . .\n"
FORCED = ". O X X\nX X X X\nX X X X\nX X X X\n"

DIAGRAMS = {
    "tic_tac_toe": [
        ("", "a diagram needs 3 lines of 3 signs"),
        (". . .\n. . .", "found 2 such lines"),
        (BLANK + ". . .", "found 4 such lines"),
        (". . . .\n. . . .\n. . . .", "found 0 such lines"),
        (". . .\n. x .\n. . .", "found 2 such lines"),
        ("O . .\n. . .\n. . .", "X has 0 stones and O has 1"),
        ("X X .\n. . .\n. . .", "X has 2 stones and O has 0"),
        ("X X X\nO O .\nO . .", "a line of a player who did not move last"),
        ("X X X\nO O O\n. . .", "a line of a player who did not move last"),
        ("X X .\nO O O\n. . X\n", None),
        (". . .\n" * 20_000, "longer than 100,000 characters"),
    ],
    "connect_four:rows=2,columns=3,length=2": [
        ("X . .\n. . .\n1 2 3", "has an empty cell below it"),
        ("O . .\nX . .\n1 2 3", None),
    ],
    "hex:size=2": [
        (". .\n. .", "a diagram needs one line such as 'X to move after 0 moves'"),
        ("X .\n. .\nO to move after 0 moves", "after 0 moves it is not O's turn"),
        ("X .\n. .\nO to move after 3 moves", "X has 1 stones and O has 0: 3 moves cannot"),
        (". .\nO .\nX to move after 2 moves", "X has 0 stones and O has 1: 2 moves cannot"),
        (". .\nO .\nO to move after 1 moves", "X has 0 stones and O has 1: 1 moves cannot"),
        ("X .\nX O\nX to move after 3 moves", "not X's turn"),
        ("X O\nX O\nX to move after 4 moves", "a chain of a player who did not move last"),
    ],
    "hex:size=2,swap=1": [
        (". .\nO .\nX to move after 2 moves", None),
        ("X .\nO .\nO to move after 3 moves", None),
        ("X .\nO .\nX to move after 2 moves", None),
        (". .\n. .\nO to move after 1 moves", "X has 0 stones and O has 0: 1 moves cannot"),
    ],
    "othello:size=4": [
        (START, "a diagram needs one line such as 'X to move after 0 moves'; found 0"),
        (START + "X to move after 0 moves\n" * 2, "'X to move after 0 moves'; found 2"),
        (START + "O to move after 0 moves", "after 0 moves it is not O's turn: X moves first"),
        (START + "O to move after 1 moves", "1 moves cannot have added 0 discs"),
        (START.replace("X", "."), "a diagram needs one line"),
        (START.replace("X", ".") + "X to move after 0 moves", "an empty cell among the four"),
        (FORCED + "X to move after 10 moves", "10 moves cannot have added"),
        (FORCED + "O to move after 23 moves", "23 moves cannot have added 11 discs"),
    ],
    "nim:heap=4": [
        ("", "a diagram needs a line of 4 signs"),
        ("o o o o", "a diagram needs a line of 4 signs"),
        ("o o . .\n3 left after 1 moves", "a diagram needs a line of 4 signs"),
        (". . o o\n2 left after 1 moves", "a diagram needs a line of 4 signs"),
        ("o o o\n3 left after 0 moves", "a diagram needs a line of 4 signs"),
        ("o o . .\n2 left after 3 moves", "3 moves of 1 to 3 chips cannot have taken 2"),
        (". . . .\n0 left after 1 moves", "1 moves of 1 to 3 chips cannot have taken 4"),
    ],
    "go:rows=3,columns=3": [
        (BLANK + "7 moves, X to play;", "after 7 moves it is O's turn"),
        (BLANK + "19 moves, O to play;", "the game is over after 18 moves, not 19"),
        (BLANK + "some moves, O to play", "must be like '12 moves, X to play;'"),
        (BLANK + "2 moves, X to play, ko at E5;", "'E5' is no point"),
        (". X .\nX . .\n. . .\n3 moves, O to play, ko at A3;", "no stone may be placed anyway"),
        (". X .\nX O X\n. X .", "a chain of stones in the diagram has no liberty"),
    ],
}
"""Diagrams and the message about them; None for those that are right."""


@pytest.mark.parametrize(
    ("name", "diagram", "message"),
    [(name, *row) for name, rows in DIAGRAMS.items() for row in rows],
)
def test_a_diagram_that_cannot_be_is_explained(name: str, diagram: str, message: str | None):
    game = read_game(name)
    if message is None:
        game.parse(diagram)
        return
    with pytest.raises(GameError) as error:
        game.parse(diagram)
    assert message in str(error.value)
