"""Other options of a game, as programs ask for them: the size of the board, and komi."""

import dataclasses

from alphazero.errors import GameError, PlayerError
from alphazero.games.game import Game
from alphazero.games.registry import write_game
from alphazero.players.registry import PlayerSpec

RULE_OPTIONS = frozenset({"superko", "suicide"})
"""Options that no network sees: a checkpoint trained with others plays on, with a note."""


def resized(game: Game, rows: int, columns: int) -> Game:
    """Return the game with another board size.

    Raises:
        GameError: when there is no such board.
    """
    sizes = {"rows": rows, "columns": columns}
    if game.observation_shape[1:] == (rows, columns):
        return game
    if "size" in game.options and rows == columns:
        sizes = {"size": rows}
    if sizes.keys() <= game.options.keys():
        return dataclasses.replace(game, **sizes)
    raise GameError("this game has no board of this size")


def with_komi(game: Game, points: float) -> Game:
    """Return the game with another komi; games without one stay as they are.

    Raises:
        GameError: when it is no multiple of a half, or out of range.
    """
    if points == getattr(game, "komi", points):
        return game
    if 2 * points != int(2 * points):
        raise GameError("komi must be a multiple of a half")
    options = game.options | {"komi_half_points": int(2 * points)}
    return type(game)(**options)


def player_on(spec: PlayerSpec, own: Game, game: Game) -> PlayerSpec:
    """Return the player of the game `own`, adapted to `game`.

    A checkpoint may play another size of its board, and by another rule of ko or suicide.

    Raises:
        PlayerError: when it does not play `game`.
    """
    if spec.plays(game):
        return spec
    only = PlayerError(f"this player plays {_difference(own, game)} only")
    if type(own) is not type(game):
        raise only
    changed = {name for name, value in own.options.items() if game.options[name] != value}
    if own.observation_shape == game.observation_shape and not changed <= RULE_OPTIONS:
        raise only
    try:
        return spec.on(game)
    except PlayerError:
        raise only from None


def _difference(own: Game, wanted: Game) -> str:
    """Name a property of `own` that `wanted` does not have."""
    _, rows, columns = own.observation_shape
    if wanted.observation_shape[1:] != (rows, columns):
        return f"on {columns} x {rows}"
    komi = getattr(own, "komi", None)
    if komi != getattr(wanted, "komi", None):
        return f"with komi {komi:g}"
    return write_game(own)
