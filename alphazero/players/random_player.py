"""A player of random moves."""

import numpy as np

from alphazero.games.game import Game
from alphazero.mcts.move_selection import sample_actions
from alphazero.players.base import Decisions
from alphazero.players.sequential_player import SequentialPlayer


class RandomPlayer(SequentialPlayer):
    """Plays a uniformly random legal move."""

    def __init__(self, game: Game, slots: int, rng: np.random.Generator) -> None:
        super().__init__(game, slots)
        self.rng = rng

    def step(self) -> None:
        """Do nothing: moves are drawn in `take_decisions`."""

    def take_decisions(self) -> Decisions:
        slots = sorted(self._waiting)
        self._waiting.clear()
        masks = [self.game.legal_action_mask(self._states[slot]) for slot in slots]
        policies = np.array(masks, np.float32).reshape(len(slots), self.game.num_actions)
        actions = sample_actions(policies, np.ones(len(slots)), self.rng)
        self._answers = {slot: (action, 0.0) for slot, action in zip(slots, actions, strict=True)}
        return super().take_decisions()
