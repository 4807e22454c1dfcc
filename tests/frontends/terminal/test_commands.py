"""What can be done at the terminal besides making moves: looking, going back, saving."""

import dataclasses
import re
import sys
from pathlib import Path

import pytest
from helpers.frontends import fake_engine
from helpers.frontends.gtp_client import SlowClock
from helpers.frontends.terminal_client import BOTH, FIRST, Stream, TerminalTalk, tables_in
from helpers.players import TINY, saved_player

from alphazero.frontends import analyzer
from alphazero.frontends.terminal import views
from alphazero.frontends.terminal.screen import Screen
from alphazero.games import game_names, make_game
from alphazero.games.game import ONGOING, PLY
from alphazero.games.registry import read_game
from alphazero.games.results import describe_margin
from alphazero.players.registry import parse_player
from alphazero.records.game_files import load_played


@pytest.fixture
def xterm(monkeypatch) -> None:
    """Let terminals support colours, whatever the environment of the tests."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def plain(text: str) -> str:
    """Return a text without its colours and other escape codes."""
    return re.sub("\x1b\\[[0-9;?]*[A-Za-z]|\r", "", text)


def answers(talk: TerminalTalk, pattern: str) -> list[str]:
    """Return the output that holds a pattern, text by text."""
    return [text for text in talk.output if re.search(pattern, text)]


def test_redo_makes_again_what_undo_took_back():
    words = ["a1", "b2", "c3", "undo 2", "redo", "redo", "redo", "undo 9", "redo 2", "redo 5"]
    talk = TerminalTalk("tic_tac_toe", BOTH, [*words, "quit"]).run()
    assert talk.moves == ["a1", "b2", "c3"]
    assert "there is no move to replay" in talk.output


# --- looking into the search ---------------------------------------------------------------------


def simulations_in(talk: TerminalTalk) -> list[int]:
    numbers = re.findall("([0-9,]+) simulations(?! a move)(?=$|;|\n)", talk.text)
    return [int(number.replace(",", "")) for number in numbers]


def test_a_hint_searches_as_long_as_the_player_and_keeps_what_was_searched():
    words = ["hint", "hint", "budget 250", "hint", "budget 9", "hint", "quit"]
    talk = TerminalTalk("tic_tac_toe", BOTH, words).run()
    assert simulations_in(talk) == [200, 200, 250, 250]
    for table, total in zip(tables_in(talk), (200, 200, 250, 250), strict=True):
        assert sum(row.visits for row in table) <= total


def test_a_hint_of_a_player_with_seconds_takes_its_time(monkeypatch):
    monkeypatch.setattr(analyzer, "time", SlowClock())
    words = ["budget .5s", "hint", "budget 1s", "hint", "quit"]
    first, second = simulations_in(TerminalTalk("tic_tac_toe", BOTH, words).run())
    # A step is one batch of 8; the first evaluates the root alone.
    assert 8 * 8 <= first <= 8 * 10
    assert 8 * 18 <= second - first <= 8 * 20


@pytest.mark.parametrize(
    ("player", "typed", "message"),
    [
        ("uct", "z9", "'z9' is no cell; type a letter and a number, a1 to c3"),
        ("uct", "b2", "b2 is taken; type an empty cell"),
        ("uct", "hnt", "type a letter and a number, a1 to c3; did you mean 'hint'?"),
        ("uct", "redo", "there is no move to replay"),
        ("uct", "undo 0", "expected a number from 1, got '0'"),
        ("uct", "budget high", "expected simulations, as in 200, or seconds, as in 5s; got 'high'"),
        ("uct", "budget 0", "expected at least 1 simulation: this player has no network"),
        ("uct", "level", "this player has no levels; set its budget, as in: budget 200"),
        ("uct", "sides boht", "first, second, both, none; got 'boht'; did you mean 'both'?"),
        ("uct", "board x", "board takes no argument; got 'x'"),
        ("uct", "save go.txt", "write go.txt: the file holds no games; remove it, or choose"),
        ("random", "hint", "this player gives no hints: it does not search a tree"),
        ("random", "budget", "this player has no budget to set"),
    ],
)
def test_a_mistake_is_one_line_and_the_game_goes_on(
    player: str, typed: str, message: str, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("go.sgf").write_text("(;GM[1]SZ[5]KM[7.5];B[aa])")
    Path("go.txt").write_text("no game")
    words = ["b2", typed, " A1 ", "quit"]
    talk = TerminalTalk("tic_tac_toe", BOTH, words, player=parse_player(player)).run()
    (line,) = [text for text in talk.output if message in text]
    assert "\n" not in line
    assert talk.moves == ["b2", "a1"]
    assert len(talk.prompts) == len(words)
    assert Path("go.txt").read_text() == "no game"


def test_a_finished_game_can_be_gone_back_into():
    game = ["a1", "a2", "b1", "b2", "c1"]
    talk = TerminalTalk("tic_tac_toe", BOTH, [*game, "hint", "what", "undo", "c3", "quit"]).run()
    assert "the game is over: there is no move to search for" in talk.output
    assert "type y for another game, n to leave, or a command such as undo" in talk.output
    assert talk.moves == [*game[:4], "c3"]


# --- the opponent --------------------------------------------------------------------------------


def test_the_budget_is_shown_and_changed():
    words = ["budget", "b2", "budget 30", "a1", "budget .01s", "budget", "budget 1s", "quit"]
    talk = TerminalTalk("tic_tac_toe", FIRST, words).run()
    assert answers(talk, "a move$") == [
        "  200 simulations a move",
        "  30 simulations a move",
        "  0.01 seconds a move",
        "  0.01 seconds a move",
        "  1 second a move",
    ]


def test_levels_are_listed_and_chosen_until_a_budget_replaces_them(tmp_path):
    path = saved_player(tmp_path / "some.safetensors")
    words = ["hint", "level", "level 1", "b2", "budget 9", "level 11", "level 2s", "quit"]
    player = parse_player(f"{path}:level=3")
    talk = TerminalTalk("tic_tac_toe", FIRST, words, player=player).run()
    assert answers(talk, ", 8 simulations"), "a hint searches as in training"
    lines = answers(talk, "first game")[0].splitlines()
    assert [line.split()[0] for line in lines] == [str(number) for number in range(1, 11)]
    assert answers(talk, "not measured$|a move$")[1:] == [
        "  level 3, learner, not measured",
        "  level 1, first game, not measured",
        "  9 simulations a move",
    ]
    (game,) = talk.session.played()
    assert game.players[1] == f"{path}:simulations=9", "a game names its player as it plays now"
    assert "level: expected 1 to 10, got 11" in talk.output
    assert answers(talk, "expected a level from 1 to 10, got '2s'")


def test_sides_are_shown_and_changed():
    words = ["sides both", "a1", "sides first", "sides", "quit"]
    talk = TerminalTalk("tic_tac_toe", FIRST, words).run()
    assert talk.output.count("  X, who moves first: you.  O: uniform.") == 2
    assert len(talk.moves) == 2, "the player moves at once"
    talk = TerminalTalk("tic_tac_toe", FIRST, ["sides none", "n"], 400).run()
    assert talk.prompts[-1] == "Another game? [y/N] ", "a session with a user asks"


@pytest.mark.parametrize(
    ("behaviour", "message"), [("resign", "^O resigns[.]$"), ("crash", "^O forfeits: no move: .*")]
)
def test_a_program_that_resigns_or_fails_loses_and_can_be_met_again(
    behaviour: str, message: str, tmp_path
):
    path = tmp_path / "games.jsonl"
    words = ["b2", f"save {path}", "y", "c3", "quit", "n"]
    player = parse_player(f"gtp:{sys.executable} {fake_engine.__file__} gtp {behaviour} 1")
    talk = TerminalTalk("tic_tac_toe", FIRST, words, player=player).run()
    assert answers(talk, message)
    assert "X (you) wins." in talk.output
    (game,) = load_played(path)
    assert (game.outcome, game.resigned) == (1, behaviour == "resign")
    assert bool(game.forfeit_reason) == (behaviour == "crash")


def test_moves_that_were_taken_back_are_not_saved(tmp_path):
    path = tmp_path / "games.jsonl"
    words = ["a1", "b2", "c3", "undo 2", f"save {path}", "y", "redo 2", "quit", "n"]
    talk = TerminalTalk("tic_tac_toe", BOTH, words).run()
    (game,) = load_played(path)
    assert game.moves() == ["a1"]
    assert talk.moves == ["a1", "b2", "c3"]


# --- what is drawn -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*game_names(), "connect_four:columns=12", "hex:size=4"])
@pytest.mark.usefixtures("xterm")
def test_the_last_stone_stands_in_brackets_and_colours_change_nothing_else(name: str):
    game = read_game(name)
    state = game.initial_state()
    while game.outcome(state) == ONGOING and state[PLY] < 5:
        action = int(game.legal_action_mask(state).nonzero()[0][-1])
        cells = game.move_cells(state, action)
        state = game.play(state, action)
        drawn, coloured = (
            views.board(Screen(Stream(is_terminal)), game, state, cells)
            for is_terminal in (False, True)
        )
        assert plain(coloured) == drawn
        assert "\x1b" in coloured or name == "nim"
        marked = re.findall(r"\[(\S)\]", drawn)
        assert len(marked) == len(cells)
        bare = re.sub(r"[\[\]]", " ", drawn)
        lines = [line.rstrip() for line in game.render(state).splitlines()]
        assert [line.removeprefix("  ").rstrip() for line in bare.splitlines()] == lines
        assert "\x1b" not in drawn


def test_the_second_side_sees_a_board_of_pieces_turned():
    game = make_game("gardner")
    start = game.initial_state()
    knight_move = game.parse_action(start, "Nc3")
    state, cells = game.play(start, knight_move), game.move_cells(start, knight_move)
    view = views.board(Screen(Stream()), game, state, cells, is_turned=True)
    assert view.splitlines()[:-1] == [
        "   1 K Q B[.]R",
        "   2 P P P P P",
        "   3 . .[N]. .",
        "   4 p p p p p",
        "   5 k q b n r",
        "     e d c b a",
    ]
    beside = views.board(Screen(Stream()), game, start, (23, 24))
    assert "R N B[Q|K]" in beside


def test_a_move_of_a_piece_is_typed_as_people_or_as_programs_write_it():
    talk = TerminalTalk("chess", BOTH, ["e4", "g8f6", "help", "quit"]).run()
    assert talk.moves == ["e4", "Nf6"]
    assert answers(talk, r"MOVE +make a move, as in \S+ or [a-h][1-8][a-h][1-8]")
    assert any(prompt.startswith("White to move") for prompt in talk.prompts)


def test_the_win_rate_is_drawn_for_who_plays():
    rates = [0.0, 0.5, None, 1.0]
    game = make_game("tic_tac_toe")
    blocks, digits = Screen(Stream(encoding="utf-8")), Screen(Stream())
    assert views.graph(blocks, game, rates, 0, True) == "  your win rate as X  ▁▅·█  100%"
    assert views.graph(digits, game, rates, 1, False) == "  win rate of O  95.0  0%"
    assert views.graph(digits, game, [None, 0.5, None], 0, False) is None, "one figure is no graph"
    long = views.graph(digits, game, [0.5] * 500, 0, True)
    assert len(long or "") < 80


@pytest.mark.usefixtures("xterm")
def test_tables_fit_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "12")
    words = ["hint", "4", "hint", "quit"]
    for stream in (Stream(), Stream(is_terminal=True)):
        talk = TerminalTalk("connect_four", BOTH, words, 300, stream=stream).run()
        tables = answers(talk, "visits")
        assert tables
        for text in tables:
            lines = plain(text).splitlines()
            assert max(map(len, lines)) < 60
            assert len(lines) < 12


GO_3X3 = "go:rows=3,columns=3,komi_half_points=1"


def test_the_expected_margin_is_beside_the_win_rate(tmp_path):
    network = dataclasses.replace(TINY, auxiliary=("ownership", "margin"))
    path = saved_player(tmp_path / "go.safetensors", GO_3X3, network)
    player = parse_player(str(path))
    talk = TerminalTalk(GO_3X3, BOTH, ["a1", "hint", "quit"], player=player).run()
    end = talk.session.opponent.predict_end(talk.session.game_tree.state)
    assert end.margin is not None
    margin = re.escape(describe_margin(talk.game, end.margin))
    assert answers(talk, rf"win rate \d+% \(network alone [^)]*\), {margin}, 8 simulations")
