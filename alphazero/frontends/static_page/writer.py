"""Writes the page of a player: its sources, its model, and what the page knows of the player.

The page computes with onnxruntime-web, from a public host or copied beside the page. The version
and its hashes are fixed here; the page checks them before it runs the files.
"""

import base64
import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

from alphazero.drawing.board import empty_board
from alphazero.drawing.palette import looks_of
from alphazero.errors import GameError, RunError
from alphazero.games import Game
from alphazero.games.connect_four import ConnectFour
from alphazero.games.mnk import Mnk
from alphazero.games.registry import write_game
from alphazero.games.results import title_of
from alphazero.network.checkpoint import Checkpoint
from alphazero.network.onnx_export import OnnxModel
from alphazero.players.checkpoint_player import LEAVES_PER_BATCH, search_settings
from alphazero.utils.files import path_errors, printable, read_limited, write_atomic

RULES: Final[dict[type[Game], str]] = {ConnectFour: "connect_four", Mnk: "mnk"}
"""Games with rules in files/rules.js, and their names there."""

SHARED: Final = (
    *("style.css", "board.css", "icon.svg", "lib/dom.js", "components/layers.js"),
    *(f"board/{name}.js" for name in ("board", "overlay", "pieces")),
)
"""Files of the page of `alphazero serve` that this page uses too."""

SEARCH_KEYS: Final = ("c_puct", "c_puct_base", "fpu_reduction")
"""Settings of the player's search that the page's search has."""

FACTS: Final = "player.json"
"""What the page knows of the player. It is written first: a folder without it holds no page."""


def check_rules(checkpoint: Checkpoint) -> Game:
    """Return the game of a player; raise GameError if it has no rules in JavaScript."""
    game = checkpoint.game
    if type(game) not in RULES:
        raise GameError(
            f"{write_game(game)} has no rules in JavaScript: a page plays connect_four, and mnk "
            "with gomoku and tic_tac_toe, on boards of any size"
        )
    return game


def check_folder(folder: Path) -> None:
    """Raise RunError unless `folder` is new, empty or holds such a page."""
    with path_errors("write", folder):
        others = folder.exists() and any(folder.iterdir()) and not (folder / FACTS).exists()
    if others:
        raise RunError(
            f"cannot write {printable(folder)}: the folder holds no such page, but other files; "
            "name a new folder"
        )


def page_files(
    checkpoint: Checkpoint, model: OnnxModel, runtime: Path | None = None
) -> dict[str, bytes]:
    """Return the files of a player's page by path.

    `runtime` is a folder of onnxruntime-web to copy; without it the page loads the runtime from
    `HOST`. Raise GameError when the game has no rules in JavaScript, RunError when `runtime` lacks
    a file, or has it in another version.
    """
    game = check_rules(checkpoint)
    sources = resources.files("alphazero.frontends")
    own = sources / "static_page" / "files"
    files = {file.name: file.read_bytes() for file in own.iterdir() if file.is_file()}
    files |= {name: (sources / "web" / "static" / name).read_bytes() for name in SHARED}
    if runtime is not None:
        copied = read_runtime(runtime)
        files |= {f"runtime/{name}": data for name, data in copied.items()}
    facts = _page_facts(checkpoint, game, model)
    prefix = HOST if runtime is None else "runtime/"
    facts["runtime"] = {
        use: {"url": prefix + file.name, "integrity": f"sha384-{file.sha384}"}
        for use, file in FILES.items()
    }
    files[FACTS] = json.dumps(facts, indent=1).encode()
    files["model.onnx"] = model.data
    return dict(sorted(files.items()))


def _page_facts(checkpoint: Checkpoint, game: Game, model: OnnxModel) -> dict[str, Any]:
    """Return what the page knows of the player, as JSON."""
    settings, network = search_settings(checkpoint), checkpoint.network_settings
    return {
        "game": {"name": write_game(game), "rules": RULES[type(game)], **game.options},
        "style": game.board_style.name.lower(),
        "material": game.material.name.lower(),
        "looks": list(looks_of(game)),
        "side_names": list(game.side_names),
        "title": title_of(game),
        "board": empty_board(game),
        "search": {key: getattr(settings, key) for key in SEARCH_KEYS},
        "leaves": LEAVES_PER_BATCH,
        "shape": list(game.observation_shape),
        "model": {"url": "model.onnx"},
        "about": (
            "Trained by self-play, from nothing but the rules: a network of "
            f"{network.blocks} blocks of {network.filters} filters after {checkpoint.step:,} "
            f"steps, and a tree search by PUCT. The player's "
            f"SHA-256 begins with {model.metadata['player_sha256'][:16]}."
        ),
    }


def write_page(folder: Path, files: dict[str, bytes]) -> int:
    """Write the files of a page; return their bytes. Other files in the folder stay.

    Raise RunError when a file or folder cannot be written.
    """
    for name in sorted(files, key=lambda name: name != FACTS):
        path = folder / name
        with path_errors("write", path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, files[name])
    return sum(map(len, files.values()))


# --- onnxruntime-web -----------------------------------------------------------------------------

VERSION: Final = "1.30.0"
HOST: Final = f"https://cdn.jsdelivr.net/npm/onnxruntime-web@{VERSION}/dist/"


class RuntimeFile(NamedTuple):
    """A file of onnxruntime-web and the SHA-384 of its bytes, in base64."""

    name: str
    sha384: str


FILES: Final = {
    "script": RuntimeFile(
        "ort.wasm.bundle.min.mjs",
        "PLWz+nHEVHpjwBsO0YVdvQj6n5814Iv8E3b8FG0Rp/uIAtjFMCKOpP66iPzedrIG",
    ),
    "wasm": RuntimeFile(
        "ort-wasm-simd-threaded.wasm",
        "vjBJ1z7qrhkTyYsNqKeF6c7N+nOJSU94czEo+tvZcu8G75JparGq9kB+kTnEUNVM",
    ),
}
"""The files by their use. The wasm file has 14 MB, 3.7 MB compressed."""

_LIMIT: Final = 1 << 26


def read_runtime(folder: Path) -> dict[str, bytes]:
    """Return the files by name, from an npm folder of onnxruntime-web or its `dist`.

    Raise RunError when a file is missing or of another version.
    """
    inner = folder / "dist"
    home = inner if inner.is_dir() else folder
    files = {}
    for name, sha384 in FILES.values():
        there = (home / name).is_file()
        files[name] = read_limited(home / name, _LIMIT) if there else b""
        if base64.b64encode(hashlib.sha384(files[name]).digest()).decode() != sha384:
            what = f"is not that of onnxruntime-web {VERSION}" if there else "is missing"
            raise RunError(
                f"{printable(home / name)} {what}; get it with: npm install "
                f"onnxruntime-web@{VERSION}, and name node_modules/onnxruntime-web"
            )
    return files
