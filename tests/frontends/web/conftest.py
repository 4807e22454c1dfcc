"""Visits of the page."""

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.frontends.page import PageVisitor


@pytest.fixture
def visit(browser, served: Any) -> Iterator[PageVisitor]:
    """Open the page on a game; complain afterwards of whatever the browser complained of.

    The test's module has the fixture `served`, the server.
    """
    visitor = PageVisitor(browser, served.port, served)
    yield visitor
    visitor.close()
