"""onnxruntime-web, with which the page computes: from a public host, or copied beside the page.

The version and its hashes are fixed here. The page checks the hashes before it runs the files.
"""

import base64
import hashlib
from pathlib import Path
from typing import Final, NamedTuple

from alphazero.errors import RunError
from alphazero.utils.files import printable, read_limited

VERSION: Final = "1.30.0"
HOST: Final = f"https://cdn.jsdelivr.net/npm/onnxruntime-web@{VERSION}/dist/"


class RuntimeFile(NamedTuple):
    """A file of onnxruntime-web and the SHA-384 of its bytes, in base64."""

    name: str
    sha384: str


FILES: Final = {
    "script": RuntimeFile(
        "ort.wasm.bundle.min.mjs",
        "PLWz+nHEVHpjwBsO0YVdvQj6n5814Iv8E3b8FG0Rp/uIAtjFMCKOpP66iPzedrIG",
    ),
    "wasm": RuntimeFile(
        "ort-wasm-simd-threaded.wasm",
        "vjBJ1z7qrhkTyYsNqKeF6c7N+nOJSU94czEo+tvZcu8G75JparGq9kB+kTnEUNVM",
    ),
}
"""The files by their use. The wasm file has 14 MB, 3.7 MB compressed."""

_LIMIT: Final = 1 << 26


def addresses(prefix: str) -> dict[str, dict[str, str]]:
    """Return where the page finds each file, below `prefix`, and its integrity hash."""
    return {
        use: {"url": prefix + file.name, "integrity": f"sha384-{file.sha384}"}
        for use, file in FILES.items()
    }


def read_runtime(folder: Path) -> dict[str, bytes]:
    """Return the files by name, from an npm folder of onnxruntime-web or its `dist`.

    Raise RunError when a file is missing or of another version.
    """
    inner = folder / "dist"
    home = inner if inner.is_dir() else folder
    files = {}
    for name, sha384 in FILES.values():
        there = (home / name).is_file()
        files[name] = read_limited(home / name, _LIMIT) if there else b""
        if base64.b64encode(hashlib.sha384(files[name]).digest()).decode() != sha384:
            what = f"is not that of onnxruntime-web {VERSION}" if there else "is missing"
            raise RunError(
                f"{printable(home / name)} {what}; get it with: npm install "
                f"onnxruntime-web@{VERSION}, and name node_modules/onnxruntime-web"
            )
    return files
