"""A player that searches one game on demand."""

import shutil

import numpy as np
from helpers.paths import CHECKPOINTS

from alphazero.frontends.analyzer import Analyzer
from alphazero.games.game import ONGOING
from alphazero.players.base import Decisions
from alphazero.players.registry import parse_player
from alphazero.players.search_player import SearchPlayer


def test_a_level_that_is_chosen_later_searches_as_it_was_rated():
    """Leaf by leaf, as the player of that level does."""
    path = CHECKPOINTS / "connect_four.safetensors"
    spec, rated = parse_player(str(path)), parse_player(f"{path}:level=9")
    game = spec.saved.game
    chosen = Analyzer(spec, game)
    chosen.think_for(level=9)
    assert (chosen.spec.name, chosen.budget) == (rated.name, rated.budget)
    expected = Analyzer(rated, game)
    for line in ("44", "4435", "44444352"):
        moves = [int(column) - 1 for column in line]
        for analyzer in (chosen, expected):
            analyzer.sync(moves)
        assert chosen.choose() == expected.choose()
        assert np.array_equal(chosen.roots.visits, expected.roots.visits)


def test_games_of_a_level_differ_by_its_generator_and_a_new_level_is_of_the_loaded_checkpoint(
    tmp_path,
):
    path = shutil.copy(CHECKPOINTS / "tic_tac_toe.safetensors", tmp_path)
    spec = parse_player(str(path))
    game = spec.saved.game

    def line(seed: int | None) -> tuple[int, ...]:
        rng = None if seed is None else np.random.default_rng(seed)
        analyzer, moves = Analyzer(spec, game, rng=rng), list[int]()
        analyzer.think_for(level=2)
        while game.outcome(game.play(game.initial_state(), *moves)) == ONGOING:
            analyzer.sync(moves)
            moves.append(analyzer.choose())
        return tuple(moves)

    assert line(None) == line(None)
    assert len({line(seed) for seed in range(6)}) > 1
    (tmp_path / "tic_tac_toe.safetensors").unlink()
    assert line(0) == line(0)


def test_a_player_with_a_clock_has_searched_before_it_runs(monkeypatch):
    decided, take = list[int](), SearchPlayer.take_decisions

    def count(player: SearchPlayer) -> Decisions:
        decisions = take(player)
        decided.extend(decisions.actions.tolist())
        return decisions

    monkeypatch.setattr(SearchPlayer, "take_decisions", count)
    spec = parse_player(f"{CHECKPOINTS / 'tic_tac_toe.safetensors'}:seconds=0.1")
    player = spec.create(spec.saved.game, 2)
    assert len(decided) == 1
    assert not player.search.root_is_evaluated(0), "the tree is empty again"
    assert player.search.simulations == 0, "and nothing of it counts"
