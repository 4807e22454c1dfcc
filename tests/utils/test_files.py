"""Files are whole or absent, and what goes wrong with them is reported in one line."""

import errno
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from alphazero.errors import RunError
from alphazero.utils import files
from alphazero.utils.files import check_writable, read_limited, sha256_hex, sha256_of, write_atomic

OLD, NEW = b"the old content", b"the new content, which is longer"


ADVICE = {
    errno.ENOSPC: "free some space and resume",
    errno.EACCES: "check who may use this file and its folder",
    errno.EROFS: "choose a folder on a disk that can be written",
    errno.EIO: "check the disk",
}


def names_in(folder: Path) -> list[str]:
    """The names of everything in a folder, hidden files included."""
    return sorted(entry.name for entry in folder.iterdir())


def failing(code: int):
    """A system call that always fails with this error number."""

    def call(*arguments, **options):
        raise OSError(code, os.strerror(code))

    return call


class FullDisk:
    """A file on which every write fails for want of space."""

    def __init__(self, descriptor: int, mode: str) -> None:
        self.descriptor = descriptor

    def __enter__(self) -> "FullDisk":
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.descriptor)

    def write(self, data: bytes) -> int:
        os.write(self.descriptor, data[:5])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_new_file_holds_exactly_the_bytes_given_and_the_umask_decides_who_may_read(tmp_path):
    (tmp_path / "plain").write_bytes(NEW)
    for data in (b"", NEW, bytes(range(256)) * 10_000):
        write_atomic(tmp_path / "file", data)
        assert (tmp_path / "file").read_bytes() == data
    assert names_in(tmp_path) == ["file", "plain"]
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("code", ADVICE)
@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_failing_write_leaves_the_old_file_whole_and_no_other(
    tmp_path, monkeypatch, call: str, code: int
):
    target = tmp_path / "step-1.safetensors"
    target.write_bytes(OLD)
    with monkeypatch.context() as patch:
        if call == "write":
            code = errno.ENOSPC
            patch.setattr(files.os, "fdopen", FullDisk)
        else:
            patch.setattr(files.os, call, failing(code))
        with pytest.raises(RunError) as caught:
            write_atomic(target, NEW)
    assert target.read_bytes() == OLD
    assert names_in(tmp_path) == [target.name]
    reason = f"{os.strerror(code)[0].lower()}{os.strerror(code)[1:]}"
    assert str(caught.value) == f"cannot write {target}: {reason}; {ADVICE[code]}"


def test_links_stay_and_modes_are_kept(tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "file", tmp_path / "link"
    link.symlink_to(target)
    write_atomic(link, OLD)
    for mode in (0o600, 0o664):
        target.chmod(mode)
        check_writable(link)
        write_atomic(link, NEW)
        assert target.read_bytes() == NEW
        assert target.stat().st_mode & 0o777 == mode
    assert link.readlink() == target
    assert names_in(tmp_path) == ["far", "link"]
    assert names_in(tmp_path / "far") == ["file"]


@pytest.mark.parametrize("write", [lambda path: write_atomic(path, NEW), check_writable])
def test_what_is_no_regular_file_is_never_replaced(tmp_path, write: Callable[[Path], None]):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to device").symlink_to("/dev/null")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    words = {"pipe": "not a regular file", "to device": "not a regular file", "circle": "too many"}
    for name, reason in words.items():
        with pytest.raises(RunError, match=f"cannot write .*: {reason}"):
            write(tmp_path / name)
    assert names_in(tmp_path) == sorted(words)
    assert Path("/dev/null").is_char_device()


def test_an_interrupt_leaves_no_temporary_file(tmp_path, monkeypatch):
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "file", NEW)
    assert names_in(tmp_path) == []


def test_the_file_is_synced_before_its_name_and_then_the_name(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(descriptor: int) -> None:
        calls.append("sync " + Path(f"/proc/self/fd/{descriptor}").readlink().name[:5])
        fsync(descriptor)

    def watched_replace(source: Path, target: Path) -> None:
        assert Path(source).read_bytes() == NEW
        calls.append("rename")
        replace(source, target)

    if not Path("/proc/self/fd").exists():
        pytest.skip("names of descriptors are read from /proc")
    monkeypatch.setattr(files.os, "fsync", watched_fsync)
    monkeypatch.setattr(files.os, "replace", watched_replace)
    folder = tmp_path / "folder"
    folder.mkdir()
    write_atomic(folder / "file", NEW)
    assert calls == ["sync .file", "rename", "sync folde"]


def test_a_file_system_that_cannot_sync_folders_is_forgiven(tmp_path, monkeypatch):
    fsync = os.fsync

    def only_files(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").is_dir():
            failing(errno.EINVAL)()
        fsync(descriptor)

    monkeypatch.setattr(files.os, "fsync", only_files)
    write_atomic(tmp_path / "file", NEW)
    assert (tmp_path / "file").read_bytes() == NEW


def test_impossible_places_are_named_in_one_line(tmp_path):
    (tmp_path / "file").write_bytes(OLD)
    places = {
        tmp_path / "missing" / "file": "no such file or directory; check the path",
        tmp_path / "file" / "below": "not a directory; a part of the path is a file",
        tmp_path: "is a directory; give the path of a file",
        tmp_path / ("n" * 300): "file name too long; choose a shorter name",
        tmp_path / "zero\0byte": "the path has a character that file names may not",
        tmp_path / "missing" / "two\nlines": "no such file or directory",
    }
    for place, words in places.items():
        with pytest.raises(RunError) as caught:
            write_atomic(place, NEW)
        assert words in str(caught.value)
        assert str(caught.value).isprintable()
    assert names_in(tmp_path) == ["file"]


def test_only_regular_files_are_read_up_to_the_limit(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345678")
    assert read_limited(path, 8) == b"12345678"
    with pytest.raises(RunError, match="it has 8 bytes; the limit is 7"):
        read_limited(path, 7)
    os.mkfifo(tmp_path / "pipe")
    wrong = {"": "is a directory", "pipe": "not a regular file", "none": "no such file"}
    for name, words in wrong.items():
        with pytest.raises(RunError, match=words) as caught:
            read_limited(tmp_path / name, 100)
        assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(RunError, match=r"cannot read .*none: no such file"):
        sha256_of(tmp_path / "none")


def test_hashes_are_those_of_the_standard_and_of_hashlib(tmp_path):
    # FIPS 180-4, the example for "abc".
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_hex(b"abc") == expected
    data = bytes(range(251)) * 20_000
    (tmp_path / "file").write_bytes(data)
    assert sha256_of(tmp_path / "file") == hashlib.sha256(data).hexdigest()
