"""Slow, plain twins of the package's fast code: nothing here is shared with what it checks.

A twin knows a game only from its printed rules: the board is a dictionary from (row, column),
rows counted from the top, to the player whose stone lies there.
"""

from dataclasses import dataclass

Cell = tuple[int, int]
Stones = dict[Cell, int]


@dataclass(frozen=True)
class LineTwin:
    """The rules of the games that are won by a straight line of stones.

    With `falling`, an action is a column and the stone falls to its lowest free cell; otherwise
    an action is a cell, counted row by row from the top left.
    """

    rows: int
    columns: int
    length: int
    falling: bool

    def cells(self) -> list[Cell]:
        """Return every cell of the board, row by row."""
        return [(row, column) for row in range(self.rows) for column in range(self.columns)]

    def winner(self, stones: Stones) -> int | None:
        """Return the player who owns a line, looked for from every cell in every direction."""
        for row, column in self.cells():
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = [(row + i * down, column + i * right) for i in range(self.length)]
                owners = {stones.get(cell) for cell in line}
                if owners == {0}:
                    return 0
                if owners == {1}:
                    return 1
        return None

    def outcome(self, stones: Stones) -> int | None:
        """Return +1, 0 or -1 for player 0, or None while the game is going on."""
        winner = self.winner(stones)
        if winner is not None:
            return 1 if winner == 0 else -1
        return 0 if len(stones) == self.rows * self.columns else None

    def legal(self, stones: Stones) -> list[int]:
        """Return the legal actions in rising order; none when the game is over."""
        if self.outcome(stones) is not None:
            return []
        if self.falling:
            return [column for column in range(self.columns) if (0, column) not in stones]
        return [action for action, cell in enumerate(self.cells()) if cell not in stones]

    def play(self, stones: Stones, action: int) -> Stones:
        """Return the board after `action` by the player whose turn it is."""
        if self.falling:
            cell = max((row, action) for row in range(self.rows) if (row, action) not in stones)
        else:
            cell = self.cells()[action]
        return {**stones, cell: len(stones) % 2}
