"""Files that are either whole or absent, and errors about them that fit on one line.

A power cut may come between any two instructions: so a file is written beside its place,
forced to the disk, and only then renamed over the old one.
"""

import difflib
import errno
import hashlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from alphazero.errors import RunError

TEMPORARY_SUFFIX: Final = ".temporary"
"""How the name of a half-written file ends; only a killed process leaves one behind."""

_CHUNK: Final = 1 << 20

# What a person can do about it, by what the system said.
_ADVICE: Final = {
    errno.ENOSPC: "free some space and resume",
    errno.EDQUOT: "free some space and resume",
    errno.EACCES: "check who may use this file and its folder",
    errno.EPERM: "check who may use this file and its folder",
    errno.EROFS: "choose a folder on a disk that can be written",
    errno.ENOENT: "check the path",
    errno.EISDIR: "give the path of a file, not of a folder",
    errno.ENOTDIR: "a part of the path is a file, not a folder; check the path",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EIO: "check the disk",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
}

# File systems that cannot sync a folder answer so; the rename itself has then been done.
_FOLDER_SYNC_UNSUPPORTED: Final = (errno.EINVAL, errno.ENOTSUP)


def write_atomic(path: Path | str, data: bytes) -> None:
    """Put `data` at `path` so that at any instant the file is the old one or the new one, whole.

    Raises RunError, in one line, when the system refuses; no temporary file is then left, and
    unless only the last sync of the folder failed, the old file is untouched.
    """
    target = Path(path)
    try:
        _write_beside_and_rename(target, data)
    except (OSError, ValueError) as error:
        raise RunError(f"cannot write {printable(path)}: {explain_os_error(error)}") from error


def check_writable(path: Path | str) -> None:
    """Raise RunError, in one line, where no file can be put: to be asked before long work."""
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        probe = target.with_name(f".{target.name}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}")
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        probe.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise RunError(f"cannot write {printable(path)}: {explain_os_error(error)}") from error


def check_readable(path: Path | str) -> None:
    """Raise RunError, in one line, where no regular file can be read."""
    try:
        check_regular(path)
        Path(path).open("rb").close()
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {printable(path)}: {explain_os_error(error)}") from error


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; no, too, where no path can be called so."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def remove(path: Path) -> None:
    """Remove a file, unless it is gone already; raise RunError, in one line, when that fails."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"cannot remove {printable(path)}: {explain_os_error(error)}") from error


def _write_beside_and_rename(target: Path, data: bytes) -> None:
    """Write a temporary file in the target's folder, sync it, rename it, sync the folder."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}")
    # Not tempfile.mkstemp: its files are private, and the umask should decide who may read.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)  # noqa: PTH105  (the tests make it fail by this name)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Force the folder's entries to the disk, where the file system knows how to."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _FOLDER_SYNC_UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)


def read_limited(path: Path | str, limit: int) -> bytes:
    """Return the bytes of the regular file at `path`, which may hold at most `limit` of them.

    Raises RunError, in one line, when it cannot be read, is no regular file or is larger.
    """
    try:
        status = check_regular(path)
        if status.st_size > limit:
            raise RunError(
                f"cannot read {printable(path)}: it holds {status.st_size:,} bytes, and at most "
                f"{limit:,} are read; check that it is the right file"
            )
        with Path(path).open("rb") as file:
            return file.read(status.st_size)
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {printable(path)}: {explain_os_error(error)}") from error


def check_regular(path: Path | str) -> os.stat_result:
    """Return what is known of the regular file at `path`.

    It is asked before opening, because opening a pipe would wait for its other end. Raises
    RunError where it is another thing, OSError or ValueError where the system refuses.
    """
    status = Path(path).stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise RunError(f"cannot read {printable(path)}: not a regular file; give a file's path")
    return status


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_of(path: Path | str) -> str:
    """Return the SHA-256 of the file at `path` as 64 hexadecimal digits, reading it in pieces.

    Raises RunError, in one line, when it cannot be read or is no regular file.
    """
    digest = hashlib.sha256()
    try:
        check_regular(path)
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {printable(path)}: {explain_os_error(error)}") from error
    return digest.hexdigest()


def suggest_file(path: Path, suffix: str, home: str) -> str:
    """Return `; did you mean 'x'?` with a file of nearly this name and of that suffix, or nothing.

    It is looked for beside `path` and, where that is a bare name, in the folder `home` too.
    """
    folders = [path.parent, Path(home)] if path.parent == Path() else [path.parent]
    near = {each.stem: each for folder in folders for each in folder.glob(f"*{suffix}")}
    close = difflib.get_close_matches(path.stem, near, n=1)
    return f"; did you mean {str(near[close[0]])!r}?" if close else ""


def printable(path: Path | str) -> str:
    """Return the path as a message may print it: one line, whatever characters it holds."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


def explain_os_error(error: OSError | ValueError) -> str:
    """Return what the system said about a path and what to do, as `no such file; check ...`."""
    if not isinstance(error, OSError):
        return "this path holds a character that no file name may; check the path"
    said = error.strerror or type(error).__name__
    advice = _ADVICE.get(error.errno or 0, "check the path and the disk")
    return f"{said[:1].lower()}{said[1:]}; {advice}"
