"""A player of random moves."""

import numpy as np

from alphazero.games.game import Game, State
from alphazero.mcts.move_selection import sample_actions
from alphazero.players.base import Decisions, Player
from alphazero.utils.arrays import Int64Array


class RandomPlayer(Player):
    """Plays a uniformly random legal move."""

    def __init__(self, game: Game, slots: int, rng: np.random.Generator) -> None:
        self.game = game
        self.rng = rng
        self._states = np.zeros((slots, game.state_size), np.int64)
        self._waiting: Int64Array = np.zeros(0, np.int64)

    def reset(self, slots: Int64Array, states: State) -> None:
        self._states[slots] = states
        self._waiting = np.setdiff1d(self._waiting, slots)

    def advance(self, slots: Int64Array, actions: Int64Array) -> None:
        for slot, action in zip(slots, actions, strict=True):
            self._states[slot] = self.game.play(self._states[slot], int(action))

    def begin_moves(self, slots: Int64Array) -> None:
        self._waiting = np.union1d(self._waiting, slots)

    def step(self) -> None:
        """Do nothing: moves are drawn in `take_decisions`."""

    def take_decisions(self) -> Decisions:
        slots, self._waiting = self._waiting, np.zeros(0, np.int64)
        masks = [self.game.legal_action_mask(self._states[slot]) for slot in slots]
        policies = np.array(masks, np.float32).reshape(len(slots), self.game.num_actions)
        policies /= np.maximum(policies.sum(axis=1, keepdims=True), 1)
        actions = sample_actions(policies, np.ones(len(slots)), self.rng)
        return Decisions(slots, actions, policies, np.zeros(len(slots), np.float32))
