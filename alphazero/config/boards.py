"""The boards of self-play: the games that one network with convolutional heads plays in turn.

Wu 2019 (arXiv:1902.10565), appendix D: KataGo trains on boards from 9 x 9 to 19 x 19.
"""

from alphazero.config.schema import Config
from alphazero.errors import GameError
from alphazero.games.game import Game
from alphazero.games.registry import make_game


def make_boards(config: Config) -> tuple[Game, ...]:
    """Return the games of `selfplay.boards` in their order, by default the game alone.

    Raises GameError for options that the game cannot have.
    """
    game = config.game
    boards = config.selfplay.boards or ({},)
    return tuple(make_game(game.name, **(game.options | options)) for options in boards)


def check_boards(config: Config, game: Game) -> None:
    """Raise GameError unless one network of `game` can learn on all boards of self-play."""
    if config.selfplay.boards is None:
        return
    if config.selfplay.distributed is not None:
        raise GameError("Ray actors play on one board; remove it or selfplay.distributed")
    if config.network.heads != "convolutional" or not game.policy_planes:
        raise GameError(
            "one network plays on several boards only with network.heads: convolutional and a "
            "game with policy planes"
        )
    sizes = {game.observation_shape: game}
    for board in make_boards(config):
        if _inputs_and_outputs(board) != _inputs_and_outputs(game):
            raise GameError(f"a network of {game} cannot play {board}: it has other planes")
        same_size = sizes.setdefault(board.observation_shape, board)
        if not same_size.accepts(board):
            raise GameError(
                f"the network cannot tell {board} from {same_size}: boards differ in size"
            )


def _inputs_and_outputs(game: Game) -> tuple[object, ...]:
    """Return what all boards must share: observed planes, and actions that are not on a cell."""
    planes, height, width = game.observation_shape
    seen = [getattr(game, option) for option in game.observation_options]
    others = game.num_actions - game.policy_planes * height * width
    return (planes, *seen, game.policy_planes, others)
