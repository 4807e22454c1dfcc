"""Files of figures by matplotlib, which comes with the extra `plot`."""

import importlib.util
import io
from pathlib import Path
from typing import TYPE_CHECKING, Final

from alphazero.errors import RunError
from alphazero.utils.files import check_replaceable, printable, read_start, write_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS: Final = (".png", ".svg")


def check_figure(file: Path) -> None:
    """Check, before long work, that a figure can be drawn into a file.

    Raises:
        RunError: when the file is neither PNG nor SVG, cannot be written or holds anything but a
            figure, or matplotlib is missing.
    """
    if file.suffix.lower() not in KINDS:
        raise RunError(
            f"cannot draw {printable(file)}: a figure is PNG or SVG; let its name end in "
            f"{' or '.join(KINDS)}"
        )
    if importlib.util.find_spec("matplotlib") is None:
        raise RunError("a figure needs matplotlib; install it with: pip install 'alphazero[plot]'")
    # matplotlib writes its address into every figure, before the picture itself.
    check_replaceable(file, "figure by matplotlib", lambda: b"matplotlib.org" in read_start(file))


def save_figure(path: Path, figure: "Figure") -> None:
    """Write a figure as PNG or SVG, by the file's suffix; raise RunError if that fails."""
    data, kind = io.BytesIO(), path.suffix.lower()
    undated = {"Date": None} if kind == ".svg" else {}
    figure.savefig(data, format=kind[1:], dpi=200, metadata=undated)
    write_atomic(path, data.getvalue())
