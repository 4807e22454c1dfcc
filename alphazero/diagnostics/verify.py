"""Verification: every file of a run or checkpoint is read, hashed and checked again.

Nothing is written, so a copy on a read-only disk can be verified too. TensorBoard's curves and the
texts in `games/` are not verified: no program reads them back.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from alphazero.config.loader import load_config
from alphazero.errors import AlphaZeroError, RunError
from alphazero.games.registry import write_game
from alphazero.network.checkpoint import BEST, load_checkpoint
from alphazero.records.game_files import load_played
from alphazero.records.game_record import GameRecord
from alphazero.records.played_game import PlayedGame
from alphazero.training.manifest import (
    CONFIG,
    MANIFEST,
    NEXT_CONFIG,
    check_resumable,
    read_config_text,
    read_manifest,
)
from alphazero.training.run_directory import RunDirectory, matches_run
from alphazero.utils.files import is_folder, printable, sha256_of
from alphazero.utils.progress import progress_bar
from alphazero.utils.shared_files import refuse

_KINDS: Final = {
    "manifest": "the configuration and the manifest: SHA-256",
    "player": "players: SHA-256, finite weights, the run's game and network",
    "learner": "weights and optimizer of the learner: SHA-256",
    "games": "files of training games: SHA-256, every move replayed by the rules",
    "sample": "files of sample games: the run's game, every move replayed by the rules",
}
"""The checks of each kind of file, in the order of the report."""


class Check(NamedTuple):
    """A file, its kind, and the function that reads it; it returns the games of a file of games."""

    kind: str
    path: Path
    read: Callable[[], object]


@dataclass
class VerifyReport:
    """The intact files, and a line for each fault."""

    title: str
    files: Counter[str] = field(default_factory=Counter)
    """intact files by kind"""
    games: Counter[str] = field(default_factory=Counter)
    size: int = 0
    """bytes"""
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{self.title}: intact files: {self.files.total():,} ({self.size:,} bytes), "
            f"faults: {len(self.faults):,}"
        ]
        for kind, meaning in _KINDS.items():
            if self.files[kind]:
                games = f" ({self.games[kind]:,} games)" if self.games[kind] else ""
                lines.append(f"{self.files[kind]:6,} {meaning}{games}")
        return "\n".join(lines)

    def run(self, checks: list[Check]) -> None:
        with progress_bar(len(checks), "file", desc="verifying") as bar:
            for kind, path, read in checks:
                try:
                    content = read()
                    self.games[kind] += len(content) if isinstance(content, list) else 0
                    self.size += path.stat().st_size
                    self.files[kind] += 1
                except AlphaZeroError as error:
                    self.faults += str(error).splitlines()
                except OSError as error:
                    self.faults.append(f"cannot read {printable(path)}: {error.strerror}")
                bar.update()


def verify(path: Path) -> VerifyReport:
    """Verify the run in a folder, or a single checkpoint.

    Raises RunError when the folder holds no run, or it changed while it was read.
    """
    report = VerifyReport(printable(path))
    if not is_folder(path):
        report.run([Check("player", path, partial(_read_player, path, None))])
        return report
    check_resumable(path)
    report.run(
        [
            Check("manifest", path / CONFIG, partial(_read_config, path)),
            Check("manifest", path / MANIFEST, partial(read_manifest, path / MANIFEST)),
        ]
    )
    if report.faults:
        report.faults.append(f"{printable(path)}: nothing else is checked without these two files")
        return report
    run = RunDirectory.open(path)
    report.title = f"{printable(path)}, iteration {run.state.iteration:,}"
    report.run(_checks(run))
    if report.faults and read_manifest(path / MANIFEST) != run.state:
        raise RunError(f"{printable(path)} was changed meanwhile; wait for its run to end")
    return report


def _checks(run: RunDirectory) -> list[Check]:
    folder, state = run.folder, run.state
    checks = []
    for name in sorted(state.hashes.keys() - {CONFIG, NEXT_CONFIG}):
        path = folder / name
        if name == state.learner:
            checks.append(Check("learner", path, run.load_learner))
        elif path.suffix == ".npz":
            checks.append(Check("games", path, partial(_read_games, run, name)))
        else:
            checks.append(Check("player", path, partial(_read_named_player, run, name)))
    best = folder / BEST
    checks.append(Check("player", best, partial(_read_copy_of_best, run, best)))
    for path in sorted(folder.glob("step-*.safetensors")):
        if path.name not in state.hashes:
            checks.append(Check("player", path, partial(_read_player, path, run)))
    for path in sorted((folder / "games").glob("*")):
        if path.suffix in (".sgf", ".jsonl"):
            checks.append(Check("sample", path, partial(_read_sample, path, run)))
    return checks


def _read_config(folder: Path) -> None:
    state = None
    with suppress(RunError):  # the manifest's own check reports the error
        state = read_manifest(folder / MANIFEST)
    if state:
        read_config_text(folder, state)
    load_config(folder / CONFIG)


def _read_games(run: RunDirectory, name: str) -> list[GameRecord]:
    return run.load_games(name).records()


def _read_named_player(run: RunDirectory, name: str) -> None:
    run.read(name)
    _read_player(run.folder / name, run)


def _read_copy_of_best(run: RunDirectory, path: Path) -> None:
    _read_player(path, run)
    if sha256_of(path) != run.state.hashes[run.state.best]:
        raise RunError(
            f"{printable(path)} is not the best player, {run.state.best}; resuming the run "
            "renews it"
        )


def _read_player(path: Path, run: RunDirectory | None) -> None:
    checkpoint = load_checkpoint(path)
    if run is not None and not matches_run(checkpoint, run.config):
        raise RunError(f"{printable(path)} has another game or network than config.yaml")


def _read_sample(path: Path, run: RunDirectory) -> list[PlayedGame]:
    games = load_played(path, refuse)
    for number, game in enumerate(games, 1):
        if not run.game.accepts(game.game):
            raise RunError(
                f"{printable(path)}: game {number} is of {write_game(game.game)}, but the run's "
                f"game is {write_game(run.game)}"
            )
    return games
