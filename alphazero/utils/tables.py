"""Tables as text with aligned columns, in Markdown, and as CSV files."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from alphazero.utils.files import write_atomic
from alphazero.utils.shared_files import check_replaceable, starts_with


def align(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of equally many cells, the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([f"{first:{widths[0]}}", *cells]).rstrip())
    return "\n".join(lines)


def count_of(number: int, noun: str) -> str:
    """Return a number and its noun: `1 move`, `1,200 moves`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def markdown_row(cells: Sequence[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; each row has as many cells as `head`."""
    return "\n".join(map(markdown_row, [head, ["---"] * len(head), *rows]))


def check_csv(path: Path, first_column: str) -> None:
    """Check, before long work, that a table with this first column can be written.

    Raises RunError if no file can be written, or `path` holds anything but such a table.
    """
    check_replaceable(path, "such table", lambda: starts_with(path, f"{first_column},".encode()))


def save_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file, whole numbers without a fraction; raise RunError if that fails."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_without_fraction(cell) for cell in row] for row in rows)
    write_atomic(path, text.getvalue().encode())


def _without_fraction(cell: object) -> object:
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell
