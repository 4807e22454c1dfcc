"""Every line of play of a game that is won by a line, written out plainly.

A board is a text with a character for each cell, row by row: `.`, or who owns the stone.
"""

from alphazero.games import State
from alphazero.games.line_games import CELLS
from helpers.reference.rules import lines_of

Outlook = tuple[int, int]
"""A value for the player to move, and the ply at which the game is won, 0 for a draw."""


def merit(outlook: Outlook) -> int:
    """Return a number that is greater the better: soon won, not won, late lost, soon lost."""
    value, end = outlook
    return value * (1000 - end)


def board_of(state: State) -> str:
    return "".join(".01"[stone] for stone in state[CELLS:])


class BruteForce:
    """A game's answers; those of unfinished boards are kept in `known`."""

    def __init__(self, rows: int, columns: int, length: int, falling: bool) -> None:
        self.falling, self.columns = falling, columns
        self.lines_through: dict[int, list[list[int]]] = {c: [] for c in range(rows * columns)}
        for line in lines_of(rows, columns, length):
            numbers = [row * columns + column for row, column in line]
            for number in numbers:
                self.lines_through[number].append(numbers)
        self.known: dict[str, Outlook] = {}

    def landings(self, board: str) -> dict[int, int]:
        """Return the cell that each legal action fills, if the game is not over."""
        free = [cell for cell, sign in enumerate(board) if sign == "."]
        if self.falling:
            return {cell % self.columns: cell for cell in free}  # the lowest comes last
        return {cell: cell for cell in free}

    def after(self, board: str, cell: int) -> str:
        """Return the board with a stone of the player to move on `cell`."""
        ply = len(board) - board.count(".")
        return board[:cell] + "01"[ply % 2] + board[cell + 1 :]

    def wins(self, board: str, cell: int) -> bool:
        """Whether the stone on `cell` completes a line."""
        return any(
            all(board[each] == board[cell] for each in line) for line in self.lines_through[cell]
        )

    def moves(self, board: str) -> dict[int, Outlook]:
        """Return what each move leads to, for the player who makes it."""
        found = {}
        for action, cell in self.landings(board).items():
            after = self.after(board, cell)
            if self.wins(after, cell):
                found[action] = (1, len(after) - after.count("."))
            elif "." not in after:
                found[action] = (0, 0)
            else:
                value, end = self.outlook(after)
                found[action] = (-value, end)
        return found

    def outlook(self, board: str) -> Outlook:
        """Return what the player to move may expect in an unfinished position."""
        if board not in self.known:
            self.known[board] = max(self.moves(board).values(), key=merit)
        return self.known[board]
