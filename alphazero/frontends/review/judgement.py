"""How good the moves of a game were, in per cent of win chance.

A win chance is 100 (1 + value) / 2, so a draw counts half. A move loses what the win chance of the
mover falls by. Thresholds and accuracies are those that lichess publishes for chess:

- https://lichess.org/page/accuracy: the accuracy of a move;
- github.com/lichess-org/lila, modules/analyse: `Advice.scala` for the thresholds, which are 0.1,
  0.2 and 0.3 there on a scale from -1 to 1; `AccuracyPercent.scala` for the accuracy of a side.

lichess computes win chances from centipawns; here they are values of a search, or exact.
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from alphazero.games.game import win_rate

INACCURACY_LOSS: Final = 5.0
"""Minimum loss of an inaccuracy, in per cent of win chance."""

MISTAKE_LOSS: Final = 10.0
BLUNDER_LOSS: Final = 15.0

WINDOW: Final = 2, 8
"""Minimum and maximum number of positions from which the weight of a move is computed."""

WEIGHT: Final = 0.5, 12.0
"""Minimum and maximum weight of a move."""


class Judgement(Enum):
    """How good a move is, by the win chance that it loses."""

    BEST = "best"
    """the move that the search or the solver prefers"""
    GOOD = "good"
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"

    @property
    def sign(self) -> str:
        """The sign that chess players write behind a bad move; else empty."""
        return {"inaccuracy": "?!", "mistake": "?", "blunder": "??"}.get(self.value, "")

    @property
    def is_bad(self) -> bool:
        return bool(self.sign)


@dataclass(frozen=True)
class Evaluation:
    """The value of a position, and its best moves."""

    value: float
    """in [-1, 1], for the player to move"""
    is_exact: bool = False
    """whether a solver, a proof or the end of the game says so"""
    end: int = 0
    """the ply after which the game is won by best play of both sides; 0 if unknown or no win"""
    best: tuple[int, ...] = ()
    """the moves that reach the value, the preferred one first; empty at the end of the game"""
    line: tuple[int, ...] = ()
    """expected play, starting with the preferred move"""
    choices: int = 0
    """number of legal moves"""

    @property
    def chance(self) -> float:
        """The win chance of the player to move, in per cent."""
        return 100 * win_rate(self.value)


@dataclass(frozen=True)
class MoveReview:
    """A move, judged by the evaluations before and after it."""

    judgement: Judgement
    before: float
    """win chance of the mover before the move, in per cent"""
    after: float
    loss: float
    """what the move lost, in per cent of win chance; 0 for a best move"""
    is_forced: bool
    """whether no other move was legal; such moves do not count for the accuracy"""
    player: int
    """who made it"""


@dataclass(frozen=True)
class Review:
    """The reviewed moves of a game, and the accuracy of each side."""

    moves: tuple[MoveReview | None, ...]
    """None for the opening, and where the position before or after the move is not evaluated"""
    chances: tuple[float | None, ...]
    """win chance of player 0 at the start and after each move"""
    accuracies: tuple[float | None, float | None]
    """in per cent; None for a side without reviewed choices"""

    def count(self, player: int, judgement: Judgement) -> int:
        """Return how many moves of a player have this judgement."""
        return sum(
            move is not None and move.player == player and move.judgement is judgement
            for move in self.moves
        )


def judgement_of(loss: float) -> Judgement:
    """Return the judgement of a move that is not a best one, by its loss in per cent."""
    if loss >= BLUNDER_LOSS:
        return Judgement.BLUNDER
    if loss >= MISTAKE_LOSS:
        return Judgement.MISTAKE
    return Judgement.INACCURACY if loss >= INACCURACY_LOSS else Judgement.GOOD


def review_moves(
    actions: Sequence[int],
    evaluations: Sequence[Evaluation | None],
    unchosen: int = 0,
    first: int = 0,
) -> Review:
    """Review the moves `actions` of a game, given the evaluations before and after each.

    Player `first` makes the first move. The first `unchosen` moves, of a random opening or stones
    that were set up, are not reviewed.
    """
    moves: list[MoveReview | None] = []
    pairs = itertools.pairwise(evaluations)
    for ply, (action, (before, after)) in enumerate(zip(actions, pairs, strict=True), 1):
        if ply <= unchosen or before is None or after is None:
            moves.append(None)
            continue
        is_best, chance = action in before.best, 100 - after.chance
        loss = 0.0 if is_best else max(before.chance - chance, 0.0)
        judgement = Judgement.BEST if is_best else judgement_of(loss)
        player, is_forced = (first + ply - 1) % 2, before.choices == 1
        moves.append(MoveReview(judgement, before.chance, chance, loss, is_forced, player))
    chances = tuple(
        None if item is None else item.chance if ply % 2 == 0 else 100 - item.chance
        for ply, item in enumerate(evaluations, first)
    )
    return Review(tuple(moves), chances, _accuracies(moves, chances))


def move_accuracy(loss: float) -> float:
    """Return the accuracy of a move in per cent, given its loss in per cent of win chance."""
    return min(max(103.1668 * math.exp(-0.04354 * loss) - 3.1669, 0.0), 100.0)


def side_accuracy(accuracies: Sequence[float], weights: Sequence[float]) -> float:
    """Return the accuracy of a side: the mean of a weighted and of a harmonic mean of its moves.

    The harmonic mean, in which a move counts as 1 % at least, punishes single bad moves.
    """
    pairs = zip(accuracies, weights, strict=True)
    weighted = sum(accuracy * weight for accuracy, weight in pairs) / sum(weights)
    harmonic = len(accuracies) / sum(1 / max(accuracy, 1.0) for accuracy in accuracies)
    return (weighted + harmonic) / 2


def move_weights(chances: Sequence[float]) -> list[float]:
    """Return the weight of each move: the deviation of the win chances in a window before it ends.

    `chances` are those of player 0 at the start and after each move. Moves count more in a phase in
    which the chances change.
    """
    moves = len(chances) - 1
    size = min(max(moves // 10, WINDOW[0]), WINDOW[1])
    weights = []
    for move in range(moves):
        begin = max(move + 2 - size, 0)
        deviation = statistics.pstdev(chances[begin : begin + size])
        weights.append(min(max(deviation, WEIGHT[0]), WEIGHT[1]))
    return weights


def _accuracies(
    moves: Sequence[MoveReview | None], chances: Sequence[float | None]
) -> tuple[float | None, float | None]:
    # A missing chance counts as the one before it.
    filled: list[float] = []
    for chance in chances:
        filled.append(chance if chance is not None else filled[-1] if filled else 50.0)
    weights = move_weights(filled)

    def accuracy_of(player: int) -> float | None:
        own = [
            (move_accuracy(move.loss), weight)
            for move, weight in zip(moves, weights, strict=True)
            if move is not None and move.player == player and not move.is_forced
        ]
        return side_accuracy(*zip(*own, strict=True)) if own else None

    return accuracy_of(0), accuracy_of(1)
