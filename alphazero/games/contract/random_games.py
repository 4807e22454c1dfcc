"""Random games for the contract check."""

import itertools
import random
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import numpy as np

from alphazero.games.contract.watched_rules import Array, Fault, WatchedRules
from alphazero.games.game import ONGOING, OUTCOME, Game, Mask, State

FULL, SHORT = 4000, 240
"""Efforts of a check: the total number of moves of its random games."""

GAMES = 6
"""Random games; every second one avoids moves that end it."""

ENDINGS = 32
"""Further games, whose ends alone are checked."""


class PlayedPosition(NamedTuple):
    """A position of a random game."""

    state: State
    mask: Mask = np.zeros(0, np.bool_)
    num_legal: int = 0
    """the number of legal actions that the rule returns"""
    action: int = -1
    """the action played here; -1 at the end of the game"""

    @property
    def outcome(self) -> int:
        return int(self.state[OUTCOME])


class RandomGames:
    """Random games of a game, with its watched rules.

    The random seed is the state's size, so every check has the same games.
    """

    def __init__(self, game: Game, effort: int) -> None:
        self.game = game
        self.effort = effort
        self.current: State | None = None
        """the position under test"""
        self.records: list[list[PlayedPosition]] = []
        """the positions of random games, at most `max_moves` + 1 each"""

    @cached_property
    def rules(self) -> WatchedRules:
        return WatchedRules(self.game, work=50 * self.effort)

    def observe(self, state: State) -> Array:
        return self.rules.read("observe", state).written

    def play(self) -> None:
        """Play the random games; a Fault of the rules ends them."""
        dice, plies = random.Random(self.game.state_size), self.effort
        while len(self.records) < GAMES and plies > 0:
            self.records.append([])
            self._play_one(dice, prolong=len(self.records) % 2 == 0, most=plies)
            plies -= len(self.records[-1])

    def _play_one(self, dice: random.Random, prolong: bool, most: int) -> None:
        """Play a random game; with `prolong`, avoid moves that end it."""
        rules, record, state = self.rules, self.records[-1], self.game.initial_state()
        for _ in range(min(self.game.max_moves + 1, most)):
            record.append(PlayedPosition(state))
            mask, num_legal = rules.legal(state)
            self.observe(state)
            record[-1] = PlayedPosition(state, mask, num_legal)
            if state[OUTCOME] != ONGOING or not mask.any():
                for name in ("owners", "margin"):
                    rules.read(name, state)
                return
            for name in ("heuristic", "wins_at_once"):
                rules.read(name, state)
            actions = np.flatnonzero(mask).tolist()
            dice.shuffle(actions)
            for action in actions if prolong else actions[:1]:
                after = rules.play(state, action)
                if after[OUTCOME] == ONGOING:
                    break
            record[-1] = record[-1]._replace(action=action)
            state = after

    def positions(self, most: int | None = None) -> Iterator[PlayedPosition]:
        """Yield every position of the random games, or at most `most` of them, evenly spread.

        Raises Fault if a position is changed while it is looked at.
        """
        every = list(itertools.chain.from_iterable(self.records))
        for position in every[:: -(-len(every) // (most or len(every) or 1)) or 1]:
            self.current, before = position.state, position.state.copy()
            yield position
            if not np.array_equal(position.state, before):
                raise Fault(
                    "a method changes the state", position.state, "does_not_change_given_states"
                )

    def sample(self) -> Iterator[PlayedPosition]:
        """Yield positions for a requirement whose cost grows with the number of moves."""
        return self.positions(self.effort // 20)

    @cached_property
    def endings(self) -> list[State]:
        """The ends of further random games."""
        return [self._play_to_the_end(random.Random(seed)) for seed in range(ENDINGS)]

    def _play_to_the_end(self, dice: random.Random) -> State:
        state = self.game.initial_state()
        for _ in range(self.game.max_moves):
            actions = np.flatnonzero(self.rules.legal(state)[0]).tolist()
            if not actions:
                break
            state = self.rules.play(state, dice.choice(actions))
        return state

    def moves_to(self, state: State) -> str | None:
        """Return the moves to a position of the random games; None for other positions."""
        for record in self.records:
            for ply, position in enumerate(record):
                if position.state is state:
                    return " ".join(self.name_of(item.state, item.action) for item in record[:ply])
        return None

    def name_of(self, state: State, action: int) -> str:
        """Return the name of an action, or its number if naming fails."""
        with suppress(Exception):
            return str(self.game.action_name(state, action))
        return f"action {action}"
