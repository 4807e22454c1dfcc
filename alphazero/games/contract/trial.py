"""Random games for the contract check."""

import functools
import itertools
import random
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from alphazero.games.contract.guarded import Breach, WatchedRules
from alphazero.games.game import ONGOING, OUTCOME, Game, Mask, Owners, State

MAX_MOVES_SHOWN = 60


class Effort(NamedTuple):
    """The amount of checking."""

    games: int
    """random games; every second one avoids moves that end it"""
    plies: int
    """total number of moves of these games"""
    work: int
    """estimated number of array entries that each rule may access in Python"""
    positions: int
    """positions per promise whose cost grows with the number of moves"""
    endings: int
    """further games, whose ends alone are checked"""


FULL = Effort(games=6, plies=4000, work=200_000, positions=200, endings=64)
SHORT = Effort(games=6, plies=240, work=15_000, positions=8, endings=32)


class PlayedPosition(NamedTuple):
    """A position of a random game."""

    state: State
    mask: Mask
    num_legal: int
    """the number of legal actions that the rule returns"""
    outcome: int
    action: int
    """the action played here; -1 at the end of the game or record"""


class Ending(NamedTuple):
    """The end of a random game."""

    after: State
    outcome: int
    last_player: int


class Trial:
    """A game, its watched rules, and random games with them.

    The random seed is the state's size, so every trial has the same games.
    """

    def __init__(self, game: Game, effort: Effort = FULL) -> None:
        self.game = game
        self.effort = effort
        self.current: State | None = None
        """the position under test"""
        self.breach: Breach | None = None
        """the breach that ended a random game early"""
        self._endings: list[Ending] = []

    @functools.cached_property
    def rules(self) -> WatchedRules:
        return WatchedRules(self.game, self.effort.work)

    @functools.cached_property
    def records(self) -> list[list[PlayedPosition]]:
        """The positions of random games, at most `max_moves` + 1 each."""
        dice, records, plies = random.Random(self.game.state_size), list[list[PlayedPosition]](), 0
        while len(records) < self.effort.games and plies < self.effort.plies and not self.breach:
            record: list[PlayedPosition] = []
            try:
                for position in self._play(dice, len(records) % 2 == 1, self.effort.plies - plies):
                    record.append(position)
            except Breach as breach:
                self.breach = breach
                if breach.state is not None:
                    record.append(
                        PlayedPosition(breach.state, np.zeros(0, np.bool_), 0, ONGOING, -1)
                    )
            plies += len(record)
            records.append(record)
        return records

    @property
    def whole_records(self) -> list[list[PlayedPosition]]:
        """The random games that were not cut short by the budget of plies."""
        most = self.game.max_moves + 1
        return [
            record
            for record in self.records
            if record and (_is_over(record[-1]) or len(record) == most)
        ]

    def positions(self, most: int | None = None) -> Iterator[PlayedPosition]:
        """Yield every position of the random games, or at most `most` of them, evenly spread."""
        every = list(itertools.chain.from_iterable(self.records))
        step = 1 if most is None else -(-len(every) // most)
        for position in every[:: max(1, step)]:
            self.current = position.state
            yield position

    def sample(self) -> Iterator[PlayedPosition]:
        return self.positions(self.effort.positions)

    def endings(self) -> Iterator[Ending]:
        """Yield the ends of further random games, which are played on demand."""
        for number in range(self.effort.endings):
            if number == len(self._endings):
                self._endings.append(self._play_to_the_end(random.Random(number)))
            self.current = self._endings[number].after
            yield self._endings[number]

    def moves_to(self, state: State) -> str | None:
        """Return the moves to a position of the random games; None for other positions."""
        for record in self.records:
            for ply, position in enumerate(record):
                if position.state is state:
                    return " ".join(self._names(record[:ply]))
        return None

    def name_of(self, position: PlayedPosition) -> str:
        """Return the name of the action played in a position, or its number if naming fails."""
        with suppress(Exception):
            return str(self.game.action_name(position.state, position.action))
        return f"action {position.action}"

    def _names(self, played: list[PlayedPosition]) -> list[str]:
        names = [self.name_of(position) for position in played]
        omitted = len(names) - MAX_MOVES_SHOWN
        return names if omitted <= 0 else [f"({omitted} moves)", *names[omitted:]]

    def read_end(self, position: PlayedPosition) -> tuple[Owners, float]:
        """Return the owners [H * W] and the margin of a finished position, 0 without a rule."""
        game = self.game
        _, height, width = game.observation_shape
        owners = np.zeros(height * width, np.int8)
        if game.has_owners:
            owners = self.rules.owners(position.state)
        return owners, self.rules.margin(position.state) if game.has_margin else 0.0

    def _play(self, dice: random.Random, prolong: bool, most: int) -> Iterator[PlayedPosition]:
        """Play a random game; with `prolong`, avoid moves that end it."""
        state = self.game.initial_state()
        for _ in range(min(self.game.max_moves + 1, most)):
            mask, num_legal = self.rules.legal(state)
            outcome = int(state[OUTCOME])
            self.rules.observe(state)
            position = PlayedPosition(state, mask, num_legal, outcome, -1)
            if _is_over(position):
                self.read_end(position)
                yield position
                return
            self.rules.estimate(state)
            self.rules.wins_at_once(state)
            actions = np.flatnonzero(mask).tolist()
            dice.shuffle(actions)
            for action in actions if prolong else actions[:1]:
                after = self.rules.play(state, action)
                if after[OUTCOME] == ONGOING:
                    break
            yield position._replace(action=action)
            state = after

    def _play_to_the_end(self, dice: random.Random) -> Ending:
        """Play a random game without observations."""
        after = self.game.initial_state()
        outcome, moves = ONGOING, 0
        while outcome == ONGOING and moves < self.game.max_moves:
            actions = np.flatnonzero(self.rules.legal(after)[0]).tolist()
            if not actions:
                break
            after = self.rules.play(after, dice.choice(actions))
            outcome, moves = int(after[OUTCOME]), moves + 1
        return Ending(after, outcome, (moves - 1) % 2)


def _is_over(position: PlayedPosition) -> bool:
    return position.outcome != ONGOING or not position.mask.any()
