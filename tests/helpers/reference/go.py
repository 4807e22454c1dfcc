"""A slow, plain twin of Go: nothing here is shared with the rules that it checks.

It knows the game from the rules of Tromp and Taylor as they are printed. A board is a dictionary
from (row, column), rows counted from the top, to the player whose stone lies there.
"""

import itertools

from alphazero.games.go.game import Go
from helpers.reference.rules import Cell, Stones, Twin


def neighbours(rows: int, columns: int, cell: Cell) -> list[Cell]:
    """Return the cells beside a cell."""
    row, column = cell
    beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [(r, c) for r, c in beside if 0 <= r < rows and 0 <= c < columns]


def borders_of(rows: int, columns: int, stones: Stones, start: Cell) -> set[int | None]:
    """Return what borders on the cells that are like `start` and connected to it."""
    inside, waiting = {start}, [start]
    borders: set[int | None] = set()
    while waiting:
        for cell in neighbours(rows, columns, waiting.pop()):
            if stones.get(cell) != stones.get(start):
                borders.add(stones.get(cell))
            elif cell not in inside:
                inside.add(cell)
                waiting.append(cell)
    return borders


def is_alive(rows: int, columns: int, stones: Stones, cell: Cell) -> bool:
    """Whether the chain of the stone on `cell` has a liberty."""
    return None in borders_of(rows, columns, stones, cell)


def connected(rows: int, columns: int, cells: set[Cell]) -> list[set[Cell]]:
    """Split cells into connected sets."""
    parts, left = [], set(cells)
    while left:
        part, waiting = set(), [left.pop()]
        while waiting:
            cell = waiting.pop()
            part.add(cell)
            beside = left.intersection(neighbours(rows, columns, cell))
            left -= beside
            waiting += beside
        parts.append(part)
    return parts


def rim_of(rows: int, columns: int, cells: set[Cell]) -> set[Cell]:
    """Return the cells beside a set of cells."""
    return {each for cell in cells for each in neighbours(rows, columns, cell)} - cells


def liberties_of(rows: int, columns: int, stones: Stones, cell: Cell) -> int:
    """Return the number of liberties of the chain of the stone on `cell`."""
    same = {each for each, owner in stones.items() if owner == stones[cell]}
    chain = next(part for part in connected(rows, columns, same) if cell in part)
    return sum(each not in stones for each in rim_of(rows, columns, chain))


def alive_area_of(rows: int, columns: int, stones: Stones, player: int, suicide: int) -> set[Cell]:
    """Return a player's chains that Benson proves alive, and the regions that only they enclose.

    Of these regions, those vital to a chain: all their empty cells are its liberties. Where suicide
    is allowed, all their cells are beside it.
    """
    every = set(itertools.product(range(rows), range(columns)))
    own = {cell for cell, owner in stones.items() if owner == player}
    chains, regions = connected(rows, columns, own), connected(rows, columns, every - own)

    def vital(region: set[Cell], chain: set[Cell]) -> bool:
        needed = region if suicide else region - stones.keys()
        return needed <= rim_of(rows, columns, chain)

    while True:
        living = [chain for chain in chains if sum(vital(each, chain) for each in regions) >= 2]
        alive = set().union(*living)
        enclosed = [each for each in regions if rim_of(rows, columns, each) <= alive]
        if living == chains and enclosed == regions:
            break
        chains, regions = living, enclosed
    return alive.union(*(each for each in regions if any(vital(each, chain) for chain in chains)))


class GoTwin(Twin):
    """A game with the options of `game`; `past` are the boards so far."""

    def __init__(self, game: Go) -> None:
        self.rows, self.columns = game.rows, game.columns
        self.komi_half_points, self.limit = game.komi_half_points, game.max_moves
        self.superko, self.suicide = game.superko, game.suicide
        self.passing = self.rows * self.columns
        self.past: list[Stones] = [{}]
        self.moves: list[int] = []

    @property
    def stones(self) -> Stones:
        return self.past[-1]

    @property
    def player(self) -> int:
        return len(self.moves) % 2

    def board_after(self, action: int) -> Stones:
        """Return the board after the player to move has done `action`."""
        stones, player = dict(self.stones), self.player
        if action == self.passing:
            return stones
        stones[divmod(action, self.columns)] = player
        for owner in (1 - player, player):
            dead = [
                cell
                for cell in stones
                if stones[cell] == owner and not is_alive(self.rows, self.columns, stones, cell)
            ]
            for cell in dead:
                del stones[cell]
        return stones

    def repeats(self, after: Stones) -> bool:
        """Whether the rule of ko forbids this board to the player to move."""
        if self.superko == 0:
            return self.past[-2:-1] == [after]
        turns = (0, 1) if self.superko == 1 else (1 - self.player,)
        return any(ply % 2 in turns and board == after for ply, board in enumerate(self.past))

    def points(self, forbidden: bool) -> list[int]:
        """Return the points where a stone may lie, or those that only the rule of ko forbids."""
        found = []
        for action in range(self.passing):
            cell = divmod(action, self.columns)
            if cell not in self.stones:
                after = self.board_after(action)
                if (self.suicide or cell in after) and self.repeats(after) == forbidden:
                    found.append(action)
        return found

    def legal(self) -> list[int]:
        return [] if self.outcome() is not None else [*self.points(False), self.passing]

    def play(self, action: int) -> None:
        self.past.append(self.board_after(action))
        self.moves.append(action)

    def outcome(self) -> int | None:
        """Count the board as it stands when both have passed, or at the limit."""
        if self.moves[-2:] != [self.passing] * 2 and len(self.moves) < self.limit:
            return None
        score = 2 * sum(self.owners()) - self.komi_half_points
        return (score > 0) - (score < 0)

    def owners(self) -> list[int]:
        """Return whose area each cell is in, row by row: 1 Black's, -1 White's, 0 nobody's."""
        found = []
        for cell in self.cells():
            borders = borders_of(self.rows, self.columns, self.stones, cell)
            owners = {self.stones[cell]} if cell in self.stones else borders
            found.append((owners == {0}) - (owners == {1}))
        return found
