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
from alphazero.utils.jit import kernel

_states, _masks = types.int64[:, ::1], types.boolean[:, ::1]


@kernel(types.int64(RulesType, _states, _masks))
def _count_sequences(rules: Any, states: Any, masks: Any) -> int:
    """Count the sequences of D legal moves from `states[0]`; `states` [D, S], `masks` [D, A]."""
    depth, num_actions = masks.shape
    nodes = call_rule(rules.functions.legal, states[0], masks[0])
    if depth == 1:
        return nodes
    nodes, level, next_action = 0, 0, np.zeros(depth, np.int64)
    while level >= 0:
        action = next_action[level]
        while action < num_actions and not masks[level, action]:
            action += 1
        if action == num_actions:
            level -= 1
            continue
        next_action[level] = action + 1
        states[level + 1] = states[level]
        call_rule(rules.functions.play, states[level + 1], action)
        count = call_rule(rules.functions.legal, states[level + 1], masks[level + 1])
        if level + 2 == depth:
            nodes += count
        else:
            level += 1
            next_action[level] = 0
    return nodes


@kernel(
    types.int64(RulesType, types.int64[::1], types.boolean[::1], types.uint64[::1], types.int64)
)
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
    masks = np.zeros((depth, game.num_actions), np.bool_)
    return int(_count_sequences(game.rules, np.tile(state, (depth, 1)), masks))


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
