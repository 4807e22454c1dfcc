"""Runs on real Ray: what an actor's death costs, what the driver's leaves, who is let in."""

import importlib.util
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers.processes import HANG, until
from helpers.runs.tiny_run import YAML, manifest_of, tiny_config, torn_files

from alphazero.cli.main import main
from alphazero.errors import RunError
from alphazero.training.distributed import ray_cluster

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed (alphazero[ray])"
)
on_linux = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads /proc")

LONG = [
    "selfplay.distributed={ray: {actors: 2}}",
    "selfplay.games_per_iteration=40",
    "budget.iterations=100000",
]


class Driver:
    """A run on Ray, started as a person would, and the processes that belong to it."""

    def __init__(self, place: Path, *overrides: str) -> None:
        (place / "tiny.yaml").write_text(YAML)
        self.run, self.out = place / "runs/tiny", place / "out"
        with self.out.open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "alphazero", "train", "tiny.yaml", *overrides],
                cwd=place,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def reaches(self, iteration: int) -> None:
        """Wait until this many iterations are published."""

        def there() -> bool:
            assert self.process.poll() is None, self.out.read_text()
            published = (self.run / "state/manifest.json").exists()
            return published and manifest_of(self.run)["iteration"] >= iteration

        until(there)

    def keeper(self) -> int:
        """Return the process that keeps Ray."""
        (keeper,) = [
            process
            for process, (parent, _, text) in processes().items()
            if parent == self.process.pid and "ray_supervisor" in text
        ]
        return keeper

    def others(self) -> dict[int, str]:
        """Return the processes that the run started, by number: name or command line."""
        return session(self.keeper())

    def actors(self) -> set[int]:
        return {each for each, text in self.others().items() if text.startswith("ray::Actor")}


def processes() -> dict[int, tuple[int, int, str]]:
    """Return parent, session and command line of every living process."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,sess=,stat=,args="],
        capture_output=True,
        text=True,
        check=True,
    )
    found = {}
    for line in listed.stdout.splitlines():
        process, parent, session_, state, *text = line.split(None, 4)
        if not state.startswith("Z"):
            found[int(process)] = (int(parent), int(session_), " ".join(text))
    return found


def session(leader: int) -> dict[int, str]:
    return {process: text for process, (_, each, text) in processes().items() if each == leader}


def listening(owners: set[int]) -> dict[str, str]:
    """Return the addresses, in hexadecimal, on which processes listen for TCP, by socket."""
    sockets = set()
    for process in owners:
        for link in Path(f"/proc/{process}/fd").iterdir():
            try:
                found = re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink()))
            except OSError:
                continue
            if found:
                sockets.add(found[1])
    open_ = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                open_[fields[9]] = fields[1].partition(":")[0]
    return open_


LOOPBACK = {
    "0100007F",  # 127.0.0.1
    "0000000000000000FFFF00000100007F",  # the same, as an IPv6 address
    "00000000000000000000000001000000",  # ::1
}


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A run whose actor is killed, and then its driver; and what was seen meanwhile."""
    place = tmp_path_factory.mktemp("story")
    driver = Driver(place, *LONG)
    try:
        driver.reaches(1)
        others = driver.others()
        actors = sorted(driver.actors())
        ports = listening({*others, driver.process.pid})
        os.kill(actors[0], signal.SIGKILL)
        before = time.monotonic()
        until(lambda: "actor " in driver.out.read_text())
        noticed = time.monotonic() - before
        driver.reaches(manifest_of(driver.run)["iteration"] + 2)
        until(lambda: len(driver.actors() - {actors[0]}) == 2)
        driver.process.kill()
        driver.process.wait()
        killed = time.monotonic()
        until(
            lambda: not any(each in processes() for each in others) or time.monotonic() > killed + 5
        )
        left = {each: text for each, text in others.items() if each in processes()}
    finally:
        driver.process.kill()
        driver.process.wait()
    return SimpleNamespace(
        run=driver.run, out=driver.out.read_text(), actors=actors, ports=ports,
        noticed=noticed, left=left,
    )  # fmt: skip


@needs_ray
@on_linux
@pytest.mark.slow
def test_an_actor_that_is_killed_is_replaced_and_the_run_goes_on(story: SimpleNamespace) -> None:
    assert len(story.actors) == 2
    assert "died and is replaced: " in story.out
    print(f"its death was noticed after {story.noticed:.2f} s")


@needs_ray
@on_linux
@pytest.mark.slow
def test_a_ray_of_this_machine_listens_on_the_loopback_interface_alone(
    story: SimpleNamespace,
) -> None:
    assert len(story.ports) >= 3  # of the store of keys, of the node, of each actor
    assert set(story.ports.values()) <= LOOPBACK


@needs_ray
@on_linux
@pytest.mark.slow
def test_a_killed_driver_leaves_no_process_after_five_seconds(story: SimpleNamespace) -> None:
    assert story.left == {}


@needs_ray
@on_linux
@pytest.mark.slow
def test_what_a_killed_driver_published_is_whole_and_goes_on(story: SimpleNamespace) -> None:
    assert not torn_files(story.run)
    manifest = manifest_of(story.run)
    go_on = ["selfplay.distributed=null", f"budget.iterations={manifest['iteration'] + 1}"]
    assert main(["train", "--resume", str(story.run), *go_on]) == 0
    more = manifest_of(story.run)["games"] - manifest["games"]
    assert 40 <= more < 40 + 8, "of its eight parallel games some may end at once"


def node_of(driver: Driver) -> int:
    """Return the process of Ray's node."""
    (node,) = [each for each, text in driver.others().items() if "/raylet/raylet " in text]
    return node


@needs_ray
@on_linux
@pytest.mark.slow
def test_a_node_that_dies_ends_the_run_with_one_line(tmp_path: Path) -> None:
    driver = Driver(tmp_path, *LONG)
    try:
        driver.reaches(1)
        others = driver.others()
        os.kill(node_of(driver), signal.SIGKILL)
        assert driver.process.wait(HANG) == 2
    finally:
        driver.process.kill()
        driver.process.wait()
    assert driver.out.read_text().splitlines()[-1].startswith("error: Ray's node on this machine")
    until(lambda: not any(each in processes() for each in others))
    assert not torn_files(driver.run)


@needs_ray
@on_linux
@pytest.mark.slow
def test_a_folder_of_ray_is_its_users_alone_and_goes_with_the_keeper_and_the_driver(
    tmp_path: Path,
) -> None:
    driver = Driver(tmp_path, *LONG)
    try:
        driver.reaches(1)
        keeper, others = driver.keeper(), driver.others()
        place = Path(processes()[keeper][2].split()[2])
        assert place.name.startswith("alphazero-ray-")
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        os.kill(keeper, signal.SIGKILL)
        driver.process.kill()
        driver.process.wait()
        until(lambda: not any(each in processes() for each in others))
    finally:
        driver.process.kill()
        driver.process.wait()
    shutil.rmtree(place)  # nobody was left to do it


@pytest.mark.parametrize("letters", [4, 60])
def test_the_names_of_rays_sockets_are_short_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, letters: int
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / ("x" * letters)))
    (tmp_path / ("x" * letters)).mkdir()
    folder, files = ray_cluster._make_folder()
    folder.rmdir()
    session = "session_2026-11-24_21-47-09_441464_4194304/sockets/plasma_store"
    assert len(str(files / session)) <= 103


# --- what a machine can carry ---------------------------------------------------------------------


@pytest.mark.parametrize(("cores", "each", "enough"), [(2, 1, "2"), (4, 3, "1"), (64, 1, "")])
def test_more_actors_than_cores_are_one_line_that_says_how_many_are_enough(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cores: int,
    each: int,
    enough: str,
) -> None:
    monkeypatch.setattr(ray_cluster, "usable_cores", lambda: cores)
    workers = f"{{ray: {{actors: 64, cpus_per_actor: {each}}}}}"
    settings = tiny_config(tmp_path, f"selfplay.distributed={workers}").selfplay.distributed
    assert settings is not None
    ray_cluster._warn_of_cores(settings)
    out = capsys.readouterr().out
    if not enough:
        assert out == ""
    else:
        assert f"64 actors want {64 * each} cores, and this machine has {cores}; " in out
        assert out.endswith(f" actors: {enough}\n")
        assert out.count("\n") == 1


@pytest.mark.parametrize(("actors", "fits"), [(8, True), (9, False), (64, False)])
def test_more_actors_than_memory_are_refused_with_the_number_that_fits(
    tmp_path: Path, actors: int, fits: bool
) -> None:
    settings = tiny_config(tmp_path, f"selfplay.distributed={{ray: {{actors: {actors}}}}}")
    there = {"CPU": 64.0, "memory": 8.5 * ray_cluster.ACTOR_MEMORY}
    if fits:
        ray_cluster._check_capacity(settings.selfplay.distributed, there)  # type: ignore[arg-type]
        return
    with pytest.raises(RunError, match=rf"{actors} actors need .* set actors to 8 or less$"):
        ray_cluster._check_capacity(settings.selfplay.distributed, there)  # type: ignore[arg-type]


# --- clusters that are joined ---------------------------------------------------------------------


def answering(monkeypatch: pytest.MonkeyPatch, answer: str) -> list[dict[str, str]]:
    """Let the probe without a token get `answer`; return the environments that probes ran in."""
    seen: list[dict[str, str]] = []

    def run(*_: Any, env: dict[str, str], **__: Any) -> Any:
        seen.append(env)
        return SimpleNamespace(stdout=answer, stderr="a\nno route")

    monkeypatch.setattr(ray_cluster.subprocess, "run", run)
    monkeypatch.setenv("RAY_AUTH_MODE", "unset")
    return seen


def test_an_open_cluster_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "open\n")
    with pytest.raises(RunError) as caught:
        ray_cluster._check_token("10.0.0.5:6379", False)
    message = str(caught.value)
    assert "asks for no token: anybody who reaches its ports can run programs as you" in message
    assert "allow_unauthenticated" in message
    assert "\n" not in message


def test_an_open_cluster_is_joined_if_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "open\n")
    ray_cluster._check_token("10.0.0.5:6379", True)
    assert os.environ["RAY_AUTH_MODE"] == "unset"


def test_the_probe_for_an_open_cluster_has_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", "/secret")
    seen = answering(monkeypatch, "closed\n")
    ray_cluster._check_token("10.0.0.5:6379", False)
    (stranger,) = seen
    assert "secret" not in json.dumps({k: v for k, v in stranger.items() if k.startswith("RAY_")})
    assert stranger["HOME"] != os.environ.get("HOME")
    assert os.environ["RAY_AUTH_MODE"] == "token"


def test_an_address_where_nothing_answers_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "")
    with pytest.raises(RunError, match=r"no Ray cluster at 10.0.0.5:6379 \(no route\)"):
        ray_cluster._check_token("10.0.0.5:6379", False)


@pytest.mark.parametrize("address", ["auto", "10.0.0.5", "ray://h:1", "h:1 --x", ":1", "h:123456"])
def test_an_address_of_another_form_is_one_line(address: str) -> None:
    with pytest.raises(RunError, match=r"expected local or host:port"):
        ray_cluster._check_token(address, False)


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster.importlib.util, "find_spec", lambda name: None)
    config = tiny_config(tmp_path, "selfplay.distributed={ray: {}}")
    with pytest.raises(RunError, match=r"Ray is not installed; pip install 'alphazero\[ray\]'"):
        ray_cluster.open_actor_pool(None, config, 0)  # type: ignore[arg-type]
