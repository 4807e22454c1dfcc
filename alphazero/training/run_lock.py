"""The lock of a run's folder."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from alphazero.errors import RunError
from alphazero.utils.files import check_regular, path_errors, printable

if sys.platform != "win32":
    import fcntl


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a run's folder in this block; raise RunError if it is locked or cannot be created."""
    with path_errors("create", folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "run.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise _in_use(folder) from None
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


@contextlib.contextmanager
def locked_for_reading(folder: Path) -> Iterator[None]:
    """Prevent other processes from changing a run's folder, without writing into it.

    Raises:
        RunError: when a process holds the lock of the folder, or the lock is no regular file.
    """
    path = folder / "run.lock"
    with contextlib.ExitStack() as stack:
        with path_errors("read", path, (OSError,)):
            if path.exists():  # a copied folder may lack it
                check_regular(path)
                file = stack.enter_context(path.open("rb"))
                try:
                    _share_lock(file.fileno())
                except BlockingIOError:
                    raise _in_use(folder) from None
        yield


def _share_lock(descriptor: int) -> None:
    """Take a shared lock on an open file, against `locked`, until it is closed; not on Windows."""
    if sys.platform != "win32":
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def _in_use(folder: Path) -> RunError:
    return RunError(
        f"{printable(folder)} is in use by another process; wait for it to end, or stop it "
        "with Ctrl-C"
    )
