"""Tables as text with aligned columns, and in Markdown."""

from collections.abc import Iterable, Sequence


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


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; each row has as many cells as `head`."""
    lines = [head, ["---"] * len(head), *rows]
    escaped = ([cell.replace("|", "&#124;") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in escaped)
