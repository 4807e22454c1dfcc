"""The page's rules and search are those of the program; what is written is complete."""

import hashlib
import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.games import random_actions
from helpers.networks import needs_onnx
from helpers.paths import CHECKPOINTS, ROOT, TESTS
from helpers.searches import statistics
from helpers.settings import search_config

from alphazero.cli.main import main
from alphazero.errors import RunError
from alphazero.frontends.static_page import writer
from alphazero.frontends.static_page.writer import RULES, write_page
from alphazero.games import make_game
from alphazero.games.game import Game
from alphazero.games.registry import read_game
from alphazero.mcts.network_search import NetworkSearch
from alphazero.network.checkpoint import load_checkpoint
from alphazero.utils.files import write_atomic

NODE = shutil.which("node")
FILES = ROOT / "alphazero" / "frontends" / "static_page" / "files"
TIC_TAC_TOE = CHECKPOINTS / "tic_tac_toe.safetensors"

needs_node = pytest.mark.skipif(NODE is None, reason="needs node: apt install nodejs")

BOARDS = (
    *("connect_four", "connect_four:rows=5,columns=4,length=3", "connect_four:rows=9,columns=12"),
    *("tic_tac_toe", "gomoku:rows=8,columns=8", "mnk:rows=4,columns=7,length=4"),
)


def described(game: Game) -> dict[str, Any]:
    """Return a game as the page knows it."""
    return {"rules": RULES[type(game)], **game.options}


def in_node(folder: Path, **requests: Any) -> dict[str, Any]:
    """Run the page's scripts, as modules."""
    assert NODE is not None
    files = folder / "files"
    shutil.copytree(FILES, files)
    (files / "package.json").write_text('{"type": "module"}')
    ended = subprocess.run(
        [NODE, str(TESTS / "helpers" / "frontends" / "run_page_scripts.mjs")],
        input=json.dumps({"files": str(files), **requests}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads(ended.stdout))


def random_game(game: Game, rng: np.random.Generator) -> tuple[list[int], str]:
    """Return the actions of a random game, and the hash of one line per position."""
    actions, lines = random_actions(game, rng), []
    for state in itertools.accumulate(actions, game.play, initial=game.initial_state()):
        legal = "".join("1" if bit else "0" for bit in game.legal_action_mask(state))
        planes = "".join("1" if number else "0" for number in game.observe(state).flat)
        lines.append(f"{legal} {game.outcome(state)} 7{planes}")
    return actions, hashlib.sha256("\n".join(lines).encode()).hexdigest()


@needs_node
def test_hundreds_of_random_games_have_the_same_moves_results_and_planes(tmp_path):
    rng = np.random.default_rng(5)
    requests, expected = [], []
    for name in BOARDS:
        game = read_game(name)
        for _ in range(100):
            actions, line = random_game(game, rng)
            requests.append({"game": described(game), "actions": actions})
            expected.append(line)
    assert in_node(tmp_path, games=requests)["games"] == expected


class Pretended:
    """Answers that depend on every cell, exact in float32: as `pretend` in the script."""

    def __init__(self, num_actions: int) -> None:
        self.num_actions = num_actions

    def evaluate(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen = observations.reshape(len(observations), -1).astype(np.int64)
        index, action = np.arange(seen.shape[1]), np.arange(self.num_actions)
        sums = seen @ (index[:, None] * (action + 3) % 7)
        values = (seen @ (index * index % 13) % 17 - 8) / 16
        return (sums % 11 / 4).astype(np.float32), values.astype(np.float32)


SEARCHES = [
    ("connect_four", [[], [3, 3], [2]], {}, 200, 1),
    ("connect_four", [[3, 2], [3]], {}, 300, 8),
    ("connect_four", [[0, 1, 0, 1, 0]], {"fpu_reduction": 0.2}, 250, 8),
    ("gomoku:rows=8,columns=8", [[9], [10, 18]], {"c_puct": 2.0, "c_puct_base": 100.0}, 300, 8),
    ("tic_tac_toe", [[4], [0, 2], [6, 3], [5]], {}, 400, 4),
]


@needs_node
@pytest.mark.arithmetic
def test_a_search_has_the_visits_of_the_program_s(tmp_path):
    """Trees are kept from one position to the next, and games end below the roots."""
    requests, expected = [], []
    for name, moves, changes, simulations, leaves in SEARCHES:
        game, settings = read_game(name), search_config(simulations=simulations, **changes)
        search = NetworkSearch(
            game, Pretended(game.num_actions), settings, leaves=leaves, nodes=5000
        )
        slot = np.array([0])
        search.reset(slot, game.initial_state()[None])
        answers = []
        for actions in moves:
            for action in actions:
                search.advance(slot, np.array([action]))
            search.begin_search(slot)
            while not len(search.pop_finished()):
                search.step()
            roots = statistics(search, slot)
            answers.append((roots.visits[0].tolist(), float(roots.values[0])))
        expected.append(answers)
        keys = {key: getattr(settings, key) for key in writer.SEARCH_KEYS}
        requests.append(
            {"game": described(game), "settings": keys, "leaves": leaves}
            | {"moves": moves, "simulations": simulations}
        )
    for answers, correct in zip(
        in_node(tmp_path, searches=requests)["searches"], expected, strict=True
    ):
        for answer, (visits, value) in zip(answers, correct, strict=True):
            assert answer["visits"] == visits
            assert answer["value"] == pytest.approx(value, abs=1e-9)


@needs_onnx
def test_the_folder_is_complete_and_every_file_that_a_source_names_is_there(tmp_path, capsys):
    page = tmp_path / "a" / "page"
    assert main(["export", str(TIC_TAC_TOE), "--page", str(page)]) == 0
    assert main(["export", str(TIC_TAC_TOE), "--page", str(page)]) == 0
    output = capsys.readouterr().out
    files = {path.relative_to(page).as_posix() for path in page.rglob("*") if path.is_file()}
    assert files >= {"index.html", "model.onnx", "player.json", "worker.js"}
    for name in files:
        if name.endswith((".html", ".js")):
            text = (page / name).read_text(encoding="utf-8")
            sources = re.findall(r'(?:from |href=|src=|new URL\()"(?!#)([^"]+)"', text)
            for other in sources:
                assert (page / name).parent.joinpath(other).resolve().is_file(), (name, other)
    player = json.loads((page / "player.json").read_text())
    assert (
        player["game"] == {"name": "tic_tac_toe", "rules": "mnk"} | make_game("tic_tac_toe").options
    )
    settings = load_checkpoint(TIC_TAC_TOE).details["search"]
    assert player["search"] == {key: settings[key] for key in writer.SEARCH_KEYS}
    assert {file["url"] for file in player["runtime"].values()} == {
        writer.HOST + "ort.wasm.bundle.min.mjs",
        writer.HOST + "ort-wasm-simd-threaded.wasm",
    }
    assert "python -m http.server --directory" in output


def test_a_page_that_a_full_disk_stops_is_written_again(tmp_path, monkeypatch):
    page, files = tmp_path / "page", {"index.html": b"new", "b/c.js": b"new", "player.json": b"{}"}
    written: list[Path] = []

    def write(path: Path, data: bytes) -> None:
        if len(written) == 2:
            raise RunError("no space left on device")
        written.append(path)
        write_atomic(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(writer, "write_atomic", write)
        with pytest.raises(RunError, match="no space"):
            write_page(page, files)
    (page / "CNAME").write_text("a file of the host")
    writer.check_folder(page)
    assert write_page(page, files) == 8
    assert {path.name for path in page.iterdir()} == {"index.html", "b", "player.json", "CNAME"}


@needs_onnx
def test_mistakes_are_one_line_and_write_nothing(tmp_path, only_line):
    page, hex_player = tmp_path / "page", CHECKPOINTS / "hex_7x7.safetensors"
    message = "hex:size=7,swap=1 has no rules in JavaScript: a page plays connect_four, and mnk"
    assert message in only_line("export", hex_player, "--page", page)
    command = "export", TIC_TAC_TOE, "--page"
    message = "ort.wasm.bundle.min.mjs is missing; get it with: npm install onnxruntime-web@"
    assert message in only_line(*command, page, "--runtime", tmp_path)
    for file in writer.FILES.values():
        (tmp_path / file.name).write_bytes(b"of another version")
    message = f"is not that of onnxruntime-web {writer.VERSION}"
    assert message in only_line(*command, page, "--runtime", tmp_path)
    assert not page.exists()
    message = "the folder holds no such page, but other files; name a new folder"
    assert message in only_line(*command, tmp_path)
    assert "cannot write" in only_line(*command, tmp_path / writer.FILES["wasm"].name)
    assert len(list(tmp_path.iterdir())) == 2
