"""`alphazero check` reads a run again: a sound one passes, and every damaged file is named."""

import errno
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.bugs.file_damage import cut_in_half, flip_bit
from helpers.commands import printed_by
from helpers.paths import CHECKPOINTS
from helpers.runs.records import random_records
from helpers.runs.tiny_run import files_of, manifest_of, tiny_config

from alphazero.cli.main import main
from alphazero.diagnostics import verify
from alphazero.games import make_game
from alphazero.games.registry import read_game
from alphazero.network.checkpoint import load_checkpoint
from alphazero.records.jsonl import to_lines
from alphazero.records.played_game import PlayedGame
from alphazero.training.loop import resume, train
from alphazero.training.manifest import digest_of
from alphazero.training.run_directory import RunDirectory
from alphazero.utils.files import sha256_of

Capture = pytest.CaptureFixture[str]
SHIPPED = sorted(CHECKPOINTS.glob("*.safetensors"))


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """A finished run with a player that its manifest no longer names; not to be changed."""
    more = ["run.keep_checkpoints=0", "budget.iterations=3"]
    return train(tiny_config(tmp_path_factory.mktemp("sound"), *more))


@pytest.fixture
def run(sound, tmp_path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "copy"))


def verified_files(run: Path) -> set[str]:
    """Return the files that are verified: all but the curves, the readable texts and the lock."""
    return {
        name
        for name in files_of(run)
        if not name.startswith("events.") and not name.endswith((".txt", ".lock"))
    }


def faults_of(path: Path, capsys: Capture) -> list[str]:
    """Verify; return a line for each fault; there is at least one."""
    capsys.readouterr()
    assert main(["check", str(path)]) == 2
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    lines = captured.err.removeprefix("error: ").splitlines()
    assert lines
    assert all(line.isprintable() and len(line) < 600 for line in lines)
    return lines


def test_a_sound_run_passes_with_a_count_of_what_was_read(run, capsys):
    output = printed_by(capsys, "check", run)
    files, manifest = verified_files(run), manifest_of(run)
    size = sum((run / name).stat().st_size for name in files)
    assert output.startswith(
        f"{run}, iteration 3: intact files: {len(files)} ({size:,} bytes), faults: 0\n     2 the"
    )
    players = {name for name in files if name.startswith(("step-", "best"))}
    assert f"\n{len(players):6} players: SHA-256" in output
    steps = sorted(run.glob("step-*.safetensors"))
    assert [load_checkpoint(path).iteration for path in steps] == [0, 1, 2, 3], "all are kept"
    assert len(players) == 1 + len(steps)
    assert f"\n{len(manifest['shards']) + 1:6} files of training games: SHA-256" in output
    assert "games)" in output


@pytest.mark.parametrize("damage", [flip_bit, cut_in_half, Path.unlink])
def test_all_damaged_files_are_named_at_once(run, capsys, damage: Callable[[Path], None]):
    hashed, names = manifest_of(run)["hashes"], verified_files(run)
    first = ["config.yaml", "state/manifest.json"]  # without which nothing else is judged
    if damage is flip_bit:  # a text that is not hashed may read well all the same
        names = {name for name in names if not name.endswith(".sgf")}
    elif damage is Path.unlink:  # what nobody names is not missing
        names = {name for name in names if name in hashed or name.startswith("best")}
    assert len(names) >= 6
    for name in names - {*first}:
        damage(run / name)
    lines = faults_of(run, capsys)
    for name in names - {*first}:
        assert sum(str(run / name) in line for line in lines) == 1, name
    for name in first:
        damage(run / name)
        assert any(Path(name).name in line for line in faults_of(run, capsys)), name


def test_games_that_are_well_hashed_and_against_the_rules_are_named(run, capsys):
    manifest = manifest_of(run)
    shard, unfinished = f"replay/games-{manifest['shards'][-1]:06d}.npz", manifest["unfinished"]
    shutil.copy(run / unfinished, run / shard)
    (run / unfinished).write_bytes(b"PK, but no archive")
    manifest["hashes"] |= {name: sha256_of(run / name) for name in (shard, unfinished)}
    del manifest["sha256"]
    manifest["sha256"] = digest_of(manifest)
    (run / "state/manifest.json").write_text(json.dumps(manifest))
    (line,) = faults_of(run, capsys)
    assert "these are not recorded games" in line
    assert unfinished in line


def test_files_that_do_not_fit_together_are_named(run, capsys):
    stranger, best = run / "step-99999999.safetensors", run / "best.safetensors"
    shutil.copy(SHIPPED[-1], stranger)
    (line,) = faults_of(run, capsys)
    assert f"{stranger.name} has another game or network than config.yaml" in line
    stranger.unlink()
    steps = sorted(run.glob("step-*"))
    shutil.copy(next(path for path in steps if path.name != manifest_of(run)["best"]), best)
    (line,) = faults_of(run, capsys)
    assert "best.safetensors is not the best player" in line


def test_sample_games_as_json_lines_are_replayed(run, capsys):
    path = run / "games/gate-000002.jsonl"
    game = make_game("tic_tac_toe")
    records = random_records(game, 3)
    games = [PlayedGame.of(game, record, ("challenger", "best")) for record in records]
    path.write_bytes(to_lines(games))
    main(["check", str(run)])
    (before,) = re.findall(r"(\d+) files of sample games: .*", capsys.readouterr().out)
    assert int(before) == 1 + len(list((run / "games").glob("*.sgf")))
    lines = path.read_text().splitlines()
    occupied = json.loads(lines[1])["moves"]
    lines[1] = lines[1].replace(f'"{occupied[1]}"', f'"{occupied[0]}"', 1)
    path.write_text("\n".join(lines))
    (line,) = faults_of(run, capsys)
    assert line.startswith(f"{path}:2: ")
    assert "move 2: " in line
    path.write_text("")
    assert faults_of(run, capsys)[0].startswith(f"{path}: no games in it")


@pytest.mark.parametrize("name", ["nim", "tic_tac_toe:length=2"])
def test_sample_games_of_another_game_are_named(name: str, run, capsys):
    path = run / "games/gate-000002.jsonl"
    games = [make_game("tic_tac_toe"), read_game(name)]
    records = [random_records(game, 1)[0] for game in games]
    path.write_bytes(to_lines(map(PlayedGame.of, games, records, [("challenger", "best")] * 2)))
    (line,) = faults_of(run, capsys)
    assert line == f"{path}: game 2 is of {name}, but the run's game is tic_tac_toe"


def test_left_overs_of_a_kill_are_no_fault(run, capsys):
    (run / "state/.learner.0a1b2c.temporary").write_bytes(b"half a file")
    (run / "replay/games-000099.npz").write_bytes(b"of an iteration that was not published")
    assert main(["check", str(run)]) == 0


def test_verifying_writes_nothing_and_needs_no_lock_file(run, capsys, monkeypatch):
    (run / "run.lock").unlink()
    before = {name: (run / name).stat().st_mtime_ns for name in files_of(run)}
    opened = os.open

    def read_only(path: Any, flags: int, *more: Any, **named: Any) -> int:
        written = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if written and str(path).startswith(str(run)):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", read_only)
    assert "faults: 0" in printed_by(capsys, "check", run)
    assert {name: (run / name).stat().st_mtime_ns for name in files_of(run)} == before


def test_faults_of_files_that_a_run_replaced_meanwhile_are_none(run, capsys, monkeypatch):
    """A run that goes on deletes files of the manifest that was read first."""
    checks = verify._checks

    def going_on(opened: RunDirectory) -> list[verify.Check]:
        resume(run, ["budget.iterations=9"])
        return checks(opened)

    monkeypatch.setattr(verify, "_checks", going_on)
    (line,) = faults_of(run, capsys)
    assert line == f"{run} was changed meanwhile; wait for its run to end"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_single_checkpoint_is_verified_too(path: Path, tmp_path, capsys):
    assert main(["check", str(path)]) == 0
    expected = f"{path}: intact files: 1 ({path.stat().st_size:,} bytes), faults: 0\n"
    assert capsys.readouterr().out.startswith(expected)
    damaged = tmp_path / path.name
    shutil.copy(path, damaged)
    flip_bit(damaged)
    (line,) = faults_of(damaged, capsys)
    assert str(damaged) in line
