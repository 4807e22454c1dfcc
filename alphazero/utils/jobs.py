"""Jobs side by side, one processor core each: how hundreds of games use every core.

Each job evaluates its own batches on one thread. Two cores that work apart never wait for each
other, which two threads inside one evaluation do at every layer.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

import torch

from alphazero.utils.interrupts import defer_interrupts

Result = TypeVar("Result")

LOOK = 0.5
"""Seconds after which whoever waits for jobs looks whether there was a signal."""


class JobsStopped(Exception):
    """Raised inside a job when another one failed or the person stopped the work."""


class Progress:
    """What jobs tell while they run: `advance(n)`, from any of them; it may raise `JobsStopped`."""

    def __init__(self, show: Callable[[int], object] = bool) -> None:
        self._show = show
        self._lock = threading.Lock()
        self._stopping = False

    def advance(self, number: int) -> None:
        """Count `number` more pieces of work; to be called often, with 0 as well."""
        if self._stopping:
            raise JobsStopped
        if number:
            with self._lock:
                self._show(number)

    def stop(self) -> None:
        """Let every job end at its next `advance`."""
        self._stopping = True


def run_jobs(jobs: Sequence[Callable[[], Result]], progress: Progress) -> list[Result]:
    """Run `jobs` at once, a thread each; return their results in the order of the jobs.

    When one fails, or the person presses Ctrl-C, the others end at their next word to
    `progress`, and what happened is raised here.
    """
    with (
        defer_interrupts(progress.stop),
        threads_per_evaluation(1),
        ThreadPoolExecutor(len(jobs)) as pool,
    ):
        try:
            futures = [pool.submit(job) for job in jobs]
            going = set(futures)
            while going:
                # Asking for results in turn would wait for others when one has failed, and a
                # signal that comes just before a wait without limit is heard only after it.
                ended, going = wait(going, LOOK, FIRST_EXCEPTION)
                if any(future.exception() for future in ended):
                    break
        finally:
            progress.stop()
    for future in futures:
        error = future.exception()
        if error is not None and not isinstance(error, JobsStopped):
            raise error
    return [future.result() for future in futures]


def split_evenly(total: int, workers: int) -> list[int]:
    """Split `total` into at most `workers` shares that differ by one at most; none is empty."""
    number = max(1, min(total, workers))
    return [total // number + (index < total % number) for index in range(number)]


@contextmanager
def threads_per_evaluation(threads: int) -> Iterator[None]:
    """Let torch use `threads` processor cores for one operation, in threads begun meanwhile too."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
