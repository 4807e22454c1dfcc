"""Random games for the contract check."""

import itertools
import random
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import numpy as np

from alphazero.games.contract.watched_rules import WatchedRules
from alphazero.games.game import ONGOING, OUTCOME, Game, Mask, State

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
    """positions per requirement whose cost grows with the number of moves"""
    endings: int
    """further games, whose ends alone are checked"""


FULL = Effort(games=6, plies=4000, work=200_000, positions=200, endings=64)
SHORT = Effort(games=6, plies=240, work=15_000, positions=8, endings=32)


class PlayedPosition(NamedTuple):
    """A position of a random game."""

    state: State
    mask: Mask = np.zeros(0, np.bool_)
    num_legal: int = 0
    """the number of legal actions that the rule returns"""
    action: int = -1
    """the action played here; -1 at the end of the game or record"""

    @property
    def outcome(self) -> int:
        return int(self.state[OUTCOME])

    @property
    def is_over(self) -> bool:
        return self.outcome != ONGOING or not self.mask.any()


class RandomGames:
    """Random games of a game, with its watched rules.

    The random seed is the state's size, so every check has the same games.
    """

    def __init__(self, game: Game, effort: Effort) -> None:
        self.game = game
        self.effort = effort
        self.current: State | None = None
        """the position under test"""
        self.records: list[list[PlayedPosition]] = []
        """the positions of random games, at most `max_moves` + 1 each"""
        self._endings: list[State] = []

    @cached_property
    def rules(self) -> WatchedRules:
        return WatchedRules(self.game, self.effort.work)

    def play(self) -> None:
        """Play the random games; a Fault of the rules ends them."""
        dice, plies = random.Random(self.game.state_size), 0
        while len(self.records) < self.effort.games and plies < self.effort.plies:
            prolong = len(self.records) % 2 == 1
            self.records.append([])
            self._play_one(dice, prolong, self.effort.plies - plies)
            plies += len(self.records[-1])

    def _play_one(self, dice: random.Random, prolong: bool, most: int) -> None:
        """Play a random game; with `prolong`, avoid moves that end it."""
        rules, record, state = self.rules, self.records[-1], self.game.initial_state()
        for _ in range(min(self.game.max_moves + 1, most)):
            record.append(PlayedPosition(state))
            mask, num_legal = rules.legal(state)
            rules.write("observe", state)
            position = record[-1] = PlayedPosition(state, mask, num_legal)
            if position.is_over:
                rules.write("owners", state)
                rules.ask("margin", state)
                return
            rules.ask("heuristic", state)
            rules.ask("wins_at_once", state)
            actions = np.flatnonzero(mask).tolist()
            dice.shuffle(actions)
            for action in actions if prolong else actions[:1]:
                after = rules.play(state, action)
                if after[OUTCOME] == ONGOING:
                    break
            record[-1] = position._replace(action=action)
            state = after

    def positions(self, most: int | None = None) -> Iterator[PlayedPosition]:
        """Yield every position of the random games, or at most `most` of them, evenly spread."""
        every = list(itertools.chain.from_iterable(self.records))
        step = 1 if most is None else -(-len(every) // most)
        for position in every[:: max(1, step)]:
            self.current = position.state
            yield position

    def sample(self) -> Iterator[PlayedPosition]:
        return self.positions(self.effort.positions)

    def last_positions(self) -> Iterator[PlayedPosition]:
        """Yield the last positions of the games that the budget of plies did not cut short."""
        for record in self.records:
            if record[-1].is_over or len(record) == self.game.max_moves + 1:
                self.current = record[-1].state
                yield record[-1]

    def endings(self) -> Iterator[State]:
        """Yield the ends of further random games, which are played on demand."""
        for number in range(self.effort.endings):
            if number == len(self._endings):
                self._endings.append(self._play_to_the_end(random.Random(number)))
            self.current = self._endings[number]
            yield self.current

    def _play_to_the_end(self, dice: random.Random) -> State:
        """Play a random game without observations."""
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
                    names = [self.name_of(each) for each in record[:ply]]
                    omitted = ply - MAX_MOVES_SHOWN
                    return " ".join(
                        names if omitted <= 0 else [f"({omitted} moves)", *names[omitted:]]
                    )
        return None

    def name_of(self, position: PlayedPosition) -> str:
        """Return the name of the action played in a position, or its number if naming fails."""
        with suppress(Exception):
            return str(self.game.action_name(position.state, position.action))
        return f"action {position.action}"
