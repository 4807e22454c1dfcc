"""UCI lines: words, options, the limits of `go`, and the score of a search as programs write it.

Huber & Meyer-Kahlen, *Universal Chess Interface*, April 2006.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from alphazero.errors import AlphaZeroError
from alphazero.frontends.clock import MIN_MOVES, time_to_use
from alphazero.records.pgn import pawns

CHECK: Final = ("false", "true")
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


class UciError(AlphaZeroError):
    """A line that cannot be followed; the text is written as `info string`."""


@dataclass
class Option:
    """An option: a number from `minimum` to `maximum`, or one of `choices`."""

    name: str
    value: int | str
    minimum: int = 0
    maximum: int = 0
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the line that declares it, with its value as the default."""
        if self.choices == CHECK:
            kind = f"check default {self.value}"
        elif self.choices:
            kind = f"combo default {self.value}" + "".join(f" var {each}" for each in self.choices)
        else:
            kind = f"spin default {self.value} min {self.minimum} max {self.maximum}"
        return f"option name {self.name} type {kind}"

    def set(self, text: str) -> None:
        """Set the value; raise UciError if it is none."""
        choices = {choice.lower(): choice for choice in self.choices}
        is_number = not choices and re.fullmatch("-?[0-9]{1,9}", text)
        if text.lower() in choices:
            self.value = choices[text.lower()]
        elif is_number and self.minimum <= int(text) <= self.maximum:
            self.value = int(text)
        else:
            expected = f"one of {', '.join(self.choices)}"
            if not choices:
                expected = f"a number from {self.minimum} to {self.maximum}"
            raise UciError(f"option {self.name}: expected {expected}, got {text[:40]!r}")


class Options:
    """The options of a session, by name in any case."""

    def __init__(self, *options: Option) -> None:
        self._options = {option.name.lower(): option for option in options}
        self.text = "\n".join(map(str, options))
        """the lines that declare them, with their defaults"""

    def set(self, words: list[str]) -> Option:
        """Set `name NAME [value VALUE]`; return the option.

        Raise UciError for an option that there is not, or a wrong value.
        """
        match = re.fullmatch("name (.+?)(?: value(?: (.*))?)?", " ".join(words))
        if not match:
            raise UciError("expected setoption name NAME value VALUE")
        option = self._options.get(match[1].lower())
        if option is None:
            raise UciError(f"option {match[1][:40]!r} is ignored: there is none of this name")
        option.set((match[2] or "").strip())
        return option

    def number(self, name: str) -> int:
        return int(self._options[name.lower()].value) if name.lower() in self._options else 0

    def is_set(self, name: str) -> bool:
        """Whether a check is true; without such an option it is not."""
        option = self._options.get(name.lower())
        return option is not None and option.value == CHECK[True]
