"""Playing strength: a level for people, or simulations, seconds or plies a move."""

import re

from alphazero.errors import PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.players.budget import Budget
from alphazero.players.levels import LevelTable
from alphazero.players.registry import PlayerSpec


def levels_of(spec: PlayerSpec) -> LevelTable:
    """Return a player's levels.

    Raises:
        PlayerError: when it has none.
    """
    table = spec.options.levels
    if table is None:
        raise PlayerError("this player has no levels; set its budget, as in: budget 200")
    return table


def set_level(analyzer: Analyzer, table: LevelTable, text: str) -> None:
    """Play at a level, given by its number.

    Raises:
        PlayerError: when there is none.
    """
    if not re.fullmatch("[0-9]{1,2}", text):
        count = len(table.levels)
        raise PlayerError(
            f"expected a level from 1 to {count}, got {text[:20]!r}; budget sets simulations or "
            "seconds"
        )
    level = table.level(int(text))
    analyzer.think_for(Budget(level.settings.simulations), level)


def describe_budget(analyzer: Analyzer) -> str:
    """Describe how long the player thinks.

    Raises:
        PlayerError: when it has no budget.
    """
    if analyzer.searches:
        return str(analyzer.budget)
    depth, seconds = _depth(analyzer), getattr(analyzer.player, "seconds", None)
    return f"depth {depth}" if seconds is None else str(Budget(seconds=seconds))


def set_budget(analyzer: Analyzer, text: str, least: int) -> None:
    """Set the budget per move, at full strength; `least` is the minimum number of simulations.

    Raises:
        PlayerError: for an invalid budget, or a player without one.
    """
    if analyzer.searches:
        budget = Budget.read(text)
        if budget.simulations is not None and budget.simulations < least:
            raise PlayerError("expected at least 1 simulation: this player has no network")
        analyzer.think_for(budget)
        return
    _depth(analyzer)
    budget = Budget.read(text, "plies")
    if budget.simulations == 0:
        raise PlayerError("expected a depth of at least 1 ply")
    longest = analyzer.game.max_moves
    vars(analyzer.player).update(
        depth=min(budget.simulations or longest, longest), seconds=budget.seconds
    )


def _depth(analyzer: Analyzer) -> int:
    """Return the search depth of a player without a tree; raise PlayerError if it has none."""
    depth = getattr(analyzer.player, "depth", None)
    if depth is None:
        raise PlayerError("this player has no budget to set")
    return int(depth)
