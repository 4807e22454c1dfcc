"""Results of games as scores and in words."""

from collections.abc import Mapping
from typing import Final

from alphazero.games.game import ONGOING, Game
from alphazero.games.grid import SIGNS
from alphazero.games.registry import name_of

SCORES: Final = {1: "1-0", 0: "1/2-1/2", -1: "0-1", ONGOING: "*"}
"""Scores by outcome."""

WORDS: Final = {
    1: "the first player won",
    0: "a draw",
    -1: "the second player won",
    ONGOING: "unfinished",
}


def describe_margin(game: Game, margin: float) -> str:
    """Return player 0's `margin` to a tenth: `B+3.5` in Go, else `X by 3.5`; or `even`."""
    points = round(abs(margin), 1)
    if not points:
        return "even"
    if name_of(game) == "go":
        return f"{'B' if margin > 0 else 'W'}+{points:g}"
    return f"{SIGNS[1 if margin > 0 else 2]} by {points:g}"


def describe_result(
    outcome: int,
    resigned: bool = False,
    forfeit_reason: str = "",
    words: Mapping[int, str] = WORDS,
) -> str:
    """Return a result such as `the first player won by resignation`; `words` are by outcome."""
    how = " by resignation" if resigned else ""
    if forfeit_reason:
        how = f" by adjudication ({forfeit_reason})"
    return words[outcome] + how
