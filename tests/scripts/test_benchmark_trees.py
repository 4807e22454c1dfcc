"""The trees without a network: prepared answers, the parts of a simulation."""

import benchmark_trees
import pytest
from benchmark_trees import benchmark_host, describe, profile, table
from helpers.runs.tiny_run import tiny_config


def test_the_benchmark_measures_each_number_of_workers(tmp_path):
    config = tiny_config(tmp_path, "selfplay.parallel_games=8", "search.evaluation_cache_mib=0")
    shown: list[int] = []
    rates = benchmark_host(config, [1, 2], 0.2, shown.append)
    assert [rate.workers for rate in rates] == [1, 2]
    assert sum(shown) == 2 * benchmark_trees.ROUNDS
    for rate in rates:
        assert 0 < rate.cores < 2.5
        assert 0.3 < rate.evaluations / rate.simulations < 1.25
    assert [line.split()[0] for line in table(rates).splitlines()] == ["workers", "1", "2"]


@pytest.mark.slow  # it compiles each part of a simulation alone
@pytest.mark.parametrize(("solver", "cache"), [(True, 1), (False, 1), (False, 0)])
def test_the_parts_of_a_simulation_add_up(solver: bool, cache: int, tmp_path):
    config = tiny_config(
        tmp_path,
        "selfplay.parallel_games=16",
        f"search.evaluation_cache_mib={cache}",
        f"search.mcts_solver={solver}",
    )
    parts, simulations, evaluations = profile(config, 0.6)
    inside = {name: spent for name, spent in parts.items() if name.startswith("  ")}
    assert sum(inside.values()) == pytest.approx(parts["searching"])
    assert ("  wins at once" in inside) == ("  proving" in inside) == solver
    assert ("  hashing and looking up" in inside) == bool(cache)
    derived = "  difference", "  proving"
    assert min(spent for name, spent in parts.items() if not name.startswith(derived)) > 0
    assert 0 < evaluations <= simulations * 2
    assert describe({"searching": 300.0}, 10, 0).splitlines()[1].split() == [
        *("a", "simulation", "300", "ns")
    ]
