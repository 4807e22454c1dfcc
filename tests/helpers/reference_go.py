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


def is_position(rows: int, columns: int, stones: Stones) -> bool:
    """Whether every chain has a liberty."""
    return all(is_alive(rows, columns, stones, cell) for cell in stones)


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
