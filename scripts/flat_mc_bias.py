"""Show bias against variance: the tree on which flat Monte Carlo never finds the best move.

python scripts/flat_mc_bias.py [--simulations 300000] [--runs 20] [--seed 0]

Prints the estimates of both moves by flat Monte Carlo and UCT for growing numbers of simulations,
beside minimax. alphazero/foundations/README.md explains the searches.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alphazero.cli.argument_types import positive_number, whole_number
from alphazero.cli.main import run_and_report
from alphazero.errors import GameError
from alphazero.games.compiled_rules import HEURISTIC_SCALE, RuleFunctions, Signature
from alphazero.games.game import (
    HEADER,
    LAST,
    ONGOING,
    OUTCOME,
    PLY,
    Game,
    Mask,
    Planes,
    State,
    Symmetries,
)
from alphazero.mcts.rollout_methods import RolloutConfig
from alphazero.mcts.rollout_search import RolloutSearch
from alphazero.utils.arrays import Float64Array
from alphazero.utils.jit import kernel

LEAVES = ((50, 48), (62, 45, 58))
"""Win percentages of the first player, by branch and answer."""
HUNDRED = 100
ANSWERS = 3
_CHOSEN, _WORTH = HEADER, HEADER + 1
"""Indices in a state of the chosen branch and the chosen leaf's percentage; all leaves follow."""


@kernel(Signature.legal)
def _legal(state: State, mask: Mask) -> int:
    """Mark the branches, then the answers to the chosen branch, then all last moves."""
    count = 0
    for action in range(HUNDRED):
        mask[action] = state[OUTCOME] == ONGOING
        if state[PLY] == 0:
            mask[action] = action < (len(state) - _WORTH - 1) // ANSWERS
        elif state[PLY] == 1:
            leaf = _WORTH + 1 + state[_CHOSEN] * ANSWERS + action
            mask[action] = action < ANSWERS and state[min(leaf, len(state) - 1)] >= 0
        count += mask[action]
    return count


@kernel(Signature.play)
def _play(state: State, action: int) -> None:
    """Choose a branch, then a leaf, then a last move; the leaf's percentage of them win."""
    if state[PLY] == 0:
        state[_CHOSEN] = action
    elif state[PLY] == 1:
        state[_WORTH] = state[_WORTH + 1 + state[_CHOSEN] * ANSWERS + action]
    else:
        state[OUTCOME] = 1 if action < state[_WORTH] else -1
    state[PLY] += 1
    state[LAST] = action


@kernel(Signature.observe)
def _observe(state: State, planes: Planes) -> None:
    """Write the number of moves; no network learns this game."""
    planes[0, 0, 0] = state[PLY]


@kernel(Signature.heuristic)
def _leaf_value(state: State) -> int:
    """Return the first player's expected value at a leaf, where it is to move; 0 elsewhere."""
    return (2 * state[_WORTH] - HUNDRED) * HEURISTIC_SCALE // HUNDRED if state[PLY] == 2 else 0


@dataclass(frozen=True)
class TwoPlyTree(Game):
    """The tree of `LEAVES` as a game; chance is a hundred last moves, reached by rollouts alone."""

    rule_functions = RuleFunctions(_legal, _play, _observe, heuristic=_leaf_value)

    def initial_state(self) -> State:
        worth = [list(answers) + [-1] * (ANSWERS - len(answers)) for answers in LEAVES]
        header = [0, ONGOING, -1, -1, -1]
        return np.array([*header, *np.ravel(worth)], np.int64)

    num_actions = HUNDRED
    observation_shape = (1, 1, 1)
    max_moves = 3

    def symmetries(self) -> Symmetries:
        return Symmetries(np.arange(HUNDRED)[None], np.zeros((1, 1), np.int64))

    def render(self, state: State) -> str:
        return f"{state[PLY]} moves, branch {state[_CHOSEN] + 1}, worth {state[_WORTH]}"

    def parse(self, diagram: str) -> State:
        raise GameError(f"no position of this tree can be typed, got {diagram[:20]!r}")

    def action_name(self, state: State, action: int) -> str:
        return f"{('b', 'c', '')[min(int(state[PLY]), 2)]}{action + 1}"

    def parse_action(self, state: State, text: str) -> int:
        for action in np.flatnonzero(self.legal_action_mask(state)):
            if self.action_name(state, int(action)) == text.strip():
                return int(action)
        raise GameError(f"{text[:20]!r} is no move here")


def minimax_percentages() -> list[float]:
    """Return the minimax value of each branch, in percent."""
    from alphazero.solvers.alphabeta import AlphaBeta  # compiled on first use

    game, found = TwoPlyTree(), []
    search = AlphaBeta(game, entries=1 << 10)
    for branch in range(len(LEAVES)):
        search.start(game.play(game.initial_state(), branch), depth=1)
        while not search.run(HUNDRED):
            pass
        # The score is for the second player, who is to move there.
        found.append(HUNDRED * (1 - search.score / HEURISTIC_SCALE) / 2)
    return found


class Estimates(NamedTuple):
    """Estimates of B branches by M methods at P numbers of simulations, over several runs."""

    methods: tuple[str, ...]
    simulations: tuple[int, ...]
    means: Float64Array
    """[M, P, B] win percentages, means over the runs"""
    deviations: Float64Array
    """[M, P, B] standard deviations among the runs"""
    chosen: Float64Array
    """[M, P, B] share of the runs that choose the branch"""


def estimate(
    simulations: Sequence[int], runs: int, seed: int, methods: Sequence[str] = ("flat_mc", "uct")
) -> Estimates:
    """Search the tree `runs` times with each method, up to each number of `simulations`."""
    game, every, branches = TwoPlyTree(), np.arange(runs), len(LEAVES)
    found = np.zeros((3, len(methods), len(simulations), branches))
    for index, method in enumerate(methods):
        settings = RolloutConfig(method=method, depth=2, simulations=simulations[-1])
        search = RolloutSearch(game, settings, slots=runs, rng=np.random.default_rng(seed))
        search.reset(every, np.tile(game.initial_state(), (runs, 1)))
        for point, total in enumerate(simulations):
            search.begin_search(every, total - (simulations[point - 1] if point else 0))
            done = 0
            while done < runs:
                search.step()
                done += len(search.pop_finished())
            roots = search.root_statistics(every)
            percentages = 50 * (roots.action_values[:, :branches] + 1)  # all actions are legal
            found[0, index, point] = percentages.mean(axis=0)
            found[1, index, point] = percentages.std(axis=0)
            best = roots.move_policies.argmax(axis=1)
            found[2, index, point] = np.bincount(best, minlength=branches)[:branches] / runs
    return Estimates(tuple(methods), tuple(simulations), *found)


def table(estimates: Estimates) -> str:
    """Return estimates beside minimax as text: mean, deviation, runs with the best move."""
    exact = minimax_percentages()
    best = int(np.argmax(exact))
    names = [f"b{branch + 1}" for branch in range(len(exact))]
    worth = ", ".join(f"{name} {value:.1f}" for name, value in zip(names, exact, strict=True))
    lines = [f"minimax: {worth}; best is {names[best]}"]
    for index, method in enumerate(estimates.methods):
        lines += ["", f"{method}, win percentages:"]
        head = "".join(f"{name:>14}" for name in names)
        lines.append(f"{'simulations':>11}{head}{f'plays {names[best]}':>12}")
        for point, total in enumerate(estimates.simulations):
            cells = "".join(
                f"{mean:7.1f} ± {deviation:4.1f}"
                for mean, deviation in zip(
                    estimates.means[index, point], estimates.deviations[index, point], strict=True
                )
            )
            lines.append(f"{total:11,}{cells}{estimates.chosen[index, point, best]:12.0%}")
    return "\n".join(lines)


def main() -> None:
    """Search and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--simulations", type=whole_number, default=300_000, help="of a search")
    parser.add_argument("--runs", type=positive_number, default=20, help="searches to average")
    parser.add_argument("--seed", type=whole_number, default=0)
    options = parser.parse_args()
    if options.simulations < 10:
        parser.error(f"--simulations must be at least 10, got {options.simulations}")
    totals = [digit * 10**power for power in range(9) for digit in (1, 3)]
    looks = [total for total in totals if 10 <= total < options.simulations]
    print(table(estimate([*looks, options.simulations], options.runs, options.seed)))


if __name__ == "__main__":
    sys.exit(run_and_report(main))
