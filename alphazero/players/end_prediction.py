"""How a game will end: who will own each cell, and by how much player 0 will win.

The network's auxiliary heads predict it; in a finished position the rules say it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.mcts.evaluator import innermost
from alphazero.mcts.network_search import NetworkSearch
from alphazero.players.base import Player
from alphazero.players.search_player import SearchPlayer
from alphazero.utils.arrays import Float32Array

if TYPE_CHECKING:  # this imports no torch
    from alphazero.network.inference.batched_evaluator import BatchedEvaluator


@dataclass(frozen=True)
class EndPrediction:
    """The predicted or exact end of a game, for player 0 whoever is to move."""

    ownership: Float32Array | None = None
    """[H * W] in [-1, 1], row by row: 1 for cells of player 0, -1 for cells of player 1; or None"""
    margin: float | None = None
    """by how much player 0 wins, in the game's points; None if unknown"""
    margin_spread: float | None = None
    """standard deviation of the margin; 0 where it is exact, None if unknown"""


NO_PREDICTION: Final = EndPrediction()


def predict_end(game: Game, state: State, player: Player | None = None) -> EndPrediction:
    """Return how the game of `state` will end: exact if it is finished, else by `player`'s network.

    What neither the rules nor the network say is None.
    """
    if game.outcome(state) != ONGOING:
        cells = np.zeros(game.observation_shape[1:], np.int8).ravel()
        if game.has_owners:
            game.rule_functions.owners(state, cells)
        return EndPrediction(
            cells.astype(np.float32) if game.has_owners else None,
            game.margin(state) if game.has_margin else None,
            0.0 if game.has_margin else None,
        )
    if not (isinstance(player, SearchPlayer) and isinstance(player.search, NetworkSearch)):
        return NO_PREDICTION
    network = innermost(player.search.evaluator)
    if not getattr(network, "auxiliary_heads", ()):
        return NO_PREDICTION
    # The network observes by its own rules, and without the symmetries of the search.
    predictions = cast("BatchedEvaluator", network).predict(player.search.game.observe(state)[None])
    sign, spread = value_of(1, to_play(state)), predictions.margin_spread
    return EndPrediction(
        None if predictions.ownership is None else sign * predictions.ownership[0],
        None if predictions.margin is None else sign * float(predictions.margin[0]),
        None if spread is None else float(spread[0]),
    )
