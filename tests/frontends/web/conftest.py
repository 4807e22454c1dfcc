"""A browser and a server for the tests of the page."""

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.page import Visitor, chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture
def visit(browser: Any, served: Any) -> Iterator[Visitor]:
    """Open the page on a game; complain afterwards of whatever the browser complained of.

    The test's module has the fixture `served`, the server.
    """
    visitor = Visitor(browser, served)
    yield visitor
    visitor.close()
