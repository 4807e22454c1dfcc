"""Keeps a Ray of one machine alive as long as the process that wants it, and no longer.

Run as a program: it starts Ray in its own session, waits until its standard input ends, which
happens whatever way that process goes, `kill -9` included, and then ends every process of the
session. Ray's own agents outlive such a death.

It is run by its path, so that it imports nothing of the package.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

STARTED = "ray_current_cluster"
"""The file in Ray's folder that holds the address once Ray has started."""


def main(folder: str, *arguments: str) -> int:
    """Start `ray start ARGUMENTS` with its files in `folder`; end it with the standard input."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", *arguments]
    with (Path(folder) / "start.log").open("wb") as log:
        begun = subprocess.Popen(
            [*command, f"--temp-dir={folder}"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    threading.Thread(target=_leave_if_it_fails, args=(begun,), daemon=True).start()
    sys.stdin.buffer.read()
    _end_session()
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _leave_if_it_fails(begun: "subprocess.Popen[bytes]") -> None:
    """Let whoever waits see that Ray has not started: leave, with all of its processes."""
    if begun.wait():
        _end_session()
        os._exit(1)


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
    sys.exit(main(*sys.argv[1:]))
