"""The published state of a run, its checks and its lock; none of this needs torch."""

import contextlib
import json
import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from alphazero.config.schema import Config
from alphazero.errors import RunError
from alphazero.network.checkpoint import BEST
from alphazero.utils.checked_json import parse_object
from alphazero.utils.files import (
    exists,
    is_folder,
    path_errors,
    printable,
    read_limited,
    sha256_hex,
)

FORMAT: Final = "alphazero-run"
FORMAT_VERSION: Final = 3
CONFIG: Final = "config.yaml"
MANIFEST: Final = "state/manifest.json"
LOCK: Final = "run.lock"
CONFIG_HEAD: Final = "# The resolved configuration of this run.\n"
"""The first line of a run's `CONFIG`."""
NEXT_CONFIG: Final = "config.yaml, next"
"""Name among a manifest's hashes of the `CONFIG` that is about to replace the present one."""


@dataclass
class RunState:
    """The state of a run: all that resuming needs, by value or by file name."""

    iteration: int = 0
    step: int = 0
    positions: int = 0
    """fully searched positions since the run began"""
    evaluations: int = 0
    """positions evaluated in self-play since the run began"""
    games: int = 0
    seconds: float = 0.0
    """of training, over all sessions"""
    rating: float = 0.0
    """the best player's Elo: the sum of the `gain` of all gates"""
    best: str = ""
    learner: str = ""
    unfinished: str = ""
    shards: list[int] = field(default_factory=list)
    """iterations whose games are in the window, oldest first"""
    hashes: dict[str, str] = field(default_factory=dict)
    """SHA-256 of every file named above and of config.yaml, by the path within the folder"""


def shard_name(iteration: int) -> str:
    """Return the path of an iteration's games, within the run's folder."""
    return f"replay/games-{iteration:06d}.npz"


def player_name(step: int) -> str:
    """Return the file name of the player at `step`."""
    return f"step-{step:08d}.safetensors"


def run_folder(config: Config) -> Path:
    """Return the folder of a configuration's run."""
    return Path(config.run.folder) / config.run.name


def holds_run(folder: Path) -> bool:
    """Whether `folder` holds a run with a published state; RunError if it cannot be read."""
    with path_errors("read", folder):
        try:
            (folder / MANIFEST).stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
    return True


def check_resumable(folder: Path | str) -> Path:
    """Return the path of a run; raise RunError unless `folder` holds one with a published state."""
    if not isinstance(folder, str | os.PathLike):
        raise RunError(f"expected the folder of a run, got {type(folder).__name__}")
    folder = Path(folder)
    if not holds_run(folder):
        if exists(folder) and not is_folder(folder):
            raise RunError(f"{printable(folder)} is a file; expected the folder of a run")
        raise RunError(
            f"{printable(folder)} holds no run: "
            f"{printable(folder / MANIFEST)} is missing; start one with `alphazero train CONFIG`"
        )
    return folder


def read_config_text(folder: Path, state: RunState) -> str:
    """Return the text of a run's `config.yaml`; raise RunError unless the run has written it."""
    data = read_limited(folder / CONFIG, 1 << 26)
    if sha256_hex(data) not in (state.hashes.get(CONFIG), state.hashes.get(NEXT_CONFIG)):
        raise RunError(
            f"{printable(folder / CONFIG)} is not as the run wrote it: its SHA-256 is not the one "
            f"in {MANIFEST}; restore it, and change a key with `alphazero train --resume "
            f"{shlex.quote(printable(folder))} section.key=value`"
        )
    return data.decode()


def digest_of(content: dict[str, Any]) -> str:
    """Return the SHA-256 of a manifest's content."""
    return sha256_hex(json.dumps(content, sort_keys=True).encode())


def read_manifest(path: Path) -> RunState:
    """Read a manifest; raise RunError, in one line, when it is not valid."""
    try:
        content = parse_object(read_limited(path, 1 << 26))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        if (version := content["format_version"]) != FORMAT_VERSION:
            raise RunError(
                f"{printable(path)} was written by another version of alphazero (format "
                f"{version!r:.20}; this one reads {FORMAT_VERSION}): use that version"
            )
        if content.pop("sha256") != digest_of(content):
            raise ValueError("its SHA-256 does not match")
        del content["format"], content["format_version"]
        return RunState(**content)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(
            f"{printable(path)} is not a run's manifest ({repr(error)[:300]}); restore it from "
            "a copy"
        ) from error


def read_run(folder: Path) -> tuple[RunState, str]:
    """Return a run's state and the text of its configuration; raise RunError unless intact."""
    check_resumable(folder)
    state = read_manifest(folder / MANIFEST)
    return state, read_config_text(folder, state)


def check_new(folder: Path) -> None:
    """Raise RunError when `folder` already holds a run, or other files that a run would replace."""
    held, other = False, None
    with contextlib.suppress(RunError):  # creating the folder reports the error
        held, other = holds_run(folder), _file_at_risk(folder)
    if held:
        raise RunError(
            f"{printable(folder)} already holds a run; go on with `alphazero train --resume "
            f"{shlex.quote(printable(folder))}`, or choose another name with run.name=..."
        )
    if other:
        raise RunError(
            f"{printable(other)} would be replaced or removed by a new run there; move it, or "
            "choose another name with run.name=..."
        )


def _file_at_risk(folder: Path) -> Path | None:
    """Return a file in `folder` that a new run would replace or remove.

    None also where a run was killed before it published a state: it can begin again.
    """
    with path_errors("read", folder):
        players = sorted(folder.glob("step-*.safetensors"))
        files = [folder / BEST, *(path for path in players if path.name != player_name(0))]
        config = folder / CONFIG
        if config.is_file():
            with config.open("rb") as file:
                if file.read(len(CONFIG_HEAD)) != CONFIG_HEAD.encode():
                    files.append(config)
        return next((path for path in files if path.exists()), None)


def identify_lock(folder: Path) -> tuple[int, int] | None:
    """Return device and inode of the lock in a run's folder; None if there is none."""
    try:
        status = (folder / LOCK).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
