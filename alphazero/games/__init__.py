"""Floor 1: the rules. One file a game; `game.py` says what a game is."""

from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.games.registry import game_names, game_options, make_game, register

__all__ = [
    "ONGOING",
    "Game",
    "State",
    "game_names",
    "game_options",
    "make_game",
    "register",
    "to_play",
    "value_of",
]
