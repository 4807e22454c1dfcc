"""The lock of a run's folder."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from alphazero.errors import RunError
from alphazero.utils.files import path_errors, printable


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a run's folder in this block; raise RunError if it is locked or cannot be created."""
    with path_errors("create", folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "run.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise RunError(
                f"{printable(folder)} is in use by another process; wait for it to end, or stop it "
                "with Ctrl-C"
            ) from None
    try:
        yield
    finally:
        lock.release()


def identify_lock(folder: Path) -> tuple[int, int] | None:
    """Return device and inode of the lock in a run's folder; None if there is none."""
    try:
        status = (folder / "run.lock").stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
