"""The commands that may be typed in place of a move; a legal move comes first."""

import re
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from alphazero.errors import PlayerError, did_you_mean
from alphazero.frontends.terminal import views
from alphazero.frontends.terminal.screen import Screen
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.games.grid import side_of
from alphazero.games.pieces import PieceGame
from alphazero.players.budget import Budget
from alphazero.players.levels import describe_levels
from alphazero.records.game_files import check_savable, save_played
from alphazero.utils.files import printable
from alphazero.utils.tables import count_of

Handler = Callable[[TerminalSession, Screen, str], bool | None]
"""Runs a command with its argument; raises AlphaZeroError on failure.

Returns True when the side to move plays on, False to leave, None to read the next line.
"""

SIDES: Final = {
    "first": (True, False),
    "second": (False, True),
    "both": (True, True),
    "none": (False, False),
}
"""Sides played by the user: (first, second)."""


# --- searches ------------------------------------------------------------------------------------


def _hint(session: TerminalSession, screen: Screen, _: str) -> None:
    """Search, or until Ctrl-C; print the candidate moves."""
    interrupt = threading.Event()
    previous = signal.signal(signal.SIGINT, lambda *_: interrupt.set())
    try:
        result = session.search_hint(interrupt.is_set)
    finally:
        signal.signal(signal.SIGINT, previous)
    screen.print(views.candidates(screen, session, result))


# --- the game ------------------------------------------------------------------------------------


def draw(session: TerminalSession, screen: Screen, _: str = "") -> None:
    """Print the board and the graph of win rates."""
    game, node = session.game, session.game_tree.current
    player = int(session.sides == SIDES["second"])
    is_turned, cells = game.is_turned and bool(player), tuple[int, ...]()
    if node.parent is not None and node.action is not None:
        cells = game.move_cells(node.parent.state, node.action)
    screen.print(f"\n{views.board(screen, game, node.state, cells, is_turned)}\n")
    is_user = session.sides[0] != session.sides[1]
    graph = views.graph(screen, game, session.rates(), player, is_user)
    if graph:
        screen.print(graph)


def _undo(session: TerminalSession, _: Screen, text: str) -> bool:
    if session.go(-1, _number(text)):
        return True
    raise PlayerError("there is no move of yours to take back")


def _redo(session: TerminalSession, _: Screen, text: str) -> bool:
    if session.go(1, _number(text)):
        return True
    raise PlayerError("there is no move to replay")


def _number(text: str) -> int:
    if text and not re.fullmatch("0*[1-9][0-9]{0,3}", text):
        raise PlayerError(f"expected a number from 1, got {text[:20]!r}")
    return int(text or 1)


def _new(session: TerminalSession, *_: object) -> bool:
    session.begin()
    return True


def _save(session: TerminalSession, screen: Screen, text: str) -> None:
    played = session.played()
    if not text:
        raise PlayerError("expected a file, as in: save game.sgf")
    if not played:
        raise PlayerError("there is no move to save yet")
    start = next((each.start for each in played if each.start), "")
    check_savable(Path(text), session.game, session.sources, start)
    save_played(Path(text), played)
    screen.print(f"saved {count_of(len(played), 'game')} in {printable(text)}")


# --- the player and the sides --------------------------------------------------------------------


def _level(session: TerminalSession, screen: Screen, text: str) -> None:
    """Set the level for people, or list the levels."""
    spec, opponent = session.spec, session.opponent
    table = spec.levels
    if table is None:
        raise PlayerError("this player has no levels; set its budget, as in: budget 200")
    if not text:
        screen.print("\n".join(f"  {line}" for line in describe_levels(table)))
    elif re.fullmatch("[0-9]{1,2}", text):
        opponent.think_for(level=table.level(int(text)).number)
    else:
        raise PlayerError(
            f"expected a level from 1 to {len(table.levels)}, got {text[:20]!r}; budget sets "
            "simulations or seconds"
        )
    strength = str(opponent.budget)
    if opponent.level is not None:
        level = table.level(opponent.level)
        strength = f"level {level.number}, {level.name}, {level.strength}"
    screen.print(f"  {strength}")


def _budget(session: TerminalSession, screen: Screen, text: str) -> None:
    """Set the player's budget per move, at full strength, or print it."""
    spec, opponent = session.spec, session.opponent
    if not opponent.searches:
        raise PlayerError("this player has no budget to set")
    if text:
        budget = Budget.read(text)
        if budget.simulations == 0 and spec.saved is None:
            raise PlayerError("expected at least 1 simulation: this player has no network")
        opponent.think_for(budget)
    screen.print(f"  {opponent.budget}")


def _sides(session: TerminalSession, screen: Screen, text: str) -> bool | None:
    if text and text not in SIDES:
        nearest = did_you_mean(text, SIDES)
        raise PlayerError(f"expected {', '.join(SIDES)}; got {text[:20]!r}{nearest}")
    previous, session.sides = session.sides, SIDES.get(text, session.sides)
    screen.print(describe_sides(session))
    return None if session.sides == previous else True


def describe_sides(session: TerminalSession) -> str:
    """Return who plays which side."""
    name = printable(session.opponent.spec.name)
    first, second = ("you" if own else name for own in session.sides)
    one, other = (side_of(session.game, player) for player in (0, 1))
    return f"  {one}, who moves first: {first}.  {other}: {second}."


# --- the table -----------------------------------------------------------------------------------


class TerminalCommand(NamedTuple):
    """What a player may type in place of a move."""

    takes: str
    """its argument, for the help"""
    meaning: str
    """empty for an alias"""
    run: Handler


def _show_help(session: TerminalSession, screen: Screen, _: str) -> None:
    game, state = session.game, session.game_tree.state
    mask = game.legal_action_mask(state)
    rows = [(f"{word} {command.takes}", command.meaning) for word, command in COMMANDS.items()]
    if mask.any():
        action = int(mask.argmax())
        name = game.action_name(state, action)
        if isinstance(game, PieceGame) and game.move_name(state, action) != name:
            name += f" or {game.move_name(state, action)}"
        rows.insert(0, ("MOVE", f"make a move, as in {name}"))
    width = 2 + max(len(usage) for usage, _ in rows)
    screen.print("\n".join(f"  {usage:{width}} {meaning}" for usage, meaning in rows if meaning))


COMMANDS: Final = {
    "hint": TerminalCommand("", "the best moves for you: visits, win rates, lines", _hint),
    "undo": TerminalCommand("[N]", "take back your last move and the reply, N times", _undo),
    "redo": TerminalCommand("[N]", "replay moves that were taken back", _redo),
    "board": TerminalCommand("", "draw the board and the win rate again", draw),
    "level": TerminalCommand("[N]", "the player's level, from 1 to 10", _level),
    "budget": TerminalCommand("[N | Ns]", "simulations or seconds, at full strength", _budget),
    "sides": TerminalCommand("[WHICH]", "your sides: first, second, both or none", _sides),
    "new": TerminalCommand("", "start a new game", _new),
    "save": TerminalCommand("FILE", "save the games; as SGF or PGN by the name of FILE", _save),
    "help": TerminalCommand("", "this list", _show_help),
    "quit": TerminalCommand("", "leave", lambda *_: False),
    "exit": TerminalCommand("", "", lambda *_: False),
}
