"""Counts of perft that other programs print, and the random games of the benchmark."""

import re

import pytest
from benchmark_rules import measure

from alphazero.games.registry import read_game

KNOWN = {
    "tic_tac_toe": [9, 72, 504, 3024, 15120],
    "connect_four": [7, 49, 343, 2401, 16807, 117649, 823536],
    "breakthrough": [22, 484, 11132, 256036],
}


@pytest.mark.parametrize("name", KNOWN)
def test_perft_counts_what_other_programs_count(name):
    game, counts = read_game(name), KNOWN[name]
    *lines, games = measure(game, game.initial_state(), len(counts), 2000)
    assert [int(line.split()[2].replace(",", "")) for line in lines] == counts
    length = int(re.search(r"games of ([0-9,]+) moves", games)[1].replace(",", ""))
    assert 5 <= length <= game.max_moves
