"""Slow, plain twins of the package's fast code: nothing here is shared with what it checks.

A twin is a game in progress that knows only the printed rules: `stones` is a dictionary from
(row, column), rows counted from the top, to the player whose stone lies there.
"""

import functools
import itertools

Cell = tuple[int, int]
Stones = dict[Cell, int]


@functools.cache
def lines_of(rows: int, columns: int, length: int) -> list[list[Cell]]:
    """Return every straight line of `length` cells of a board."""
    cells = set(itertools.product(range(rows), range(columns)))
    lines = [
        [(row + i * down, column + i * right) for i in range(length)]
        for row, column in cells
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    ]
    return [line for line in lines if cells >= {*line}]


class Twin:
    """A game on a board; the player to move is 0 after an even number of moves."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.stones: Stones = {}
        self.player = 0

    def cells(self) -> list[Cell]:
        """Return every cell of the board, row by row."""
        return [*itertools.product(range(self.rows), range(self.columns))]

    def outcome(self) -> int | None:
        """Return +1, 0 or -1 for player 0, or None while the game is going on."""
        raise NotImplementedError

    def legal(self) -> list[int]:
        """Return the legal actions in rising order; none when the game is over."""
        if self.outcome() is not None:
            return []
        return [action for action, cell in enumerate(self.cells()) if cell not in self.stones]

    def play(self, action: int) -> None:
        """Make a move."""
        self.stones[divmod(action, self.columns)] = self.player
        self.player = 1 - self.player

    def owners(self) -> list[int]:
        """Return whose each cell is, row by row: 1 player 0's, -1 player 1's, 0 nobody's."""
        return [{0: 1, 1: -1}.get(self.stones.get(cell, 2), 0) for cell in self.cells()]


class LineTwin(Twin):
    """The rules of the games that are won by a straight line of stones.

    With `falling`, an action is a column and the stone falls to its lowest free cell; otherwise
    an action is a cell, counted row by row from the top left.
    """

    def __init__(self, rows: int, columns: int, length: int, falling: bool) -> None:
        super().__init__(rows, columns)
        self.length, self.falling = length, falling

    def winning_cells(self) -> set[Cell]:
        """Return the cells of full lines."""
        found: set[Cell] = set()
        for line in lines_of(self.rows, self.columns, self.length):
            if {self.stones.get(cell) for cell in line} in ({0}, {1}):
                found.update(line)
        return found

    def outcome(self) -> int | None:
        for cell in self.winning_cells():
            return 1 if self.stones[cell] == 0 else -1
        return 0 if len(self.stones) == self.rows * self.columns else None

    def legal(self) -> list[int]:
        free = super().legal()
        return [cell for cell in free if cell < self.columns] if self.falling else free

    def play(self, action: int) -> None:
        if self.falling:
            free = [row for row in range(self.rows) if (row, action) not in self.stones]
            action += self.columns * max(free)
        super().play(action)


class OthelloTwin(Twin):
    """The rules of Othello on a square board; the last action is the pass."""

    def __init__(self, size: int) -> None:
        """Lay the first four discs: light ones upper left and lower right of the middle."""
        super().__init__(size, size)
        low, high = size // 2 - 1, size // 2
        self.stones = {(low, low): 1, (low, high): 0, (high, low): 0, (high, high): 1}

    def turned(self, cell: Cell, player: int) -> list[Cell]:
        """Return the discs that change colour when `player` plays on `cell`."""
        found: list[Cell] = []
        for down, right in itertools.product((-1, 0, 1), repeat=2):
            line = [(cell[0] + i * down, cell[1] + i * right) for i in range(1, self.rows)]
            colours = [self.stones.get(place) for place in line]
            if player in colours:
                before = colours.index(player)
                if colours[:before] == [1 - player] * before:
                    found += line[:before]
        return found

    def places(self, player: int) -> list[Cell]:
        """Return the empty cells where `player` turns at least one disc."""
        free = [cell for cell in self.cells() if cell not in self.stones]
        return [cell for cell in free if self.turned(cell, player)]

    def outcome(self) -> int | None:
        if self.places(0) or self.places(1):
            return None
        return (sum(self.owners()) > 0) - (sum(self.owners()) < 0)

    def legal(self) -> list[int]:
        if self.outcome() is not None:
            return []
        places = [row * self.columns + column for row, column in self.places(self.player)]
        return places or [self.rows * self.columns]

    def play(self, action: int) -> None:
        cell, is_pass = divmod(action, self.columns), action == self.rows * self.columns
        if not is_pass:
            self.stones |= dict.fromkeys([cell, *self.turned(cell, self.player)], self.player)
        self.player = 1 - self.player


class HexTwin(Twin):
    """The rules of Hex on a rhombus: player 0 joins the first row to the last, 1 the columns."""

    def __init__(self, size: int) -> None:
        super().__init__(size, size)

    def touching(self, cell: Cell) -> list[Cell]:
        """Return the six places around a hexagon, those beyond the board included."""
        row, column = cell
        beside = [(row, column - 1), (row, column + 1)]
        above = [(row - 1, column), (row - 1, column + 1)]
        below = [(row + 1, column), (row + 1, column - 1)]
        return beside + above + below

    def chain(self, start: Cell) -> set[Cell]:
        """Return the stones that are joined to the one on `start`, with it."""
        own = {cell for cell, owner in self.stones.items() if owner == self.stones[start]}
        seen, frontier = {start}, [start]
        while frontier:
            for cell in self.touching(frontier.pop()):
                if cell in own - seen:
                    seen.add(cell)
                    frontier.append(cell)
        return seen

    def joining(self, player: int) -> set[Cell]:
        """Return the chain of `player` that joins that player's sides; empty if none does."""
        for start in [c for c, owner in self.stones.items() if owner == player and c[player] == 0]:
            chain = self.chain(start)
            if any(cell[player] == self.rows - 1 for cell in chain):
                return chain
        return set()

    def outcome(self) -> int | None:
        if self.joining(0):
            return 1
        return -1 if self.joining(1) else None

    def owners(self) -> list[int]:
        """Return the cells of the chain that has won."""
        first, second = self.joining(0), self.joining(1)
        return [(cell in first) - (cell in second) for cell in self.cells()]
