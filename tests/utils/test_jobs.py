"""Jobs side by side: their order, their failures, and Ctrl-C."""

import signal
import threading
import time
from functools import partial

import pytest
import torch

from alphazero.utils.jobs import JobProgress, JobsStopped, map_ahead, run_jobs, split_evenly

pytestmark = pytest.mark.usefixtures("stops")

PATIENCE = 600.0
"""Seconds after which a job that nobody stops fails, so that a bug ends the test."""


def work_until_stopped(progress: JobProgress, started: threading.Event | None = None) -> None:
    """Work without end, and fail when nobody stops it."""
    end = time.monotonic() + PATIENCE
    if started is not None:
        started.set()
    while time.monotonic() < end:
        progress.advance(0)
        time.sleep(0.001)
    raise AssertionError("this job was never stopped")


def test_results_come_in_the_order_of_the_jobs_whichever_ends_first():
    later = [threading.Event() for _ in range(4)]

    def job(index: int) -> int:
        if index < 3:
            assert later[index + 1].wait(PATIENCE)
        later[index].set()
        return index

    assert run_jobs([partial(job, index) for index in range(4)], JobProgress()) == [0, 1, 2, 3]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_job_that_fails_stops_the_others_and_its_error_is_raised(failing: int):
    progress = JobProgress()
    started = [threading.Event() for _ in range(3)]

    def job(index: int) -> None:
        if index != failing:
            work_until_stopped(progress, started[index])
        assert all(event.wait(PATIENCE) for event in started if event is not started[failing])
        raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="the disk is full"):
        run_jobs([partial(job, index) for index in range(3)], progress)


def test_of_several_errors_that_of_the_first_job_that_really_failed_is_raised():
    progress, both = JobProgress(), threading.Barrier(2)

    def fail(text: str) -> None:
        both.wait(PATIENCE)
        raise ValueError(text)

    jobs = [lambda: work_until_stopped(progress), lambda: fail("first"), lambda: fail("second")]
    with pytest.raises(ValueError, match="first"):
        run_jobs(jobs, progress)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to a thread")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("at_once", [True, False])
def test_ctrl_c_stops_every_job_and_reaches_the_caller(jobs: int, at_once: bool):
    progress, ended, started = JobProgress(), [], []
    ready = threading.Barrier(jobs)
    main = threading.main_thread().ident
    assert main is not None

    def job() -> None:
        started.append(1)
        # At once: while the other jobs, if any, are still being started.
        if at_once and len(started) == 1:
            signal.pthread_kill(main, signal.SIGINT)
        if not at_once and ready.wait(PATIENCE) == 0:
            time.sleep(0.05)
            signal.pthread_kill(main, signal.SIGINT)
        try:
            work_until_stopped(progress)
        except JobsStopped:
            ended.append(1)
            raise

    with pytest.raises(KeyboardInterrupt):
        run_jobs([job] * jobs, progress)
    assert len(ended) == len(started) == jobs


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to a thread")
def test_a_signal_that_did_not_wake_the_waiting_thread_is_handled_all_the_same():
    """A signal just before a wait is such a one; another thread's shows it without the luck."""
    progress = JobProgress()

    def job() -> None:
        time.sleep(0.05)  # the main thread waits by now
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        work_until_stopped(progress)

    with pytest.raises(KeyboardInterrupt):
        run_jobs([job], progress)


def test_progress_adds_up_the_advances_of_all_jobs_until_it_is_stopped():
    shown: list[int] = []
    progress = JobProgress(shown.append)

    def job() -> None:
        for number in (1, 0, 2):
            progress.advance(number)

    run_jobs([job] * 8, progress)
    assert sorted(shown) == [1] * 8 + [2] * 8
    progress.stop()
    with pytest.raises(JobsStopped):
        progress.advance(0)


def test_each_job_evaluates_on_one_thread_and_the_setting_comes_back():
    torch.set_num_threads(2)
    try:
        assert run_jobs([torch.get_num_threads] * 2, JobProgress()) == [1, 1]
        assert torch.get_num_threads() == 2
        with pytest.raises(ZeroDivisionError):
            run_jobs([lambda: 1 // 0], JobProgress())
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_shares_are_fair_whole_and_never_empty():
    for total in range(1, 40):
        for workers in range(1, 12):
            parts = split_evenly(total, workers)
            assert sum(parts) == total
            assert len(parts) == min(total, workers)
            assert min(parts) >= 1
            assert max(parts) - min(parts) <= 1
            assert parts == sorted(parts, reverse=True)
    assert split_evenly(0, 4) == [0]


def test_results_computed_ahead_come_in_order_and_only_a_few_are_ahead():
    for threads in (0, 1, 3):
        begun: list[int] = []

        def square(item: int, begun: list[int] = begun) -> int:
            begun.append(item)
            return item * item

        results = map_ahead(square, range(10), threads)
        assert next(results) == 0
        assert len(begun) <= threads + 1
        assert list(results) == [item * item for item in range(1, 10)]
        assert sorted(begun) == list(range(10))


def test_results_are_computed_side_by_side():
    meeting = threading.Barrier(2)
    assert len(list(map_ahead(lambda _: meeting.wait(PATIENCE), range(4), 2))) == 4


@pytest.mark.parametrize("threads", [0, 2])
def test_a_failure_ahead_is_raised_in_its_turn(threads: int):
    results = map_ahead(lambda item: 6 // item, [3, 2, 0, 1], threads)
    assert [next(results), next(results)] == [2, 3]
    with pytest.raises(ZeroDivisionError):
        next(results)
