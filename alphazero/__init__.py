"""AlphaGo Zero-style self-play training: from a game's rules to a strong player.

`alphazero/README.md` explains the public names. Each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alphazero.arena.contests import grade, match
    from alphazero.arena.tournament import rate
    from alphazero.config.loader import load_config
    from alphazero.errors import AlphaZeroError
    from alphazero.games import Game, make_game
    from alphazero.games.contract.check import check_game
    from alphazero.notebook import Position
    from alphazero.players.position_search import SearchResult, search
    from alphazero.players.registry import load_player
    from alphazero.training.loop import resume, train
    from alphazero.training.run_directory import read_games

__version__ = "0.1.0"
__all__ = [
    "AlphaZeroError",
    "Game",
    "Position",
    "SearchResult",
    "check_game",
    "grade",
    "load_config",
    "load_player",
    "make_game",
    "match",
    "rate",
    "read_games",
    "resume",
    "search",
    "train",
]

_HOMES = {
    "AlphaZeroError": "alphazero.errors",
    "Game": "alphazero.games",
    "Position": "alphazero.notebook",
    "SearchResult": "alphazero.players.position_search",
    "check_game": "alphazero.games.contract.check",
    "grade": "alphazero.arena.contests",
    "load_config": "alphazero.config.loader",
    "load_player": "alphazero.players.registry",
    "make_game": "alphazero.games",
    "match": "alphazero.arena.contests",
    "rate": "alphazero.arena.tournament",
    "read_games": "alphazero.training.run_directory",
    "resume": "alphazero.training.loop",
    "search": "alphazero.players.position_search",
    "train": "alphazero.training.loop",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'alphazero' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
