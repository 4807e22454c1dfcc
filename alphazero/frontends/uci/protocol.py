"""UCI lines: words, the limits of `go`, and the score of a search as programs write it.

Huber & Meyer-Kahlen, *Universal Chess Interface*, April 2006.
"""

import math
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from alphazero.frontends.clock import MIN_MOVES, time_to_use
from alphazero.records.pgn import pawns

FLAGS: Final = "infinite", "ponder"
SEARCH_MOVES: Final = "searchmoves"
CLOCKS: Final = ("wtime", "winc"), ("btime", "binc")
"""Time left and increment of player 0 and 1."""

NUMBERS: Final = (*CLOCKS[0], *CLOCKS[1], "movestogo", "movetime", "nodes", "depth", "mate")
"""Limits with a number; times are milliseconds."""


def read_words(line: str) -> list[str]:
    """Split a line; control characters are spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in line).split()


class Limits(NamedTuple):
    """What ends a search."""

    numbers: dict[str, int]
    """of `NUMBERS`, at least 0"""
    flags: set[str]
    """of `FLAGS`"""
    moves: list[str]
    """the only moves to search; all if empty"""

    def seconds(self, player: int, moves_left: int, overhead: float) -> float | None:
        """Return the time to search for `player`, who expects `moves_left` moves; None: no limit.

        `overhead` is the time that a move takes until the clock stops, in seconds.
        """
        if "movetime" in self.numbers:
            return self.numbers["movetime"] / 1000
        clock, increment = CLOCKS[player]
        if clock not in self.numbers:
            return None
        left = self.numbers[clock]
        moves = self.numbers.get("movestogo") or max(MIN_MOVES, moves_left)
        share = min(left / moves + self.numbers.get(increment, 0), left)
        return time_to_use(share / 1000, overhead)


def read_limits(words: list[str], complain: Callable[[str], object]) -> Limits:
    """Parse the words after `go`; those that are wrong are left out, with a complaint each."""
    limits, rest = Limits({}, set(), []), words[::-1]
    while rest:
        word = rest.pop()
        if word in FLAGS:
            limits.flags.add(word)
        elif word == SEARCH_MOVES:
            while rest and rest[-1] not in (*FLAGS, *NUMBERS, SEARCH_MOVES):
                limits.moves.append(rest.pop())
        elif word not in NUMBERS:
            complain(f"go: unknown word {word[:20]!r}")
        elif rest and re.fullmatch("-?[0-9]{1,15}", rest[-1]):
            limits.numbers[word] = max(int(rest.pop()), 0)
        else:
            complain(f"go: {word} needs a number")
    return limits


class Line(NamedTuple):
    """A line of moves, and what the player to move expects of it."""

    value: float
    """in [-1, 1]"""
    plies: int | None
    """moves until the end, if the value is proven"""
    moves: list[int]


def score(line: Line) -> str:
    """Return `cp N`, or `mate N` moves for a proven win or loss, for the player to move.

    `cp` is in hundredths of a pawn, as in `pawns`.
    """
    if line.plies is not None and line.value:
        return f"mate {math.copysign((line.plies + 1) // 2, line.value):.0f}"
    return f"cp {100 * pawns(line.value):.0f}".replace("cp -0", "cp 0")


def win_draw_loss(line: Line) -> str:
    """Return `wdl W D L` in thousandths.

    A value v says nothing of draws. With p = (1 + v) / 2, W = p^2, L = (1 - p)^2, D = 2 p (1 - p):
    as if each of two half points went to the player with probability p. A proven value is exact.
    """
    if line.plies is not None:
        return f"wdl {1000 * (line.value > 0)} {1000 * (line.value == 0)} {1000 * (line.value < 0)}"
    share = (1 + line.value) / 2
    win, loss = round(1000 * share**2), round(1000 * (1 - share) ** 2)
    return f"wdl {win} {1000 - win - loss} {loss}"
