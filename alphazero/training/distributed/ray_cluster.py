"""Ray: starts the actors of a pool, on this machine or on many.

Ray pickles its calls and results, so anybody who reaches the ports of a cluster can run programs in
it. Therefore every cluster needs a token. A cluster that this run starts gets its own token and
listens on the loopback interface only. A cluster that it joins must refuse a caller without a
token, which is checked first.

Only texts, numbers and bytes are sent, and both ends verify the bytes (actor.py).
"""

import contextlib
import hashlib
import importlib.util
import inspect
import logging
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

from alphazero.config.loader import dump_config
from alphazero.config.schema import Config, RayConfig
from alphazero.errors import AlphaZeroError, RunError
from alphazero.games.game import Game
from alphazero.games.registry import make_game
from alphazero.training.distributed import ray_supervisor
from alphazero.training.distributed.actor import Actor
from alphazero.training.distributed.actor_pool import RESUME, ActorHandle, ActorPool
from alphazero.utils.jit import VERSIONS

STARTING: Final = 300.0
"""Seconds that Ray may take to start; an idle machine needs five."""

RELEASE_SECONDS: Final = 30.0
"""Seconds to wait for room that another program's actors take."""

_SETTINGS: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray starts slowly on a busy machine.
    "RAY_raylet_start_wait_time_s": str(int(STARTING)),
    "RAY_agent_register_timeout_ms": str(int(STARTING * 1000)),
    "RAY_worker_register_timeout_seconds": str(int(STARTING)),
    # Hides all GPUs from an actor that gets none, so that `device: auto` is the CPU there.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1",
}

_TOKEN: Final = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")

_UNAUTHENTICATED_PROBE: Final = """\
import sys, ray
try:
    ray._raylet.GcsClient(address=sys.argv[1]).internal_kv_keys(b"", timeout=20)
    print("open")
except ray.exceptions.AuthenticationError:
    print("closed")
"""
"""A program that sends a cluster one request, without a token."""


def open_actor_pool(game: Game, config: Config, iteration: int) -> ActorPool:
    """Start or join the cluster of `selfplay.distributed`, and launch its actors; raise RunError.

    `iteration` is the last published one; it seeds the actors, so a resumed run plays other games.
    """
    settings = config.selfplay.distributed
    assert settings is not None
    launcher = RayLauncher(config, settings, iteration)
    try:
        launcher.check()
        return ActorPool(game, config, settings, launcher)
    except BaseException:
        launcher.close()
        raise


class RayLauncher:
    """Launches Ray actors; an `ActorLauncher` (actor_pool.py)."""

    def __init__(self, config: Config, settings: RayConfig, iteration: int) -> None:
        if importlib.util.find_spec("ray") is None:
            raise RunError(
                "selfplay.distributed: Ray is not installed; pip install 'alphazero[ray]', or "
                "leave this key out"
            )
        os.environ.update(_SETTINGS)
        self._text, self._seed = dump_config(config), [config.run.seed, iteration]
        self._settings, self._game = settings, config.game.name
        self._closing = threading.Event()
        is_local, address = settings.address == "local", settings.address
        if not is_local:
            _check_token(address, settings.allow_unauthenticated)
        cores = settings.actors * settings.cpus_per_actor
        self._local = LocalRay(cores) if is_local else None
        try:
            self._ray = _connect(self._local.address if self._local else address)
            self._watch_node()
        except BaseException:
            self.close()
            raise
        self._actor = self._ray.remote(Actor)

    def _watch_node(self) -> None:
        """End this process with one line if Ray's node here dies; Ray would end it without one."""
        nodes = {node["NodeID"]: node for node in self._ray.nodes()}
        node = nodes[self._ray.get_runtime_context().get_node_id()]
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(node["RayletSocketName"])

        def watch() -> None:
            with connection, contextlib.suppress(OSError):
                connection.recv(1)  # nothing is ever sent: returns when the node dies
            if not self._closing.is_set():
                reason = "Ray's node on this machine has died (it was killed, or memory ran out)"
                print(f"error: {reason}; {RESUME}", file=sys.stderr, flush=True)
                os._exit(2)  # Ray ends this process soon, whatever is raised here

        threading.Thread(target=watch, name="node", daemon=True).start()

    def check(self) -> None:
        """Raise RunError unless the cluster can hold all actors and has this program."""
        ray, settings = self._ray, self._settings
        alive = [node for node in ray.nodes() if node["Alive"]]
        _check_capacity(settings, [node["Resources"] for node in alive])
        self._await_capacity()
        task = ray.remote(num_cpus=0)(_program)
        place = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        try:
            tasks = [
                task.options(scheduling_strategy=place(node["NodeID"], soft=False))
                for node in alive
            ]
            programs = ray.get([task.remote(self._game) for task in tasks])
        except ray.exceptions.RayError as error:
            raise RunError(
                "the nodes of the cluster cannot import alphazero or the game; install both there, "
                f"in the environment in which `ray start` runs ({_last_line(error)})"
            ) from None
        if {*programs} != {_program(self._game)}:
            raise RunError(
                "the nodes of the cluster have another version of alphazero or of the game; "
                "install this one there"
            )

    def _await_capacity(self) -> None:
        """Wait until the actors have room; raise RunError if others keep it.

        The actors of a run that ended just now give theirs back after a few seconds.
        """
        deadline = time.monotonic() + RELEASE_SECONDS
        while True:
            try:
                _check_capacity(self._settings, [self._ray.available_resources()], " now")
                return
            except RunError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(1)

    def launch(self, number: int, incarnation: int) -> ActorHandle:
        settings = self._settings
        handle = self._actor.options(
            num_cpus=settings.cpus_per_actor, num_gpus=settings.gpus_per_actor
        ).remote(self._text, [*self._seed, number, incarnation], settings.cpus_per_actor)
        return _RayActorHandle(self._ray, handle)

    def put(self, data: bytes) -> Any:
        return self._ray.put(data)

    def death_reason(self, error: BaseException) -> str | None:
        ray = self._ray.exceptions
        is_death = isinstance(error, ray.RayActorError) or not isinstance(error, ray.RayTaskError)
        return _last_line(error) if is_death and isinstance(error, ray.RayError) else None

    def close(self) -> None:
        """Leave the cluster; stop it if it was started here."""
        self._closing.set()
        with contextlib.suppress(AttributeError):
            self._ray.shutdown()
        if self._local is not None:
            self._local.close()


class _RayActorHandle:
    """A Ray actor; an `ActorHandle` (actor_pool.py)."""

    def __init__(self, ray: Any, handle: Any) -> None:
        self._ray, self._handle = ray, handle

    def ask(self, method: str, *arguments: Any) -> "Future[Any]":
        answer: Future[Any] = Future()
        ray = self._ray.exceptions

        def copy(result: "Future[Any]") -> None:
            error = result.exception()
            if error is None:
                answer.set_result(result.result())
                return
            cause = getattr(error, "cause", None)
            if isinstance(cause, AlphaZeroError):
                error = RunError(f"an actor had to stop: {cause}")
            elif isinstance(cause, Exception) and not isinstance(error, ray.RayActorError):
                error = cause
            answer.set_exception(error)

        getattr(self._handle, method).remote(*arguments).future().add_done_callback(copy)
        return answer

    def stop(self) -> None:
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.kill(self._handle)


class LocalRay:
    """A Ray cluster on this machine, for this process alone, with its own token."""

    def __init__(self, cores: int) -> None:
        if not any(os.environ.get(name) for name in _TOKEN):
            os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        # Despite its name, Ray reads the first variable on every system. Without it, Ray on Linux
        # listens on every interface, whatever address it is given.
        os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token"}
        # The path of a socket has 103 letters at most, so $TMPDIR may be too long.
        self._folder = Path(tempfile.mkdtemp(prefix="alphazero-ray-", dir="/tmp"))
        self._files = self._folder / "r"  # Ray makes it accessible to all
        arguments = [
            *("--head", "--node-ip-address=127.0.0.1", "--port=0", f"--num-cpus={cores}"),
            *("--include-dashboard=false", "--disable-usage-stats"),
        ]
        self._supervisor = subprocess.Popen(
            [sys.executable, ray_supervisor.__file__, self._folder, self._files, *arguments],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C must not stop it; close finds all its processes
        )
        try:
            self.address = self._wait()
        except BaseException:
            self.close()
            raise

    def _wait(self) -> str:
        started, deadline = self._files / ray_supervisor.STARTED, time.monotonic() + STARTING
        while time.monotonic() < deadline and self._supervisor.poll() is None:
            if started.exists() and (address := started.read_text().strip()):
                return address
            time.sleep(0.05)
        log = self._folder / "start.log"
        lines = log.read_text(errors="replace").split("\n") if log.exists() else []
        last = next((line for line in reversed(lines) if line.strip()), "it wrote no message")
        raise RunError(f"Ray did not start on this machine: {last.strip()[:300]}")

    def close(self) -> None:
        assert self._supervisor.stdin is not None
        self._supervisor.stdin.close()
        try:
            self._supervisor.wait(30)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def _check_capacity(
    settings: RayConfig, nodes: Iterable[Mapping[str, float]], now: str = ""
) -> None:
    """Raise RunError unless `nodes`, each with its resources, have room for all actors."""
    cores, gpus = settings.cpus_per_actor, settings.gpus_per_actor
    needs, room = f"cpus_per_actor={cores}", 0.0
    if gpus:
        needs += f" and gpus_per_actor={gpus:g}"
    for node in nodes:  # an actor is on one node, and a fraction of a GPU on one GPU
        by_cores, total = node.get("CPU", 0) // cores, node.get("GPU", 0)
        by_gpus = total * int(1 / gpus) if 0 < gpus < 1 else total // gpus if gpus else by_cores
        room += min(by_cores, by_gpus)
    if room < settings.actors:
        raise RunError(
            f"selfplay.distributed.ray: with {needs} the cluster has room for {room:g} of "
            f"{settings.actors} actors{now}; start more nodes, or ask for less"
        )


def _program(game: str) -> str:
    """Return a hash of all sources, of the file that has the game's class, and of versions."""
    package, digest = Path(__file__).parents[2], hashlib.sha256(VERSIONS)
    digest.update(Path(inspect.getfile(type(make_game(game)))).read_bytes())  # it may be a plug-in
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _connect(address: str) -> Any:
    import ray

    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(
            address=address,
            namespace=f"alphazero-{secrets.token_hex(4)}",
            log_to_driver=False,
            logging_level=logging.CRITICAL,
        )
    except (ray.exceptions.RayError, ConnectionError, RuntimeError, ValueError) as error:
        raise RunError(
            f"cannot join the Ray cluster at {address}: {_last_line(error)}; see that it runs, "
            f"and that its token is in {_TOKEN[0]}, {_TOKEN[1]} or ~/.ray/auth_token"
        ) from None
    finally:
        with contextlib.suppress(ValueError):  # Ray replaces the handler of SIGTERM
            signal.signal(signal.SIGTERM, before)
    return ray


def _check_token(address: str, allow_unauthenticated: bool) -> None:
    """Raise RunError for a wrong address, and for a cluster that needs no token unless allowed."""
    if not re.fullmatch(r"[A-Za-z0-9.\-]+:[0-9]{1,5}", address):
        raise RunError(
            "selfplay.distributed.ray.address: expected local or host:port, as in 10.0.0.5:6379, "
            f"got {address[:80]!r}"
        )
    variables = {name: value for name, value in os.environ.items() if name not in _TOKEN}
    # An empty home has no ~/.ray/auth_token.
    with tempfile.TemporaryDirectory() as home:
        probe = subprocess.run(
            [sys.executable, "-c", _UNAUTHENTICATED_PROBE, address],
            env={**variables, "RAY_AUTH_MODE": "disabled", "HOME": home},
            capture_output=True,
            text=True,
            timeout=STARTING,
            check=False,
        )
    answer = probe.stdout.strip()
    if answer == "closed":
        os.environ["RAY_AUTH_MODE"] = "token"
    elif answer != "open":
        reason = (probe.stderr.strip().splitlines() or ["it did not answer"])[-1][:200]
        raise RunError(
            f"there is no Ray cluster at {address} ({reason}); start one with `ray start "
            "--head --port=6379`, see alphazero/training/distributed/README.md"
        )
    elif not allow_unauthenticated:
        raise RunError(
            f"the Ray cluster at {address} asks for no token: anybody who reaches its ports can "
            "run programs as you, since Ray unpickles what it is sent. Start every node with "
            "RAY_AUTH_MODE=token and one token (`ray get-auth-token --generate`), or, where "
            "nobody else can reach it, set selfplay.distributed.ray.allow_unauthenticated: true"
        )


def _last_line(error: BaseException) -> str:
    """Return the cause of one of Ray's errors, in one line."""
    text = " ".join(str(error).split())
    for mark in ("Worker exit detail: ", "The actor is dead because "):
        text = text.partition(mark)[2] or text
    if "Traceback" in str(error) or "ray::" in str(error):
        text = str(error).strip().splitlines()[-1]
    return text.partition(" Some common causes")[0][:300]
