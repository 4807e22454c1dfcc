"""Processes of a test, and waiting for them."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HANG = 900
"""Seconds after which a process counts as hung."""


def run_python(*arguments: object, cwd: Path | None = None, **variables: str) -> str:
    """Run Python, which must succeed, with more environment variables; return its output."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def together(arguments: list[str], place: Path, codes: Sequence[int] = (0, 0)) -> list[str]:
    """Run two processes as torchrun does, which end with `codes`.

    Return the output of each, with its errors unless its code is 0.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    meeting = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    meeting["OMP_NUM_THREADS"] = "1"
    processes = [
        subprocess.Popen(
            [sys.executable, *arguments],
            cwd=place,
            env={**os.environ, **meeting, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        outputs = [process.communicate(timeout=HANG) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [*codes], outputs
    assert not [errors for _, errors in outputs if "terminate called" in errors], outputs
    ended = zip(codes, outputs, strict=True)
    return [out + errors if code else out for code, (out, errors) in ended]
