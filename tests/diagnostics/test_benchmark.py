"""The benchmark of self-play."""

import pytest
from helpers.runs.tiny_run import tiny_config

from alphazero.diagnostics.benchmark import SelfPlayBenchmark


def test_the_benchmark_counts_what_it_says(tmp_path):
    config = tiny_config(tmp_path, "selfplay.parallel_games=6", "search.evaluation_cache_mib=0")
    result = SelfPlayBenchmark(config, 2).measure(0.8)
    assert result.workers == 2
    assert result.parallel_games == 6
    assert result.efficiency > 0
    assert result.evaluations == pytest.approx(result.efficiency * result.network_only)
    assert 0 < result.batch_fill <= 1
    assert result.cache_hits == 0
    # Five to nine moves end a game, and each has four simulations. Of a busy machine's few games
    # many are those that were begun before, or not ended.
    assert 3 <= result.moves / result.games <= 15
    assert result.simulations / result.moves == pytest.approx(4, rel=0.5)
    assert result.peak_megabytes > 10
    assert "search efficiency" in str(result)
