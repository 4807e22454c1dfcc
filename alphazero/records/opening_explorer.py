"""The opening explorer: which moves games made in a position, and how these moves scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from alphazero.games.game import ONGOING, Game, State, to_play, value_of, win_rate
from alphazero.records.played_game import PlayedGame
from alphazero.utils.tables import align


@dataclass
class MoveStatistics:
    """The games that made one move in a position."""

    action: int
    name: str
    counts: list[int]
    """number of games in each group"""
    points: float = 0.0
    """points of the player who made the move, 1 for a win and a half for a draw"""
    finished: int = 0
    """number of finished games"""

    @property
    def games(self) -> int:
        return sum(self.counts)

    @property
    def score(self) -> float | None:
        """Points per finished game, from 0 to 1; None without a finished game."""
        return self.points / self.finished if self.finished else None


@dataclass
class PositionStatistics:
    """The moves of a position, the most frequent first, in named groups of games."""

    state: State
    line: tuple[str, ...]
    """the moves to it"""
    groups: tuple[str, ...]
    moves: list[MoveStatistics] = field(default_factory=list)

    @property
    def counts(self) -> list[int]:
        """Number of games in each group."""
        sums = np.sum([move.counts for move in self.moves], axis=0, dtype=np.int64)
        return [int(each) for each in np.broadcast_to(sums, len(self.groups))]

    def __str__(self) -> str:
        total, sums = sum(self.counts), self.counts
        where = f"after {' '.join(self.line)}" if self.line else "in the initial position"
        heading = f"{where}: {total:,} game{'s' * (total != 1)}"
        if not total:
            return heading
        shown = self.groups if len(self.groups) > 1 else ()
        rows = [("move", "games", "share", "score", *shown)]
        for move in self.moves:
            score = "-" if move.score is None else f"{move.score:.1%}"
            shares = [
                f"{count / among:.1%}" if among else "-"
                for _, count, among in zip(shown, move.counts, sums, strict=False)
            ]
            numbers = f"{move.games:,}", f"{move.games / total:.1%}", score
            rows.append((move.name, *numbers, *shares))
        return f"{heading}\n{align(rows)}"


def explore(
    game: Game, groups: Mapping[str, Sequence[PlayedGame]], line: Sequence[str]
) -> PositionStatistics:
    """Count the moves that `groups` of games made after the moves of `line`.

    Games and moves that are equal by a symmetry of `game` are counted together. Moves that were
    drawn at random for a game's opening are not counted.

    Raises:
        GameError: for a line that is not legal.
    """
    images = game.symmetries().actions
    state, actions = game.initial_state(), list[int]()
    for name in line:
        actions.append(game.parse_action(state, name))
        state = game.play(state, actions[-1])
    found = PositionStatistics(state, tuple(line), tuple(groups))
    moves: dict[int, MoveStatistics] = {}
    wanted, mover, length = np.array(actions, np.int64), to_play(state), len(actions)
    for index, games in enumerate(groups.values()):
        for played in games:
            if not max(played.opening, length) == length < len(played.actions):
                continue
            begin = np.array(played.actions[: length + 1], np.int64)
            same = (images[:, begin[:-1]] == wanted).all(axis=1)
            if not same.any():
                continue
            # Of the symmetric moves the one with the lowest number stands for all.
            action = int(images[same, begin[-1]].min())
            if action not in moves:
                name = game.action_name(state, action)
                moves[action] = MoveStatistics(action, name, [0] * len(groups))
            move = moves[action]
            move.counts[index] += 1
            if played.outcome != ONGOING:
                move.finished += 1
                move.points += win_rate(value_of(played.outcome, mover))
    found.moves = sorted(moves.values(), key=lambda move: (-move.games, move.action))
    return found


def in_periods(
    iterations: Mapping[int, Sequence[PlayedGame]], most: int
) -> dict[str, list[PlayedGame]]:
    """Join the games of `iterations` into at most `most` named periods of about equal length."""
    numbers = np.array(sorted(iterations), np.int64)
    periods: dict[str, list[PlayedGame]] = {}
    for part in np.array_split(numbers, max(min(most, len(numbers)), 1)):
        if len(part):
            ends = "-".join(dict.fromkeys(str(each) for each in (part[0], part[-1])))
            name = ends if periods else f"iterations {ends}"
            periods[name] = [game for number in part.tolist() for game in iterations[number]]
    return periods
