"""Atomic file writes, and errors about files that fit on one line.

Because power can fail between any two instructions, a file is written under a temporary name in the
same folder, synced to the disk, and only then renamed to its target.
"""

import contextlib
import difflib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from alphazero.errors import RunError
from alphazero.utils.shipped import shipped_configs, shipped_players

TEMPORARY_SUFFIX: Final = ".temporary"
"""Suffix of unfinished files, which only a killed process leaves behind."""

# Advice for users by error number.
_ADVICE: Final = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space and resume"),
    **dict.fromkeys((errno.EACCES, errno.EPERM), "check who may use this file and its folder"),
    errno.EROFS: "choose a folder on a disk that can be written",
    errno.ENOENT: "check the path",
    errno.EISDIR: "give the path of a file, not of a folder",
    errno.ENOTDIR: "a part of the path is a file, not a folder; check the path",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EIO: "check the disk",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
}


def write_atomic(path: Path | str, data: bytes) -> None:
    """Write `data` to `path` so that at any instant the whole old or the whole new file is there.

    A link stays, and the file that it leads to is replaced; a file keeps its mode. Raises RunError
    for what is no regular file, as a pipe, or if the system refuses; then no temporary file is
    left, and the old file is unchanged unless only the last sync of the folder failed.
    """
    with path_errors("write", path):
        target, mode = _file_to_write(path)
        temporary = _temporary_beside(target)
        # Not tempfile.mkstemp, whose files are private: the umask decides who may read a new file.
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                temporary.chmod(mode)
            os.replace(temporary, target)  # noqa: PTH105  (the tests make it fail by this name)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)


def check_writable(path: Path | str) -> None:
    """Raise RunError if no file can be written at `path`; a check before long work."""
    with path_errors("write", path):
        probe = _temporary_beside(_file_to_write(path)[0])
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        probe.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(folder: Path, lock: str) -> Iterator[None]:
    """Lock a folder in this block, by the file `lock` in it; create it if it does not exist.

    Raises RunError if another process holds the lock, or the folder cannot be written.
    """
    from filelock import FileLock, Timeout

    with path_errors("create", folder):
        folder.mkdir(parents=True, exist_ok=True)
    held = FileLock(folder / lock)
    with path_errors("write", held.lock_file):
        try:
            held.acquire(timeout=0)
        except Timeout:
            raise RunError(
                f"{printable(folder)} is in use by another process; wait for it to end, or stop it "
                "with Ctrl-C"
            ) from None
    try:
        yield
    finally:
        held.release()


def _file_to_write(path: Path | str) -> tuple[Path, int | None]:
    """Return the path without links, and the mode of the regular file there, if there is one."""
    target = Path(os.path.realpath(path))
    try:
        return target, stat.S_IMODE(check_regular(target, "write").st_mode)
    except FileNotFoundError:
        return target, None


def check_readable(path: Path) -> None:
    """Raise RunError unless `path` is a readable regular file."""
    with path_errors("read", path):
        check_regular(path)
        path.open("rb").close()


def is_folder(path: Path) -> bool:
    """Whether `path` is a folder; False for an invalid path too."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Whether there is something at `path`; False where that cannot be known."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def remove(path: Path) -> None:
    """Remove a file if it exists; raise RunError if that fails."""
    with path_errors("remove", path):
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def path_errors(
    verb: str, path: Path | str, errors: tuple[type[Exception], ...] = (OSError, ValueError)
) -> Iterator[None]:
    """Raise `errors` of the block as RunError: cannot `verb` `path`, the reason, and advice."""
    try:
        yield
    except errors as error:
        raise RunError(f"cannot {verb} {printable(path)}: {explain_os_error(error)}") from error


def _temporary_beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}")


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # it cannot sync folders
            raise
    finally:
        os.close(descriptor)


def read_limited(path: Path | str, limit: int) -> bytes:
    """Return the bytes of a regular file; raise RunError for other files or above `limit` bytes."""
    with path_errors("read", path):
        status = check_regular(path)
        if status.st_size > limit:
            raise RunError(
                f"cannot read {printable(path)}: it has {status.st_size:,} bytes; the limit is "
                f"{limit:,}; check that it is the right file"
            )
        with Path(path).open("rb") as file:
            return file.read(status.st_size)


def check_regular(path: Path | str, verb: str = "read") -> os.stat_result:
    """Return the status of the regular file at `path`.

    Call it before opening, because opening a pipe waits for its other end. Raises RunError for
    another kind of file, OSError for a folder or if the system refuses, ValueError for an invalid
    path.
    """
    status = Path(path).stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise RunError(f"cannot {verb} {printable(path)}: not a regular file; give a file's path")
    return status


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_of(path: Path | str) -> str:
    """Return the SHA-256 (64 hexadecimal digits) of a regular file; raise RunError for others."""
    with path_errors("read", path):
        check_regular(path)
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def suggest_file(path: Path, suffix: str, home: str) -> str:
    """Return `; did you mean 'x'?` with a similar file name of that suffix, or an empty text.

    Searches the folder of `path` and, if `path` is a bare name or in `home`, the folder `home` and
    the files that come with the package too.
    """
    at_home = path.parent in (Path(), Path(home))
    folders = [path.parent, Path(home)] if at_home else [path.parent]
    shipped = [*shipped_configs().values(), *shipped_players().values()] if at_home else []
    near = {file.stem: file.stem for file in shipped if file.suffix == suffix}
    near |= {path.stem: str(path) for folder in folders for path in folder.glob(f"*{suffix}")}
    close = difflib.get_close_matches(path.stem, near, n=1)
    return f"; did you mean {near[close[0]]!r}?" if close else ""


def printable(path: Path | str) -> str:
    """Return the path on one line, with unprintable characters escaped."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


def escape(text: str) -> str:
    """Return text for a terminal: unprintable characters escaped, except for ends of lines."""
    return "".join(
        sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in text
    )


def explain_os_error(error: Exception) -> str:
    """Describe an error about a path, with advice, such as `no such file; check ...`."""
    if not isinstance(error, OSError):
        return "the path has a character that file names may not contain; check the path"
    text = error.strerror or type(error).__name__
    advice = _ADVICE.get(error.errno or 0, "check the path and the disk")
    return f"{text[:1].lower()}{text[1:]}; {advice}"
