"""The lock of a run's folder."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from alphazero.errors import RunError
from alphazero.utils.files import check_regular, explain_os_error, printable

if sys.platform != "win32":
    import fcntl


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a run's folder against other processes, until this block or this process ends.

    Raises:
        RunError: when another process holds the lock, or the folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "run.lock")
        lock.acquire(timeout=0)
    except Timeout:
        raise _in_use(folder) from None
    except (OSError, ValueError) as error:
        raise RunError(f"cannot create {printable(folder)}: {explain_os_error(error)}") from error
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def kept_still(folder: Path) -> Iterator[None]:
    """Prevent other processes from changing a run's folder, without writing into it.

    Raises:
        RunError: when a process holds the lock of the folder, or the lock is no regular file.
    """
    path = folder / "run.lock"
    with contextlib.ExitStack() as stack:
        try:
            if path.exists():  # a copied folder may lack it
                check_regular(path)
                _share_lock(stack.enter_context(path.open("rb")).fileno())
        except BlockingIOError:
            raise _in_use(folder) from None
        except OSError as error:
            raise RunError(f"cannot read {printable(path)}: {explain_os_error(error)}") from error
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
