"""Measure the rules of a game: perft, and random games.

python scripts/benchmark_rules.py GAME [--from POSITION] [--depth 4] [--plies 1000000]

Perft counts the sequences of legal moves to a depth; equal counts of another program show that both
have the same rules. Every inner position is played with its outcome, the last ply is only counted.
Times are those of the process on one core. Letters: A actions, D depth, S state size.
"""

import argparse
import sys
import time
from typing import Any

import numpy as np
from numba import types

from alphazero.cli.argument_types import positive_number
from alphazero.cli.main import run_and_report
from alphazero.games.compiled_rules import RulesType, call_rule
from alphazero.games.game import ONGOING, OUTCOME, Game, State
from alphazero.games.registry import read_game
from alphazero.utils.bits import count_bits, scramble
from alphazero.utils.jit import inline_kernel, kernel

_mask = types.boolean[::1]


@kernel(types.int64(_mask, types.int64[::1]))
def list_marked(mask: Any, actions: Any) -> int:
    """Write the marked of `mask` [A], few of many, to `actions`; return their number."""
    words, count = mask[: len(mask) // 8 * 8].view(np.uint64), 0
    for word in range(len(words) + 1):
        if word == len(words) or words[word]:
            for action in range(8 * word, min(8 * word + 8, len(mask))):
                actions[count] = action
                count += mask[action]
    return count


@inline_kernel
def play_and_count(functions: Any, states: Any, level: int, action: int, mask: Any) -> int:
    """Write the state after a move to `states[level + 1]`; mark its legal moves, return how many.

    Reference counting is off here: it would take a tenth of the time.
    """
    state, after = states[level], states[level + 1]
    for word in range(len(state)):  # faster than after[:] = state
        after[word] = state[word]
    call_rule(functions.play, after, action)
    return call_rule(functions.legal, after, mask)  # type: ignore[no-any-return]


@kernel(types.int64(RulesType, types.int64[::1], types.int64, types.int64))
def _count_sequences(rules: Any, state: Any, depth: int, num_actions: int) -> int:
    """Count the sequences of D legal moves from `state` [S]."""
    states = np.zeros((depth + 1, len(state)), np.int64)
    states[0] = state
    mask = np.zeros(num_actions, np.bool_)
    actions = np.zeros((depth, num_actions + 1), np.int64)
    left = np.zeros(depth, np.int64)
    nodes, level = call_rule(rules.functions.legal, states[0], mask), 0
    if depth == 1:
        return nodes
    left[0], nodes = list_marked(mask, actions[0]), 0
    while level >= 0:
        if left[level] == 0:
            level -= 1
            continue
        left[level] -= 1
        action = actions[level, left[level]]
        count = play_and_count(rules.functions, states, level, action, mask)
        if level + 2 == depth:
            nodes += count
        else:
            level += 1
            left[level] = list_marked(mask, actions[level])
    return nodes


@kernel(types.int64(RulesType, types.int64[::1], _mask, types.uint64[::1], types.int64))
def play_at_random(rules: Any, first: Any, mask: Any, words: Any, plies: int) -> int:
    """Play random games from `first` [S] for `plies` moves; return how many ended.

    `words` are the bytes of `mask` [A], eight together, since few actions may be legal.
    """
    state, ended = first.copy(), 0
    for ply in range(plies):
        count = call_rule(rules.functions.legal, state, mask)
        chosen = np.int64(scramble(np.uint64(ply)) % np.uint64(count))
        word = 0
        while chosen >= count_bits(words[word]):
            chosen -= count_bits(words[word])
            word += 1
        action = 8 * word
        while chosen > 0 or not mask[action]:
            chosen -= mask[action]
            action += 1
        call_rule(rules.functions.play, state, action)
        if state[OUTCOME] != ONGOING:
            ended += 1
            state[:] = first
    return ended


def perft(game: Game, state: State, depth: int) -> int:
    """Return the number of sequences of `depth` legal moves."""
    return int(_count_sequences(game.rules, state, depth, game.num_actions))


def measure(game: Game, state: State, depth: int, plies: int) -> list[str]:
    """Return lines with the counts of perft and the speeds."""
    lines = []
    for ends in range(1, depth + 1):
        begin = time.process_time()
        nodes = perft(game, state, ends)
        seconds = time.process_time() - begin
        lines.append(f"perft {ends:2} {nodes:15,} {nodes / seconds / 1e6:8,.1f} million a second")
    words = np.zeros(-(-game.num_actions // 8), np.uint64)
    mask = words.view(np.bool_)[: game.num_actions]
    begin = time.process_time()
    ended = play_at_random(game.rules, state, mask, words, plies)
    speed = plies / (time.process_time() - begin)
    length = plies / max(ended, 1)
    lines.append(f"random games of {length:,.0f} moves, {speed:,.0f} moves a second")
    return lines


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game", help="such as chess, or connect_four:rows=5")
    parser.add_argument("--from", dest="position", metavar="POSITION", help="a drawing or a FEN")
    parser.add_argument("--depth", type=positive_number, default=4)
    parser.add_argument("--plies", type=positive_number, default=1_000_000)
    options = parser.parse_args()
    game = read_game(options.game)
    state = game.parse(options.position) if options.position else game.initial_state()
    game.legal_unless_over(state)
    measure(game, state, 2, 100)  # compiles
    print("\n".join(measure(game, state, options.depth, options.plies)))


if __name__ == "__main__":
    sys.exit(run_and_report(main))
