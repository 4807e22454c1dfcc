"""Grading: the share of optimal moves in solved positions.

Letters: P positions.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alphazero.arena.match import DEFAULT_PARALLEL_GAMES
from alphazero.games.game import Game
from alphazero.players.base import Player
from alphazero.solvers.exhaustive import SolvedPositions
from alphazero.utils.arrays import Float64Array, Int64Array
from alphazero.utils.jobs import JobProgress, run_jobs
from alphazero.utils.progress import Progress, no_progress


@dataclass(frozen=True)
class Grade:
    """A player's result on solved positions."""

    positions: int
    optimal: int
    """positions where it played an optimal move"""
    blunders: int
    """positions that its move turned from not lost into lost"""
    value_error: float
    """mean of |player's value - exact value|"""
    first_mistake: str
    """the first suboptimal move and its position, drawn; empty when there is none"""

    @property
    def share(self) -> float:
        return self.optimal / self.positions

    def __str__(self) -> str:
        return (
            f"{self.optimal:,} of {self.positions:,} positions optimal ({self.share:.2%}), "
            f"{self.blunders:,} losing blunders, mean value error {self.value_error:.3f}"
        )


class Answers(NamedTuple):
    """A player's moves and values in solved positions."""

    actions: Int64Array
    """[P]"""
    values: Float64Array
    """[P] for the player to move"""

    def take(self, positions: Int64Array) -> "Answers":
        return Answers(self.actions[positions], self.values[positions])


def collect_answers(
    make_player: Callable[[int], Player],
    solution: SolvedPositions,
    parallel_games: int = DEFAULT_PARALLEL_GAMES,
    workers: int = 1,
    show: Progress = no_progress,
) -> Answers:
    """Request a move in every solved position, on `workers` cores.

    `make_player(n)` creates the player for n parallel games; `show` receives the number answered.
    """
    progress = JobProgress(show)
    count = len(solution.states)
    parts = [np.arange(worker, count, workers) for worker in range(min(workers, count))]
    slots = min(parallel_games, len(parts[-1]))
    jobs = [
        functools.partial(_answer, make_player(slots), slots, solution, part, progress)
        for part in parts
    ]
    actions, values = np.zeros(count, np.int64), np.zeros(count)
    for part, (chosen, expected) in zip(parts, run_jobs(jobs, progress), strict=True):
        actions[part], values[part] = chosen, expected
    return Answers(actions, values)


def grade_answers(game: Game, solution: SolvedPositions, answers: Answers) -> Grade:
    """Compare a player's answers with the exact ones."""
    count, actions = len(solution.states), answers.actions
    reached = solution.action_values[np.arange(count), actions]
    mistakes = np.flatnonzero(reached < solution.values)
    return Grade(
        count,
        count - len(mistakes),
        int((reached[mistakes] == -1).sum()),
        float(np.abs(answers.values - solution.values).mean()),
        _describe(game, solution, int(mistakes[0]), actions) if len(mistakes) else "",
    )


def _answer(
    player: Player,
    slots: int,
    solution: SolvedPositions,
    positions: Int64Array,
    progress: JobProgress,
) -> Answers:
    """Return the player's answers for `positions` [n]; a free slot gets the next one at once."""
    actions, values = np.zeros(len(positions), np.int64), np.zeros(len(positions))
    waiting = iter(range(len(positions)))
    requested: dict[int, int] = {}

    def request_next(slot: int) -> None:
        index = next(waiting, None)
        if index is not None:
            requested[slot] = index
            request = np.array([slot])
            player.reset(request, solution.states[positions[index]][None])
            player.begin_moves(request)

    for slot in range(slots):
        request_next(slot)
    while requested:
        player.step()
        answers = player.take_decisions()
        for slot, action, value in zip(answers.slots, answers.actions, answers.values, strict=True):
            index = requested.pop(int(slot))
            actions[index], values[index] = action, value
            request_next(int(slot))
        progress.advance(len(answers.slots))
    return Answers(actions, values)


def _describe(game: Game, solution: SolvedPositions, position: int, actions: Int64Array) -> str:
    state = solution.states[position]
    best = np.flatnonzero(solution.optimal[position])
    played = game.action_name(state, int(actions[position]))
    names = ", ".join(game.action_name(state, int(action)) for action in best)
    return f"{game.render(state)}\nplayed {played}; optimal: {names}"
