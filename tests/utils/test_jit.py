"""The cache of compiled kernels: never stale, never foreign, never in the way.

Each test starts Python anew on a small package: a copy of `utils` and `games` with one game, so
that sources can be edited and no other part of the package is loaded.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from numba import types

import alphazero
from alphazero.utils import jit

SOURCES = Path(alphazero.__file__).parent

BOUND_BY_PERMISSIONS = """
import ctypes, os, struct
if os.geteuid() == 0:  # give up root's right to write wherever it likes
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    assert ctypes.CDLL(None).capset(header, nothing) == 0
"""

PLAY = """
import numpy as np
from alphazero.games.connect_four import ConnectFour
game = ConnectFour(4, 4, 3)
legal, play, *_ = game.rule_functions
state, mask = game.initial_state(), np.zeros(4, np.bool_)
for column in (0, 1, 0, 1, 0):
    count = legal(state, mask)
    play(state, column)
print("outcome", state[1], "of", count, "moves")
"""

COMPILE = """
from alphazero.games.connect_four import ConnectFour
try:
    ConnectFour.rule_functions.legal.compile()
    print("compiled")
except KeyboardInterrupt:
    print("stopped")
"""

WIN = "outcome 1 of 4 moves\n"


@dataclass(frozen=True)
class PackageCopy:
    """A copy of `utils` and `games` below `folder`, and the folder of its compiled kernels."""

    folder: Path
    cache: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "ALPHAZERO_CACHE_DIR": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def start(self, before: str = "", code: str = PLAY) -> tuple[str, list[str]]:
        """Start Python on this package; return what it printed and the warnings it gave."""
        here = f"import alphazero\nassert alphazero.__file__.startswith({str(self.folder)!r})\n"
        done = subprocess.run(
            [sys.executable, "-c", before + here + code],
            env={**self.environment, "PYTHONWARNINGS": "default"},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, re.findall(r"^\S+: (\w*Warning: .*)$", done.stderr, re.MULTILINE)

    def files(self, pattern: str = "*") -> list[Path]:
        """Return the files of the cache whose names match."""
        return sorted(path for path in self.cache.rglob(pattern) if path.is_file())

    def cached(self) -> dict[str, tuple[int, int]]:
        """Return the cache's files, each with its inode and time of writing."""
        status = {str(path): path.stat() for path in self.files()}
        return {name: (s.st_ino, s.st_mtime_ns) for name, s in status.items()}


@pytest.fixture(scope="module")
def warm_package(tmp_path_factory) -> PackageCopy:
    """A package whose kernels are compiled and kept; not to be changed by tests."""
    folder = tmp_path_factory.mktemp("package")
    copied = folder / "alphazero"
    copied.mkdir()
    (copied / "__init__.py").touch()
    (copied / "utils").mkdir()
    utilities = ("__init__", "arrays", "jit", "machine", "plug_ins", "progress")
    for name in ("errors.py", *(f"utils/{each}.py" for each in utilities)):
        shutil.copy(SOURCES / name, copied / name)
    others = ("go", "contract", "hex.py", "mnk.py", "nim.py", "othello.py")
    ignore = shutil.ignore_patterns("__pycache__", *others)
    shutil.copytree(SOURCES / "games", copied / "games", ignore=ignore)
    package = PackageCopy(folder, folder / "cache")
    assert package.start() == (WIN, [])
    assert package.files("*.nbi")
    return package


@pytest.fixture
def package(warm_package, tmp_path) -> PackageCopy:
    """The warm package with a copy of its cache, for a test to spoil."""
    cache = tmp_path / "cache"
    shutil.copytree(warm_package.cache, cache)
    return PackageCopy(warm_package.folder, cache)


def kernels_folder(package: PackageCopy) -> Path:
    """Return the one folder of kernels in the cache."""
    (folder,) = package.cache.glob("kernels-*")
    return folder


@contextmanager
def edited(package: PackageCopy, file: str, old: str, new: str) -> Iterator[None]:
    """Replace `old` in a source file of the package, whose time of writing stays, for a while."""
    path = package.folder / "alphazero" / file
    source, times = path.read_text(), path.stat()
    assert source.count(old) == 1
    try:
        path.write_text(source.replace(old, new))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        yield
    finally:
        path.write_text(source)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def kernels_in(names: Iterable[str]) -> set[str]:
    """Return the kernels of files of the cache."""
    return {re.sub(r"(\.\d+)?\.nb.$", "", Path(name).name) for name in names}


@pytest.mark.parametrize(
    ("file", "old", "new", "printed"),
    [
        ("games/line_games.py", "if run >= length:", "if run > length:", WIN.replace("1", "2")),
        ("games/game.py", "\nONGOING = 2\n", "\nONGOING = 5\n", WIN),
    ],
    ids=["callee", "constant"],
)
def test_an_edit_in_another_file_is_never_served_stale(
    package, file: str, old: str, new: str, printed: str
):
    before = package.cached()
    with edited(package, file, old, new):
        assert package.start() == (printed, [])
    after = package.cached()
    assert {name: after[name] for name in before} == before
    assert len(kernels_in(after.keys() - before)) == 1, "no other kernel is compiled again"
    assert package.start() == (WIN, [])
    assert package.cached() == after


def test_an_edit_that_no_kernel_reaches_compiles_nothing(package):
    """A comment, a docstring, and what no kernel uses."""
    before, file = package.cached(), "games/line_games.py"
    with (
        edited(package, file, "if run >= length:", "if run >= length:  # a line won"),
        edited(package, file, "A line with n stones", "A row with n stones"),
        edited(package, file, "largest_side = 26", "largest_side = 25"),
    ):
        assert package.start() == (WIN, [])
    assert package.cached() == before


FIRST_CALLS = """
from alphazero.games.connect_four import ConnectFour, legal
legal.patience = {}
game = ConnectFour(4, 4, 3)
state = game.play(game.initial_state(), 0, 1, 0, 1, 0)
print("outcome", state[1], "compiled", len(legal.overloads))
"""


def test_python_runs_the_rules_until_that_takes_longer_than_to_compile_them(package):
    """Compiled rules are used at once."""
    shutil.rmtree(package.cache)
    for patience, compiled in ((1000, 0), (1e-9, 1), (1000, 1)):
        printed = f"outcome 1 compiled {compiled}\n", []
        assert package.start(code=FIRST_CALLS.format(patience)) == printed
        assert len(package.files("*legal*.nbi")) == len(package.files("*.nbi")) == compiled


@jit.kernel(types.int64(types.int64))
def wraps_around(number: int) -> int:
    return number + 1


@jit.kernel(types.int64(types.int64))
def calls_another(number: int) -> int:
    return wraps_around(number) + 1


def test_python_runs_also_the_kernels_that_a_kernel_calls(monkeypatch, tmp_path):
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(calls_another, "patience", 1000.0)
    largest = np.int64(2**63 - 1)
    in_python = calls_another.call_at_once(largest)
    assert not calls_another.overloads
    assert not wraps_around.overloads
    assert in_python == calls_another(largest) == -(2**63) + 1
    assert calls_another.overloads
    assert calls_another.call_at_once(largest) == in_python


@jit.kernel(types.int64(types.int64[::1]))
def sets_the_last_of_64(state: np.ndarray) -> int:
    state[0] += 1
    state[1] = np.uint64(state[0]) << np.uint64(63)
    return len(state)


def test_what_overflows_in_python_alone_is_compiled_and_begins_anew(monkeypatch, tmp_path):
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(sets_the_last_of_64, "patience", 1000.0)
    state = np.zeros(2, np.int64)
    assert sets_the_last_of_64.call_at_once(state) == 2
    assert state.tolist() == [1, -(2**63)]
    assert sets_the_last_of_64.overloads


SIGNAL_WHILE_LLVM_EMITS_CODE = """
import os, signal
from numba.core.codegen import JITCodeLibrary

inner = JITCodeLibrary._object_compiled_hook
signal.signal(signal.SIGINT, signal.default_int_handler)  # else ignored, as behind nohup

def interrupted(module, data):
    inner(module, data)
    os.kill(os.getpid(), signal.SIGINT)

JITCodeLibrary._object_compiled_hook = interrupted
"""

CALLED_AFTER_IT = """
import numpy as np
game = ConnectFour()
print(game.rule_functions.play(game.initial_state(), np.int32(3)))
"""


def test_a_signal_while_llvm_emits_code_is_not_lost(package):
    shutil.rmtree(package.cache)
    code = COMPILE.replace("legal", "play") + CALLED_AFTER_IT
    assert package.start(SIGNAL_WHILE_LLVM_EMITS_CODE, code) == ("stopped\nNone\n", [])
    shutil.rmtree(package.cache)
    assert package.start(SIGNAL_WHILE_LLVM_EMITS_CODE, COMPILE) == ("stopped\n", [])
    assert package.files("*.legal-*.nbi")


COMPILE_ASIDE = """
import os, time
from alphazero.utils import jit
hashed, inner = [], jit.kernel_hash
jit.kernel_hash = lambda function, signature: hashed.append(function) or inner(function, signature)
from alphazero.games.connect_four import ConnectFour
legal = ConnectFour.rule_functions.legal
jit.usable_cores = lambda: 2
"""

USE_AFTER_THE_HELPER = """
helper = jit.compile_aside(legal)
assert jit.compile_aside(legal) is helper, "one at a time"
end = time.monotonic() + 60
while helper.returncode is None and time.monotonic() < end:
    time.sleep(0.05)
print(helper.returncode, end=" ")
legal.compile()
print(hashed.count(legal.py_func), jit._KernelCache.compiled)
"""

KILLED_WHILE_ITS_HELPER_WORKS = """
reader, writer = os.pipe()
if os.fork() == 0:
    jit._HELPER = jit._HELPER.replace("while jit._later:", "while True:")
    jit._HELPER = jit._HELPER.replace("jit._later.pop().compile()", "import time; time.sleep(600)")
    assert "while True:" in jit._HELPER and "sleep(600)" in jit._HELPER
    os.write(writer, str(jit.compile_aside(legal).pid).encode())
    os.kill(os.getpid(), 9)
helper = int(os.read(reader, 20))
os.wait()
end, state = time.monotonic() + 60, "S"
while state not in ("Z", "") and time.monotonic() < end:  # nobody may reap it
    try:
        state = open(f"/proc/{helper}/stat").read().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        state = ""
    time.sleep(0.05)
print("ended" if state in ("Z", "") else "goes on")
"""


def test_a_helper_is_reaped_when_it_has_compiled_a_kernel_that_is_hashed_once(package):
    package.files("*connect_four.legal-*.nbi")[0].unlink()
    assert package.start(COMPILE_ASIDE, USE_AFTER_THE_HELPER) == ("0 1 0\n", [])


@pytest.mark.skipif(sys.platform != "linux", reason="reads the state of a process from /proc")
def test_a_helper_ends_with_a_process_that_is_killed(package):
    package.files("*connect_four.legal-*.nbi")[0].unlink()
    assert package.start(COMPILE_ASIDE, KILLED_WHILE_ITS_HELPER_WORKS)[0] == "ended\n"


WAIT_FOR_ANOTHER_PROCESS = """
import threading
from filelock import FileLock
play = ConnectFour.rule_functions.play
index = legal.files.lock.with_suffix(".nbi")
index.rename("aside")
for path in play.files.lock.parent.glob("*connect_four.play-*.nbi"):
    path.unlink()
held = FileLock(legal.files.lock, thread_local=False)
held.acquire()

def be_the_other_process():
    while not play.overloads:
        time.sleep(0.01)
    os.rename("aside", index)
    held.release()

threading.Thread(target=be_the_other_process, daemon=True).start()
jit._later[:] = [legal, play]
legal.compile()
print(len(legal.overloads), len(play.overloads), jit._KernelCache.compiled)
"""


SUSPENDED_WHILE_IT_COMPILES = """
from filelock import FileLock
jit._Kernel.longest_wait = 0.5
held = FileLock(legal.files.lock)
held.acquire()
start = time.monotonic()
legal.compile()
print(jit._KernelCache.compiled, time.monotonic() - start >= 0.5, jit._Kernel.longest_wait)
"""


def test_a_kernel_is_not_waited_for_without_end(package):
    package.files("*connect_four.legal-*.nbi")[0].unlink()
    assert package.start(COMPILE_ASIDE, SUSPENDED_WHILE_IT_COMPILES)[0] == "1 True 0.0\n"


def test_who_waits_for_a_kernel_of_another_process_compiles_meanwhile_what_is_left(package):
    printed, _ = package.start(COMPILE_ASIDE, WAIT_FOR_ANOTHER_PROCESS)
    assert printed == "1 1 1\n", "legal was not read, or play not compiled"


def add_one(number: int) -> int:
    return number + 1


def subtract_one(number: int) -> int:
    return number - 1


class Pair(NamedTuple):
    first: int
    second: int


class Swapped(NamedTuple):
    second: int
    first: int


def make_caller(callee: object, constant: object) -> Callable[..., object]:
    def call(number: int) -> object:
        return callee(number), constant  # type: ignore[operator]

    return call


def make_reader(factor: int) -> Callable[[int], int]:
    module = ModuleType("my_numbers")
    module.FACTOR = factor

    def read(number: int) -> int:
        return module.FACTOR * number  # type: ignore[no-any-return]

    return read


def test_the_hash_of_a_kernel_sees_all_that_it_compiles():
    signature = types.int64(types.int64)
    adding, subtracting = map(jit.inline_kernel, (add_one, subtract_one))

    def hash_of(callee: object, constant: object, kind: object = signature) -> str:
        return jit.kernel_hash(make_caller(callee, constant), kind)

    usual = hash_of(adding, 1)
    assert usual == hash_of(jit.inline_kernel(add_one), 1)
    swapped = {
        kind: types.int64(types.NamedUniTuple(types.int64, 2, kind)) for kind in (Pair, Swapped)
    }
    others = [
        hash_of(subtracting, 1),
        hash_of(jit.shared_kernel(add_one), 1),
        hash_of(jit.kernel(types.int64(types.int64))(add_one), 1),
        hash_of(jit.kernel(types.int64(types.int32))(add_one), 1),
        hash_of(adding, 2),
        hash_of(adding, np.zeros(2)),
        hash_of(adding, np.ones(2)),
        hash_of(adding, types.int64),
        hash_of(adding, types.float64),
        hash_of(make_caller(adding, 2), 1),
        hash_of(make_caller(adding, 3), 1),
        hash_of(adding, 1, types.float64(types.int64)),
        hash_of(adding, 1, types.int64(types.int32)),
        *(hash_of(adding, 1, kind) for kind in swapped.values()),
        *(jit.kernel_hash(make_reader(factor), signature) for factor in (100, 200)),
    ]
    assert len({usual, *others}) == 1 + len(others)


def one_bit(data: bytes) -> bytes:
    """Return `data` with one bit of its middle flipped."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    ("victims", "damage"), [("*.legal*.nbi", lambda _: b""), ("*.nbc", one_bit)]
)
def test_damaged_kernels_cost_one_warning_and_the_next_start_is_quiet(
    package, victims: str, damage: Callable[[bytes], bytes]
):
    before = package.cached()
    damaged = {str(path) for path in package.files(victims)}
    for victim in map(Path, damaged):
        victim.write_bytes(damage(victim.read_bytes()))
    printed, warned = package.start()
    assert (printed, len(warned)) == (WIN, 1)
    assert f"{kernels_folder(package)} could not be read (ValueError: a SHA-256 does" in warned[0]
    after = package.cached()
    assert after.keys() == before.keys()
    written = kernels_in(name for name in after if after[name] != before[name])
    assert written == kernels_in(damaged), "the other kernels are kept"
    assert package.start() == (WIN, [])
    assert package.cached() == after


def test_a_cache_folder_open_to_others_is_not_used(package):
    kernels_folder(package).chmod(0o777)
    for victim in package.files("*.nb?"):
        victim.write_bytes(b"not to be read")
    poisoned = package.cached()
    printed, warned = package.start(code=COMPILE)
    assert (printed, len(warned)) == ("compiled\n", 1)
    assert "others may write there" in warned[0]
    assert package.cached() == poisoned


@pytest.mark.skipif(sys.platform != "linux", reason="gives up root's rights as Linux does it")
def test_a_folder_that_cannot_be_written_leaves_no_kernels_elsewhere(package):
    shutil.rmtree(kernels_folder(package))
    package.start(code="import alphazero.utils.jit; alphazero.utils.jit.cache_folder()")
    folder = kernels_folder(package)
    folder.chmod(0o500)
    printed, warned = package.start(BOUND_BY_PERMISSIONS, COMPILE)
    folder.chmod(0o700)
    assert (printed, len(warned)) == ("compiled\n", 1)
    assert "compiling for this process alone" in warned[0]
    assert list(folder.iterdir()) == []
    assert not list((package.folder / "alphazero").rglob("*.nb?"))


@pytest.mark.skipif(sys.platform == "win32", reason="limits a file's size as Unix does it")
def test_a_full_disk_does_not_stop_the_start(package):
    shutil.rmtree(kernels_folder(package))
    full = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    assert package.start(full, COMPILE)[0] == "compiled\n"


@pytest.mark.skipif(sys.platform == "win32", reason="has no such terminals")
def test_compiling_is_reported_and_a_warm_start_is_silent(package):
    import pty
    import termios

    def error_output(on_a_terminal: bool) -> str:
        reader, writer = pty.openpty() if on_a_terminal else os.pipe()
        if on_a_terminal:
            termios.tcsetwinsize(writer, (24, 100))
        subprocess.run(
            [sys.executable, "-c", PLAY],
            env=package.environment,
            cwd=package.folder,
            stdout=subprocess.PIPE,
            stderr=writer,
            timeout=120,
            check=True,
        )
        os.close(writer)
        output = b""
        with suppress(OSError):  # the end of a terminal, as Linux reports it
            while part := os.read(reader, 1 << 16):
                output += part
        os.close(reader)
        return output.decode()

    def forget() -> None:
        for kernel in ("play", "legal"):
            package.files(f"*connect_four.{kernel}-*.nbi")[0].unlink()

    forget()
    once = "first start: compiling kernels, legal and others, which later starts use too\n"
    assert error_output(False) == once
    assert error_output(True) == ""
    forget()
    text = error_output(True)
    assert "first start: compiling kernel 1, legal, which later starts use too" in text
    assert "first start: compiling kernel 2, play, which later starts use too" in text


# The choice of the folder, asked in this process.


def choose_folder(monkeypatch: pytest.MonkeyPatch, base: Path) -> Path:
    """Return the folder that a start with this cache folder would use."""
    monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(base))
    return jit.cache_folder.__wrapped__()


def refuse_folder(monkeypatch: pytest.MonkeyPatch, base: Path) -> None:
    """Check that `base` is not used, with one warning, and a private folder is used instead."""
    with pytest.warns(RuntimeWarning, match="set ALPHAZERO_CACHE_DIR to a folder of your own"):
        folder = choose_folder(monkeypatch, base)
    assert base not in folder.parents
    assert folder.is_relative_to(tempfile.gettempdir())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.rmdir()


def test_a_new_cache_folder_is_private(monkeypatch, tmp_path):
    before = os.umask(0)
    try:
        folder = choose_folder(monkeypatch, tmp_path / "new" / "cache")
    finally:
        os.umask(before)
    assert folder.parent == tmp_path / "new" / "cache"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700


def move_away(folder: Path) -> Path:
    return folder.rename(folder.parent / "elsewhere")


SPOILS: dict[str, Callable[[Path], object]] = {
    "writable by all": lambda folder: folder.chmod(0o777),
    "writable by its group": lambda folder: folder.chmod(0o720),
    "writable by others": lambda folder: folder.chmod(0o702),
    "in a folder where others may replace it": lambda folder: folder.parent.chmod(0o777),
    "a link": lambda folder: folder.symlink_to(move_away(folder)),
    "a file": lambda folder: (move_away(folder), folder.touch()),
    "another user's": lambda folder: None,
}


@pytest.mark.parametrize("name", SPOILS)
def test_a_kernels_folder_that_others_could_fill_is_refused(monkeypatch, tmp_path, name: str):
    SPOILS[name](choose_folder(monkeypatch, tmp_path))
    if name == "another user's":
        stranger = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: stranger)
    refuse_folder(monkeypatch, tmp_path)
    if name.startswith("in a folder"):
        tmp_path.chmod(0o1777)  # as /tmp: only owners may replace
        assert choose_folder(monkeypatch, tmp_path).parent == tmp_path


def test_a_user_without_a_home_is_served(monkeypatch):
    def no_home(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", no_home)
    refuse_folder(monkeypatch, Path("~/.cache/alphazero"))


def test_only_what_was_unused_for_a_month_is_forgotten(monkeypatch, tmp_path):
    current = choose_folder(monkeypatch, tmp_path)
    unused, used = current / "unused.nbi", current / "used.nbc"
    for file in (unused, used):
        file.touch()
    os.utime(unused, (0, 0))
    old, recent = tmp_path / f"kernels-{'0' * 16}", tmp_path / f"kernels-{'1' * 16}"
    others = [tmp_path / "kernels-of-linux", tmp_path / "holiday", tmp_path / "kernels-2019"]
    for folder in (old, recent, *others):
        folder.mkdir()
        (folder / "file").touch()
    for folder in (old, *others):
        os.utime(folder, (0, 0))
    assert choose_folder(monkeypatch, tmp_path) == current
    assert sorted(tmp_path.iterdir()) == sorted([recent, *others, current])
    assert list(current.iterdir()) == [used]
