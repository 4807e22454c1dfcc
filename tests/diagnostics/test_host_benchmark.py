"""Self-play without a network: prepared answers, and devices of a set speed."""

import math
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.runs.tiny_run import tiny_config

from alphazero.diagnostics import host_benchmark
from alphazero.diagnostics.host_benchmark import (
    PREPARED_ROWS,
    HostBenchmark,
    HostRate,
    PacedDevice,
    PacedEvaluator,
    PreparedEvaluator,
    benchmark_host,
)


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
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(host_benchmark, "time", made)
    return made


def test_prepared_answers_differ_from_row_to_row_and_begin_again_at_the_end() -> None:
    evaluator = PreparedEvaluator(7, 100, np.random.default_rng(0))
    planes = np.zeros((PREPARED_ROWS // 2, 2, 6, 7), np.float32)
    logits, values = evaluator.evaluate(planes)
    assert logits.shape == (len(planes), 7)
    assert logits.dtype == values.dtype == np.float32
    assert len(np.unique(values)) > 0.99 * len(values)
    assert np.abs(values).max() < 1
    evaluator.evaluate(planes[:-1])
    assert np.array_equal(evaluator.evaluate(planes)[0], logits)


def test_a_batch_may_be_larger_than_the_prepared_rows() -> None:
    rows = PREPARED_ROWS + 1
    evaluator = PreparedEvaluator(2, rows, np.random.default_rng(0))
    for _ in range(2):
        assert len(evaluator.evaluate(np.zeros((rows, 2, 3, 3), np.float32))[1]) == rows


def test_a_device_answers_after_its_latency_and_one_batch_after_the_other(clock: Clock) -> None:
    device = PacedDevice(1000, 0.3)
    device.wait_for(100)
    assert clock.now == pytest.approx(0.3, abs=1e-4)  # the latency outlasts 100 / 1000
    device.wait_for(500)
    assert clock.now == pytest.approx(0.8, abs=1e-4)
    clock.now = 0.0  # as another thread, which handed its batch over at the start
    device.wait_for(200)
    assert clock.now == pytest.approx(1.0, abs=1e-4)


def test_no_device_answers_at_once(clock: Clock) -> None:
    PacedDevice().wait_for(10**9)
    assert clock.now < 1e-4


def test_threads_share_a_device_and_sleep_while_it_works() -> None:
    device, cpu = PacedDevice(10_000), []
    planes = np.zeros((100, 2, 3, 3), np.float32)

    def work() -> None:
        evaluator = PacedEvaluator(PreparedEvaluator(9, 100, np.random.default_rng(0)), device)
        before = time.thread_time()
        for _ in range(10):
            evaluator.evaluate(planes)
        cpu.append(time.thread_time() - before)

    begin = time.perf_counter()
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.perf_counter() - begin >= 2 * 10 * 100 / 10_000
    assert sum(cpu) < 0.1


def test_the_benchmark_measures_each_number_of_workers_with_each_device(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, "selfplay.parallel_games=8", "search.evaluation_cache_mib=0")
    shown: list[int] = []
    measured = benchmark_host(config, [1, 2], [2000.0], 0.001, 2, 0.4, shown.append)
    assert [(rate.workers, rate.device) for rate in measured.rates] == [
        (1, 2000),
        (2, 2000),
        (1, math.inf),
        (2, math.inf),
    ]
    assert sum(shown) == 4 * host_benchmark.ROUNDS
    for rate in measured.rates:
        assert 0 < rate.cores < 2.5
        assert 0.3 < rate.evaluations / rate.simulations < 1.25
    assert 0.3 < measured.rates[1].share < 1.001
    assert measured.rates[2].evaluations > 2 * measured.rates[0].evaluations


def rates(*measured: tuple[int, float, float]) -> list[HostRate]:
    """Return rates of (workers, device, evaluations a second), with two simulations for each."""
    return [
        HostRate(workers, device, each, 2 * each, workers) for workers, device, each in measured
    ]


def test_the_speed_of_more_cores_is_extrapolated_from_the_cores_that_are_there() -> None:
    measured = rates((1, 4e5, 9e4), (1, math.inf, 1e5), (2, math.inf, 1.6e5), (4, math.inf, 2e5))
    lines = str(HostBenchmark(measured, 2)).splitlines()
    assert lines[1].split() == [
        "1",
        "400,000",
        "90,000",
        "22.5%",
        "180,000",
        "1.00",
        "1.00",
        "5.56",
    ]
    assert lines[3].split() == ["2", "none", "160,000", "320,000", "1.60", "2.00", "6.25"]
    assert lines[5] == "extrapolated by Amdahl's law, 25% of the work one at a time:"
    assert [line.split() for line in lines[6:]] == [
        ["4", "cores", "228,571", "evaluations/s"],
        ["16", "cores", "336,842", "evaluations/s"],
        ["64", "cores", "382,090", "evaluations/s"],
    ]


@pytest.mark.parametrize(("counts", "cores"), [([2, 4], 4), ([1, 2], 1), ([1], 4)])
def test_nothing_is_extrapolated_without_one_worker_and_several_on_a_core_each(
    counts: list[int], cores: int
) -> None:
    measured = rates(*[(count, math.inf, 1e5) for count in counts])
    assert "extrapolated" not in str(HostBenchmark(measured, cores))


def test_repeated_measurements_are_averaged() -> None:
    measured = rates((1, math.inf, 1e5), (2, math.inf, 1.5e5), (1, math.inf, 2e5))
    assert HostBenchmark(measured, 2).serial_share == pytest.approx(1)


def test_a_busy_machine_is_reported() -> None:
    alone = HostRate(1, math.inf, 1e5, 2e5, 0.68)
    last = "the machine is busy: one worker without a device had 0.68 cores"
    assert str(HostBenchmark([alone], 2)).splitlines()[-1] == last
    assert "busy" not in str(HostBenchmark([HostRate(1, 1e5, 5e4, 1e5, 0.3)], 2))
    assert "busy" not in str(HostBenchmark(rates((1, math.inf, 1e5)), 2))
