"""The commands that may be typed in place of a move.

Legal moves come first: in Hex, `swap` is a move where the rules allow it, else this command.
"""

import contextlib
import enum
import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.console import Group, RenderableType
from rich.control import Control

from alphazero.errors import PlayerError, did_you_mean
from alphazero.frontends.terminal import views
from alphazero.frontends.terminal.screen import PlainConsole
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.players.budget import Budget
from alphazero.players.levels import describe_levels
from alphazero.players.position_search import SearchResult
from alphazero.records.game_files import check_savable, load_start_position, save_played
from alphazero.utils.files import printable


class CommandResult(enum.Enum):
    """What happens after a command, unless the next line is read."""

    PLAY = "draw the changed position; the side to move plays"
    LEAVE = "end the session"


@dataclass
class CommandContext:
    """The objects that commands work on."""

    session: TerminalSession
    console: PlainConsole
    typed: str | None = None
    """Input typed during a command, to be read next."""


Handler = Callable[[CommandContext, str], CommandResult | None]
"""Runs a command with its argument; raises AlphaZeroError on failure."""

View = Callable[[PlainConsole, TerminalSession, SearchResult], RenderableType]
"""Draws a search result."""

SIDES: Final = {
    "first": (True, False),
    "second": (False, True),
    "both": (True, True),
    "none": (False, False),
}
"""Sides played by the user: (first, second)."""

INTERVAL: Final = 0.2
"""Seconds between redraws of a live analysis."""

ENOUGH: Final = 1000
"""Simulations of an analysis without a terminal, which cannot be stopped."""


# --- searches ------------------------------------------------------------------------------------


class StopSignal:
    """Context manager that catches Ctrl-C and, with `enter`, a typed line."""

    def __init__(self, enter: bool) -> None:
        self.line: str | None = None
        """The typed line."""
        self._enter = enter
        self._pressed = False
        self._former: Any = None

    def __enter__(self) -> "StopSignal":
        if threading.current_thread() is threading.main_thread():
            self._former = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)

    def _press(self, *_: object) -> None:
        self._pressed = True

    @property
    def is_set(self) -> bool:
        if self._enter and self.line is None:
            # Terminals deliver whole lines. `select` fails on Windows: there only Ctrl-C works.
            with contextlib.suppress(OSError, ValueError):
                descriptor = sys.stdin.fileno()
                if select.select([descriptor], [], [], 0)[0]:
                    self.line = os.read(descriptor, 4096).decode("utf-8", "replace").strip()
        return self._pressed or self.line is not None


def _search(
    context: CommandContext,
    budget: Budget | None,
    view: View = views.candidates,
    enter: bool = False,
) -> None:
    """Search within `budget`, if any, and print a view of the result.

    In a terminal the candidates are redrawn meanwhile. Ctrl-C stops early; with `enter` a typed
    line does so, too, and is kept in `context.typed`.
    """
    console, session = context.console, context.session
    due = time.monotonic() + INTERVAL
    with StopSignal(enter) as stop, console.live() as live:

        def is_wanted() -> bool:
            nonlocal due
            if console.is_terminal and time.monotonic() > due:
                if session.hint_analyzer().roots is not None:
                    # The empty line is for the cursor.
                    drawing = views.candidates(console, session, session.current_result())
                    live.update(Group(drawing, ""), refresh=True)
                due = time.monotonic() + INTERVAL
            return not stop.is_set

        result = session.search(budget, is_wanted) if budget else session.current_result()
        if stop.line is not None and live.get_renderable():
            console.control(Control.move(0, -1))  # Enter has moved the cursor down
    console.print(view(console, session, result))
    context.typed = stop.line or None


def _hint(context: CommandContext, _: str) -> None:
    _search(context, context.session.remaining_budget(again=True))


def _go(context: CommandContext, text: str) -> None:
    budget = Budget.read(text)
    if budget.simulations == 0:
        raise PlayerError("expected at least 1 simulation, as in go 200, or seconds, as in go 5s")
    _search(context, budget)


def _analyze(context: CommandContext, _: str) -> None:
    """Search until Enter, Ctrl-C or, without a terminal, `ENOUGH` simulations."""
    live = context.console.is_terminal and sys.stdin is not None and sys.stdin.isatty()
    if live:
        context.session.hint_analyzer()  # raises before the next line is printed
        context.console.print("  Enter ends the analysis.", style="dim")
    _search(context, Budget() if live else Budget(ENOUGH), enter=live)


def _policy(context: CommandContext, _: str) -> None:
    _search(context, context.session.remaining_budget(), views.policy)


def _tree(context: CommandContext, text: str) -> None:
    depth = _number(text, 4)
    _search(
        context,
        context.session.remaining_budget(),
        lambda console, session, _: views.tree(console, session, depth),
    )


# --- the game ------------------------------------------------------------------------------------


def draw(context: CommandContext, _: str = "") -> None:
    """Print the board and the graph of win rates."""
    session, here = context.session, context.session.game_tree.current
    cell = views.last_cell_of(session.game, here)
    context.console.print("", views.board(session.game, here.state, cell), "", sep="\n")
    player = int(session.sides == SIDES["second"])
    is_user = session.sides[0] != session.sides[1]
    graph = views.graph(context.console, session.game, session.rates(), player, is_user)
    if graph:
        context.console.print(graph)


def _territory(context: CommandContext, _: str) -> None:
    context.console.print("", views.territory(context.session), "", sep="\n")


def _moves(context: CommandContext, _: str) -> None:
    context.console.print(views.moves(context.session.game_tree))


def _undo(context: CommandContext, text: str) -> CommandResult:
    if context.session.go(-1, _number(text, 1)):
        return CommandResult.PLAY
    raise PlayerError("there is no move of yours to take back")


def _redo(context: CommandContext, text: str) -> CommandResult:
    if context.session.go(1, _number(text, 1)):
        return CommandResult.PLAY
    raise PlayerError("there is no move to replay")


def _new(context: CommandContext, _: str) -> CommandResult:
    context.session.begin()
    return CommandResult.PLAY


def _load(context: CommandContext, text: str) -> CommandResult:
    """Continue the first game of a file, after a number of moves if one is typed."""
    if not text:
        raise PlayerError("expected a file, as in: load game.sgf")
    parts = re.fullmatch(r"(.*\S)\s+([0-9]{1,9})", text)
    name, count = (parts[1], int(parts[2])) if parts else (text, None)
    session = context.session
    session.begin(load_start_position(Path(name), count, session.game))
    ply = session.game_tree.current.ply
    plies = f"{ply} move{'s' * (ply != 1)}"
    context.console.print(f"loaded {printable(name)}: {plies}; undo steps back")
    return CommandResult.PLAY


def _save(context: CommandContext, text: str) -> None:
    played = context.session.played()
    if not text:
        raise PlayerError("expected a file, as in: save game.sgf")
    if not played:
        raise PlayerError("there is no move to save yet")
    check_savable(Path(text), context.session.game)
    save_played(Path(text), played)
    context.console.print(f"saved {len(played)} game{'s' * (len(played) > 1)} in {printable(text)}")


# --- the player and the sides --------------------------------------------------------------------


def _level(context: CommandContext, text: str) -> None:
    """Set the level for people, or list the levels."""
    spec, opponent = context.session.spec, context.session.opponent
    table = spec.levels
    if table is None:
        raise PlayerError("this player has no levels; set its budget, as in: budget 200")
    if not text:
        context.console.print("\n".join(f"  {line}" for line in describe_levels(table)))
    elif re.fullmatch("[0-9]{1,2}", text):
        level = table.level(int(text))
        opponent.think_for(Budget(level.settings.simulations), level)
    else:
        raise PlayerError(
            f"expected a level from 1 to {len(table.levels)}, got {text[:20]!r}; budget sets "
            "simulations or seconds"
        )
    if opponent.level is None:
        now = context.session.describe_budget()
    else:
        level = table.level(opponent.level)
        now = f"level {level.number}, {level.name}, {level.strength}"
    context.console.print(f"  {printable(spec.name)}: {now}")


def _budget(context: CommandContext, text: str) -> None:
    session = context.session
    if text:
        session.set_budget(text)
    context.console.print(f"  {printable(session.spec.name)}: {session.describe_budget()}")


def _swap(context: CommandContext, _: str) -> CommandResult | None:
    first, second = context.session.sides
    if first == second:
        raise PlayerError("one player has both sides; change that with: sides")
    return _set_sides(context, (second, first))


def _sides(context: CommandContext, text: str) -> CommandResult | None:
    if text and text not in SIDES:
        nearest = did_you_mean(text, SIDES)
        raise PlayerError(f"expected {', '.join(SIDES)}; got {text[:20]!r}{nearest}")
    return _set_sides(context, SIDES[text] if text else context.session.sides)


def _set_sides(context: CommandContext, sides: tuple[bool, bool]) -> CommandResult | None:
    is_same = sides == context.session.sides
    context.session.sides = sides
    context.console.print(describe_sides(context.session))
    return None if is_same else CommandResult.PLAY


def describe_sides(session: TerminalSession) -> str:
    """Return who plays which side."""
    first, second = ("you" if own else printable(session.spec.name) for own in session.sides)
    one, other = (views.side_of(session.game, player) for player in (0, 1))
    return f"  {one}, who moves first: {first}.  {other}: {second}."


# --- the table -----------------------------------------------------------------------------------


class TerminalCommand(NamedTuple):
    """What a player may type in place of a move."""

    takes: str
    """its argument, for the help"""
    meaning: str
    """empty for an alias"""
    run: Handler


def _show_help(context: CommandContext, _: str) -> None:
    game, state = context.session.game, context.session.game_tree.state
    mask = game.legal_action_mask(state)
    rows = [(f"{word} {each.takes}", each.meaning) for word, each in COMMANDS.items()]
    if mask.any():
        name = game.action_name(state, int(mask.argmax()))
        rows.insert(0, ("MOVE", f"make a move, as in {name}"))
    width = 2 + max(len(usage) for usage, _ in rows)
    context.console.print(
        "\n".join(f"  {usage:{width}} {meaning}" for usage, meaning in rows if meaning)
    )


COMMANDS: Final = {
    "hint": TerminalCommand("", "the best moves for you: visits, win rates, lines", _hint),
    "go": TerminalCommand("N | Ns", "search N more simulations, or N seconds, as in go 5s", _go),
    "analyze": TerminalCommand("", "search and show the results, until Enter", _analyze),
    "policy": TerminalCommand("", "the moves of the network alone, beside the search's", _policy),
    "tree": TerminalCommand("[N]", "the most visited lines of the search, N moves deep", _tree),
    "territory": TerminalCommand("", "the cells each side will own, and the margin", _territory),
    "undo": TerminalCommand("[N]", "take back your last move and the reply, N times", _undo),
    "redo": TerminalCommand("[N]", "replay moves that were taken back", _redo),
    "line": TerminalCommand("", "the moves of the game, and the variations", _moves),
    "board": TerminalCommand("", "draw the board and the win rate again", draw),
    "level": TerminalCommand("[N]", "the player's level, from 1 to 10", _level),
    "budget": TerminalCommand("[N | Ns]", "simulations or seconds, at full strength", _budget),
    "swap": TerminalCommand("", "swap sides with the player", _swap),
    "sides": TerminalCommand("[WHICH]", "your sides: first, second, both or none", _sides),
    "new": TerminalCommand("", "start a new game", _new),
    "load": TerminalCommand("FILE [N]", "continue a saved game, after N of its moves", _load),
    "save": TerminalCommand("FILE", "save the games; as SGF if FILE ends in .sgf", _save),
    "help": TerminalCommand("", "this list", _show_help),
    "quit": TerminalCommand("", "leave", lambda *_: CommandResult.LEAVE),
    "moves": TerminalCommand("", "", _moves),
    "exit": TerminalCommand("", "", lambda *_: CommandResult.LEAVE),
}


def run(context: CommandContext, word: str, rest: str) -> CommandResult | None:
    """Run a command of `COMMANDS`; raise AlphaZeroError when it fails."""
    command = COMMANDS[word]
    if rest and not command.takes:
        raise PlayerError(f"{word} takes no argument; got {rest[:20]!r}")
    return command.run(context, rest)


def _number(text: str, default: int) -> int:
    if text and not re.fullmatch("0*[1-9][0-9]{0,3}", text):
        raise PlayerError(f"expected a number from 1, got {text[:20]!r}")
    return int(text or default)
