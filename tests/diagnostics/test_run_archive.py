"""A run's games read while it trains: on the disk, and through the page."""

from pathlib import Path

import numpy as np
import pytest
from helpers.frontends.web_client import serving
from helpers.runs.tiny_run import ITERATIONS, fingerprint, tiny_config

from alphazero.diagnostics.run_archive import RunArchive
from alphazero.diagnostics.verify import verify
from alphazero.errors import AlphaZeroError, RunError
from alphazero.players.registry import parse_player
from alphazero.records.archive import GATE, SELFPLAY
from alphazero.records.game_record import GameRecord
from alphazero.records.played_game import PlayedGame
from alphazero.training import run_directory
from alphazero.training.loop import resume, train
from alphazero.training.manifest import MANIFEST, read_manifest
from alphazero.training.run_directory import RunDirectory


def shards_of(folder: Path) -> list[int]:
    return read_manifest(folder / MANIFEST).shards


def test_every_iteration_has_games_of_both_kinds(finished_run: Path) -> None:
    chapters = RunArchive(finished_run).iterations()
    assert [i for i, kind in chapters if kind == SELFPLAY] == list(range(ITERATIONS, 0, -1))
    assert [i for i, kind in chapters if kind == GATE] == [4, 2]
    assert chapters == sorted(chapters, key=lambda each: (-each[0], each[1]))


def test_games_of_the_window_come_with_their_policies(finished_run: Path) -> None:
    archive, last = RunArchive(finished_run), shards_of(finished_run)[-1]
    run = RunDirectory.open(finished_run)
    loaded, known = archive.games(last, SELFPLAY), run.load_shard(last).records()
    assert len(loaded) == len(known)
    for one, other in zip(loaded, known, strict=True):
        assert isinstance(one, GameRecord)
        assert np.array_equal(one.actions, other.actions)
        assert np.array_equal(one.policies, other.policies)


def test_gate_games_and_games_that_left_the_window_are_read_from_the_readable_files(
    finished_run: Path,
) -> None:
    archive = RunArchive(finished_run)
    gone = [
        i
        for i, kind in archive.iterations()
        if kind == SELFPLAY and i not in shards_of(finished_run)
    ]
    for iteration, kind in [(4, GATE), *((i, SELFPLAY) for i in gone)]:
        games = archive.games(iteration, kind)
        assert games
        assert all(isinstance(each, PlayedGame) for each in games)


def test_a_deleted_file_is_reported_in_one_line(finished_run: Path, tmp_path: Path) -> None:
    copy = copied(finished_run, tmp_path)
    archive, last = RunArchive(copy), shards_of(copy)[-1]
    (copy / f"replay/games-{last:06d}.npz").unlink()
    with pytest.raises(RunError, match="cannot read") as caught:
        archive.games(last, SELFPLAY)
    assert "\n" not in str(caught.value)
    with pytest.raises(RunError, match="any more"):
        archive.games(999, SELFPLAY)


def test_a_damaged_shard_is_not_shown(finished_run: Path, tmp_path: Path) -> None:
    copy = copied(finished_run, tmp_path)
    last = shards_of(copy)[-1]
    path = copy / f"replay/games-{last:06d}.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(RunError, match="is damaged"):
        RunArchive(copy).games(last, SELFPLAY)


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AlphaZeroError):
        RunArchive(tmp_path)


def test_games_for_people_are_kept_of_the_newest_iterations_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    archive = RunArchive(folder)
    assert {i for i, kind in archive.iterations() if kind == SELFPLAY} == {3, 4, *shards_of(folder)}
    for iteration, kind in archive.iterations():
        assert archive.games(iteration, kind)
    with pytest.raises(RunError, match="has no gate games of iteration 2 any more"):
        archive.games(2, GATE)
    first = train(tiny_config(tmp_path / "twice", *kept, "budget.iterations=2"))
    (first / "games/notes.txt").write_text("somebody's own")
    resume(first, [f"budget.iterations={ITERATIONS}"])
    (first / "games/notes.txt").unlink()  # which nothing swept away
    ours, others = (
        {name: digest for name, digest in fingerprint(each).items() if name != "config.yaml"}
        for each in (folder, first)
    )
    assert ours == others
    assert not verify(first).faults


def test_games_without_sgf_are_kept_a_line_each(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, "game.name=connect_four", "budget.iterations=2")
    train(config)
    archive = RunArchive(Path(config.run.folder) / config.run.name)
    games = archive.games(2, GATE)
    assert games
    assert all(isinstance(each, PlayedGame) and each.game == archive.game for each in games)


def copied(folder: Path, target: Path) -> Path:
    """Return a copy of a run that may be damaged."""
    copy = target / "tiny"
    for path in folder.rglob("*"):
        if path.is_file():
            place = copy / path.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
    return copy


def test_the_page_shows_the_search_then_and_the_network_now(finished_run: Path) -> None:
    archive = RunArchive(finished_run)
    last = shards_of(finished_run)[-1]
    record = archive.games(last, SELFPLAY)[0]
    assert isinstance(record, GameRecord)
    with (
        serving([parse_player(str(finished_run))], [archive]) as running,
        running.begin("tic_tac_toe") as page,
    ):
        (run,) = running.ask("GET", "/api/setup")[1]["runs"]
        assert (run["name"], run["game"], run["iteration"]) == ("tiny", "tic_tac_toe", ITERATIONS)
        assert run["budget_spent"] == 1
        iterations = running.ask("GET", "/api/runs/tiny")[1]["iterations"]
        assert {"iteration": last, "kind": "selfplay"} in iterations
        listed = running.ask("GET", f"/api/runs/tiny/{last}")[1]
        assert listed["total"] == len(listed["games"]) == len(archive.games(last, SELFPLAY))
        assert listed["games"][0]["moves"] == len(record.actions)
        view = page.do("open", run="tiny", iteration=last, game=0)
        assert view["ply"] == len(record.actions)
        for ply in range(len(record.actions)):
            view = page.do("goto", ply=ply)
            recorded = view["recorded"]
            policy = np.zeros(9, np.float32)
            for action, share in recorded["policy"] or []:
                policy[action] = share
            assert np.allclose(policy, record.policies[ply])
            assert recorded["value"] == pytest.approx(float(record.values[ply]))
            assert sum(share for _, share in recorded["prior"]) == pytest.approx(1, abs=1e-5)
            assert -1 <= recorded["network_value"] <= 1
            if ply:
                first_players = recorded["value"] if ply % 2 == 0 else -recorded["value"]
                assert view["moves"][ply - 1]["value"] == first_players
        for request in (
            {"run": "tiny", "iteration": last, "game": 10**6},
            {"run": "tiny", "iteration": 99, "game": 0},
            {"run": "../tiny", "iteration": last, "game": 0},
            {"run": "tiny", "iteration": last, "game": 0, "kind": "../games"},
        ):
            assert page.try_to("open", **request)[0] == 400
        gate = page.do("open", run="tiny", iteration=4, game=0, kind="gate")
        assert gate["recorded"] is None or gate["recorded"]["policy"] is None
