"""Compilation by numba at first use, with a cache that is verified and never stale.

numba's own file cache misses changes in a callee of another file, fails at every start after a
truncated file, and runs machine code with a flipped bit. Here the name of a kernel's file contains
a hash of all that the kernel compiles: its code, the kernels, constants and types that it uses, in
whatever file or package. So an edit compiles just the kernels that it changes. Each file ends with
its SHA-256; a damaged kernel is compiled again, with a warning. The folder is private.
"""

import atexit
import functools
import hashlib
import io
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

import numba
import numpy as np
from filelock import FileLock, Timeout
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import DEFAULT_FLAGS, Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack

from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import defer_interrupts, passing_line

Function = TypeVar("Function", bound=Callable[..., Any])

VERSIONS = f"{numba.__version__} {np.__version__} {sys.version}".encode()
OUTSIDE = ("builtins", "math", "numba", "numpy", "operator")
"""Packages whose functions change only with their versions."""
PATIENCE = 1.5
"""Seconds that Python may take for the source of a kernel: about what compiling it takes."""
_DAY = 24 * 3600.0
_MONTH = 30 * _DAY
_DIGEST_BYTES = hashlib.sha256().digest_size


def kernel_hash(function: Callable[..., Any], signature: Any) -> str:
    """Return a hash of all that compiling `function` for `signature` reads.

    Comments, docstrings and line numbers do not count.
    """
    digest = hashlib.sha256()
    seen: set[int] = set()

    def add(*parts: object) -> None:
        digest.update(repr(parts).encode() + b"\0")

    def add_type(kind: Any) -> None:
        fields = getattr(kind, "fields", None) or dict(getattr(kind, "_fields", ()))
        add(str(kind), tuple(fields))
        for part in (*getattr(kind, "types", ()), *getattr(kind, "args", ())):
            add_type(part)

    def add_value(value: Any, names: Collection[str]) -> None:
        """Add a value that code with the attributes `names` refers to."""
        if isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] not in OUTSIDE:
                for name in sorted(names & vars(value).keys()):
                    add(name)
                    add_value(getattr(value, name), names)
        elif inner := getattr(value, "py_func", None) or getattr(value, "_defn", None):
            add(getattr(value, "targetoptions", None), getattr(value, "signature", None))
            add_function(inner)
        elif isinstance(value, FunctionType):
            add_function(value)
        elif isinstance(value, np.ndarray):
            add(value.dtype, value.shape, value.tobytes())
        elif isinstance(value, type):
            add(value.__module__, value.__qualname__, getattr(value, "_fields", None))
        elif callable(value):
            name = getattr(value, "__name__", None) or str(value)  # numba's types have no name
            add(getattr(value, "__module__", None), name)
        else:
            add(value)

    def add_function(function: Any) -> None:
        if id(function) not in seen and function.__module__.partition(".")[0] not in OUTSIDE:
            seen.add(id(function))
            add(function.__defaults__)
            cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            known = function.__globals__ | {name: cell.cell_contents for name, cell in cells}
            add_code(function.__code__, known, function.__doc__)

    def add_code(code: CodeType, known: Mapping[str, Any], doc: str | None = None) -> None:
        add(code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)
        names = {*code.co_names}
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                add_code(constant, known)
            elif constant != doc:
                add(constant)
        for name in (*code.co_names, *code.co_freevars):
            if name in known:
                add(name)
                add_value(known[name], names)

    add_type(signature)
    add_type(getattr(signature, "return_type", None))
    add_function(function)
    return digest.hexdigest()[:32]


def _others_may_fill(folder: Path) -> bool:
    """Whether another user could write into `folder`, whose files are pickles, or replace it."""
    status, parent = folder.lstat(), folder.parent.stat()
    if not stat.S_ISDIR(status.st_mode) or not hasattr(os, "getuid"):
        return not stat.S_ISDIR(status.st_mode)
    open_to_all = parent.st_mode & stat.S_IWOTH and not parent.st_mode & stat.S_ISVTX
    if open_to_all or parent.st_uid not in (0, os.getuid()):
        return True
    return status.st_uid != os.getuid() or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _forget_unused(folder: Path, current: Path) -> None:
    """Remove the files of `current`, and the caches of other versions, unused for a month."""
    for path in (*current.glob("*.nb?"), *folder.glob("kernels-" + "[0-9a-f]" * 16)):
        with suppress(FileNotFoundError):  # another process may have removed it
            if path != current and time.time() - path.lstat().st_mtime > _MONTH:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


@functools.cache
def cache_folder() -> Path:
    """Return the private folder of compiled kernels for these versions of Python and numba.

    `ALPHAZERO_CACHE_DIR` moves it. If it cannot be private, this process gets a temporary folder.
    """
    chosen = os.environ.get("ALPHAZERO_CACHE_DIR")
    base = chosen or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "alphazero"
    try:
        parent = Path(base).expanduser()
        folder = parent / f"kernels-{hashlib.sha256(VERSIONS).hexdigest()[:16]}"
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if _others_may_fill(folder):
            raise PermissionError("others may write there")
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
        _forget_unused(parent, folder)
    except (OSError, RuntimeError) as error:  # RuntimeError: no home folder
        warnings.warn(
            f"compiled kernels cannot be kept in {base} ({error}); compiling for this "
            "process alone; set ALPHAZERO_CACHE_DIR to a folder of your own",
            RuntimeWarning,
            stacklevel=2,
        )
        folder = Path(tempfile.mkdtemp(prefix="alphazero-kernels-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class _HashedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """The two files of a cached kernel, each followed by its SHA-256, which pickle ignores.

    numba uses these methods in versions 0.61, the oldest allowed one, to 0.68.
    """

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        data = content.getvalue()
        with super()._open_for_write(filepath) as file:
            file.write(data + hashlib.sha256(data).digest())

    def _load_index(self) -> Any:
        self._verify(Path(self._index_path))
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        self._verify(Path(self._data_path(name)))
        return super()._load_data(name)

    @staticmethod
    def _verify(path: Path) -> None:
        with suppress(FileNotFoundError):
            data = path.read_bytes()
            if hashlib.sha256(data[:-_DIGEST_BYTES]).digest() != data[-_DIGEST_BYTES:]:
                raise ValueError("a SHA-256 does not match")
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _DAY:
                os.utime(path)  # still in use


class _Kernels(CompileResultCacheImpl):  # type: ignore[misc]
    """How numba writes and reads a compiled function; the folder is there already."""

    locator = SimpleNamespace(ensure_cache_path=lambda: None)

    def __init__(self) -> None:
        pass


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, in files that are verified before they are unpickled.

    While missing kernels are compiled, a terminal shows a line with their number; elsewhere a line
    names the first one.
    """

    bar: Any = None
    compiled = 0
    """kernels that this process has compiled"""
    warned = False

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        # In place of numba's constructor, which names files after the place of the source.
        stamp = kernel_hash(function, signature)
        self._name, self._py_func, self._impl = repr(function), function, _Kernels()
        self._cache_path = str(cache_folder())
        name = f"{function.__module__}.{function.__qualname__}"[-80:]
        self._cache_file = _HashedFiles(self._cache_path, f"{name}-{stamp}", stamp)
        self.enable()

    @property
    def lock(self) -> Path:
        return Path(self._cache_file._index_path).with_suffix(".nbl")

    def exists(self) -> bool:
        return Path(self._cache_file._index_path).exists()

    def close(self) -> None:
        """End the line that a terminal shows."""
        if self.bar is not None:
            self.bar.close()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = None
        try:
            found = super().load_overload(sig, target_context)
        except Exception as error:
            if not _KernelCache.warned:
                _KernelCache.warned = True
                warnings.warn(
                    f"compiled kernels in {self._cache_path} could not be read "
                    f"({type(error).__name__}: {error}); compiling them again",
                    RuntimeWarning,
                    stacklevel=2,
                )
            with suppress(OSError):
                Path(self._cache_file._index_path).unlink()
        if found is None:
            _KernelCache.compiled += 1
            number, name = _KernelCache.compiled, self._py_func.__name__
            text = f"first start: compiling kernel {number}, {name}, which later starts use too"
            once = f"first start: compiling kernels, {name} and others, which later starts use too"
            self.bar = passing_line(text, once if number == 1 else "")
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # a full disk, for example: then the next start compiles it too
            super().save_overload(sig, data)


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """LLVM code that becomes machine code as a part of its callers only."""

    codegen = SimpleNamespace(set_env=lambda *_: None)

    def _optimize_final_module(self) -> None:
        """Do nothing: callers optimise this code with their own, in two thirds of the time."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, _name: str) -> int:
        self._ensure_finalized()
        return 0


class _LinkedCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, which writes to a `_LinkedLibrary`."""

    def compile_extra(self, function: Any) -> Any:
        self.state.library = _LinkedLibrary(self.state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)


_in_python = threading.local()
"""Has `kernel` in a thread where Python runs a kernel's source, and that of all it calls."""


class _Part(CPUDispatcher):  # type: ignore[misc]
    """A function that is compiled into the kernels that call it; Python runs its source.

    It is compiled once for all sizes of signed integers, which are int64 in it.
    """

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, {}, options, _LinkedCompiler)

    def __call__(self, *arguments: Any) -> Any:
        if hasattr(_in_python, "kernel"):
            return self.py_func(*arguments)
        with np.errstate(over="ignore"):  # integers wrap around, as when they are compiled
            return self.py_func(*arguments)

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        def widened(kind: Any) -> Any:
            whole = isinstance(kind, types.Integer) and kind.signed
            return types.int64 if whole else kind

        return super().get_call_template(tuple(map(widened, arguments)), keywords)


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A function that is compiled for one signature, when it is first used."""

    longest_wait = 60.0
    """seconds for a kernel that another process compiles; 0 once that was in vain"""
    helper: "subprocess.Popen[bytes] | None" = None
    """the newest process of `compile_aside`"""

    def __init__(self, function: Any, signature: Any) -> None:
        # What takes tuples is only called, never kept in a variable of another kernel.
        called = any(isinstance(each, types.BaseTuple) for each in signature.args)
        super().__init__(function, {}, {**_OPTIONS, "no_cfunc_wrapper": called})
        self.signature = signature
        self.patience = PATIENCE

    @functools.cached_property
    def files(self) -> _KernelCache:
        return _KernelCache(self.py_func, self.signature)

    def compile(self, _signature: Any = None) -> Any:
        with nullcontext() if self.overloads else self._claimed(), global_compiler_lock:
            if not self.overloads:
                cache = self._cache = self.files
                # Compiling the caller, numba would take over its flags.
                flags = ConfigStack().enter(DEFAULT_FLAGS)
                with defer_interrupts(), flags, closing(cache):
                    super().compile(self.signature)
                    self.disable_compile()
        return self.overloads[self.signature.args].entry_point

    @contextmanager
    def _claimed(self) -> Iterator[None]:
        """Lock the kernel for this process; while another one holds it, compile those in `_later`.

        A kernel that another one calls is not waited for: other threads need numba's lock.
        """
        wait = 0.0 if global_compiler_lock.is_locked() else _Kernel.longest_wait
        lock, end = FileLock(self.files.lock), time.monotonic() + wait
        with suppress(OSError, NotImplementedError):  # where files cannot be locked, both compile
            while not (self.overloads or self.files.exists()):
                with suppress(Timeout):
                    lock.acquire(timeout=0 if _later else min(wait, 0.1))
                    break
                if other := _next_later():
                    other.compile()
                elif time.monotonic() >= end:  # the other process may be suspended
                    if wait:
                        _Kernel.longest_wait = 0.0
                    break
        try:
            yield
        finally:
            lock.release()

    def get_compile_result(self, signature: Any) -> Any:
        self.compile()
        return super().get_compile_result(signature)

    def _compile_for_args(self, *_arguments: Any) -> Any:
        """Called by numba at the first call; return what it calls in place of this."""
        if hasattr(_in_python, "kernel"):
            return self.py_func
        self.compile()
        return self

    def call_at_once(self, *arguments: Any) -> Any:
        """Call it; while it is not compiled, Python runs its source for up to `PATIENCE` seconds.

        So a few calls wait for no compiler. What overflows only in Python, as a set of 64 squares
        that is written to int64, begins anew when it is compiled.
        """
        if self.overloads or self.patience < 0 or self.files.exists():
            return self(*arguments)
        arrays = [each for each in arguments if isinstance(each, np.ndarray)]
        before = [array.copy() for array in arrays]
        start, _in_python.kernel = time.thread_time(), self
        try:
            with np.errstate(over="ignore"):
                return self.py_func(*arguments)
        except OverflowError:
            for array, values in zip(arrays, before, strict=True):
                array[...] = values
            self.patience = 0.0
        finally:
            del _in_python.kernel
            self.patience -= time.thread_time() - start
        return self(*arguments)


def kernel(signature: Any) -> Callable[[Function], Function]:
    """Compile a function for exactly `signature`, cached on disk; it runs without the GIL.

    It is compiled when it is first called, or converted to the function that a kernel takes.
    """
    if isinstance(signature, FunctionType):
        raise TypeError(
            "@kernel needs a signature, as in @kernel(Signature.legal); mark a helper of rules "
            "with @shared_kernel or @inline_kernel"
        )
    return lambda function: _Kernel(function, signature)


_later: list[_Kernel] = []
"""What this process compiles while it waits for another process, the last kernel first."""


def _next_later() -> _Kernel | None:
    with suppress(IndexError):
        return _later.pop()
    return None


def compile_aside(*kernels: Any) -> "subprocess.Popen[bytes] | None":
    """Compile those of `kernels` that are not cached, in another process; return it, or None.

    It begins with the first one. This process, when it has to wait for one of them, compiles others
    meanwhile, the last one first. The other process ends with this one; one at a time works so.
    """
    missing = [each for each in kernels if not each.overloads and not each.files.exists()]
    if not missing or usable_cores() == 1:
        return None
    if _Kernel.helper and _Kernel.helper.returncode is None:
        return _Kernel.helper
    _later[:] = missing
    names = [(each.__module__, each.__name__) for each in missing]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    helper = _Kernel.helper = subprocess.Popen(
        [sys.executable, "-c", _HELPER.format(names)], stdin=pipe, stdout=nowhere, stderr=nowhere
    )

    def reap() -> None:
        """Wait for it; otherwise it would remain as a zombie."""
        with helper:
            helper.wait()

    threading.Thread(target=reap, daemon=True).start()
    return helper


_HELPER = """
import os, threading
# The standard input ends with the process at its other end, also if that is killed.
threading.Thread(target=lambda: os.read(0, 1) or os._exit(1), daemon=True).start()
from importlib import import_module
from alphazero.utils import jit
jit._later[:] = [getattr(import_module(module), name) for module, name in reversed({})]
while jit._later:
    jit._later.pop().compile()
"""


def inline_kernel(function: Function) -> Function:
    """Mark a function to be inlined into the kernels that call it.

    Reference counting is off, because numba spends two locked instructions per call on each of the
    trees' arrays, half the time of a search. So the function must not allocate or return arrays,
    and must call a game's rules by `call_rule`.
    """
    options = {"forceinline": True, "_nrt": False}
    return _Part(function, {**_PART, **options})


def shared_kernel(function: Function) -> Function:
    """Mark a function that kernels call, and whose code they share."""
    return _Part(function, _PART)


_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy"}
_PART = {**_OPTIONS, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
