"""What the network says of games that it has not learned from yet, beside those that it has.

The newest games are in no window while they are played, so for one moment they are held out, and
no game has to be kept from training for it. Nothing here is learned from.
"""

from collections.abc import Sequence

import numpy as np
import torch

from alphazero.config.schema import LearnerConfig
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import Batch, ReplayBuffer
from alphazero.training.learning.learner import Learner

EXAMINED = 512
"""Positions of each kind: their mean squared error is known to about a tenth of itself."""


def holdout_value_loss(
    learner: Learner,
    replay: ReplayBuffer,
    newest: GameBatch,
    settings: LearnerConfig,
    seed: Sequence[int],
) -> dict[str, float]:
    """Return the value's squared errors by the names of metrics; none where one cannot be told.

    `newest` are games that are not in the window of `replay` yet. Both kinds of positions are
    drawn as training draws them, with the targets that training gives them, and shown to one and
    the same network, the one that plays.
    """
    alone = ReplayBuffer(replay.game, replay.settings)
    alone.add(0, newest)
    if not (replay.window and alone.window):
        return {}
    rng = np.random.default_rng(seed)
    return {
        name: value_loss(learner, games.sample(EXAMINED, rng, False, settings.value_mix))
        for name, games in (
            ("learner/seen_value_loss", replay),
            ("learner/unseen_value_loss", alone),
        )
    }


@torch.no_grad()
def value_loss(learner: Learner, batch: Batch) -> float:
    """Return the mean of (z - v)² of the player's network over a batch, 0 to 4."""
    observations = torch.from_numpy(batch.observations).to(learner.device)
    values = learner.player.eval().forward_full(observations).values.float().cpu().numpy()
    return float(np.square(batch.values - values, dtype=np.float64).mean())
