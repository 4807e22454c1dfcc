"""Signals as the program handles them."""

import signal
from collections.abc import Iterator

import pytest

from alphazero.utils.progress import HANGUP, STOPS


@pytest.fixture
def stops() -> Iterator[None]:
    before = [signal.signal(number, signal.default_int_handler) for number in STOPS]
    yield
    for number, handler in zip(STOPS, before, strict=True):
        left = signal.signal(number, handler)
        assert left is signal.default_int_handler or (number, left) == (HANGUP, signal.SIG_IGN)
