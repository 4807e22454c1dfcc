"""Objects that other packages bring by entry points, and why one cannot be loaded."""

import re
import textwrap
import traceback
from collections.abc import Callable
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_REASON_LIMIT, _HINTED_LIMIT = 300, 120
"""Characters of a reason, and of one that a hint follows."""
_LIBRARIES: Final = tuple(
    Path(str(spec.origin)).parent for name in ("numba", "numpy") if (spec := find_spec(name))
)
_OWN: Final = Path(__file__).parents[1]
_DETAILS: Final = (
    r"Failed in nopython mode pipeline [^\n]*\n|\n\n?(During: |File |There are ).*| Raised from .*"
)
"""What numba says around the reason of an error."""
_HINTS: Final = {
    "Cannot determine Numba type of <class 'function'>": (
        "mark a helper of rules with @shared_kernel or @inline_kernel"
    ),
    "No conversion from none to int": "the rule must return a number",
    " to none for ": "the rule must return nothing",
    "format spec in f-string": "rules can use no format in an f-string",
    "FORMAT_WITH_SPEC": "rules can use no format in an f-string",
    "NRT required": "what is marked @inline_kernel must make no lists and no arrays",
    "reflected list": "a table of rules must be a numpy array",
    "<class 'dict'>": "a table of rules must be a numpy array",
}
"""What would be right, by what numba says."""


def is_library(file: Path | str) -> bool:
    """Whether a file belongs to numba, to numpy or to Python's own modules."""
    path = Path(file)
    return (
        not path.is_absolute()
        or "importlib" in path.parts
        or path.parent == Path(traceback.__file__).parent
        or any(map(path.is_relative_to, _LIBRARIES))
    )


def is_foreign(file: Path) -> bool:
    """Whether a file belongs neither to a library nor to this package."""
    return not is_library(file) and not file.is_relative_to(_OWN)


def place_of(error: BaseException, is_source: Callable[[Path], bool], default: str) -> str:
    """Return the file and line at fault, among files that `is_source`; without one, `default`.

    A kernel that numba cannot compile is at fault at the line that numba names.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if numbas := re.search(r"Raised from (.+) \(([0-9]+)\)$", str(error)):
        return f"{numbas[1]}:{numbas[2]}"
    if loc := getattr(error, "loc", None) or getattr(error.__cause__, "loc", None):
        line = _line_of_name(error, Path(loc.filename)) or loc.line
        places, is_source = [(loc.filename, line)], Path.is_absolute
    for file, line in reversed(places):
        if is_source(Path(file)):
            return f"{file}:{line}"
    named = _line_of_name(error, Path(default))
    return f"{default}:{named}" if named else default


def _line_of_name(error: BaseException, file: Path) -> int | None:
    """Return the first line with the name that an error calls undefined: numba names the kernel."""
    name = re.search(r"name '(\w+)' is not defined|no attribute '(\w+)'", str(error))
    if name and file.is_file():
        word = re.compile(rf"\b{name[1] or name[2]}\b")
        for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
            if word.search(line):
                return number
    return None


def reason_of(error: BaseException) -> str:
    """Return an error in one line; of numba's only what is wrong."""
    text = re.sub(_DETAILS, "", re.sub(r"\x1b\[[0-9;]*m", "", str(error)), flags=re.DOTALL)
    text = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))[:_REASON_LIMIT]
    hint = "".join(f"; {hint}" for sign, hint in _HINTS.items() if sign in text)
    text = textwrap.shorten(text, _HINTED_LIMIT, placeholder=" ...") + hint if hint else text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def explain_failure(entry: EntryPoint, error: BaseException) -> str:
    """Return package, place and reason of an entry point that could not be loaded."""
    package = f"package {entry.dist.name} {entry.dist.version}" if entry.dist else "a package"
    return f"{package}, {place_of(error, is_foreign, entry.value)}: {reason_of(error)}"
