"""Positions of games that a network plays with itself, half at random.

Shapes: B positions, C planes, H rows, W columns.
"""

from typing import Final

import numpy as np

from alphazero.games.game import ONGOING, Game
from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.utils.arrays import Float32Array

GAMES: Final = 16
"""Games at once: so few that a thousand positions reach far into games of any length."""

RANDOM_SHARE: Final = 0.5
"""Share of uniformly random moves, so that games differ; the others follow the policy."""

MAX_ROUNDS: Final = 2_000
"""Moves of each game at most; small games do not have as many positions as asked for."""


def played_positions(evaluator: BatchedEvaluator, game: Game, wanted: int) -> Float32Array:
    """Return `wanted` distinct observations [B, C, H, W] in a random order, always the same.

    There are fewer if the game has no more, but at least one.
    """
    rng = np.random.default_rng(0)
    states = [game.initial_state() for _ in range(GAMES)]
    seen: dict[bytes, Float32Array] = {}
    idle = 0  # rounds without a new position
    for _ in range(MAX_ROUNDS):
        if len(seen) >= wanted or idle > game.max_moves:
            break
        observations = np.stack([game.observe(state) for state in states])
        before = len(seen)
        seen |= {each.tobytes(): each for each in observations}
        idle = idle + 1 if len(seen) == before else 0
        logits, _ = evaluator.evaluate(observations)
        for index, (state, scores) in enumerate(zip(states, logits, strict=True)):
            mask = game.legal_action_mask(state)
            weights = np.where(mask, np.exp(scores - scores[mask].max(), dtype=np.float64), 0.0)
            if rng.random() < RANDOM_SHARE:
                weights = mask.astype(np.float64)
            after = game.play(state, int(rng.choice(len(mask), p=weights / weights.sum())))
            over = game.outcome(after) != ONGOING
            states[index] = game.initial_state() if over else after
    positions = np.stack(list(seen.values()))
    return positions[rng.permutation(len(positions))[:wanted]]
