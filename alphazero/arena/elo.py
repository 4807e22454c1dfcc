"""The result of a match: score, Elo difference and its interval."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from alphazero.arena.bradley_terry import PairScore, fit
from alphazero.games.game import LAST, Game, value_of, win_rate
from alphazero.records.game_record import GameRecord, Pairing


def elo_difference(score: float) -> float:
    """Return the Elo difference with expected score `score`, in (0, 1).

    score = 1 / (1 + 10^(-d / 400)): Elo, The Rating of Chessplayers, 1978.
    """
    return 400 * math.log10(score / (1 - score))


GameKey: TypeAlias = tuple[tuple[int, int], bytes, tuple[int, ...]]
"""What distinguishes a game: who moves first, the position after the opening, the later moves."""


class Result(NamedTuple):
    """A finished game as evidence of strength."""

    pairing: Pairing
    later_moves: tuple[int, ...]
    """those after the opening"""
    outcome: int

    @classmethod
    def of(cls, record: GameRecord) -> "Result":
        later_moves = record.actions[len(record.pairing.opening) :].tolist()
        return cls(record.pairing, tuple(later_moves), record.outcome)

    def score(self, player: int) -> float:
        """Return the player's score: 1, 1/2 or 0."""
        return win_rate(value_of(self.outcome, self.pairing.players.index(player)))

    def key(self, game: Game) -> GameKey:
        """Return the key; openings that lead to one position have one."""
        variant = game.variant(self.pairing.options)
        state = variant.play(variant.initial_state(), *self.pairing.opening)
        if not game.last_move_in_state_key:
            state[LAST] = 0
        return self.pairing.players, state.tobytes(), self.later_moves


def pair_scores(game: Game, results: Iterable[Result]) -> list[PairScore]:
    """Return the scores of the pairs of games that differ, in the order of their first occurrence.

    A pair that occurs m times is one observation of weight m. So all pairs of two players together
    count for (sum m)^2 / sum m^2 pairs (Kish, *Survey Sampling*, 1965): as many as differ if all
    occur equally often, else fewer.
    """
    pairs: dict[tuple[tuple[int, int], int], list[Result]] = {}
    for result in results:
        low, high = sorted(result.pairing.players)
        pairs.setdefault(((low, high), result.pairing.pair_id), []).append(result)
    groups: dict[tuple[tuple[int, int], tuple[GameKey, ...]], list[float]] = {}
    for (players, _), games in pairs.items():
        keys = tuple(sorted(result.key(game) for result in games))
        groups.setdefault((players, keys), []).extend(result.score(players[0]) for result in games)
    totals, squares = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for (players, keys), scores in groups.items():
        totals[players] += len(scores)
        squares[players] += len(scores) ** 2 // len(keys)
    return [
        PairScore(
            players, sum(scores) / len(scores), len(scores) * totals[players] / squares[players]
        )
        for (players, _), scores in groups.items()
    ]


def count_distinct(game: Game, results: Iterable[Result]) -> int:
    """Count the games that differ; games with swapped players do."""
    return len({result.key(game) for result in results})


@dataclass(frozen=True)
class MatchResult:
    """The result of player 0 against player 1, in player 0's view."""

    wins: int
    draws: int
    losses: int
    distinct: int
    """Number of distinct games, as `count_distinct`."""
    elo: float
    elo_low: float
    """lower end of the 95 % interval, see `bradley_terry`"""
    elo_high: float

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins plus half the draws, as a share of the games."""
        return (self.wins + self.draws / 2) / self.games

    def __str__(self) -> str:
        return (
            f"{self.wins} won, {self.draws} drawn, {self.losses} lost: {self.score:.1%}, "
            f"Elo {self.elo:+z.0f} ({self.elo_low:+z.0f} to {self.elo_high:+z.0f}); "
            f"{self.distinct} of {self.games} games distinct"
        )


def match_result(game: Game, records: Sequence[GameRecord]) -> MatchResult:
    """Summarize a match of paired games."""
    results = [*map(Result.of, records)]
    scores = Counter(result.score(0) for result in results)
    ratings = fit(2, pair_scores(game, results), anchor=1)
    return MatchResult(
        wins=scores[1.0],
        draws=scores[0.5],
        losses=scores[0.0],
        distinct=count_distinct(game, results),
        elo=float(ratings.elo[0]),
        elo_low=float(ratings.low[0]),
        elo_high=float(ratings.high[0]),
    )
