"""The commands that may be typed in place of a move.

Legal moves come first: in Hex, `swap` is a move where the rules allow it, else this command.
"""

import enum
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from alphazero.errors import PlayerError, did_you_mean
from alphazero.frontends.terminal import live_analysis, views
from alphazero.frontends.terminal.live_analysis import CommandContext
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.frontends.terminal.strength import describe_budget, levels_of, set_budget, set_level
from alphazero.players.budget import Budget
from alphazero.players.levels import describe_levels
from alphazero.records.game_files import check_savable, save_played
from alphazero.utils.files import printable


class CommandResult(enum.Enum):
    """What happens after a command, unless the next line is read."""

    PLAY = "draw the changed position; the side to move plays"
    LEAVE = "end the session"


Handler = Callable[[CommandContext, str], CommandResult | None]
"""Runs a command with its argument; raises AlphaZeroError on failure."""


class TerminalCommand(NamedTuple):
    """What a player may type in place of a move."""

    takes: str
    """its argument, for the help"""
    meaning: str
    run: Handler


def _hint(context: CommandContext, _: str) -> None:
    live_analysis.search(context, context.session.remaining_budget(again=True))


def _go(context: CommandContext, text: str) -> None:
    budget = Budget.read(text)
    if budget.simulations == 0:
        raise PlayerError("expected at least 1 simulation, as in go 200, or seconds, as in go 5s")
    live_analysis.search(context, budget)


def _analyze(context: CommandContext, _: str) -> None:
    live_analysis.analyze(context)


def _policy(context: CommandContext, _: str) -> None:
    live_analysis.search(context, context.session.remaining_budget(), views.policy)


def _tree(context: CommandContext, text: str) -> None:
    depth = _number(text, 4)
    live_analysis.search(
        context,
        context.session.remaining_budget(),
        lambda console, session, _: views.tree(console, session, depth),
    )


def _undo(context: CommandContext, text: str) -> CommandResult:
    if context.session.undo(_number(text, 1)):
        return CommandResult.PLAY
    raise PlayerError("there is no move of yours to take back")


def _redo(context: CommandContext, text: str) -> CommandResult:
    if context.session.redo(_number(text, 1)):
        return CommandResult.PLAY
    raise PlayerError("there is no move to replay")


def _moves(context: CommandContext, _: str) -> None:
    context.console.print(views.moves(context.session.game_tree))


def _level(context: CommandContext, text: str) -> None:
    spec, opponent = context.session.spec, context.session.opponent
    table = levels_of(spec)
    if text:
        set_level(opponent, table, text)
    else:
        context.console.print("\n".join(f"  {line}" for line in describe_levels(table)))
    if opponent.level is None:
        now = describe_budget(opponent)
    else:
        level = table.level(opponent.level)
        now = f"level {level.number}, {level.name}, {level.strength}"
    context.console.print(f"  {printable(spec.name)}: {now}")


def _budget(context: CommandContext, text: str) -> None:
    session = context.session
    if text:
        set_budget(session.opponent, text, least=0 if session.has_network else 1)
    budget = describe_budget(session.opponent)
    context.console.print(f"  {printable(session.spec.name)}: {budget}")


SIDES: Final = {
    "first": (True, False),
    "second": (False, True),
    "both": (True, True),
    "none": (False, False),
}
"""Sides played by the user: (first, second)."""


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


def _set_sides(context: CommandContext, chosen: tuple[bool, bool]) -> CommandResult | None:
    changed = chosen != context.session.sides
    context.session.sides = chosen
    context.console.print(describe_sides(context.session))
    return CommandResult.PLAY if changed else None


def describe_sides(session: TerminalSession) -> str:
    """Return who plays which side."""
    first, second = ("you" if own else printable(session.spec.name) for own in session.sides)
    one, other = (views.side_of(session.game, player) for player in (0, 1))
    return f"  {one}, who moves first: {first}.  {other}: {second}."


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


def _new(context: CommandContext, _: str) -> CommandResult:
    context.session.begin()
    return CommandResult.PLAY


def _load(context: CommandContext, text: str) -> CommandResult:
    if not text:
        raise PlayerError("expected a file, as in: load game.sgf")
    found = re.fullmatch(r"(.*\S)\s+([0-9]{1,9})", text)
    name, count = (found[1], int(found[2])) if found else (text, None)
    context.session.load(Path(name), count)
    number = context.session.game_tree.current.ply
    context.console.print(
        f"loaded {printable(name)}: {number} move{'s' * (number != 1)}; undo steps back"
    )
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


def _show_help(context: CommandContext, _: str) -> None:
    game, state = context.session.game, context.session.game_tree.state
    mask = game.legal_action_mask(state)
    lines = []
    if mask.any():
        name = game.action_name(state, int(mask.argmax()))
        lines.append(f"  {'MOVE':{WIDTH}} make a move, as in {name}")
    for word, command in COMMANDS.items():
        if command.meaning:
            lines.append(f"  {f'{word} {command.takes}':{WIDTH}} {command.meaning}")
    context.console.print("\n".join(lines))


def _leave(_: CommandContext, __: str) -> CommandResult:
    return CommandResult.LEAVE


COMMANDS: Final[dict[str, TerminalCommand]] = {
    "hint": TerminalCommand("", "the best moves for you: visits, win rates, lines", _hint),
    "go": TerminalCommand("N | Ns", "search N more simulations, or N seconds, as in go 5s", _go),
    "analyze": TerminalCommand("", "search and show the results, until Enter", _analyze),
    "policy": TerminalCommand("", "the moves of the network alone, beside the search's", _policy),
    "tree": TerminalCommand("[N]", "the most visited lines of the search, N moves deep", _tree),
    "territory": TerminalCommand(
        "", "the cells that each side will own, and the margin", _territory
    ),
    "undo": TerminalCommand("[N]", "take back your last move and the reply, N times", _undo),
    "redo": TerminalCommand("[N]", "replay moves that were taken back", _redo),
    "line": TerminalCommand("", "the moves of the game, and the variations", _moves),
    "board": TerminalCommand("", "draw the board and the win rate again", draw),
    "level": TerminalCommand("[N]", "the player's level, from 1 to 10", _level),
    "budget": TerminalCommand(
        "[N | Ns]", "simulations or seconds a move, at full strength", _budget
    ),
    "swap": TerminalCommand("", "swap sides with the player", _swap),
    "sides": TerminalCommand("[WHICH]", "your sides: first, second, both or none", _sides),
    "new": TerminalCommand("", "start a new game", _new),
    "load": TerminalCommand("FILE [N]", "continue a saved game, after N of its moves", _load),
    "save": TerminalCommand("FILE", "save the games; as SGF if FILE ends in .sgf", _save),
    "help": TerminalCommand("", "this list", _show_help),
    "quit": TerminalCommand("", "leave", _leave),
    "moves": TerminalCommand("", "", _moves),
    "exit": TerminalCommand("", "", _leave),
}
"""All commands; those without a meaning are aliases."""

WIDTH: Final = 2 + max(len(f"{word} {command.takes}") for word, command in COMMANDS.items())
"""Column width of a command and its argument."""


def run(context: CommandContext, word: str, rest: str) -> CommandResult | None:
    """Run a command of `COMMANDS`.

    Raises:
        AlphaZeroError: when it fails.
    """
    command = COMMANDS[word]
    if rest and not command.takes:
        raise PlayerError(f"{word} takes no argument; got {rest[:20]!r}")
    return command.run(context, rest)


def _number(text: str, default: int) -> int:
    if not text:
        return default
    if not re.fullmatch("0*[1-9][0-9]{0,3}", text):
        raise PlayerError(f"expected a number from 1, got {text[:20]!r}")
    return int(text)
