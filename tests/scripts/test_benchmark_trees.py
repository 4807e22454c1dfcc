"""The trees without a network, with prepared answers."""

import benchmark_trees
from benchmark_trees import benchmark_host, table
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
