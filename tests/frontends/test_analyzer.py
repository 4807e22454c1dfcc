"""A player that searches one game on demand."""

import numpy as np
from helpers.paths import CHECKPOINTS

from alphazero.frontends.analyzer import Analyzer
from alphazero.players.budget import Budget
from alphazero.players.registry import parse_player


def test_a_level_that_is_chosen_later_searches_as_it_was_rated():
    """Leaf by leaf, as the player of that level does."""
    path = CHECKPOINTS / "connect_four.safetensors"
    spec, rated = parse_player(str(path)), parse_player(f"{path}:level=9")
    game, level = spec.saved.game, spec.levels.level(9)
    chosen = Analyzer(spec, game)
    chosen.think_for(Budget(level.settings.simulations), level)
    expected = Analyzer(rated, game)
    for line in ("44", "4435", "44444352"):
        moves = [int(column) - 1 for column in line]
        for analyzer in (chosen, expected):
            analyzer.sync(moves)
        assert chosen.choose() == expected.choose()
        assert np.array_equal(chosen.roots.visits, expected.roots.visits)
