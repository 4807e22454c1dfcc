"""Keeps a local Ray cluster alive exactly as long as the process that needs it.

This program starts Ray in its own session and waits until its standard input ends, which happens
however its parent ends, `kill -9` included. Then it kills every process of the session. If it is
killed itself, the input of its child, which started Ray, ends; Ray's processes end with this child
(`ray start --block`).

It is run by its path, so that it imports nothing of the package.
"""

import contextlib
import os
import runpy
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

STARTED = "ray_current_cluster"
"""File in Ray's folder that holds the address once Ray has started."""

_START = "start"


def main(folder: str, files: str, *arguments: str) -> int:
    """Run `ray start ARGUMENTS` until the input ends; then remove `folder` with its `files`."""
    with (Path(folder) / "start.log").open("wb") as log:
        ray = subprocess.Popen(
            [sys.executable, __file__, _START, *arguments, f"--temp-dir={files}"],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    stopping = threading.Event()

    def stop() -> None:
        stopping.set()
        ray.kill()

    _when_input_ends(stop)
    ray.wait()
    _kill_session()
    if not stopping.is_set():
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _start(*arguments: str) -> None:
    """Run `ray start ARGUMENTS` in this process until the standard input or Ray ends."""
    _when_input_ends(lambda: os._exit(1))
    sys.argv = ["ray", "start", "--block", *arguments]
    runpy.run_module("ray.scripts.scripts", run_name="__main__")


def _when_input_ends(act: Callable[[], None]) -> None:
    """Call `act`, in another thread, when the standard input ends; no child inherits that input."""
    private = os.dup(0)
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)

    def wait() -> None:
        while os.read(private, 1):
            pass
        act()

    threading.Thread(target=wait, daemon=True).start()


def _kill_session() -> None:
    """Kill every other process of this session, until none is left or a second has passed."""
    for _ in range(50):
        processes = _session()
        if not processes:
            return
        for process in processes:
            with contextlib.suppress(OSError):  # it has already ended
                os.kill(process, signal.SIGKILL)
        time.sleep(0.02)


def _session() -> list[int]:
    """Return the other processes of this session, without those already dead."""
    # On macOS `sess` is not the session's number; there only the process group matches.
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,pgid=,sess=,stat="], capture_output=True, text=True, check=False
    )
    own, rows = str(os.getpid()), [line.split()[:4] for line in listing.stdout.splitlines()]
    return [
        int(process)
        for process, group, session, state in rows
        if own in (group, session) and process != own and not state.startswith("Z")
    ]


if __name__ == "__main__":
    if sys.argv[1] == _START:
        _start(*sys.argv[2:])
    sys.exit(main(*sys.argv[1:]))
