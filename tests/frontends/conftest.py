"""Chromium, for the tests of the pages."""

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.frontends.page import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running
