"""Ray: starts the actors of a pool, on this machine or on many.

Ray pickles its calls and results, so anybody who reaches the ports of a cluster can run programs in
it. Therefore every cluster needs a token. A cluster that this run starts gets its own token and
listens on the loopback interface only. A cluster that it joins must refuse a caller without a
token, which is checked first.

Only texts, numbers and bytes are sent, and both ends verify the bytes (actor.py).
"""

import contextlib
import importlib.util
import logging
import math
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
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

from alphazero.config.loader import dump_config
from alphazero.config.schema import Config, RayConfig
from alphazero.errors import AlphaZeroError, RunError
from alphazero.games.game import Game
from alphazero.training.distributed import ray_supervisor
from alphazero.training.distributed.actor import Actor
from alphazero.training.distributed.actor_pool import ActorHandle, ActorPool
from alphazero.utils.jit import source_hash
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import say

STARTING: Final = 300.0
"""Seconds that Ray may take to start; an idle machine needs five."""

ACTOR_MEMORY: Final = 330 << 20
"""Minimum memory of an actor in bytes: its share (PSS) on Linux, with a tiny network."""

# Despite its name, Ray reads it on every system. Without it, Ray on Linux listens on every
# interface, whatever address it is given.
_LOOPBACK_ONLY: Final = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

_SETTINGS: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray starts slowly on a busy machine.
    "RAY_raylet_start_wait_time_s": str(int(STARTING)),
    "RAY_agent_register_timeout_ms": str(int(STARTING * 1000)),
    "RAY_worker_register_timeout_seconds": str(int(STARTING)),
    # Hides all GPUs from an actor that gets none, so that `device: auto` is the CPU there.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1",
}

_MAX_TEMPORARY_LENGTH: Final = 103 - len(
    "/alphazero-ray-12345678/r/session_2000-01-01_00-00-00_000000_4194304/sockets/plasma_store"
)
"""Maximum length of the temporary directory's path: that of a socket is 103 (macOS)."""

_TOKEN: Final = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")

# Sends a cluster one request, without a token.
_UNAUTHENTICATED_PROBE: Final = """\
import sys
from ray._raylet import GcsClient
from ray.exceptions import AuthenticationError
try:
    GcsClient(address=sys.argv[1]).internal_kv_keys(b"", timeout=20)
except AuthenticationError:
    print("closed")
else:
    print("open")
"""


def open_actor_pool(game: Game, config: Config, iteration: int) -> ActorPool:
    """Start or join the cluster of `selfplay.distributed`, and launch its actors.

    `iteration` is the last published one; it seeds the actors, so a resumed run plays other games.

    Raises:
        RunError: when Ray is not installed, or the cluster does not answer, needs no token, or is
            too small.
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
        self._settings = settings
        self._local: LocalRay | None = None
        self._closing = threading.Event()
        address = settings.address
        if address == "local":
            _warn_of_cores(settings)
            self._local = LocalRay(settings.actors * settings.cpus_per_actor)
            address = self._local.address
        else:
            _check_token(address, settings.allow_unauthenticated)
        try:
            self._ray = _connect(address)
            self._watch_node()
        except BaseException:
            self.close()
            raise
        self._actor = self._ray.remote(Actor)

    def _watch_node(self) -> None:
        """End this process with one line if Ray's node here dies; Ray would end it without one."""
        own = self._ray.get_runtime_context().get_node_id()
        (node,) = (each for each in self._ray.nodes() if each["NodeID"] == own)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(node["RayletSocketName"])

        def watch() -> None:
            with connection, contextlib.suppress(OSError):
                connection.recv(1)  # nothing is ever sent: returns when the node dies
            if not self._closing.is_set():
                print(
                    "error: Ray's node on this machine has died (it was killed, or memory ran "
                    "out); the last saved iteration is whole, go on with --resume",
                    file=sys.stderr,
                    flush=True,
                )
                os._exit(2)  # Ray ends this process soon, whatever is raised here

        threading.Thread(target=watch, name="node", daemon=True).start()

    def check(self) -> None:
        """Raise RunError unless the cluster can hold all actors and has this program."""
        ray, settings = self._ray, self._settings
        _check_capacity(settings, ray.cluster_resources())
        try:
            theirs = ray.get(ray.remote(num_cpus=0)(_program).remote())
        except ray.exceptions.RayError as error:
            raise RunError(
                "the nodes of the cluster cannot import alphazero; install it there, in the "
                f"environment in which `ray start` runs ({_last_line(error)})"
            ) from None
        if theirs != _program():
            raise RunError(
                "the nodes of the cluster have another version of alphazero or of its packages "
                "than this process; install the same version on all"
            )

    def launch(self, number: int, incarnation: int) -> ActorHandle:
        settings = self._settings
        handle = self._actor.options(
            num_cpus=settings.cpus_per_actor, num_gpus=settings.gpus_per_actor
        ).remote(self._text, [*self._seed, number, incarnation], settings.cpus_per_actor)
        return _RayActorHandle(self._ray, handle)

    def put(self, data: bytes) -> Any:
        return self._ray.put(data)

    def death_reason(self, error: BaseException) -> str | None:
        exceptions = self._ray.exceptions
        if isinstance(error, exceptions.RayTaskError) and not isinstance(
            error, exceptions.RayActorError
        ):
            return None
        return _last_line(error) if isinstance(error, exceptions.RayError) else None

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
        inner = getattr(self._handle, method).remote(*arguments).future()
        exceptions = self._ray.exceptions

        def pass_on(result: "Future[Any]") -> None:
            error = result.exception()
            cause = getattr(error, "cause", None)
            if isinstance(cause, AlphaZeroError):
                answer.set_exception(RunError(f"an actor had to stop: {cause}"))
            elif isinstance(cause, Exception) and not isinstance(error, exceptions.RayActorError):
                answer.set_exception(cause)
            elif error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(result.result())

        inner.add_done_callback(pass_on)
        return answer

    def stop(self) -> None:
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.kill(self._handle)


class LocalRay:
    """A Ray cluster on this machine, for this process alone, with its own token."""

    def __init__(self, cores: int) -> None:
        if not any(os.environ.get(name) for name in _TOKEN):
            os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        os.environ |= {**_LOOPBACK_ONLY, "RAY_AUTH_MODE": "token"}
        self._folder, self._files = _make_folder()
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
        while time.monotonic() < deadline:
            if self._supervisor.poll() is not None:
                break
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


def _make_folder() -> tuple[Path, Path]:
    """Return a new private folder and a path in it for Ray, which Ray makes accessible to all."""
    parent = tempfile.gettempdir()
    if len(parent) > _MAX_TEMPORARY_LENGTH:
        parent = "/tmp"
    folder = Path(tempfile.mkdtemp(prefix="alphazero-ray-", dir=parent))
    return folder, folder / "r"


def _warn_of_cores(settings: RayConfig) -> None:
    needed, available = settings.actors * settings.cpus_per_actor, usable_cores()
    if needed > available:
        say(
            f"selfplay.distributed.ray: {settings.actors} actors want {needed} cores, and this "
            f"machine has {available}; they start slowly, and play no more games in a second than "
            f"actors: {max(available // settings.cpus_per_actor, 1)}"
        )


def _check_capacity(settings: RayConfig, resources: Mapping[str, float]) -> None:
    for name, each in (("CPU", settings.cpus_per_actor), ("GPU", settings.gpus_per_actor)):
        needed, available = settings.actors * each, resources.get(name, 0)
        if needed > available:
            raise RunError(
                f"selfplay.distributed.ray: {settings.actors} actors need {needed:g} {name}s, and "
                f"the cluster has {available:g}; start more nodes, or ask for less"
            )
    memory = resources.get("memory", math.inf)
    if settings.actors * ACTOR_MEMORY > memory:
        raise RunError(
            f"selfplay.distributed.ray: {settings.actors} actors need about "
            f"{settings.actors * ACTOR_MEMORY / 2**30:.1f} GiB of memory, and Ray has "
            f"{memory / 2**30:.1f} for them; set actors to {int(memory // ACTOR_MEMORY)} or less"
        )


def _program() -> str:
    """Return the hash of the program that runs this process."""
    return source_hash(Path(__file__).parents[2])


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
    plain = {name: value for name, value in os.environ.items() if name not in _TOKEN}
    # An empty home has no ~/.ray/auth_token.
    with tempfile.TemporaryDirectory() as home:
        probe = subprocess.run(
            [sys.executable, "-c", _UNAUTHENTICATED_PROBE, address],
            env={**plain, "RAY_AUTH_MODE": "disabled", "HOME": home},
            capture_output=True,
            text=True,
            timeout=STARTING,
            check=False,
        )
    answer = probe.stdout.strip()
    if answer == "closed":
        os.environ["RAY_AUTH_MODE"] = "token"
    elif answer != "open":
        last = (probe.stderr.strip().splitlines() or ["it did not answer"])[-1]
        raise RunError(
            f"there is no Ray cluster at {address} ({last[:200]}); start one with `ray start "
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
        if mark in text:
            text = text.partition(mark)[2]
    lines = str(error).strip().splitlines()
    if "Traceback" in str(error) or "ray::" in str(error):
        text = lines[-1]
    return text.partition(" Some common causes")[0][:300]
