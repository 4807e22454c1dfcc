"""Runs on real Ray: what an actor's death costs, what the driver's leaves, who is let in."""

import contextlib
import importlib
import importlib.util
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers.processes import HANG, until
from helpers.runs.tiny_run import YAML, manifest_of, tiny_config, torn_files

from alphazero.cli.main import main
from alphazero.errors import RunError
from alphazero.training.distributed import ray_cluster


def on_ray(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a slow test that needs Ray and Linux."""
    has_ray = importlib.util.find_spec("ray") is not None and Path("/proc/net/tcp").exists()
    skip = pytest.mark.skipif(not has_ray, reason="needs Ray (alphazero[ray]) and /proc")
    return pytest.mark.slow(skip(test))


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

    def supervisor(self) -> int:
        """Return the process that keeps Ray alive."""
        own = [pid for pid, (parent, _, _) in processes().items() if parent == self.process.pid]
        (supervisor,) = [pid for pid in own if "ray_supervisor" in processes()[pid][2]]
        return supervisor

    def others(self) -> dict[int, str]:
        """Return the processes that the run started, by number: name or command line."""
        leader = self.supervisor()
        return {pid: text for pid, (_, group, text) in processes().items() if group == leader}

    def actors(self) -> set[int]:
        return {pid for pid, text in self.others().items() if text.startswith("ray::Actor")}

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def processes() -> dict[int, tuple[int, int, str]]:
    """Return parent, session and command line of every living process."""
    listing = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,sess=,stat=,args="],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split(None, 4) for line in listing.stdout.splitlines()]
    return {
        int(pid): (int(parent), int(session), " ".join(text))
        for pid, parent, session, state, *text in rows
        if not state.startswith("Z")
    }


def listening(owners: set[int]) -> dict[str, str]:
    """Return the addresses, in hexadecimal, on which processes listen for TCP, by socket."""
    sockets = set()
    for process in owners:
        for link in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                sockets.update(re.findall(r"^socket:\[(\d+)\]$", str(link.readlink())))
    addresses = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                addresses[fields[9]] = fields[1].partition(":")[0]
    return addresses


LOOPBACK = {
    "0100007F",  # 127.0.0.1
    "0000000000000000FFFF00000100007F",  # the same, as an IPv6 address
    "00000000000000000000000001000000",  # ::1
}


@pytest.fixture(scope="module")
def story(tmp_path_factory) -> SimpleNamespace:
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
        driver.kill()
        killed = time.monotonic()
        until(lambda: not others.keys() & processes() or time.monotonic() > killed + 5)
        survivors = others.keys() & processes()
    finally:
        driver.kill()
    return SimpleNamespace(
        run=driver.run, out=driver.out.read_text(), actors=actors, ports=ports,
        noticed=noticed, survivors=survivors,
    )  # fmt: skip


@on_ray
def test_an_actor_that_is_killed_is_replaced_and_the_run_goes_on(story):
    assert len(story.actors) == 2
    assert "died and is replaced: " in story.out
    print(f"its death was noticed after {story.noticed:.2f} s")


@on_ray
def test_a_ray_of_this_machine_listens_on_the_loopback_interface_alone(story):
    assert len(story.ports) >= 3  # of the store of keys, of the node, of each actor
    assert set(story.ports.values()) <= LOOPBACK


@on_ray
def test_a_killed_driver_leaves_no_process_after_five_seconds(story):
    assert not story.survivors


@on_ray
def test_what_a_killed_driver_published_is_whole_and_goes_on(story):
    assert not torn_files(story.run)
    manifest = manifest_of(story.run)
    go_on = ["selfplay.distributed=null", f"budget.iterations={manifest['iteration'] + 1}"]
    assert main(["train", "--resume", str(story.run), *go_on]) == 0
    more = manifest_of(story.run)["games"] - manifest["games"]
    assert 40 <= more < 40 + 8, "of its eight parallel games some may end at once"


@on_ray
def test_a_node_that_dies_ends_the_run_with_one_line(tmp_path):
    driver = Driver(tmp_path, *LONG)
    try:
        driver.reaches(1)
        others = driver.others()
        (node,) = [pid for pid, text in others.items() if "/raylet/raylet " in text]
        os.kill(node, signal.SIGKILL)
        assert driver.process.wait(HANG) == 2
    finally:
        driver.kill()
    assert driver.out.read_text().splitlines()[-1].startswith("error: Ray's node on this machine")
    until(lambda: not others.keys() & processes())
    assert not torn_files(driver.run)


@on_ray
def test_rays_folder_is_private_and_ray_ends_with_its_supervisor(tmp_path):
    driver = Driver(tmp_path, *LONG)
    try:
        driver.reaches(1)
        supervisor, others = driver.supervisor(), driver.others()
        place = Path(processes()[supervisor][2].split()[2])
        assert place.name.startswith("alphazero-ray-")
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        os.kill(supervisor, signal.SIGKILL)
        driver.kill()
        until(lambda: not others.keys() & processes())
    finally:
        driver.kill()
    shutil.rmtree(place)  # nobody was left to do it


@pytest.mark.parametrize(
    ("keys", "nodes", "room"),
    [
        ("actors: 9", [{"CPU": 9.0}], 9),
        ("actors: 9", [{"CPU": 8.0}], 8),
        ("actors: 1, cpus_per_actor: 2", [{"CPU": 1.0}, {"CPU": 1.0}], 0),
        ("actors: 3, cpus_per_actor: 2", [{"CPU": 5.0}, {"CPU": 2.0}, {}], 3),
        ("actors: 1, gpus_per_actor: 2", [{"CPU": 9.0, "GPU": 1.0}, {"CPU": 9.0, "GPU": 1.0}], 0),
        ("actors: 3, gpus_per_actor: 0.6", [{"CPU": 9.0, "GPU": 2.0}], 2),
        ("actors: 20, gpus_per_actor: 0.1", [{"CPU": 30.0, "GPU": 2.0}], 20),
        ("actors: 3, gpus_per_actor: 2", [{"CPU": 30.0, "GPU": 5.0}, {"CPU": 30.0, "GPU": 1.0}], 2),
    ],
)
def test_a_cluster_without_room_for_the_actors_is_refused(
    tmp_path, keys: str, nodes: list[dict[str, float]], room: int
):
    settings = tiny_config(tmp_path, f"selfplay.distributed={{ray: {{{keys}}}}}")
    ray = settings.selfplay.distributed
    assert ray is not None
    if room >= ray.actors:
        ray_cluster._check_capacity(ray, nodes)
        return
    with pytest.raises(RunError, match=rf"the cluster has room for {room} of {ray.actors} actors;"):
        ray_cluster._check_capacity(ray, nodes)


def test_a_node_with_other_rules_of_a_plug_in_game_has_another_program(tmp_path, monkeypatch):
    file = tmp_path / "rules_of_a_plug_in.py"
    file.write_text("class Rules: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    rules = importlib.import_module(file.stem).Rules
    monkeypatch.setattr(ray_cluster, "make_game", lambda _: rules())
    before = ray_cluster._program("a game")
    file.write_text("class Rules: size = 5\n")
    assert ray_cluster._program("a game") != before


# --- clusters that are joined ---------------------------------------------------------------------


def answering(monkeypatch: pytest.MonkeyPatch, answer: str) -> list[dict[str, str]]:
    """Let the probe without a token get `answer`; return the environments that probes ran in."""
    environments: list[dict[str, str]] = []

    def run(*_: Any, env: dict[str, str], **__: Any) -> Any:
        environments.append(env)
        return SimpleNamespace(stdout=answer, stderr="a\nno route")

    monkeypatch.setattr(ray_cluster.subprocess, "run", run)
    monkeypatch.setenv("RAY_AUTH_MODE", "unset")
    return environments


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (
            "open\n",
            "asks for no token: anybody who reaches its ports can run programs as you.*allow_",
        ),
        ("", r"no Ray cluster at 10.0.0.5:6379 \(no route\)"),
    ],
)
def test_an_open_cluster_or_none_is_refused_with_the_reason(monkeypatch, answer: str, line: str):
    answering(monkeypatch, answer)
    with pytest.raises(RunError, match=line):
        ray_cluster._check_token("10.0.0.5:6379", False)


def test_an_open_cluster_is_joined_if_allowed(monkeypatch):
    answering(monkeypatch, "open\n")
    ray_cluster._check_token("10.0.0.5:6379", True)
    assert os.environ["RAY_AUTH_MODE"] == "unset"


def test_the_probe_for_an_open_cluster_has_no_token(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", "/secret")
    environments = answering(monkeypatch, "closed\n")
    ray_cluster._check_token("10.0.0.5:6379", False)
    (environment,) = environments
    assert not [name for name, value in environment.items() if "secret" in value]
    assert environment["HOME"] != os.environ.get("HOME")
    assert os.environ["RAY_AUTH_MODE"] == "token"


@pytest.mark.parametrize("address", ["auto", "10.0.0.5", "ray://h:1", "h:1 --x", ":1", "h:123456"])
def test_an_address_of_another_form_is_one_line(address: str):
    with pytest.raises(RunError, match=r"expected local or host:port"):
        ray_cluster._check_token(address, False)


def test_without_ray_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_cluster.importlib.util, "find_spec", lambda name: None)
    config = tiny_config(tmp_path, "selfplay.distributed={ray: {}}")
    with pytest.raises(RunError, match=r"Ray is not installed; pip install 'alphazero\[ray\]'"):
        ray_cluster.open_actor_pool(None, config, 0)  # type: ignore[arg-type]
