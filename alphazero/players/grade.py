"""How often a player plays an optimal move, where the exact answers are known.

Letters: P positions, A actions, S state size.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alphazero.errors import GameError
from alphazero.files import read_limited, shown
from alphazero.games.game import Game, State
from alphazero.players.match import TABLES
from alphazero.players.player import Player
from alphazero.players.workers import Progress, run_jobs
from alphazero.search.minimax import Solution


@dataclass(frozen=True)
class Grade:
    """What a player did with positions whose answers are known."""

    positions: int
    optimal: int
    """positions where it played an optimal move"""
    value_error: float
    """mean of |its value - the exact value|"""
    first_mistake: str
    """the first position where it did not, drawn, and what it played; empty when there is none"""

    @property
    def share(self) -> float:
        """The share of optimal moves."""
        return self.optimal / self.positions

    def __str__(self) -> str:
        return (
            f"{self.optimal:,} of {self.positions:,} positions optimal ({self.share:.2%}), "
            f"mean value error {self.value_error:.3f}"
        )


def grade(
    game: Game,
    seat_player: Callable[[int], Player],
    solution: Solution,
    tables: int = TABLES,
    workers: int = 1,
    show: Callable[[int], object] = bool,
) -> Grade:
    """Ask a player for a move in every solved position, on `workers` cores.

    `seat_player` makes the player for so many tables, anew for each worker; `show` is called
    with the number of positions answered.
    """
    progress = Progress(show)
    count = len(solution.states)
    parts = [np.arange(worker, count, workers) for worker in range(min(workers, count))]
    tables = min(tables, len(parts[-1]))
    jobs = [
        functools.partial(_answer, seat_player(tables), tables, solution, part, progress)
        for part in parts
    ]
    actions, values = np.zeros(count, np.int64), np.zeros(count)
    for part, (chosen, expected) in zip(parts, run_jobs(jobs, progress), strict=True):
        actions[part], values[part] = chosen, expected
    right = solution.optimal[np.arange(count), actions]
    mistakes = np.flatnonzero(~right)
    return Grade(
        count,
        int(right.sum()),
        float(np.abs(values - solution.values).mean()),
        _describe(game, solution, int(mistakes[0]), actions) if len(mistakes) else "",
    )


def _answer(
    player: Player,
    tables: int,
    solution: Solution,
    positions: npt.NDArray[np.int64],
    progress: Progress,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the player's actions and values in `positions` [n] of the solution, [n] each.

    A table whose position is answered gets the next one at once.
    """
    actions, values = np.zeros(len(positions), np.int64), np.zeros(len(positions))
    waiting = iter(range(len(positions)))
    asked: dict[int, int] = {}

    def ask_next(table: int) -> None:
        index = next(waiting, None)
        if index is not None:
            asked[table] = index
            place = np.array([table])
            player.start(place, solution.states[positions[index]][None])
            player.ask(place)

    for table in range(tables):
        ask_next(table)
    while asked:
        player.think()
        answers = player.decide()
        for table, action, value in zip(
            answers.tables, answers.actions, answers.values, strict=True
        ):
            index = asked.pop(int(table))
            actions[index], values[index] = action, value
            ask_next(int(table))
        progress.done(len(answers.tables))
    return actions, values


def _describe(game: Game, solution: Solution, position: int, actions: npt.NDArray[np.int64]) -> str:
    """Draw a position that was answered wrongly."""
    state = solution.states[position]
    best = np.flatnonzero(solution.optimal[position])
    played = game.action_name(state, int(actions[position]))
    names = ", ".join(game.action_name(state, int(action)) for action in best)
    return f"{game.render(state)}\nplayed {played}; optimal: {names}"


class _Line(NamedTuple):
    state: State
    value: int
    optimal: npt.NDArray[np.bool_]


_RANKS = {".": -2, "-": -1, "=": 0, "+": 1}


def read_positions(game: Game, path: Path) -> Solution:
    """Read solved positions: one a line, `MOVES SCORE LABELS`.

    MOVES are the moves played so far, one character each in the game's notation; SCORE is
    positive when the player to move wins, 0 for a draw, negative when it loses; LABELS has a
    character for each action: `+` it wins, `=` it draws, `-` it loses, `.` it is not legal.

    Raises:
        GameError: naming the line that is not so.
    """
    lines = []
    text = read_limited(path, 1 << 26).decode("utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        try:
            lines.append(_read_line(game, line))
        except (ValueError, KeyError, GameError) as error:
            raise GameError(
                f"{shown(path)}:{number}: expected 'MOVES SCORE LABELS' with {game.num_actions} "
                f"labels of + = - . ({error})"
            ) from error
    if not lines:
        raise GameError(f"{shown(path)}: no positions")
    states, values, optimal = zip(*lines, strict=True)
    return Solution(np.array(states), np.array(values), np.array(optimal))


def _read_line(game: Game, line: str) -> _Line:
    moves, score, labels = line.split() if line[:1].strip() else ["", *line.split()]
    state = game.from_moves(list(moves))
    legal = game.legal_action_mask(state)
    if len(labels) != game.num_actions or [label != "." for label in labels] != legal.tolist():
        raise ValueError(f"the labels {labels[:40]!r} do not fit the position's legal moves")
    ranks = np.array([_RANKS[label] for label in labels])
    value = int(np.sign(int(score)))
    if ranks.max() != value:
        raise ValueError(f"the score {score[:40]} contradicts the labels {labels}")
    return _Line(state, value, ranks == value)
