"""Chromium, for the tests of the pages."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; skip without it or Playwright."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason='needs Playwright: pip install "alphazero[browser]"'
    )
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
    with playwright.sync_playwright() as driver:
        program = program or driver.chromium.executable_path
        if not Path(program).exists():
            pytest.skip("needs Chromium: apt install chromium, or playwright install chromium")
        # Containers have no sandbox of their own to offer; the page is ours.
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        chromium = driver.chromium.launch(executable_path=program, args=arguments)
        yield chromium
        chromium.close()
