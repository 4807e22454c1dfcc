"""A slow, plain twin of Go: nothing here is shared with the rules that it checks.

It knows the game from the rules of Tromp and Taylor as they are printed. A board is a dictionary
from (row, column), rows counted from the top, to the player whose stone lies there.
"""

import itertools
from dataclasses import dataclass, field

Cell = tuple[int, int]
Stones = dict[Cell, int]


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


def area_of(rows: int, columns: int, stones: Stones) -> int:
    """Return Black's area less White's."""
    return sum(owners_of(rows, columns, stones))


def owners_of(rows: int, columns: int, stones: Stones) -> list[int]:
    """Return whose area each cell is in, row by row: 1 Black's, -1 White's, 0 nobody's."""
    found = []
    for cell in itertools.product(range(rows), range(columns)):
        owners = {stones[cell]} if cell in stones else borders_of(rows, columns, stones, cell)
        found.append((owners == {0}) - (owners == {1}))
    return found


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


@dataclass
class GoTwin:
    """A game in progress; the options are those of the game, `past` the boards so far."""

    rows: int
    columns: int
    komi_half_points: int
    superko: int
    suicide: int
    limit: int
    past: list[Stones] = field(default_factory=lambda: [{}])
    moves: list[int] = field(default_factory=list)

    @property
    def passing(self) -> int:
        """The action that passes."""
        return self.rows * self.columns

    def board_after(self, action: int) -> Stones:
        """Return the board after the player to move has done `action`."""
        stones, player = dict(self.past[-1]), len(self.moves) % 2
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
        to_play = 1 - len(self.moves) % 2
        turns = (0, 1) if self.superko == 1 else (to_play,)
        return any(ply % 2 in turns and board == after for ply, board in enumerate(self.past))

    def legal(self) -> list[int]:
        """Return the legal actions in rising order."""
        if self.is_over():
            return []
        found = []
        for action in range(self.passing):
            cell = divmod(action, self.columns)
            if cell not in self.past[-1]:
                after = self.board_after(action)
                if (self.suicide or cell in after) and not self.repeats(after):
                    found.append(action)
        return [*found, self.passing]

    def forbidden_by_ko(self) -> list[int]:
        """Return the points that only the ko rule forbids, in rising order."""
        found = []
        for action in range(self.passing):
            cell = divmod(action, self.columns)
            if cell not in self.past[-1]:
                after = self.board_after(action)
                if (self.suicide or cell in after) and self.repeats(after):
                    found.append(action)
        return found

    def play(self, action: int) -> None:
        """Make a move."""
        self.past.append(self.board_after(action))
        self.moves.append(action)

    def is_over(self) -> bool:
        """Whether both have passed, or the limit is reached."""
        return self.moves[-2:] == [self.passing] * 2 or len(self.moves) == self.limit

    def outcome(self) -> int:
        """Return the result for Black as the board stands."""
        score = 2 * area_of(self.rows, self.columns, self.past[-1]) - self.komi_half_points
        return (score > 0) - (score < 0)

    def cells(self) -> list[int]:
        """Return the board row by row: 0 empty, 1 black, 2 white."""
        cells = itertools.product(range(self.rows), range(self.columns))
        return [self.past[-1].get(cell, -1) + 1 for cell in cells]
