"""Results of games as scores and in words."""

from collections.abc import Mapping
from typing import Final

from alphazero.games.game import ONGOING, Game, State
from alphazero.games.registry import game_options, name_of

SCORES: Final = {1: "1-0", 0: "1/2-1/2", -1: "0-1", ONGOING: "*"}
"""Scores by outcome."""

HALF_POINTS: Final = "_half_points"
"""Suffix of the options in half points; titles show points."""

SIZES: Final = ("rows", "columns", "size")
"""Options that the title's `rows x columns` shows."""

WORDS: Final = {
    1: "the first player won",
    0: "a draw",
    -1: "the second player won",
    ONGOING: "unfinished",
}


def describe_margin(game: Game, margin: float) -> str:
    """Return player 0's `margin` to a tenth, such as `Black by 3.5`; or `even`."""
    points = round(abs(margin), 1)
    return f"{game.side_names[margin < 0]} by {points:g}" if points else "even"


def describe_end(game: Game, state: State) -> str:
    """Return a finished game's result by its rules, such as `Black wins by 3.5`."""
    outcome, points = game.outcome(state), game.points(state)
    if not outcome:
        return "A draw"
    name = game.side_names[outcome < 0]
    return f"{name} wins" + (f" by {abs(points[0] - points[1]):g}" if points else "")


def describe_points(game: Game, state: State) -> str:
    """Return the points of both sides, the larger first: ` (44 to 40.5)`; empty without points."""
    points = sorted(game.points(state) or (), reverse=True)
    return f" ({points[0]:g} to {points[1]:g})" if points else ""


def title_of(game: Game) -> str:
    """Return a game's name for people, as `Go 9 x 9, komi 7.5`; other options only if unusual."""
    name, (_, rows, columns) = name_of(game), game.observation_shape
    usual = game_options(name)
    title = name.replace("_", " ").title()
    words = [f"{title} {rows} x {columns}" if rows > 1 else title]
    for option, value in game.options.items():
        if option.endswith(HALF_POINTS):
            words.append(f"{option.removesuffix(HALF_POINTS)} {value / 2:g}")
        elif option not in (*SIZES, *game.observation_options) and value != usual[option]:
            word = game.option_words[option][value] if option in game.option_words else value
            words.append(f"{option.replace('_', ' ')} {word}")
    return ", ".join(words)


def describe_result(
    outcome: int, resigned: bool = False, forfeit_reason: str = "", words: Mapping[int, str] = WORDS
) -> str:
    """Return a result such as `the first player won by resignation`; `words` are by outcome."""
    how = " by resignation" if resigned else ""
    if forfeit_reason:
        how = f" by adjudication ({forfeit_reason})"
    return words[outcome] + how
