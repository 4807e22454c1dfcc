"""The picture of an iteration's most surprising position.

Nothing here feeds back into training. Letters: n positions, A actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from alphazero.config.schema import SearchConfig
from alphazero.drawing.position import draw_position
from alphazero.games.game import Game, State, to_play, value_of
from alphazero.mcts.evaluator import Evaluator
from alphazero.mcts.network_search import NetworkSearch
from alphazero.records.game_record import GameRecord, Policies
from alphazero.utils.arrays import Float64Array

SURPRISE_POSITIONS = 64
"""Positions among which the most surprising one is found: one batch, at negligible cost."""


LEAST_PRIOR = float(np.finfo(np.float32).tiny)
"""Smallest normal float32."""


@dataclass(frozen=True)
class Surprise:
    """A position where the search policy differs from the network's policy."""

    record: GameRecord
    move: int
    """number of moves made before it"""
    prior: Float64Array
    """[A] the network's policy p, legal actions only"""
    network_value: float
    """for the player to move, like all values here"""
    divergence: float
    """KL(π‖p) of the search policy from the prior, in nats"""

    def draw(self, game: Game, title: str) -> Image.Image:
        record = self.record
        state = state_after(game, record, self.move)
        policy = record.policies.part(self.move, self.move + 1).dense(game.num_actions)[0]
        played = int(record.actions[self.move])
        last_cell = None
        if self.move:
            before = state_after(game, record, self.move - 1)
            last_cell = game.action_cell(before, int(record.actions[self.move - 1]))

        def top_moves(shares: npt.NDArray[np.floating]) -> str:
            best = int(shares.argmax())
            return f"{game.action_name(state, best)} ({100 * shares[best]:.0f} %)"

        picture = draw_position(
            game,
            state,
            title=f"{title}, move {self.move + 1}",
            policies={"network's prior, %": self.prior, "search's visits, %": policy},
            values={
                "network": self.network_value,
                "search": float(record.values[self.move]),
                "outcome": float(value_of(record.outcome, to_play(state))),
            },
            last_cell=last_cell,
            played=played,
            notes=[
                f"The network prefers {top_moves(self.prior)}, the search {top_moves(policy)}; "
                f"{game.action_name(state, played)} was played.",
                f"The search differs from the prior by {self.divergence:.2f} nats.",
            ],
        )
        return picture.to_image()


def most_surprising_position(
    game: Game, records: Sequence[GameRecord], evaluator: Evaluator
) -> Surprise | None:
    """Return the position with the greatest KL(π‖p) among the newest full searches.

    π is the search policy and p the network's. The newest `SURPRISE_POSITIONS` positions count,
    from the end of the last of `records` backwards: the first games to end in an iteration may have
    begun with an older network. The first of equals wins. None when there was no full search.
    """
    newest = [
        (record, int(move))
        for record in reversed(records)
        for move in np.flatnonzero(record.policies.searched)[::-1]
    ][:SURPRISE_POSITIONS]
    if not newest:
        return None
    states = np.stack([state_after(game, record, move) for record, move in newest])
    priors, values = ask_network(game, evaluator, states)
    policies = Policies.join([record.policies.part(move, move + 1) for record, move in newest])
    differences = kl_divergences(policies.dense(game.num_actions), priors)
    index = int(differences.argmax())
    record, move = newest[index]
    return Surprise(record, move, priors[index], float(values[index]), float(differences[index]))


def ask_network(
    game: Game, evaluator: Evaluator, states: State
) -> tuple[Float64Array, Float64Array]:
    """Return the network's policies over legal actions [n, A] and values [n] of `states` [n, S]."""
    slots = np.arange(len(states))
    settings = SearchConfig(evaluation_cache_mib=0)
    search = NetworkSearch(game, evaluator, settings, slots=len(states), nodes=1)
    search.reset(slots, states)
    search.begin_search(slots, 0)
    search.step()
    roots = search.root_statistics(slots)
    return roots.by_action(roots.priors, game.num_actions), roots.values


def kl_divergences(policies: npt.NDArray[np.floating], priors: Float64Array) -> Float64Array:
    """Return KL(pi || p) = sum of pi log(pi / p), in nats, [n]; both are [n, A].

    A prior rounded to 0 counts as `LEAST_PRIOR`, so the result is finite.
    """
    shares = policies.astype(np.float64)
    ratios = np.where(shares > 0, shares, 1) / np.maximum(priors, LEAST_PRIOR)
    sums: Float64Array = (shares * np.log(ratios)).sum(axis=1)
    return np.maximum(sums, 0)  # rounding may make a sum negative


def state_after(game: Game, record: GameRecord, moves: int) -> State:
    """Return the state of a game after its first `moves` moves."""
    return game.play(record.variant(game).initial_state(), *map(int, record.actions[:moves]))
