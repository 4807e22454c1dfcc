"""Draw the pictures of the READMEs again.

python scripts/readme_images.py series RUN [--moves "a1 b2"] [--networks 3] --save series.svg
python scripts/readme_images.py run RUN --save run.svg
python scripts/readme_images.py page PLAYER [--moves "a1 b2"] [--chromium PATH] --save page.png
python scripts/readme_images.py games PLAYER PLAYER ... [--plies 14] --save games.png

`series`: a position as seen by early, middle and late networks of a run. `run`: a run's curves.
`page`: the web page during an analysis. `games`: games of several players on a phone. Both need the
extras `serve` and `browser`.
"""

import argparse
import contextlib
import io
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from alphazero.cli.argument_types import positive_number
from alphazero.cli.main import run_and_report
from alphazero.diagnostics.runs.run_figure import plot_run
from alphazero.diagnostics.runs.run_pictures import draw_series
from alphazero.drawing.position import DARK, POLICY_COLOURS
from alphazero.utils.files import check_writable


def series(options: argparse.Namespace) -> None:
    """Draw a position as seen by networks of a run."""
    picture = draw_series(options.run, options.moves, options.networks)
    if options.save.suffix == ".svg":
        title = f"A position of {options.run.name} as its networks see it"
        options.save.write_text(picture.svg(title, DARK), encoding="utf-8")
    else:
        picture.to_image().save(options.save)


def run(options: argparse.Namespace) -> None:
    """Draw the curves of a run."""
    plot_run(options.run, [options.save])


def page(options: argparse.Namespace) -> None:
    """Take a screenshot of the web page in a headless browser, during a search."""
    with _serving([options.player], options.chromium) as (browser, address):
        size = {"width": 1280, "height": 800}
        tab = browser.new_page(viewport=size, reduced_motion="reduce")
        _start_analysis(tab, address, options.moves)
        _save([tab.screenshot()], options.save)


def games(options: argparse.Namespace) -> None:
    """Take a screenshot of each player's game on a phone, after some moves of its own."""
    with _serving(options.players, options.chromium) as (browser, address):
        shots = []
        for index in range(len(options.players)):
            theme = ("light", "dark")[index % 2]
            tab = browser.new_page(viewport={"width": 390, "height": 600}, color_scheme=theme)
            _play_alone(tab, address, index, options.plies)
            shots.append(tab.screenshot())
        _save(shots, options.save)


@contextlib.contextmanager
def _serving(players: Sequence[str], chromium: str) -> Iterator[tuple[Any, str]]:
    """Serve the page of some players; return a browser and the page's address."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-u", "-m", "alphazero", "serve", *players, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        words = (word for line in server.stdout for word in line.split())
        address = next(word for word in words if word.startswith("http")).rstrip("/")
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium)
                yield browser, address
                browser.close()
        finally:
            server.terminate()


def _save(screenshots: Sequence[bytes], path: Path) -> None:
    """Write screenshots side by side, with few colours, which keeps the file small."""
    pictures = [Image.open(io.BytesIO(each)).convert("RGB") for each in screenshots]
    whole = Image.new("RGB", (sum(each.width for each in pictures), pictures[0].height))
    left = 0
    for each in pictures:
        whole.paste(each, (left, 0))
        left += each.width
    whole.quantize(256, dither=Image.Dither.NONE).save(path, "PNG")


def _play_alone(tab: Any, address: str, index: int, plies: int) -> None:
    """Let a player play itself until `plies` moves are made, and show the last position."""
    player = tab.request.get(f"{address}/api/setup").json()["players"][index]
    sides = [{"player": player["name"], "simulations": 16}] * 2
    sessions = f"{address}/api/sessions"
    session = tab.request.post(sessions, data={"game": player["game"], "sides": sides}).json()["id"]
    tab.add_init_script(f"sessionStorage.setItem('alphazero-session', '{session}')")
    tab.goto(address)
    tab.wait_for_function(
        """(plies) => parseInt(document.querySelector("#ply").textContent) >= plies
            || !document.querySelector("#rematch").hidden""",
        arg=plies,
    )
    tab.locator("#pause").evaluate("(button) => button.click()")
    tab.wait_for_timeout(1000)  # stones come to rest
    tab.evaluate("scrollTo(0, 0)")


def _start_analysis(tab: Any, address: str, moves: str) -> None:
    """Open a game against the first player, play `moves`, and start an analysis."""
    player = tab.request.get(f"{address}/api/setup").json()["players"][0]
    level = {"level": 6} if player["levels"] else {}
    sides = [{"player": "person"}, {"player": player["name"], **level}]
    sessions = f"{address}/api/sessions"
    session = tab.request.post(sessions, data={"game": player["game"], "sides": sides}).json()["id"]
    tab.request.post(f"{sessions}/{session}/paste", data={"moves": moves})
    tab.add_init_script(f"sessionStorage.setItem('alphazero-session', '{session}')")
    tab.goto(address)
    for _ in moves.split():  # give the graph each position's value
        tab.get_by_role("button", name="Hint").click()
        tab.locator("#search .move-table tbody tr").first.wait_for()
        tab.get_by_role("button", name="One move back").click()
    tab.get_by_role("button", name="Last position").click()
    tab.get_by_role("button", name="Analyze").click()
    tab.wait_for_function("""() => {
        const caption = document.querySelector("#caption").textContent;
        return parseInt(caption.replace(",", "")) >= 5000;
    }""")


def main() -> None:
    """Draw the selected picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts = parser.add_subparsers(required=True, metavar="PICTURE")

    part = parts.add_parser("series", help="a position as seen by networks of a run")
    part.add_argument("run", type=Path, metavar="RUN", help="a run's folder with step-* files")
    part.add_argument("--moves", default="", help="that lead to the position")
    numbers = range(1, len(POLICY_COLOURS) + 1)
    part.add_argument("--networks", type=positive_number, choices=numbers, default=3)
    part.set_defaults(draw=series)

    part = parts.add_parser("run", help="a run's curves")
    part.add_argument("run", type=Path, metavar="RUN", help="its folder")
    part.set_defaults(draw=run)

    part = parts.add_parser("page", help="the web page")
    part.add_argument("player", metavar="PLAYER", help="a checkpoint")
    part.add_argument("--moves", default="", help="that lead to the position")
    part.add_argument("--chromium", default=shutil.which("chromium"), metavar="PATH")
    part.set_defaults(draw=page)

    part = parts.add_parser("games", help="games of several players on a phone")
    part.add_argument("players", nargs="+", metavar="PLAYER", help="checkpoints")
    part.add_argument("--plies", type=positive_number, default=14, help="moves of each game")
    part.add_argument("--chromium", default=shutil.which("chromium"), metavar="PATH")
    part.set_defaults(draw=games)

    for part in parts.choices.values():
        part.add_argument("--save", type=Path, required=True, metavar="FILE", help=".svg or .png")
    options = parser.parse_args()
    if options.save.suffix not in (".svg", ".png"):
        parser.error(f"--save must end in .svg or .png, got {options.save}")
    check_writable(options.save)
    options.draw(options)


if __name__ == "__main__":
    sys.exit(run_and_report(main))
