"""Parallel jobs, one thread and core each.

Each job evaluates its own batches on one torch thread. Such jobs never wait for each other, unlike
two threads inside one evaluation, which wait at every layer.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar

import torch

from alphazero.utils.progress import Progress, defer_interrupts, no_progress

Item = TypeVar("Item")
Result = TypeVar("Result")

POLL_SECONDS = 0.5
"""Seconds between two checks for signals while jobs run."""


class JobsStopped(Exception):
    """Raised inside a job when another job failed or the user stopped the work."""


class JobProgress:
    """Progress of jobs: any job calls `advance(n)`, which may raise `JobsStopped`."""

    def __init__(self, show: Progress = no_progress) -> None:
        self._show = show
        self._lock = threading.Lock()
        self._stopping = False

    def advance(self, number: int) -> None:
        """Count `number` more units of work; call it often, even with 0."""
        if self._stopping:
            raise JobsStopped
        if number:
            with self._lock:
                self._show(number)

    def stop(self) -> None:
        """End every job at its next `advance`."""
        self._stopping = True


def run_jobs(jobs: Sequence[Callable[[], Result]], progress: JobProgress) -> list[Result]:
    """Run each job in a thread; return the results in the order of the jobs.

    If one fails, or on Ctrl-C, the others end at their next `advance`, and the error is raised.
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
                # Waiting for the results in order would miss failures of later jobs; a wait without
                # a limit would delay a signal that arrives just before it.
                ended, going = wait(going, POLL_SECONDS, FIRST_EXCEPTION)
                if any(future.exception() for future in ended):
                    break
        finally:
            progress.stop()
    for future in futures:
        error = future.exception()
        if error is not None and not isinstance(error, JobsStopped):
            raise error
    return [future.result() for future in futures]


def map_ahead(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Yield `function(item)` for each item in order, computed by `threads` threads ahead of time.

    With 0 threads each is computed when it is asked for.
    """
    if not threads:
        yield from map(function, items)
        return
    ahead: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for item in items:
            with defer_interrupts():
                ahead.append(pool.submit(function, item))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def split_evenly(total: int, workers: int) -> list[int]:
    """Split `total` into at most `workers` positive shares that differ by at most 1; [0] for 0."""
    number = max(1, min(total, workers))
    return [total // number + (index < total % number) for index in range(number)]


@contextmanager
def threads_per_evaluation(threads: int) -> Iterator[None]:
    """Set torch's number of threads per operation, also for threads started in the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def at_most_threads(threads: int) -> AbstractContextManager[None]:
    """Lower torch's number of threads per operation to `threads`, if it is higher."""
    return threads_per_evaluation(threads) if threads < torch.get_num_threads() else nullcontext()
