"""Exact values of single positions and of their moves.

`connect_four.py` solves Connect Four with lines of four; `alphabeta.py` searches every other game
to its end. The value alone takes less: Breakthrough on 5 x 5, which the second player wins, takes a
hundred million positions and five minutes.
Letters: A actions, S state size.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from alphazero.errors import GameError
from alphazero.games.connect_four import ConnectFour
from alphazero.games.game import ONGOING, OUTCOME, PLY, Game, Mask, State, to_play, value_of
from alphazero.games.line_games import CELLS
from alphazero.solvers.alphabeta import INFINITE, WON, AlphaBeta, is_proven
from alphazero.solvers.connect_four import BitboardSolver, Search, fits
from alphazero.solvers.exhaustive import ILLEGAL
from alphazero.utils.arrays import Int64Array
from alphazero.utils.progress import Progress, no_progress

Steps = Generator[None, None, "ExactResult"]
"""A solver run that yields between slices, so that other work can run."""

Window = tuple[int, int] | None

VALUE = -1, 1
"""The window of a search for the value alone."""

TABLE_ENTRIES = 1 << 24
"""640 MiB; a short search touches little of it."""

FIRST_TRY = 100_000
"""Positions of the first of the searches for a value."""

LONG_TURN = 4
"""The turns of the search that does not deepen are so many times as long."""

SLICE = 10_000
"""Positions of alpha-beta between two yields: at most 0.1 s."""


@dataclass(frozen=True)
class ExactResult:
    """The value of a position under perfect play, and the moves that reach it."""

    value: int
    """+1, 0 or -1 for the player to move"""
    end: int
    """the ply after which the game is won with the fastest win and the longest defence; 0 for a
    draw"""
    best: Mask
    """[A] the moves that reach this value and end"""


class ExactSolver(ABC):
    """Solves positions; its table may serve later positions.

    A *score* is relative, like a value: the greater, the earlier a win or the later a loss; 0 for a
    draw.
    """

    game: Game
    default_node_limit: int
    """The number of positions that take ten to thirty seconds."""

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Positions searched so far."""

    @abstractmethod
    def _search(self, state: State, window: Window = None, keep: bool = False) -> Search:
        """Return the score of an unfinished position, or a bound beyond an end of the window.

        `keep` says that the table is of the same search.
        """

    @abstractmethod
    def _score_of_win(self, ply: int) -> int:
        """Return the score of a win after ply `ply`, for the winner."""

    @abstractmethod
    def _ply_of_win(self, score: int, winner: int) -> int:
        """Return the ply after which `winner` wins with this score."""

    def solve_in_slices(self, state: State) -> Steps:
        """Solve an unfinished position `int64 [S]`, slice by slice; one at a time.

        The search gives the score; then each move is tested for reaching it.
        """
        score, player = (yield from self._search(state)), to_play(state)
        best = np.zeros(self.game.num_actions, np.bool_)
        for action in np.flatnonzero(self.game.legal_action_mask(state)):
            child = self.game.play(state, int(action))
            outcome, win = self.game.outcome(child), self._score_of_win(int(child[PLY]))
            if outcome != ONGOING:
                best[action] = value_of(outcome, player) * win == score
            elif score < win:  # else other moves win at once
                bound = yield from self._search(child, (-score, 1 - score), keep=True)
                best[action] = bound <= -score
        winner = player if score > 0 else 1 - player
        end = self._ply_of_win(abs(score), winner) if score else 0
        return ExactResult(int(np.sign(score)), end, best)

    def value(self, state: State) -> int:
        """Return the value of an unfinished position, +1, 0 or -1, without its `end`.

        The table serves later positions too.
        """
        steps = self._search(state, VALUE, keep=True)
        while True:
            try:
                next(steps)
            except StopIteration as done:
                return int(np.sign(done.value))


def solver_for(game: Game) -> ExactSolver:
    """Return the best solver for a game."""
    if type(game) is ConnectFour and game.length == 4 and fits(game.rows, game.columns):
        return _ConnectFourSolver(game)
    return _GenericSolver(game)


def solve_position(
    solver: ExactSolver, state: State, nodes: int, show: Progress = no_progress
) -> ExactResult:
    """Solve an unfinished position by searching at most about `nodes` positions.

    `show` receives the number of positions searched since its last call.

    Raises GameError if these are not enough, or the game is over.
    """
    if state[OUTCOME] != ONGOING:
        raise GameError("the game is over; there is nothing to solve")
    steps, last = solver.solve_in_slices(state), solver.nodes + nodes
    while (before := solver.nodes) < last:
        try:
            next(steps)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        finally:
            show(solver.nodes - before)
    raise GameError(
        f"too large to solve: {nodes:,} positions were not enough; play some moves first, or "
        "allow more positions"
    )


def action_values(game: Game, solver: ExactSolver, state: State) -> Int64Array:
    """Return the action values [A] of an unfinished position, as in `SolvedPositions`."""
    values = np.full(game.num_actions, ILLEGAL)
    for action in np.flatnonzero(game.legal_action_mask(state)):
        child = game.play(state, int(action))
        outcome = game.outcome(child)
        over = outcome != ONGOING
        values[action] = value_of(outcome, to_play(state)) if over else -solver.value(child)
    return values


def describe(game: Game, state: State, solution: ExactResult) -> str:
    """Return a drawing of a position with its exact value and best moves."""
    result = {
        1: f"the player to move wins with move {solution.end} at the latest",
        0: "a draw",
        -1: f"the player to move loses with move {solution.end} at the earliest",
    }[solution.value]
    sign = "+" if solution.value else ""
    best = " ".join(
        game.action_name(state, int(action)) for action in np.flatnonzero(solution.best)
    )
    return f"{game.render(state)}\nvalue  {solution.value:{sign}d}, {result}\nbest   {best}"


class _GenericSolver(ExactSolver):
    def __init__(self, game: Game) -> None:
        self.game = game
        self.default_node_limit = 400_000_000 // game.state_size
        self._alphabeta = AlphaBeta(game, TABLE_ENTRIES)

    @property
    def nodes(self) -> int:
        return self._alphabeta.nodes

    def _search(self, state: State, window: Window = None, keep: bool = False) -> Search:
        last = self.game.max_moves
        if window and is_proven(window[0]):
            last = WON - abs(window[0])  # no later end can reach the score
        bounds = window or (-INFINITE, INFINITE)
        search, tries, at_once = self._alphabeta, FIRST_TRY, False
        search.start(state, last - int(state[PLY]), bounds, keep=keep)
        end = self.nodes + tries
        while not search.run(SLICE):
            if window == VALUE and self.nodes >= end:
                # Deepening finds early wins, the other search long games: each in turn.
                at_once = not at_once
                search.start(state, last - int(state[PLY]), bounds, keep=True, at_once=at_once)
                tries *= 2
                end = self.nodes + tries * (LONG_TURN if at_once else 1)
            yield
        return search.score

    def _score_of_win(self, ply: int) -> int:
        return WON - ply

    def _ply_of_win(self, score: int, winner: int) -> int:  # noqa: ARG002
        return WON - score


class _ConnectFourSolver(ExactSolver):
    default_node_limit = 100_000_000

    def __init__(self, game: ConnectFour) -> None:
        self.game: ConnectFour = game
        self._solver = BitboardSolver(game.rows, game.columns)

    @property
    def nodes(self) -> int:
        return self._solver.nodes

    def _search(self, state: State, window: Window = None, keep: bool = False) -> Search:  # noqa: ARG002
        bits = bits_of(self.game, state)
        return self._solver.search(*bits, *window) if window else self._solver.score(*bits)

    def _score_of_win(self, ply: int) -> int:
        return (self.game.max_moves + 2 - ply) // 2

    def _ply_of_win(self, score: int, winner: int) -> int:
        before = self.game.max_moves + 1 - 2 * score
        return before + 1 if before % 2 == winner else before


def bits_of(game: ConnectFour, state: State) -> tuple[int, int]:
    """Return the stones of the player to move and all stones, as in `connect_four.py`."""
    columns = state[CELLS:].reshape(game.rows, game.columns)[::-1].T
    stones, occupied = 0, 0
    for column, row in np.argwhere(columns != 0).tolist():
        bit = 1 << column * (game.rows + 1) + row
        occupied |= bit
        stones |= bit * (columns[column, row] == to_play(state) + 1)
    return stones, occupied
