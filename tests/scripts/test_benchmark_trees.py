"""The trees without a network: the parts of a simulation, prepared answers, paced devices."""

import argparse
import math

import benchmark_trees
import pytest
from benchmark_trees import PacedDevice, benchmark_host, describe, devices, profile
from helpers.runs.tiny_run import tiny_config


class Clock:
    """Stands in for the module `time`: a sleep takes as long as asked, a look a microsecond."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += 1e-6
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(benchmark_trees, "time", made)
    return made


def test_a_device_answers_after_its_latency_and_one_batch_after_the_other(clock):
    device = PacedDevice(1000, 0.3)
    device.wait_for(100)
    assert clock.now == pytest.approx(0.3, abs=1e-4)  # the latency outlasts 100 / 1000
    device.wait_for(500)
    assert clock.now == pytest.approx(0.8, abs=1e-4)
    clock.now = 0.0  # as another thread, which handed its batch over at the start
    device.wait_for(200)
    assert clock.now == pytest.approx(1.0, abs=1e-4)


def test_the_benchmark_measures_each_number_of_workers_with_each_device(tmp_path):
    config = tiny_config(tmp_path, "selfplay.parallel_games=8", "search.evaluation_cache_mib=0")
    shown: list[int] = []
    measured = benchmark_host(config, [1, 2], [2000.0], 0.001, 0.4, shown.append)
    assert [(rate.workers, rate.device) for rate in measured] == [
        (1, 2000),
        (2, 2000),
        (1, math.inf),
        (2, math.inf),
    ]
    assert sum(shown) == 4 * benchmark_trees.ROUNDS
    for rate in measured:
        assert 0 < rate.cores < 2.5
        assert 0.3 < rate.evaluations / rate.simulations < 1.25
    assert 0 < measured[0].evaluations <= 2002
    assert 0 < measured[1].evaluations <= 2002


def test_devices_are_read_or_refused():
    assert devices("none") == ([], 0)
    assert devices("paced:30000,1e6:0.5") == ([3e4, 1e6], 0.5e-3)
    assert devices("paced") == (benchmark_trees.DEVICES, 0.3e-3)
    for text in (
        "fast",
        "none:1",
        "paced:1e6:1:1",
        "paced:0",
        "paced:x",
        "paced:1e6,",
        "paced:1e6:-1",
    ):
        with pytest.raises(argparse.ArgumentTypeError, match="expected none, or paced:RATES"):
            devices(text)


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
