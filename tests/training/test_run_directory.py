"""The games that a run keeps for people to look at, and the place that it writes to."""

import shutil
from typing import Any

import pytest
from helpers.runs.tiny_run import ITERATIONS, content_of, fingerprint, tiny_config

from alphazero.diagnostics.verify import verify
from alphazero.errors import RunError
from alphazero.records.game_files import load_played
from alphazero.training import run_directory
from alphazero.training.loop import resume, train
from alphazero.training.manifest import run_folder


def test_games_for_people_are_kept_of_the_newest_iterations_alone(tmp_path, monkeypatch):
    """A gate at every second of four iterations; the window has left the first."""
    monkeypatch.setattr(run_directory, "KEPT_GAMES", 2)
    kept = "replay.window_minimum=16", "replay.window_maximum=16"
    folder = train(tiny_config(tmp_path / "once", *kept))
    names = {path.name for path in (folder / "games").iterdir()}
    assert names == {
        f"{kind}-{iteration:06d}.{form}"
        for kind, iteration in (("selfplay", 3), ("selfplay", 4), ("gate", 4))
        for form in ("txt", "sgf")
    }
    first = train(tiny_config(tmp_path / "twice", *kept, "budget.iterations=2"))
    (first / "games/notes.txt").write_text("somebody's own")
    resume(first, [f"budget.iterations={ITERATIONS}"])
    (first / "games/notes.txt").unlink()  # which nothing swept away
    assert content_of(first) == content_of(folder)
    assert not verify(first).faults


def test_a_run_whose_folder_was_moved_does_not_write_into_another(tmp_path):
    """As by: mv RUN old; cp -r old RUN; alphazero train --resume RUN."""
    config, digests = tiny_config(tmp_path), {}
    run, old = run_folder(config), tmp_path / "old"

    def move(event: dict[str, Any]) -> None:
        if event["iteration"] == 1 and not old.exists():
            run.rename(old)
            shutil.copytree(old, run)
            resume(run, ["budget.iterations=3"])
            digests.update(fingerprint(run))

    with pytest.raises(RunError, match="tiny was moved or replaced while it was in use"):
        train(config, move)
    assert fingerprint(run) == digests
    assert not verify(run).faults


def test_games_without_sgf_are_kept_a_line_each(tmp_path):
    folder = train(tiny_config(tmp_path, "game.name=connect_four", "budget.iterations=2"))
    assert load_played(folder / "games/gate-000002.jsonl")


def test_the_folder_of_sample_games_may_be_deleted(tmp_path):
    folder = train(tiny_config(tmp_path, "budget.iterations=1"))
    shutil.rmtree(folder / "games")
    resume(folder, ["budget.iterations=2"])
    assert (folder / "games/selfplay-000002.txt").exists()
