"""The value loss in games that the network has not learned from yet, beside games that it has.

The newest games enter the window after this measurement, so no game has to be kept from training.
"""

from collections.abc import Sequence

import numpy as np
import torch

from alphazero.config.schema import LearnerConfig
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import Batch, ReplayBuffer
from alphazero.training.learning.learner import Learner

HOLDOUT_POSITIONS = 512
"""Positions of each kind: they give the mean squared error to about a tenth of itself."""


def holdout_value_loss(
    learner: Learner,
    replay: ReplayBuffer,
    newest: GameBatch,
    settings: LearnerConfig,
    seed: Sequence[int],
) -> dict[str, float]:
    """Return the value's squared errors by metric name; empty if one kind has no positions.

    `newest` are games that are not in the window of `replay` yet. Positions of both kinds are drawn
    as in training, but without symmetries, and evaluated by the same network, the one that plays.
    """
    alone = ReplayBuffer(replay.game, replay.settings)
    alone.add(0, newest)
    if not (replay.window and alone.window):
        return {}
    rng = np.random.default_rng(seed)
    return {
        name: value_loss(
            learner, games.sample(HOLDOUT_POSITIONS, rng, False, settings.search_value_weight)
        )
        for name, games in (
            ("learner/seen_value_loss", replay),
            ("learner/unseen_value_loss", alone),
        )
    }


@torch.no_grad()
def value_loss(learner: Learner, batch: Batch) -> float:
    """Return the mean of (z - v)² over a batch, 0 to 4, for the network that plays."""
    observations = torch.from_numpy(batch.observations).to(learner.device)
    values = learner.ema_network.eval().forward_full(observations).values.float().cpu().numpy()
    return float(np.square(batch.values - values, dtype=np.float64).mean())
