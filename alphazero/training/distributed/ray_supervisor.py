"""Keeps a Ray of one machine alive as long as the process that wants it, and no longer.

Run as a program: it starts Ray in its own session, waits until its standard input ends, which
happens whatever way that process goes, `kill -9` included, and then ends every process of the
session. Where it is killed itself, the process that started Ray sees its own input end, and Ray's
processes go with that one (`ray start --block`).

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
"""The file in Ray's folder that holds the address once Ray has started."""

_START = "start"


def main(folder: str, files: str, *arguments: str) -> int:
    """Run `ray start ARGUMENTS`, its files in `files`, a folder in `folder`.

    Ends it with the standard input, and removes `folder`; leaves that where Ray ends by itself.
    """
    with (Path(folder) / "start.log").open("wb") as log:
        begun = subprocess.Popen(
            [sys.executable, __file__, _START, *arguments, f"--temp-dir={files}"],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    asked = threading.Event()

    def end() -> None:
        asked.set()
        begun.kill()

    _when_input_ends(end)
    begun.wait()
    _end_session()
    if not asked.is_set():
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _start(*arguments: str) -> None:
    """Be `ray start ARGUMENTS` until the standard input ends or Ray does."""
    _when_input_ends(lambda: os._exit(1))
    sys.argv = ["ray", "start", "--block", *arguments]
    runpy.run_module("ray.scripts.scripts", run_name="__main__")


def _when_input_ends(act: Callable[[], None]) -> None:
    """Call `act`, in another thread, when the standard input ends; no child inherits that."""
    private = os.dup(0)
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)

    def wait() -> None:
        while os.read(private, 1):
            pass
        act()

    threading.Thread(target=wait, daemon=True).start()


def _end_session() -> None:
    """Kill every other process of this session, until none is left."""
    for _ in range(50):
        others = _session()
        if not others:
            return
        for process in others:
            with contextlib.suppress(OSError):  # it has ended by itself
                os.kill(process, signal.SIGKILL)
        time.sleep(0.02)


def _session() -> list[int]:
    """Return the processes of this session but for this one; those already dead do not count."""
    # "session" is what macOS calls it, where it is not a number: there only the group is known.
    asked = subprocess.run(
        ["ps", "-A", "-o", "pid=,pgid=,sess=,stat="], capture_output=True, text=True, check=False
    )
    own, found = os.getpid(), []
    for line in asked.stdout.splitlines():
        process, group, session, state = line.split()[:4]
        if str(own) in (group, session) and int(process) != own and not state.startswith("Z"):
            found.append(int(process))
    return found


if __name__ == "__main__":
    if sys.argv[1] == _START:
        _start(*sys.argv[2:])
    sys.exit(main(*sys.argv[1:]))
