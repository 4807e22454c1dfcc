"""Floor 2: our games as other libraries want them. Each library is imported when it is asked for.

from alphazero.adapters import pettingzoo_env
env = pettingzoo_env("connect_four", render_mode="ansi")
"""

from typing import TYPE_CHECKING, Any

from alphazero.errors import AlphaZeroError
from alphazero.games import Game
from alphazero.games.registry import read_game

if TYPE_CHECKING:
    from pettingzoo import AECEnv

__all__ = ["pettingzoo_env"]


def pettingzoo_env(game: str | Game, render_mode: str | None = None) -> "AECEnv[str, Any, Any]":
    """Return a game as a PettingZoo environment (AEC), wrapped as PettingZoo's classic games are.

    Args:
        game: a game, or its name, with options if it has some: "mnk:rows=4,columns=4,length=3".
        render_mode: "ansi": `render` returns the board drawn as text; "human": it prints that,
            also after each move; None: nothing is drawn.

    An illegal move ends the game: -1 for who made it, 0 for the other (`TerminateIllegalWrapper`).
    What agents see is told in `GameEnv`, which is the result's `unwrapped`.

    Raises:
        AlphaZeroError: when PettingZoo is not installed.
        GameError: for a game that is not known.
    """
    try:
        from pettingzoo.utils import wrappers
    except ImportError as error:
        raise AlphaZeroError(
            "this needs PettingZoo; install it with: pip install 'alphazero[pettingzoo]'"
        ) from error
    from alphazero.adapters.aec import GameEnv

    env = GameEnv(read_game(game) if isinstance(game, str) else game, render_mode)
    legal = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(legal))
