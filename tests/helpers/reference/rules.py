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


@dataclass(frozen=True)
class OthelloTwin:
    """The rules of Othello on a square board; None stands for the pass."""

    size: int

    def cells(self) -> list[Cell]:
        """Return every cell of the board, row by row."""
        return [(row, column) for row in range(self.size) for column in range(self.size)]

    def start(self) -> Stones:
        """Return the first four discs: light ones upper left and lower right of the middle."""
        low, high = self.size // 2 - 1, self.size // 2
        return {(low, low): 1, (low, high): 0, (high, low): 0, (high, high): 1}

    def turned(self, discs: Stones, cell: Cell, player: int) -> list[Cell]:
        """Return the discs that change colour when `player` plays on `cell`."""
        found: list[Cell] = []
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                line = [(cell[0] + i * down, cell[1] + i * right) for i in range(1, self.size)]
                colours = [discs.get(place) for place in line]
                if player in colours:
                    before = colours.index(player)
                    if colours[:before] == [1 - player] * before:
                        found += line[:before]
        return found

    def places(self, discs: Stones, player: int) -> list[Cell]:
        """Return the empty cells where `player` turns at least one disc."""
        return [c for c in self.cells() if c not in discs and self.turned(discs, c, player)]

    def outcome(self, discs: Stones) -> int | None:
        """Return +1, 0 or -1 for player 0, or None while somebody can play."""
        if self.places(discs, 0) or self.places(discs, 1):
            return None
        first = sum(1 if owner == 0 else -1 for owner in discs.values())
        return (first > 0) - (first < 0)

    def legal(self, discs: Stones, player: int) -> list[Cell | None]:
        """Return the legal moves of `player`, row by row; none when the game is over."""
        if self.outcome(discs) is not None:
            return []
        return [*self.places(discs, player)] or [None]

    def play(self, discs: Stones, cell: Cell | None, player: int) -> Stones:
        """Return the board after a move of `player`."""
        if cell is None:
            return discs
        return discs | dict.fromkeys([cell, *self.turned(discs, cell, player)], player)


@dataclass(frozen=True)
class HexTwin:
    """The rules of Hex on a rhombus: player 0 joins the first row to the last, 1 the columns."""

    size: int

    def touching(self, cell: Cell) -> list[Cell]:
        """Return the six places around a hexagon, those beyond the board included."""
        row, column = cell
        beside = [(row, column - 1), (row, column + 1)]
        above = [(row - 1, column), (row - 1, column + 1)]
        below = [(row + 1, column), (row + 1, column - 1)]
        return beside + above + below

    def chain(self, stones: Stones, start: Cell) -> set[Cell]:
        """Return the stones that are joined to the one on `start`, with it."""
        own = {cell for cell, owner in stones.items() if owner == stones[start]}
        seen, frontier = {start}, [start]
        while frontier:
            for cell in self.touching(frontier.pop()):
                if cell in own - seen:
                    seen.add(cell)
                    frontier.append(cell)
        return seen

    def joining(self, stones: Stones, player: int) -> set[Cell]:
        """Return the chain of `player` that joins that player's sides; empty if none does."""
        for start in [c for c in stones if stones[c] == player and c[player] == 0]:
            chain = self.chain(stones, start)
            if any(cell[player] == self.size - 1 for cell in chain):
                return chain
        return set()

    def joins(self, stones: Stones, player: int) -> bool:
        """Whether a chain of `player` joins that player's sides."""
        return bool(self.joining(stones, player))

    def outcome(self, stones: Stones) -> int | None:
        """Return +1 or -1 for player 0, or None while nobody's sides are joined."""
        if self.joins(stones, 0):
            return 1
        return -1 if self.joins(stones, 1) else None
