"""The terminal plays whole games with a scripted person, and nothing typed makes it fall over."""

import random
import re
from collections.abc import Iterator, Sequence

import pytest
from helpers.frontends.terminal_client import BOTH, FIRST, NONE, SECOND, TerminalTalk, tables_in

from alphazero.frontends.terminal.commands import COMMANDS
from alphazero.games.game import ONGOING
from alphazero.games.grid import side_of


def any_moves(talk: TerminalTalk) -> Iterator[str]:
    """Type random legal moves in the game's notation, and no other game afterwards."""
    rng, game_tree = random.Random(3), talk.session.game_tree
    while not game_tree.is_over:
        legal = talk.game.legal_action_mask(game_tree.state).nonzero()[0].tolist()
        yield talk.game.action_name(game_tree.state, rng.choice(legal))
    yield "n"


@pytest.mark.parametrize("game_name", ["tic_tac_toe", "connect_four"])
@pytest.mark.parametrize("sides", [FIRST, SECOND, BOTH, NONE])
def test_a_whole_game_is_played_to_its_result(game_name: str, sides: tuple[bool, bool]):
    talk = TerminalTalk(game_name, sides, any_moves).run()
    last = talk.output[-1]
    names = talk.game.side_names
    assert re.fullmatch(rf"A draw\.|({'|'.join(names)})( \(you\))? wins\.", last)
    outcome = talk.game.outcome(talk.session.game_tree.state)
    assert outcome != ONGOING
    assert last.startswith({1: names[0], 0: "A draw", -1: names[1]}[outcome])
    if outcome:
        assert ("(you)" in last) == sides[0 if outcome > 0 else 1]
    assert talk.prompts[-1:] == ["Another game? [y/N] "] * any(sides)
    asked = {prompt for prompt in talk.prompts if "to move" in prompt}
    assert asked == {
        f"{side_of(talk.game, side)} to move: " for side, mine in enumerate(sides) if mine
    }


def test_undo_takes_back_the_persons_move_and_the_answer():
    seen: list[list[str]] = []

    def words(talk: TerminalTalk) -> Iterator[str]:
        for word in ("undo", "b2", "undo", "a1", "b3", "undo", "undo", "quit"):
            seen.append(talk.moves)
            yield word

    TerminalTalk("tic_tac_toe", FIRST, words).run()
    lengths = [len(moves) for moves in seen]
    assert lengths == [0, 0, 2, 0, 2, 4, 2, 0]
    assert seen[6] == seen[4], "the first move and its answer stand"


def test_undo_at_the_start_says_that_there_is_nothing_to_take_back():
    for sides in (FIRST, SECOND, BOTH):
        talk = TerminalTalk("tic_tac_toe", sides, ["undo", "quit"]).run()
        assert "there is no move of yours to take back" in talk.output
        assert len(talk.moves) == (sides == SECOND)


def test_help_lists_every_command_on_one_screen():
    talk = TerminalTalk("tic_tac_toe", FIRST, ["help", "quit"]).run()
    help_text = next(text for text in talk.output if "this list" in text)
    for word, command in COMMANDS.items():
        if command.meaning:
            line = (
                rf"^  {re.escape(f'{word} {command.takes}'.strip())} +{re.escape(command.meaning)}$"
            )
            assert re.search(line, help_text, re.MULTILINE)
    assert len(help_text.splitlines()) <= 22
    assert max(map(len, help_text.splitlines())) < 80


def test_another_game_begins():
    game = ["a1", "a2", "b1", "b2", "c1"]
    talk = TerminalTalk("tic_tac_toe", BOTH, [*game, "y", "b2", "new", *game]).run()
    assert talk.output.count("X (you) wins.") == 2
    ends = [(len(played.actions), played.outcome) for played in talk.session.played()]
    assert ends == [(5, 1), (1, ONGOING), (5, 1)]


@pytest.mark.parametrize(
    ("game_name", "moves", "winning"),
    [
        ("tic_tac_toe", "a1 a3 b1 b3", "c1"),  # X, the first player
        ("tic_tac_toe", "a1 a3 b1 b3 c2", "c3"),  # O, the second
        ("connect_four", "1 7 1 7 1 7", "1"),
        ("connect_four", "1 7 1 7 1 7 2", "7"),
        ("connect_four", "1 7 1 7 1 7 2 1 3 1 3 1", "4"),  # the first column is full
    ],
)
def test_a_hint_lists_all_moves_and_first_the_win_of_whoever_asks_with_a_rate_of_one(
    game_name: str, moves: str, winning: str
):
    talk = TerminalTalk(game_name, BOTH, [*moves.split(), "hint", "quit"], 400).run()
    ((best, *others),) = tables_in(talk)
    assert (best.move, best.value) == (winning, 1.0)
    assert best.variation == [winning]
    assert all(row.value is None or row.value < 1 for row in others)
    state = talk.session.game_tree.state
    legal = talk.game.legal_action_mask(state).nonzero()[0]
    rows = [best, *others]
    assert {row.move for row in rows} == {talk.game.action_name(state, move) for move in legal}
    assert [row.prior for row in rows] == pytest.approx([1 / len(rows)] * len(rows), abs=0.001)
    assert sum(row.share for row in rows) == pytest.approx(1, abs=0.0005 * len(rows))
    visits = [row.visits for row in rows]
    assert visits == sorted(visits, reverse=True)
    assert all(row.variation[0] == row.move for row in rows)


ODD = (
    f"0|-1|1|2|3 3|1e9|0x1|\u0661|\u00b2|{'9' * 1500}|{'x' * 1500}||s|0s|.s|.01s|1.5.2s|nan".split(
        "|"
    )
)
ODD += ["inf s", "\0", "--help", "'", "first", "FIRST", " "]
"""What may be typed after a word; no search that it asks for is long."""


def rubbish(seed: int, count: int, moves: Sequence[str]) -> Iterator[str]:
    """Words of every kind: commands with odd arguments, moves and noise."""
    rng = random.Random(seed)
    signs = [chr(code) for code in (*range(256), 0x200B, 0xFF11, 0x661, 0xB2, 0xD800, 0x1F600)]
    stay = [word for word in COMMANDS if word not in ("quit", "exit")]
    for _ in range(count):
        kind = rng.randrange(5)
        if kind == 0:
            yield f"{rng.choice(stay)} {rng.choice(ODD)}"
        elif kind == 1:
            yield rng.choice(moves)
        elif kind == 2:
            yield "".join(rng.choices(signs, k=rng.randrange(12)))
        elif kind == 3:
            yield rng.choice(moves) + rng.choice(signs)
        else:
            yield rng.choice(["UNDO", "y", "", "a" * 100_000, *ODD])


@pytest.mark.parametrize("sides", [FIRST, SECOND, BOTH])
@pytest.mark.parametrize(
    ("game_name", "moves"),
    [
        ("tic_tac_toe", [column + row for column in "abc" for row in "123"]),
        ("connect_four", list("1234567")),
    ],
)
def test_nothing_that_is_typed_raises(
    game_name: str, moves: list[str], sides: tuple[bool, bool], tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # some of it is saved

    def words(talk: TerminalTalk) -> Iterator[str]:
        for word in rubbish(11, 400, moves):
            if talk.prompts[-1].startswith("Another"):
                yield "y"
            yield word
        yield from ("quit", "quit")

    talk = TerminalTalk(game_name, sides, words, simulations=8).run()
    assert len(talk.prompts) >= 300
    assert "takes no argument; got" in talk.text
    assert max(map(len, talk.output)) < 2000, "what was typed is not printed back at length"
