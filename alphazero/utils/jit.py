"""Compilation by numba, with a cache that is verified and never stale.

numba's own file cache misses changes in a callee of another file, fails at every start after a
truncated file, and runs machine code with a flipped bit. So the cache is in a private folder, named
after a hash of the sources that kernels may depend on and of the versions of Python, numba and
numpy, and each file ends with its SHA-256. A damaged cache is deleted with a warning, and compiled
again.
"""

import atexit
import functools
import hashlib
import io
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from tqdm import tqdm

from alphazero.utils.progress import shows_bars

Function = TypeVar("Function", bound=Callable[..., Any])

_MONTH = 30 * 24 * 3600.0
_DIGEST_BYTES = hashlib.sha256().digest_size


def source_hash(package: Path, without: Collection[str] = ()) -> str:
    """Return a hash of all `.py` files in `package` and the Python, numba and numpy versions.

    The folders in `without` do not count.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        if name.parts[0] not in without:
            digest.update(name.as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def kernel_hash(package: Path) -> str:
    """Return the hash of the sources that kernels may depend on: not `cli` and `frontends`."""
    return source_hash(package, without=("cli", "frontends"))


def _is_private(folder: Path) -> bool:
    """Whether only this user may write into `folder`, whose files are pickles."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return False
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _lets_others_replace(parent: Path) -> bool:
    """Whether another user could replace a folder of ours in `parent`."""
    if not hasattr(os, "getuid"):
        return False
    status = parent.stat()
    open_to_all = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
    return bool(open_to_all) or status.st_uid not in (0, os.getuid())


def _forget_old_caches(parent: Path, current: Path) -> None:
    """Remove the caches of other versions that were not used for a month."""
    for folder in parent.glob("kernels-" + "[0-9a-f]" * 16):
        with suppress(FileNotFoundError):  # another process may have removed it
            if folder != current and time.time() - folder.lstat().st_mtime > _MONTH:
                shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def cache_folder() -> Path:
    """Return the private folder of compiled kernels for these sources.

    `ALPHAZERO_CACHE_DIR` moves it. If it cannot be private, this process gets a temporary folder.
    """
    chosen = os.environ.get("ALPHAZERO_CACHE_DIR")
    base = chosen or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "alphazero"
    try:
        parent = Path(base).expanduser()
        folder = parent / f"kernels-{kernel_hash(Path(__file__).parents[1])}"
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not _is_private(folder) or _lets_others_replace(parent):
            raise PermissionError("others may write there")
        # If numba cannot write there, it silently uses __pycache__, which can go stale.
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
        _forget_old_caches(parent, folder)
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
                raise ValueError(f"the SHA-256 of {path.name} does not match")


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, in files that are verified before they are unpickled.

    While a missing kernel is compiled, a terminal shows a line, `bar`.
    """

    bar: "tqdm[Any] | None" = None
    compiled = 0
    """kernels that this process has compiled"""
    seconds = 0.0
    """of compiling them"""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        locator, base = self._impl.locator, self._impl.filename_base
        self._cache_file = _HashedFiles(self._cache_path, base, locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None and shows_bars():
            self.bar = tqdm(
                desc=f"first start: compiling kernel {_KernelCache.compiled + 1} for later starts "
                f"too, {self._py_func.__name__}",
                bar_format="{desc} [{elapsed}]",
                leave=False,
                delay=1e-9,  # else it is drawn before its start is set
            )
            self.bar.start_t -= _KernelCache.seconds
            self.bar.refresh()
        return found

    def finish(self) -> None:
        if self.bar is not None:
            _KernelCache.seconds = self.bar.format_dict["elapsed"]
            _KernelCache.compiled += 1
            self.bar.close()


@contextmanager
def _numba_cache_in(folder: Path) -> Iterator[None]:
    """Make numba cache functions compiled in the block in `folder`."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _drop_cache(error: Exception) -> None:
    folder = cache_folder()
    warnings.warn(
        f"the compiled kernels in {folder} could not be read "
        f"({type(error).__name__}: {error}); compiling them again",
        RuntimeWarning,
        stacklevel=4,
    )
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


_deferred: list[Callable[[], None]] = []
"""Compilations left for `compile_deferred`, callees first."""

_deferring = threading.local()
_compiling = threading.RLock()


@contextmanager
def deferred_compilation() -> Iterator[None]:
    """Defer the compilation of kernels defined in the block until `compile_deferred`."""
    before, length = getattr(_deferring, "now", False), len(_deferred)
    _deferring.now = True
    try:
        yield
    except BaseException:
        del _deferred[length:]  # the module that defines them is not imported
        raise
    finally:
        _deferring.now = before


def compile_deferred() -> None:
    """Compile the kernels that `deferred_compilation` deferred."""
    with _compiling:
        while _deferred:
            _deferred[0]()
            del _deferred[0]


def kernel(signature: Any) -> Callable[[Function], Function]:
    """Compile a function for exactly `signature`, cached on disk; it runs without the GIL."""

    def compiled(function: Function) -> Function:
        dispatcher = numba.njit(nogil=True, error_model="numpy")(function)

        def compile_now(cache: bool = True) -> None:
            with _numba_cache_in(cache_folder()):
                dispatcher._cache = _KernelCache(function) if cache else NullCache()
                try:
                    dispatcher.compile(signature)
                finally:
                    if cache:
                        dispatcher._cache.finish()
            dispatcher.disable_compile()

        def compile_or_drop_cache() -> None:
            try:
                return compile_now()
            except numba.errors.NumbaError:
                raise
            except Exception as error:
                _drop_cache(error)
            try:
                compile_now()
            except OSError:  # nothing can be written: a full disk, for example
                compile_now(cache=False)

        if getattr(_deferring, "now", False):
            _deferred.append(compile_or_drop_cache)
        else:
            compile_or_drop_cache()
        return dispatcher  # type: ignore[no-any-return]

    return compiled


def inline_kernel(function: Function) -> Function:
    """Mark a function to be inlined into the kernels that call it.

    Python calls its `py_func`; without numba's wrapper compilation takes a tenth less time.
    Reference counting is off, because numba spends two locked instructions per call on each of the
    trees' arrays, half the time of a search. So the function must not allocate or return arrays,
    and must call a game's rules by the functions of `games/compiled_rules.py`.
    """
    return _compiled_into_kernels(function, forceinline=True, no_cpython_wrapper=True, _nrt=False)


def shared_kernel(function: Function) -> Function:
    """Mark a function that both kernels and Python call."""
    return _compiled_into_kernels(function, no_cpython_wrapper=False)


def _compiled_into_kernels(function: Function, **options: bool) -> Function:
    decorate = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)
    return decorate(function)  # type: ignore[no-any-return]
