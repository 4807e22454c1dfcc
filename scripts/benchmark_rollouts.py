"""Measure UCT with random rollouts, beside OpenSpiel's and plain Python, from the first position.

python scripts/benchmark_rollouts.py [--simulations 5000] [--repeats 5] [--threads 2]

Prints rollouts a second and their ratios, the best of the repeats: by CPU time on one thread, by
wall-clock time on several. OpenSpiel is optional: pip install open_spiel.
"""

import argparse
import math
import random
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from alphazero.cli.argument_types import positive_number
from alphazero.cli.main import run_and_report
from alphazero.games import Game, make_game
from alphazero.games.line_games import LineGame
from alphazero.mcts.rollout_methods import RolloutConfig
from alphazero.mcts.rollout_search import RolloutSearch
from alphazero.utils.tables import markdown_row, markdown_table


class Case(NamedTuple):
    """A game and its name in OpenSpiel; plain Python supports games won by a line."""

    title: str
    game: Game
    spiel: str
    falling: bool = False


GOMOKU = make_game("gomoku", rows=8, columns=8)
CASES = [
    Case("tic-tac-toe", make_game("tic_tac_toe"), "tic_tac_toe"),
    Case("Connect Four 6x7", make_game("connect_four"), "connect_four", falling=True),
    Case("Gomoku 8x8 (mnk)", GOMOKU, "mnk(m=8,n=8,k=5)"),
    Case("Gomoku 8x8 (gomoku)", GOMOKU, "gomoku(size=8)"),
    Case("Othello 8x8", make_game("othello"), "othello"),
    Case("Hex 11x11", make_game("hex"), "hex"),
    Case("Go 9x9", make_game("go"), "go(board_size=9,komi=7.5)"),
    Case("Go 19x19", make_game("go", rows=19, columns=19), "go(board_size=19,komi=7.5)"),
]
FIRST = np.array([0])


class Board:
    """The rules in plain Python; stones are +1 and -1."""

    def __init__(self, rows: int, columns: int, length: int, falling: bool) -> None:
        self.columns, self.length, self.falling = columns, length, falling
        self.cells = [0] * (rows * columns)
        self.first = list(range((rows - 1) * columns if falling else 0, rows * columns))
        self.rays = [
            [
                [self._ray(rows, cell, sign * down, sign * right) for sign in (1, -1)]
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
            ]
            for cell in range(rows * columns)
        ]

    def _ray(self, rows: int, cell: int, down: int, right: int) -> list[int]:
        """Return the cells on a line from `cell`, excluding it."""
        row, column, ray = cell // self.columns + down, cell % self.columns + right, []
        while 0 <= row < rows and 0 <= column < self.columns:
            ray.append(row * self.columns + column)
            row, column = row + down, column + right
        return ray

    def wins(self, cells: list[int], cell: int) -> bool:
        stone = cells[cell]
        for rays in self.rays[cell]:
            run = 1
            for ray in rays:
                for other in ray:
                    if cells[other] != stone:
                        break
                    run += 1
            if run >= self.length:
                return True
        return False

    def play(self, cells: list[int], free: list[int], index: int, player: int) -> int:
        """Fill the free cell at `index`; return the player if this wins, else 0."""
        cell = free[index]
        cells[cell] = player
        above = cell - self.columns
        if self.falling and above >= 0:
            free[index] = above
        else:
            free[index] = free[-1]
            free.pop()
        return player if self.wins(cells, cell) else 0


class Node:
    """A node of the tree; `total` is for the player who moved into it."""

    def __init__(self, untried: list[int], winner: int) -> None:
        self.visits, self.total, self.winner = 0, 0, winner
        self.untried, self.children = untried, dict[int, Node]()


def plain_uct(board: Board, simulations: int, rng: random.Random) -> Node:
    """Search the empty board by the textbook algorithm; return its node.

    Browne et al., *A Survey of Monte Carlo Tree Search Methods* (2012), algorithm 2.
    """
    root = Node(board.first.copy(), 0)
    for _ in range(simulations):
        cells, free, player, node, path = board.cells.copy(), board.first.copy(), 1, root, [root]
        while not node.untried and node.children:
            width = math.sqrt(4 * math.log(node.visits))
            action, node = max(
                node.children.items(),
                key=lambda item: (
                    (item[1].total + width * math.sqrt(item[1].visits)) / item[1].visits
                ),
            )
            board.play(cells, free, free.index(action), player)
            path.append(node)
            player = -player
        winner = node.winner
        if node.untried:
            action = node.untried.pop(rng.randrange(len(node.untried)))
            winner = board.play(cells, free, free.index(action), player)
            player = -player
            node.children[action] = Node([] if winner else free.copy(), winner)
            path.append(node.children[action])
        while not winner and free:
            winner = board.play(cells, free, int(rng.random() * len(free)), player)
            player = -player
        mover = -1
        for node in path:
            node.visits += 1
            node.total += winner * mover
            mover = -mover
    return root


def ours(game: Game, simulations: int, seed: int, threads: int = 1) -> Callable[[], object]:
    """Return our search as a function."""
    settings = RolloutConfig(simulations=simulations, threads=threads)
    search = RolloutSearch(game, settings, rng=np.random.default_rng(seed))
    search.reset(FIRST, game.initial_state()[None])
    search.begin_search(FIRST)

    def run() -> None:
        while not len(search.pop_finished()):
            search.step()

    return run


def plain(case: Case, simulations: int, seed: int) -> Callable[[], object]:
    """Return the search in plain Python as a function."""
    sizes = case.game.options
    board = Board(sizes["rows"], sizes["columns"], sizes["length"], case.falling)
    return lambda: plain_uct(board, simulations, random.Random(seed))


def spiel(module: Any, name: str, simulations: int, seed: int) -> Callable[[], object]:
    """Return OpenSpiel's C++ search as a function, with ample memory and without its solver."""
    game = module.load_game(name)
    rollout = module.RandomRolloutEvaluator(1, seed)
    bot = module.MCTSBot(game, rollout, math.sqrt(2), simulations, 1000, False, seed, False)
    state = game.new_initial_state()
    return lambda: bot.mcts_search(state)


def rate(
    prepare: Callable[[int], Callable[[], object]],
    simulations: int,
    repeats: int,
    clock: Callable[[], float] = time.thread_time,
) -> float:
    """Return simulations a second, the best of `repeats`; `prepare` makes a search for a seed."""
    best = 0.0
    for seed in range(repeats):
        run = prepare(seed)
        begin = clock()
        run()
        best = max(best, simulations / (clock() - begin))
    return best


def measure(
    case: Case, module: Any, simulations: int, repeats: int, threads: int
) -> tuple[str, ...]:
    """Return a row of the table; `module` is OpenSpiel's, or None."""
    game, few, total = case.game, max(1, simulations // 10), simulations * threads
    fast = rate(lambda seed: ours(game, simulations, seed), simulations, repeats)
    wall = time.perf_counter
    many = rate(lambda seed: ours(game, total, seed, threads), total, repeats, wall)
    python, gain, other, ratio = "", "", "", ""
    if isinstance(game, LineGame):
        slow = rate(lambda seed: plain(case, few, seed), few, repeats)
        python, gain = f"{slow:,.0f}", f"{fast / slow:.1f}"
    if module is not None:
        theirs = rate(
            lambda seed: spiel(module, case.spiel, simulations, seed), simulations, repeats
        )
        other, ratio = f"{theirs:,.0f}", f"{fast / theirs:.2f}"
    return case.title, python, other, f"{fast:,.0f}", f"{many:,.0f}", ratio, gain


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--simulations", type=positive_number, default=5_000, help="of a search")
    parser.add_argument("--repeats", type=positive_number, default=5)
    parser.add_argument("--threads", type=positive_number, default=2, help="of the last column")
    options = parser.parse_args()
    try:
        module = import_module("pyspiel")
    except ImportError as error:
        module = None
        print(f"OpenSpiel is missing ({error}): pip install open_spiel. Its column stays empty.")
    head = ("game", "plain Python", "OpenSpiel", "ours", f"{options.threads} threads")
    print(markdown_table([*head, "to OpenSpiel", "to Python"], []))
    ours(GOMOKU, 1, 0, 1)()  # the first use of a compiled function is slow
    for case in CASES:
        row = measure(case, module, options.simulations, options.repeats, options.threads)
        print(markdown_row(row), flush=True)


if __name__ == "__main__":
    sys.exit(run_and_report(main))
