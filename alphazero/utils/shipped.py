"""The configurations and players that come with the package, by name.

A wheel holds them in `alphazero/shipped/`, a clone in `configs/` and `checkpoints/`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_INSTALLED: Final = Path(__file__).parents[1] / "shipped"
_ROOT: Final = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[2]


def shipped_configs() -> dict[str, Path]:
    """Return the YAML files by name, as `connect_four`."""
    return _files("configs", ".yaml")


def shipped_players() -> dict[str, Path]:
    """Return the checkpoints by name, as `connect_four`."""
    return _files("checkpoints", ".safetensors")


def find_shipped(path: Path | str, shipped: Mapping[str, Path]) -> Path:
    """Return `path` if it exists, else the file of that name in `shipped`, if there is one."""
    path, file = Path(path), shipped.get(str(path))
    return file if file and not path.exists() else path


def _files(folder: str, suffix: str) -> dict[str, Path]:
    return {path.stem: path for path in sorted((_ROOT / folder).glob(f"*{suffix}"))}
