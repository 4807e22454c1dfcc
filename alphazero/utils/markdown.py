"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def markdown_row(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; each row has as many cells as `head`."""
    return "\n".join(map(markdown_row, [head, ["---"] * len(head), *rows]))
