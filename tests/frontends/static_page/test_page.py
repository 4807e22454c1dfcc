"""The page without a server, in a real browser, headless, over a plain server of files.

Every message on the browser's console and every request to another host fails a test. In ordinary
tests a few lines stand in for onnxruntime-web; the slow ones get it by npm.
"""

import base64
import functools
import hashlib
import http.server
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.frontends.page import DESKTOP, PHONE, PageVisitor, cell, expect
from helpers.games import actions_in
from helpers.networks import needs_onnx
from helpers.paths import CHECKPOINTS

from alphazero.cli.main import main
from alphazero.frontends.static_page.writer import VERSION, page_files, write_page
from alphazero.network.checkpoint import load_checkpoint
from alphazero.network.onnx_export import export_model
from alphazero.players.registry import parse_player

pytestmark = needs_onnx

STAND_IN = b"""
export const env = { wasm: {} };
export class Tensor {
  constructor(type, data, dims) { Object.assign(this, { type, data, dims }); }
}
export const InferenceSession = {
  async create() {
    return { async run({ observations: { dims: [rows, , height, width] } }) {
      const policy_logits = { data: new Float32Array(rows * height * width) };
      return { policy_logits, values: { data: new Float32Array(rows) } };
    } };
  },
};
"""
"""Every move is as good as any other, and every value 0: the search finds what the rules tell."""

Visit = Callable[..., Any]


@pytest.fixture
def visit(browser) -> Iterator[Visit]:
    """Serve a folder and open its page; fail for whatever the browser complains of."""
    closers: list[Callable[[], None]] = []

    def open_page(folder: Path, **options: Any) -> Any:
        files = http.server.SimpleHTTPRequestHandler
        handler = functools.partial(files, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever).start()
        visitor = PageVisitor(browser, server.server_address[1])
        closers.extend([server.shutdown, server.server_close, visitor.close])
        return visitor.open(**options)

    yield open_page
    for close in closers:
        close()


@pytest.fixture(scope="module")
def stand_in_page(tmp_path_factory) -> Path:
    """The page of tic-tac-toe, whose runtime is `STAND_IN`."""
    folder = tmp_path_factory.mktemp("page")
    checkpoint = load_checkpoint(CHECKPOINTS / "tic_tac_toe.safetensors")
    files = page_files(checkpoint, export_model(checkpoint, games=2))
    player = json.loads(files["player.json"])
    integrity = "sha384-" + base64.b64encode(hashlib.sha384(STAND_IN).digest()).decode()
    player["runtime"]["script"] = {"url": "ort.mjs", "integrity": integrity}
    player["runtime"]["wasm"] = {"url": "icon.svg"}
    files |= {"ort.mjs": STAND_IN, "player.json": json.dumps(player).encode()}
    write_page(folder, files)
    return folder


def play(page: Any, label: str, then: str = "Your move") -> None:
    cell(page, label).click()
    expect(page.locator("#status-text")).to_have_text(then)


SECOND_CLICKS = """board => board.querySelectorAll(".cells button").forEach(
    (button) => button.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 2 })))"""


def stones(page: Any, sign: str) -> list[str]:
    """Return the labels of the cells with a stone."""
    named = page.locator(f'#board .cells button[aria-label*=", {sign}"]')
    return [button.get_attribute("aria-label").split(",")[0] for button in named.all()]


def test_a_game_is_played_undone_and_begun_anew(stand_in_page, visit):
    """`test_writer.py` compares the search with the program's."""
    page = visit(stand_in_page)
    expect(page.locator("#game-title")).to_have_text("Tic Tac Toe 3 x 3")
    expect(page.locator("#status-text")).to_have_text("Your move")
    page.select_option("#level", "400")
    for own in ("a3", "b2"):
        before = stones(page, "O")
        play(page, own)
        expect(page.locator("#chance")).to_have_text(re.compile(r"^\d+ %$"))
        expect(page.locator("#caption")).to_contain_text("400 simulations, ")
    assert sorted(stones(page, "O")) == sorted([*before, "c1"]), "it blocks"
    expect(page.locator("#spoken")).to_have_text("Move 4: it plays c1. Your move")
    page.locator("#undo").click()
    expect(page.locator("#status-text")).to_have_text("Your move")
    assert (stones(page, "X"), stones(page, "O")) == (["a3"], before)
    page.locator("#undo").click()
    assert stones(page, "X") == stones(page, "O") == []
    expect(page.locator("#undo")).to_have_attribute("aria-disabled", "true")
    # Without a search it takes the first of equal moves: a3, b3.
    page.select_option("#level", "0")
    play(page, "b2")
    play(page, "c3")
    assert len(stones(page, "O")) == 2
    page.locator("#board").evaluate(SECOND_CLICKS)
    assert len(stones(page, "X")) == 2, "the second click of a double click plays nothing"
    play(page, "a1", "You win")
    assert stones(page, "O") == ["a3", "b3"]
    expect(page.locator("#spoken")).to_have_text("Move 5: you play a1. You win")
    expect(page.locator("#chance")).to_have_text("100 %")
    page.locator("#new-game").click()
    expect(page.locator("#status-text")).to_have_text("Your move")
    assert stones(page, "X") == []


def test_as_second_player_one_is_moved_against_first_and_loses_to_a_line(stand_in_page, visit):
    page = visit(stand_in_page)
    page.select_option("#level", "0")
    page.select_option("#side", "1")
    expect(page.locator("#status-text")).to_have_text("Your move")
    assert stones(page, "X") == ["a3"]
    expect(page.locator("#undo")).to_have_attribute("aria-disabled", "true")
    play(page, "a1")
    assert sorted(stones(page, "X")) == ["a3", "b3"]
    page.select_option("#level", "400")
    play(page, "b1", "You lose")
    assert sorted(stones(page, "X")) == ["a3", "b3", "c3"]
    expect(page.locator("#chance")).to_have_text("0 %")
    page.locator("#undo").click()
    expect(page.locator("#status-text")).to_have_text("Your move")


def test_a_hint_shows_shares_on_the_board_and_the_page_fits_a_phone(stand_in_page, visit):
    page = visit(stand_in_page, viewport=PHONE)
    expect(page.locator("#hint")).to_have_attribute("aria-disabled", "false")
    page.locator("#hint").click()
    expect(page.locator("#board .overlay text")).to_have_count(9)
    play(page, "b3")
    assert stones(page, "X") == ["b3"]
    expect(page.locator("#board .overlay text")).to_have_count(0)
    root = page.locator("html")
    assert root.evaluate("e => e.scrollWidth") == PHONE["width"]
    for scheme in ("light", "dark"):
        page.locator("#theme").click() if root.get_attribute("data-theme") != scheme else None
        expect(root).to_have_attribute("data-theme", scheme)
    page.set_viewport_size(DESKTOP)
    assert root.evaluate("e => e.scrollWidth") == DESKTOP["width"]
    page.set_viewport_size({"width": 740, "height": 360})  # a phone on its side
    board = page.locator("#board").bounding_box()
    assert abs(board["x"] + board["width"] / 2 - 740 / 2) < 1


def test_a_runtime_that_was_changed_is_not_run(stand_in_page, visit, tmp_path):
    folder = Path(shutil.copytree(stand_in_page, tmp_path / "page"))
    (folder / "ort.mjs").write_bytes(STAND_IN + b"// changed")
    page = visit(folder, excused="")
    message = page.locator("#message")
    expect(message).to_contain_text("The player does not run: ")
    expect(page.locator("#hint")).to_have_attribute("aria-disabled", "true")
    reason = message.inner_text()
    play(page, "a3", "It cannot move")
    assert message.inner_text() == reason


LOG_MESSAGES = """
window.sent = [];
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message) { sent.push(message); post.call(this, message); };
"""


def test_a_search_that_nobody_waits_for_is_ended(stand_in_page, visit):
    page = visit(stand_in_page, script=LOG_MESSAGES)
    expect(page.locator("#hint")).to_have_attribute("aria-disabled", "false")
    page.locator("#hint").click()
    page.locator("#new-game").click()
    *_, search, end = page.evaluate("sent")
    assert (search["simulations"], search["kind"]) == (400, "hint")
    assert end == {"id": search["id"] + 1}
    play(page, "b3")
    expect(page.locator("#message")).to_have_text("")


REPLIES = """requests => new Promise((resolve, reject) => {
  const main = document.querySelector("script").src;
  const worker = new Worker(new URL("worker.js", main), { type: "module" });
  const answers = [];
  const next = () => worker.postMessage({ id: answers.length, ...requests[answers.length] });
  worker.onmessage = ({ data }) => {
    if (data.fault) reject(new Error(data.fault));
    if (data.done) answers.push(data.candidates);
    if (data.done && answers.length === requests.length) resolve(answers);
    else if (data.done || data.ready) next();
  };
  fetch(new URL("player.json", main)).then((answer) => answer.json())
    .then((player) => worker.postMessage({ load: player }));
})"""
"""Sends requests to one worker, one after the other; returns the candidates of each answer."""


def test_a_reply_does_not_see_a_hint_or_the_search_of_another_strength(stand_in_page, visit):
    page = visit(stand_in_page)
    reply, hint = ({"kind": kind, "moves": [4, 0]} for kind in ("reply", "hint"))
    alone = page.evaluate(REPLIES, [reply | {"simulations": 25}])
    before = {"moves": [4], "simulations": 400}
    for first in (hint | before, reply | before):
        *_, after = page.evaluate(REPLIES, [first, reply | {"simulations": 25}])
        assert after == alone[0]
    *_, kept = page.evaluate(
        REPLIES, [reply | {"moves": [4], "simulations": 25}, reply | {"simulations": 25}]
    )
    assert kept != alone[0], "the tree of its own last move stays"


# With onnxruntime-web


@pytest.fixture(scope="module")
def onnxruntime_web(tmp_path_factory) -> Path:
    """The npm folder of the pinned version."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("npm")
    if npm is None:
        pytest.skip("needs npm, to get onnxruntime-web")
    package = f"onnxruntime-web@{VERSION}"
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--prefix", str(folder), package]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if ended.returncode != 0:
        pytest.skip(f"npm cannot get {package}: {ended.stderr.strip()[-200:]}")
    return folder / "node_modules" / "onnxruntime-web"


OBVIOUS = [
    ("connect_four", "4 1 4 1 4 2", "4"),  # wins
    ("connect_four", "4 1 4 1 4", "4"),  # blocks
    ("gomoku_8x8", "d4 a1 e4 a2 f4 a3 g4 h8", "c4"),  # five in a row wins
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "moves", "best"), OBVIOUS)
def test_it_agrees_with_the_program_in_the_browser(
    name: str, moves: str, best: str, onnxruntime_web, visit, tmp_path
):
    words = ["--runtime", str(onnxruntime_web)]
    assert main(["export", name, "--page", str(tmp_path), *words]) == 0
    spec = parse_player(f"{name}:selection=puct,simulations=200")
    game = spec.game
    assert game is not None
    actions = actions_in(game, moves)
    state = game.play(game.initial_state(), *actions)
    request = {"kind": "reply", "moves": actions, "simulations": 200}
    (candidates,) = visit(tmp_path).evaluate(REPLIES, [request])
    assert sum(candidate["visits"] for candidate in candidates) == 200
    assert game.action_name(state, candidates[0]["action"]) == best
    player = spec.create(game)
    assert game.action_name(state, player.choose(state)) == best  # type: ignore[attr-defined]
