"""The benchmark of self-play."""

import itertools

import pytest
from helpers.runs.tiny_run import tiny_config

from alphazero.diagnostics import benchmark
from alphazero.diagnostics.benchmark import ROUNDS, Played, SelfPlayBenchmark
from alphazero.errors import ConfigError


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


def test_a_large_network_is_not_measured_for_many_rounds(tmp_path, monkeypatch):
    bench, shown = SelfPlayBenchmark(tiny_config(tmp_path), 1), []
    time = itertools.count(0, 9)  # each look at the clock is 9 seconds later
    monkeypatch.setattr(benchmark, "time_network", lambda *_: (100, 1.0))
    monkeypatch.setattr(bench, "play", lambda _: Played(10, 90, 2.0))
    monkeypatch.setattr(benchmark.time, "perf_counter", lambda: next(time))
    result = bench.measure(1.0, shown.append)
    assert (result.network_only, result.games) == (100, 5)
    assert shown == [1, 1, ROUNDS - 1]


def test_a_network_that_cannot_be_trained_is_not_measured(tmp_path):
    config = tiny_config(tmp_path, "network.blocks=200", "network.filters=4096")
    with pytest.raises(ConfigError, match="network: its weights take"):
        SelfPlayBenchmark(config, 1)
