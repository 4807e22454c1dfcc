"""The page follows a run in training: its progress, its newest games, curves and best network."""

from pathlib import Path
from typing import Any

from helpers.frontends.web_client import Visitor, serving
from helpers.players import ANY_SIZE, saved_player
from helpers.runs.tiny_run import manifest_of, tiny_config

from alphazero.diagnostics.run_archive import MAX_POINTS, RunArchive, _thinned
from alphazero.diagnostics.run_history import read_curves
from alphazero.frontends.web.catalog.catalog import Catalog
from alphazero.frontends.web.catalog.run_follower import RunFollower
from alphazero.games import make_game
from alphazero.players.options import CheckpointOptions
from alphazero.players.registry import parse_player
from alphazero.training.loop import resume, train

PERSON = {"player": "person"}


def new_run(folder: Path) -> Path:
    """Train a run of one iteration, whose newest network always is the best."""
    return train(tiny_config(folder, "budget.iterations=1", "gate.games=0"))


def status_of(page: Visitor, iteration: int) -> dict[str, Any]:
    """Wait for the event of an iteration; return the status of the only run."""
    for name, content in page.events():
        if name == "runs" and content[0]["iteration"] == iteration:  # type: ignore[index]
            status: dict[str, Any] = content[0]  # type: ignore[index]
            return status
    raise AssertionError("the stream has ended")


def step_of(catalog: Catalog) -> int:
    options = catalog.players["tiny"].spec.options
    assert isinstance(options, CheckpointOptions)
    return options.saved.checkpoint.step


def test_what_a_training_publishes_reaches_the_page(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    with (
        serving([parse_player(str(run))], [RunArchive(run)]) as running,
        running.begin("tic_tac_toe", PERSON, {"player": "tiny"}) as page,
    ):
        catalog = running.manager.catalog
        session = running.manager.sessions[page.id]
        first = status_of(page, 1)
        assert (first["name"], first["player"], first["budget_spent"]) == ("tiny", "tiny", 1)
        before = session.sides[1].player
        assert before is catalog.players["tiny"]

        resume(run, ["budget.iterations=4"])

        status, known = status_of(page, 4), manifest_of(run)
        assert {name: status[name] for name in ("games", "positions")} == {
            name: known[name] for name in ("games", "positions")
        }
        assert status["best_step"] == known["step"] > first["best_step"]
        while not status["loads"]:  # the best player's file follows the manifest
            status = status_of(page, 4)
        listed = running.ask("GET", "/api/runs/tiny")[1]["iterations"]
        assert listed[0] == {"iteration": 4, "kind": "selfplay"}
        curves = read_curves(run)
        charts = running.ask("GET", "/api/runs/tiny/charts")[1]["charts"]
        (loss,) = (each for each in charts if each["title"] == "loss and its parts")
        policy = next(each for each in loss["curves"] if each["label"] == "policy")
        assert policy["points"] == [list(each) for each in sorted(curves["loss/policy"].items())]

        assert session.sides[1].player is before, "a game goes on with the network that began it"
        assert step_of(catalog) == known["step"]
        page.do("new")
        assert session.sides[1].player is catalog.players["tiny"] is not before
        page.do("move", action=4)
        answered = page.wait(lambda view: len(view["moves"]) == 2)
        assert not answered["message"]


def test_a_player_that_is_read_anew_keeps_the_size_that_was_asked_for(tmp_path: Path) -> None:
    path = saved_player(tmp_path / "any.safetensors", "mnk:rows=3,columns=3,length=3", ANY_SIZE)
    game = make_game("mnk", rows=4, columns=4, length=3)
    catalog = Catalog([parse_player(str(path)).on(game)])
    before = catalog.players["any"]
    again = catalog.reload("any")
    assert again is not before
    assert again.spec.game == before.spec.game == game
    assert catalog.newest(before) is before
    catalog.players["any"] = again
    assert catalog.newest(before) is again


def test_a_run_that_cannot_be_read_is_looked_at_again(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    follower = RunFollower(Catalog([parse_player(str(run))], [RunArchive(run)]))
    assert follower.look() == []
    manifest = run / "state/manifest.json"
    whole = manifest.read_bytes()
    manifest.unlink()
    assert follower.look() == []
    manifest.write_bytes(whole[:50])
    assert follower.look() == []
    assert follower.json()[0]["iteration"] == 1
    manifest.write_bytes(whole)
    (change,) = follower.look()
    assert change.player is None, "the best player is the same file"
    follower.apply([change])
    assert follower.look() == []


def test_a_run_without_curves_has_no_charts(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    for path in (run / "tensorboard").iterdir():
        path.unlink()
    assert RunArchive(run).charts() == []


def test_long_curves_are_thinned_and_keep_their_last_point() -> None:
    for length in (0, 1, MAX_POINTS, MAX_POINTS + 1, 12_345):
        points = list(range(length))
        thinned = _thinned(points)
        assert len(thinned) <= MAX_POINTS
        assert thinned[-1:] == points[-1:]
        assert thinned == sorted(thinned)
