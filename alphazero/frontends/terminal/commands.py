"""The words that may be typed in place of a move, each with what it does.

A word that is a legal move of the game is a move, whatever it means here: in Hex, where the second
player may take the first stone over, `swap` is that move on its turn and this command on others.
"""

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from alphazero.errors import PlayerError, did_you_mean
from alphazero.frontends.terminal import views
from alphazero.frontends.terminal.live_analysis import Analysis
from alphazero.frontends.terminal.screen import Screen
from alphazero.frontends.terminal.session import Sitting
from alphazero.frontends.terminal.strength import Budget
from alphazero.records.game_files import save_played
from alphazero.utils.files import shown


class Next(enum.Enum):
    """What follows a command."""

    ASK = "ask again"
    PLAY = "the position or the sides have changed: draw it, and let whose turn it is move"
    LEAVE = "leave"


@dataclass
class Desk:
    """What the commands work on."""

    sitting: Sitting
    screen: Screen
    say: Callable[[str], None]
    typed: str | None = None
    """What was typed while something else went on, to be read next."""


Handler = Callable[[Desk, str], Next]
"""Does what is wanted with what follows the word; raises AlphaZeroError where it cannot."""


class Command(NamedTuple):
    """A word."""

    takes: str
    """what follows it"""
    meaning: str
    run: Handler


def hint(desk: Desk, _: str) -> Next:
    """Search as long as the player would, and show what is found."""
    analysis = Analysis(desk.sitting, desk.screen, desk.say)
    analysis.show(analysis.search(desk.sitting.missing(again=True)))
    return Next.ASK


def go(desk: Desk, text: str) -> Next:
    """Search further."""
    budget = Budget.read(text)
    if budget.simulations == 0:
        raise PlayerError("expected one simulation at least, as go 200, or seconds, as go 5s")
    analysis = Analysis(desk.sitting, desk.screen, desk.say)
    analysis.show(analysis.search(budget))
    return Next.ASK


def analyze(desk: Desk, _: str) -> Next:
    """Search until somebody has seen enough."""
    desk.typed = Analysis(desk.sitting, desk.screen, desk.say).endless()
    return Next.ASK


def policy(desk: Desk, _: str) -> Next:
    """Compare the network alone with the search."""
    sitting, screen = desk.sitting, desk.screen
    analysis = Analysis(sitting, screen, desk.say)
    thought = analysis.search(sitting.missing())
    rows = max(1, screen.height - 4)
    table = views.policy(screen, sitting.game, sitting.study.state, thought, rows)
    analysis.tell(f"{analysis.headline(thought)}\n{table}")
    return Next.ASK


def tree(desk: Desk, text: str) -> Next:
    """Look into the tree."""
    sitting, screen = desk.sitting, desk.screen
    depth = _number(text, 4)
    analysis = Analysis(sitting, screen, desk.say)
    analysis.search(sitting.missing())
    search, rows = sitting.analyst().search, max(1, screen.height - 4)
    analysis.tell(
        views.tree(
            screen,
            sitting.game,
            sitting.study.state,
            lambda line: search.branches(0, line),
            depth,
            rows,
        )
    )
    return Next.ASK


def undo(desk: Desk, text: str) -> Next:
    """Go back."""
    if desk.sitting.undo(_number(text, 1)):
        return Next.PLAY
    raise PlayerError("there is no move of yours to take back")


def redo(desk: Desk, text: str) -> Next:
    """Go on."""
    if desk.sitting.redo(_number(text, 1)):
        return Next.PLAY
    raise PlayerError("there is no move to make again")


def moves(desk: Desk, _: str) -> Next:
    """Tell the game so far."""
    desk.say(views.moves(desk.screen, desk.sitting.study))
    return Next.ASK


def level(desk: Desk, text: str) -> Next:
    """Tell how strong the player is, or change it."""
    if text:
        desk.sitting.set_level(text)
    desk.say(f"  {shown(desk.sitting.entrant.name)}: {desk.sitting.level}")
    return Next.ASK


def swap(desk: Desk, _: str) -> Next:
    """Change seats."""
    sides = desk.sitting.sides
    if sides[0] == sides[1]:
        raise PlayerError("you play both sides; see: sides")
    return _sit(desk, (sides[1], sides[0]))


SIDES: Final = {
    "first": (True, False),
    "second": (False, True),
    "both": (True, True),
    "none": (False, False),
}
"""What a person may play."""


def sides(desk: Desk, text: str) -> Next:
    """Tell who plays what, or change it."""
    if text and text not in SIDES:
        hint = did_you_mean(text, SIDES)
        raise PlayerError(f"expected {', '.join(SIDES)}; got {text[:20]!r}{hint}")
    return _sit(desk, SIDES[text]) if text else _sit(desk, desk.sitting.sides)


def _sit(desk: Desk, chosen: tuple[bool, bool]) -> Next:
    changed = chosen != desk.sitting.sides
    desk.sitting.sides = chosen
    desk.say(seats(desk.sitting))
    return Next.PLAY if changed else Next.ASK


def seats(sitting: Sitting) -> str:
    """Say who plays what."""
    who = ["you" if side else shown(sitting.entrant.name) for side in sitting.sides]
    return f"  X, who moves first: {who[0]}.  O: {who[1]}."


def draw(desk: Desk, _: str) -> Next:
    """Draw it again."""
    desk.say(drawn(desk))
    return Next.ASK


def drawn(desk: Desk) -> str:
    """Draw the board and the win rate over the game."""
    sitting, here = desk.sitting, desk.sitting.study.here
    cell = None
    if here.parent and here.action is not None:
        cell = sitting.game.action_cell(here.parent.state, here.action)
    text = f"\n{views.board(desk.screen, sitting.game, here.state, cell)}\n"
    alone = sitting.sides[0] != sitting.sides[1]
    whose = 1 if alone and sitting.sides[1] else 0
    line = views.graph(desk.screen, sitting.rates(), whose, alone)
    return f"{text}\n{line}" if line else text


def new(desk: Desk, _: str) -> Next:
    """Begin again."""
    desk.sitting.begin_new()
    return Next.PLAY


def load(desk: Desk, text: str) -> Next:
    """Read a game; where a number follows the file's name, so many of its moves."""
    if not text:
        raise PlayerError("type a file's name as well, as in: load game.sgf")
    found = re.fullmatch(r"(.*\S)\s+([0-9]{1,9})", text)
    name, count = (found[1], int(found[2])) if found else (text, None)
    desk.sitting.load(Path(name), count)
    number = desk.sitting.ply
    desk.say(f"loaded {shown(name)}: {number} move{'s' * (number != 1)}; undo steps back")
    return Next.PLAY


def save(desk: Desk, text: str) -> Next:
    """Write the games into a file."""
    played = desk.sitting.played()
    if not text:
        raise PlayerError("type a file's name as well, as in: save game.sgf")
    if not played:
        raise PlayerError("there is no move to save yet")
    save_played(Path(text), played)
    desk.say(f"saved {len(played)} game{'s' * (len(played) > 1)} in {shown(text)}")
    return Next.ASK


def tell(desk: Desk, _: str) -> Next:
    """List the words."""
    study = desk.sitting.study
    mask = desk.sitting.game.legal_action_mask(study.state)
    lines = []
    if mask.any():
        name = desk.sitting.game.action_name(study.state, int(mask.argmax()))
        lines.append(f"  {'MOVE':{WIDE}} make a move, as {name}")
    for word, command in COMMANDS.items():
        if command.meaning:
            lines.append(f"  {f'{word} {command.takes}':{WIDE}} {command.meaning}")
    desk.say("\n".join(lines))
    return Next.ASK


def leave(_: Desk, __: str) -> Next:
    """Leave."""
    return Next.LEAVE


COMMANDS: Final[dict[str, Command]] = {
    "hint": Command("", "the best moves in your place: visits, values, lines", hint),
    "go": Command("N | Ns", "search N simulations more, or N seconds, as go 5s", go),
    "analyze": Command("", "search and show it going on, until Enter", analyze),
    "policy": Command("", "what the network alone would play, beside the search", policy),
    "tree": Command("[N]", "the most visited lines of the search, N moves deep", tree),
    "undo": Command("[N]", "take back your last move and the answer to it, N times", undo),
    "redo": Command("[N]", "make again what was taken back", redo),
    "line": Command("", "the moves of the game, and what else you tried", moves),
    "board": Command("", "draw the board and the win rate again", draw),
    "level": Command("[N | Ns]", "the player's strength: simulations or seconds a move", level),
    "swap": Command("", "change sides with the player", swap),
    "sides": Command("[WHICH]", "what you play: first, second, both or none", sides),
    "new": Command("", "begin a new game", new),
    "load": Command("FILE [N]", "go on from a saved game, after N of its moves", load),
    "save": Command("FILE", "write the games so far; FILE.sgf gets SGF", save),
    "help": Command("", "these words", tell),
    "quit": Command("", "leave", leave),
    "moves": Command("", "", moves),
    "exit": Command("", "", leave),
}
"""Every word; those without a meaning are other names of those that have one."""

WIDE: Final = 2 + max(len(f"{word} {command.takes}") for word, command in COMMANDS.items())
"""Columns of a word and what it takes."""


def run(desk: Desk, word: str, rest: str) -> Next:
    """Do what a word of COMMANDS says.

    Raises:
        AlphaZeroError: in a line, where that cannot be done.
    """
    command = COMMANDS[word]
    if rest and not command.takes:
        raise PlayerError(f"{word} takes nothing after it; got {rest[:20]!r}")
    return command.run(desk, rest)


def _number(text: str, usual: int) -> int:
    """Read a number from 1 on."""
    if not text:
        return usual
    if not re.fullmatch("0*[1-9][0-9]{0,3}", text):
        raise PlayerError(f"expected a number from 1 on, got {text[:20]!r}")
    return int(text)
