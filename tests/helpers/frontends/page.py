"""The page in a headless browser: opening it on a game, and finding what people see there.

Without Playwright and a Chromium a test that imports this is skipped: `pip install
"alphazero[browser]"`, and `apt install chromium` or `playwright install chromium`.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from helpers.frontends.web_client import Served

playwright = pytest.importorskip(
    "playwright.sync_api", reason='needs Playwright: pip install "alphazero[browser]"'
)
expect = playwright.expect
expect.set_options(timeout=60_000)

DESKTOP, TABLET = {"width": 1280, "height": 800}, {"width": 820, "height": 1180}
PHONE = {"width": 390, "height": 844}

Page = Any
"""A tab, `playwright.sync_api.Page`: mypy of whoever has no Playwright does not know it."""


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser; skip the test without one, or where Playwright cannot run."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
    with ExitStack() as stack:
        try:
            driver = stack.enter_context(playwright.sync_playwright())
        except Exception as error:
            pytest.skip(f"Playwright does not start, perhaps without libatomic1: {error}")
        program = program or driver.chromium.executable_path
        if not Path(program).exists():
            pytest.skip("needs Chromium: apt install chromium, or playwright install chromium")
        # Containers have no sandbox of their own to offer; the page is ours.
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = driver.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


class PageVisitor:
    """Opens pages of a server, and keeps what the browser complains of."""

    def __init__(self, browser: Any, port: int, served: Served | None = None) -> None:
        self.browser, self.served = browser, served
        self.address = f"http://127.0.0.1:{port}/"
        self.contexts: list[Any] = []
        self.faults: list[str] = []

    def __call__(self, game: str, *sides: dict[str, Any], **options: Any) -> Page:
        """Open the page on a game; with `link`, at that address after "#" instead."""
        assert self.served is not None
        link, script = options.pop("link", ""), ""
        if not link:
            # The page takes up the session of its window: so it begins in the game that is wanted.
            session = self.served.create(game, *sides)["id"]
            script = f"sessionStorage.setItem('alphazero-session', '{session}')"
        page = self.open(link, script, **options)
        page.locator("#game:not(:empty)").wait_for()
        return page

    def open(
        self, link: str = "", script: str = "", excused: str | None = None, **options: Any
    ) -> Page:
        """Open an address, after a script; the browser may write `excused` on its console."""
        context = self.browser.new_context(**{"viewport": DESKTOP, **options})
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: self._complain(message.text, excused))
        page.on("pageerror", lambda error: self._complain(str(error), excused))
        page.on("request", self._look_at)
        if script:
            page.add_init_script(script)
        page.goto(self.address + link)
        return page

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        assert self.faults == []

    def _complain(self, text: str, excused: str | None) -> None:
        if excused is None or excused not in text:
            self.faults.append(text)

    def _look_at(self, request: Any) -> None:
        if not request.url.startswith((self.address, "blob:" + self.address)):
            self.faults.append(f"request to {request.url}")


def cell(page: Page, label: str) -> Any:
    """Return the button of a cell, by how its name begins."""
    return page.get_by_role("button", name=re.compile(rf"^{label},"))


def click_again(page: Page) -> None:
    """Click a second time where the mouse is, as the end of a double click."""
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)


def expect_ply(page: Page, moves: int, of: int | None = None) -> None:
    """Wait until the page shows the position after `moves` moves of a line of `of` moves."""
    last = moves if of is None else of
    expect(page.locator("#ply")).to_have_text(f"{moves} / {last}")


def paste(page: Page, text: str) -> None:
    page.get_by_role("button", name="Load or paste").click()
    page.locator("#load-text").fill(text)
    page.get_by_role("button", name="Load", exact=True).click()
    expect(page.locator("#load-dialog")).to_be_hidden()
