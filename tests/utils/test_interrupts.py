"""Ctrl-C comes when a block that holds it back has ended; a second one comes at once."""

import signal
import threading
from collections.abc import Iterator

import pytest

from alphazero.utils.interrupts import STOPS, defer_interrupts


@pytest.fixture(autouse=True)
def stops_as_the_program_has_them() -> Iterator[None]:
    before = [signal.signal(number, signal.default_int_handler) for number in STOPS]
    yield
    for number, handler in zip(STOPS, before, strict=True):
        assert signal.signal(number, handler) is signal.default_int_handler


@pytest.mark.parametrize("number", STOPS)
def test_a_block_goes_on_to_its_end_and_then_it_is_raised(number: signal.Signals) -> None:
    done: list[str] = []

    @defer_interrupts(lambda: done.append("announced"))
    def work() -> None:
        signal.raise_signal(number)
        done.append("went on")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["announced", "went on"]


def test_a_second_one_is_raised_at_once() -> None:
    done: list[str] = []

    @defer_interrupts(lambda: done.append("announced"))
    def work() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done.append("went on")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["announced"]


def test_an_error_of_the_block_comes_before_it() -> None:
    @defer_interrupts()
    def work() -> None:
        signal.raise_signal(signal.SIGINT)
        raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="full"):
        work()


def test_a_block_inside_another_leaves_it_to_the_outer_one() -> None:
    done: list[str] = []

    @defer_interrupts(lambda: done.append("outer"))
    def work() -> None:
        with defer_interrupts(lambda: done.append("inner")):
            signal.raise_signal(signal.SIGINT)
        done.append("went on")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["outer", "went on"]


def test_a_signal_that_raises_nothing_is_left_as_it_is() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        with defer_interrupts():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]


def test_another_thread_changes_nothing() -> None:
    found: list[object] = []

    def work() -> None:
        with defer_interrupts():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
