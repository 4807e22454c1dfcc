"""Bars appear on a terminal, and nowhere while they are hidden; Ctrl-C waits for a block's end."""

import io
import signal
import threading

import pytest

from alphazero.utils.progress import (
    HANGUP,
    STOPS,
    defer_interrupts,
    progress_bar,
    shows_bars,
    without_bars,
)

pytestmark = pytest.mark.usefixtures("stops")


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Screen, io.StringIO])
def test_a_bar_is_drawn_on_a_terminal_alone(monkeypatch, stream: type[io.StringIO]):
    screen = stream()
    monkeypatch.setattr("sys.stderr", screen)
    assert shows_bars() == (stream is Screen)
    with progress_bar(3, "game", file=screen) as bar:
        bar.update(2)
        bar.refresh()
    assert ("2/3" in screen.getvalue()) == (stream is Screen)
    seen = screen.getvalue()
    with without_bars():
        assert not shows_bars()
        with progress_bar(3, "game", file=screen) as bar:
            bar.update(2)
            bar.refresh()
    assert screen.getvalue() == seen
    assert shows_bars() == (stream is Screen)


# Ctrl-C, deferred


@pytest.mark.parametrize("number", STOPS)
@pytest.mark.parametrize("times", [1, 2])
def test_a_block_goes_on_to_its_end_unless_it_is_stopped_twice(number: signal.Signals, times: int):
    done: list[str] = []

    @defer_interrupts(lambda: done.append("announced"))
    def work() -> None:
        for _ in range(times):
            signal.raise_signal(number)
        done.append("went on")

    with pytest.raises(KeyboardInterrupt):
        work()
    is_stopped = times == 2 and number != HANGUP  # a closed terminal sends several
    assert done == ["announced", *["went on"] * (not is_stopped)]


def test_an_error_of_the_block_comes_before_it():
    @defer_interrupts()
    def work() -> None:
        signal.raise_signal(signal.SIGINT)
        raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="full"):
        work()


def test_a_block_inside_another_leaves_it_to_the_outer_one():
    done: list[str] = []

    @defer_interrupts(lambda: done.append("outer"))
    def work() -> None:
        with defer_interrupts(lambda: done.append("inner")):
            signal.raise_signal(signal.SIGINT)
        done.append("went on")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["outer", "went on"]


def test_a_signal_that_raises_nothing_is_left_as_it_is():
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    with defer_interrupts():
        signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]


def test_another_thread_changes_nothing():
    found: list[object] = []

    def work() -> None:
        with defer_interrupts():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
