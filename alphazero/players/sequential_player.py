"""Players that choose their moves one after the other, without a tree for each game."""

from collections import deque
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from alphazero.errors import PlayerError
from alphazero.games.game import Game, State
from alphazero.mcts.move_selection import sample_actions
from alphazero.players.base import Decisions, Player
from alphazero.utils.arrays import Int64Array
from alphazero.utils.files import printable
from alphazero.utils.plug_ins import is_foreign, place_of, reason_of

MOVES_PER_STEP: Final = 32
"""Most moves of an agent in one `step`: Ctrl-C waits for them, and an opponent that searches gets
as many positions at once."""


class SequentialPlayer(Player):
    """Knows the states of its games, in which of them a move is requested, and finished moves."""

    def __init__(self, game: Game, slots: int) -> None:
        self.game = game
        self._states = np.zeros((slots, game.state_size), np.int64)
        self._waiting: deque[int] = deque()
        self._answers: dict[int, tuple[int, float]] = {}
        """action and value by slot"""

    def reset(self, slots: Int64Array, states: State) -> None:
        self._states[slots] = states
        for slot in map(int, slots):
            self._answers.pop(slot, None)
            if slot in self._waiting:
                self._waiting.remove(slot)

    def advance(self, slots: Int64Array, actions: Int64Array) -> None:
        for slot, action in zip(slots, actions, strict=True):
            self._states[slot] = self.game.play(self._states[slot], int(action))

    def begin_moves(self, slots: Int64Array) -> None:
        self._waiting.extend(map(int, slots))

    def take_decisions(self) -> Decisions:
        answers, self._answers = self._answers, {}
        slots = np.array(list(answers), np.int64)
        actions = np.array([action for action, _ in answers.values()], np.int64)
        values = np.array([value for _, value in answers.values()], np.float32)
        shares = np.ones((len(slots), 1), np.float32)
        return Decisions(slots, actions, actions[:, None].copy(), shares, values)


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


class AgentPlayer(SequentialPlayer):
    """Plays the moves of an agent: `choose(game, state)` returns a legal action.

    Raises PlayerError from `step`, when the agent raises an error or returns no legal action.
    """

    def __init__(
        self, game: Game, slots: int, name: str, choose: Callable[[Game, State], Any]
    ) -> None:
        super().__init__(game, slots)
        self.name = name
        self._choose = choose

    def step(self) -> None:
        for _ in range(min(len(self._waiting), MOVES_PER_STEP)):
            slot = self._waiting.popleft()
            self._answers[slot] = self._action(self._states[slot]), 0.0

    def _action(self, state: State) -> int:
        try:
            action = self._choose(self.game, state.copy())
        except Exception as error:
            place = place_of(error, is_foreign, "in the agent")
            raise PlayerError(f"agent {self.name}: {place}: {reason_of(error)}") from error
        legal = np.flatnonzero(self.game.legal_action_mask(state)).tolist()
        try:
            return int(legal[legal.index(action)])
        except Exception as error:  # it is none of them, or cannot be compared, as an array
            raise PlayerError(
                f"agent {self.name} chose {printable(repr(action)[:40])} after {state[0]} moves; "
                f"expected one of the legal actions {', '.join(map(str, legal[:20]))}"
                f"{', ...' * (len(legal) > 20)}"
            ) from error
