"""The commands that may be typed in place of a move.

Legal moves come first: in Hex, `swap` is a move where the rules allow it, else this command.
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
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.frontends.terminal.strength import Budget
from alphazero.records.game_files import save_played
from alphazero.utils.files import printable


class CommandResult(enum.Enum):
    """The action after a command."""

    ASK = "ask again"
    PLAY = "the position or the sides have changed: draw it, and let whose turn it is move"
    LEAVE = "leave"


@dataclass
class CommandContext:
    """The objects that commands work on."""

    session: TerminalSession
    screen: Screen
    say: Callable[[str], None]
    typed: str | None = None
    """Input typed during a command, to be read next."""


Handler = Callable[[CommandContext, str], CommandResult]
"""Runs a command with its argument; raises AlphaZeroError on failure."""


class TerminalCommand(NamedTuple):
    """A command."""

    takes: str
    """its argument, for the help"""
    meaning: str
    run: Handler


def hint(desk: CommandContext, _: str) -> CommandResult:
    """Search with the opponent's budget and print the candidates."""
    analysis = Analysis(desk.session, desk.screen, desk.say)
    analysis.show(analysis.search(desk.session.remaining_budget(again=True)))
    return CommandResult.ASK


def go(desk: CommandContext, text: str) -> CommandResult:
    """Search with a given budget."""
    budget = Budget.read(text)
    if budget.simulations == 0:
        raise PlayerError("expected one simulation at least, as go 200, or seconds, as go 5s")
    analysis = Analysis(desk.session, desk.screen, desk.say)
    analysis.show(analysis.search(budget))
    return CommandResult.ASK


def analyze(desk: CommandContext, _: str) -> CommandResult:
    """Search until Enter or Ctrl-C."""
    desk.typed = Analysis(desk.session, desk.screen, desk.say).run_until_stopped()
    return CommandResult.ASK


def policy(desk: CommandContext, _: str) -> CommandResult:
    """Print the network's policy beside the search's."""
    session, screen = desk.session, desk.screen
    analysis = Analysis(session, screen, desk.say)
    thought = analysis.search(session.remaining_budget())
    rows = max(1, screen.height - 4)
    table = views.policy(screen, session.game, session.game_tree.state, thought, rows)
    analysis.tell(f"{analysis.headline(thought)}\n{table}")
    return CommandResult.ASK


def tree(desk: CommandContext, text: str) -> CommandResult:
    """Print the most visited lines."""
    session, screen = desk.session, desk.screen
    depth = _number(text, 4)
    analysis = Analysis(session, screen, desk.say)
    analysis.search(session.remaining_budget())
    search, rows = session.hint_analyzer().search, max(1, screen.height - 4)
    analysis.tell(
        views.tree(
            screen,
            session.game,
            session.game_tree.state,
            lambda line: search.children_of(0, line),
            depth,
            rows,
        )
    )
    return CommandResult.ASK


def undo(desk: CommandContext, text: str) -> CommandResult:
    """Take moves back."""
    if desk.session.undo(_number(text, 1)):
        return CommandResult.PLAY
    raise PlayerError("there is no move of yours to take back")


def redo(desk: CommandContext, text: str) -> CommandResult:
    """Replay moves taken back."""
    if desk.session.redo(_number(text, 1)):
        return CommandResult.PLAY
    raise PlayerError("there is no move to make again")


def moves(desk: CommandContext, _: str) -> CommandResult:
    """Print the moves of the game."""
    desk.say(views.moves(desk.screen, desk.session.game_tree))
    return CommandResult.ASK


def level(desk: CommandContext, text: str) -> CommandResult:
    """Print or set the opponent's strength."""
    if text:
        desk.session.set_level(text)
    desk.say(f"  {printable(desk.session.spec.name)}: {desk.session.level}")
    return CommandResult.ASK


def swap(desk: CommandContext, _: str) -> CommandResult:
    """Swap sides with the opponent."""
    sides = desk.session.sides
    if sides[0] == sides[1]:
        raise PlayerError("you play both sides; see: sides")
    return _sit(desk, (sides[1], sides[0]))


SIDES: Final = {
    "first": (True, False),
    "second": (False, True),
    "both": (True, True),
    "none": (False, False),
}
"""Sides played by the user: (first, second)."""


def sides(desk: CommandContext, text: str) -> CommandResult:
    """Print or set the user's sides."""
    if text and text not in SIDES:
        hint = did_you_mean(text, SIDES)
        raise PlayerError(f"expected {', '.join(SIDES)}; got {text[:20]!r}{hint}")
    return _sit(desk, SIDES[text]) if text else _sit(desk, desk.session.sides)


def _sit(desk: CommandContext, chosen: tuple[bool, bool]) -> CommandResult:
    changed = chosen != desk.session.sides
    desk.session.sides = chosen
    desk.say(seats(desk.session))
    return CommandResult.PLAY if changed else CommandResult.ASK


def seats(session: TerminalSession) -> str:
    """Describe the sides."""
    who = ["you" if side else printable(session.spec.name) for side in session.sides]
    return f"  X, who moves first: {who[0]}.  O: {who[1]}."


def draw(desk: CommandContext, _: str) -> CommandResult:
    """Print the board."""
    desk.say(drawn(desk))
    return CommandResult.ASK


def drawn(desk: CommandContext) -> str:
    """Return the board and the graph of win rates."""
    session, here = desk.session, desk.session.game_tree.here
    cell = None
    if here.parent and here.action is not None:
        cell = session.game.action_cell(here.parent.state, here.action)
    text = f"\n{views.board(desk.screen, session.game, here.state, cell)}\n"
    alone = session.sides[0] != session.sides[1]
    whose = 1 if alone and session.sides[1] else 0
    line = views.graph(desk.screen, session.rates(), whose, alone)
    return f"{text}\n{line}" if line else text


def new(desk: CommandContext, _: str) -> CommandResult:
    """Start a new game."""
    desk.session.begin_new()
    return CommandResult.PLAY


def load(desk: CommandContext, text: str) -> CommandResult:
    """Load a game, or its first N moves for `FILE N`."""
    if not text:
        raise PlayerError("type a file's name as well, as in: load game.sgf")
    found = re.fullmatch(r"(.*\S)\s+([0-9]{1,9})", text)
    name, count = (found[1], int(found[2])) if found else (text, None)
    desk.session.load(Path(name), count)
    number = desk.session.ply
    desk.say(f"loaded {printable(name)}: {number} move{'s' * (number != 1)}; undo steps back")
    return CommandResult.PLAY


def save(desk: CommandContext, text: str) -> CommandResult:
    """Save all games in a file."""
    played = desk.session.played()
    if not text:
        raise PlayerError("type a file's name as well, as in: save game.sgf")
    if not played:
        raise PlayerError("there is no move to save yet")
    save_played(Path(text), played)
    desk.say(f"saved {len(played)} game{'s' * (len(played) > 1)} in {printable(text)}")
    return CommandResult.ASK


def show_help(desk: CommandContext, _: str) -> CommandResult:
    """List the commands."""
    game_tree = desk.session.game_tree
    mask = desk.session.game.legal_action_mask(game_tree.state)
    lines = []
    if mask.any():
        name = desk.session.game.action_name(game_tree.state, int(mask.argmax()))
        lines.append(f"  {'MOVE':{WIDE}} make a move, as {name}")
    for word, command in COMMANDS.items():
        if command.meaning:
            lines.append(f"  {f'{word} {command.takes}':{WIDE}} {command.meaning}")
    desk.say("\n".join(lines))
    return CommandResult.ASK


def leave(_: CommandContext, __: str) -> CommandResult:
    """End the session."""
    return CommandResult.LEAVE


COMMANDS: Final[dict[str, TerminalCommand]] = {
    "hint": TerminalCommand("", "the best moves in your place: visits, values, lines", hint),
    "go": TerminalCommand("N | Ns", "search N simulations more, or N seconds, as go 5s", go),
    "analyze": TerminalCommand("", "search and show it going on, until Enter", analyze),
    "policy": TerminalCommand("", "what the network alone would play, beside the search", policy),
    "tree": TerminalCommand("[N]", "the most visited lines of the search, N moves deep", tree),
    "undo": TerminalCommand("[N]", "take back your last move and the answer to it, N times", undo),
    "redo": TerminalCommand("[N]", "make again what was taken back", redo),
    "line": TerminalCommand("", "the moves of the game, and what else you tried", moves),
    "board": TerminalCommand("", "draw the board and the win rate again", draw),
    "level": TerminalCommand(
        "[N | Ns]", "the player's strength: simulations or seconds a move", level
    ),
    "swap": TerminalCommand("", "change sides with the player", swap),
    "sides": TerminalCommand("[WHICH]", "what you play: first, second, both or none", sides),
    "new": TerminalCommand("", "begin a new game", new),
    "load": TerminalCommand("FILE [N]", "go on from a saved game, after N of its moves", load),
    "save": TerminalCommand("FILE", "write the games so far; FILE.sgf gets SGF", save),
    "help": TerminalCommand("", "these words", show_help),
    "quit": TerminalCommand("", "leave", leave),
    "moves": TerminalCommand("", "", moves),
    "exit": TerminalCommand("", "", leave),
}
"""All commands; those without a meaning are aliases."""

WIDE: Final = 2 + max(len(f"{word} {command.takes}") for word, command in COMMANDS.items())
"""Column width of a command and its argument."""


def run(desk: CommandContext, word: str, rest: str) -> CommandResult:
    """Run a command of `COMMANDS`.

    Raises:
        AlphaZeroError: when it fails.
    """
    command = COMMANDS[word]
    if rest and not command.takes:
        raise PlayerError(f"{word} takes nothing after it; got {rest[:20]!r}")
    return command.run(desk, rest)


def _number(text: str, usual: int) -> int:
    if not text:
        return usual
    if not re.fullmatch("0*[1-9][0-9]{0,3}", text):
        raise PlayerError(f"expected a number from 1 on, got {text[:20]!r}")
    return int(text)
