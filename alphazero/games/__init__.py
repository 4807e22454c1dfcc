"""Games: one file or folder per game; `game.py` defines their interface."""

from alphazero.games.compiled_rules import RuleFunctions, Signature
from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.games.registry import game_names, game_options, make_game, register

__all__ = [
    "ONGOING",
    "Game",
    "RuleFunctions",
    "Signature",
    "State",
    "game_names",
    "game_options",
    "make_game",
    "register",
    "to_play",
    "value_of",
]
