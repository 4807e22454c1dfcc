"""How a game will end: who will own each cell, and by how much player 0 will win.

The network's auxiliary heads predict it; in a finished position the rules say it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

import numpy as np

from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.mcts.evaluator import Evaluator, innermost
from alphazero.mcts.network_search import NetworkSearch
from alphazero.players.base import Player
from alphazero.players.search_player import SearchPlayer
from alphazero.utils.arrays import Float32Array

if TYPE_CHECKING:
    from alphazero.network.inference.batched_evaluator import AuxiliaryPredictions


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


@runtime_checkable
class PredictingNetwork(Evaluator, Protocol):
    """A network with auxiliary heads, or none; `BatchedEvaluator` is one, this imports no torch."""

    auxiliary_heads: tuple[str, ...]

    def predict(self, observations: Float32Array) -> "AuxiliaryPredictions":
        """Return the predictions for `observations` [B, C, H, W], for `to_play` of each."""
        ...


def network_of(player: Player) -> PredictingNetwork | None:
    """Return the network of a player, without the symmetries of its search; None without one."""
    if not (isinstance(player, SearchPlayer) and isinstance(player.search, NetworkSearch)):
        return None
    network = innermost(player.search.evaluator)
    return network if isinstance(network, PredictingNetwork) else None


def predict_end(game: Game, state: State, player: Player | None = None) -> EndPrediction:
    """Return how the game of `state` will end: exact if it is finished, else by `player`'s network.

    What neither the rules nor the network say is None.
    """
    if game.outcome(state) != ONGOING:
        return end_now(game, state)
    network = None if player is None else network_of(player)
    if network is None or not network.auxiliary_heads:
        return NO_PREDICTION
    assert isinstance(player, SearchPlayer), "it has a network"
    found = network.predict(player.search.game.observe(state)[None])  # it observes by its own rules
    sign = value_of(1, to_play(state))
    return EndPrediction(
        None if found.ownership is None else sign * found.ownership[0],
        None if found.margin is None else sign * float(found.margin[0]),
        None if found.margin_spread is None else float(found.margin_spread[0]),
    )


def end_now(game: Game, state: State) -> EndPrediction:
    """Return how the game ends if `state` is its end."""
    ownership, margin, spread = None, None, None
    if game.has_owners:
        cells = np.zeros(game.observation_shape[1:], np.int8).ravel()
        game.rule_functions.owners(state, cells)
        ownership = cells.astype(np.float32)
    if game.has_margin:
        margin, spread = game.margin(state), 0.0
    return EndPrediction(ownership, margin, spread)
