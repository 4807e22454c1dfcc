"""Chromium, and visits of the page of `alphazero serve`."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from helpers.frontends.page import chromium

    with chromium() as running:
        yield running


@pytest.fixture
def visit(browser, served: Any) -> Iterator[Any]:
    """Open the page on a game; complain afterwards of whatever the browser complained of.

    The test's module has the fixture `served`, the server.
    """
    from helpers.frontends.page import PageVisitor

    visitor = PageVisitor(browser, served.port, served)
    yield visitor
    visitor.close()
