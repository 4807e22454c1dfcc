"""GTP sessions inside the test's own process, and regression files in GNU Go's form."""

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from alphazero.frontends.gtp.commands import answer, run
from alphazero.frontends.gtp.engine import Engine
from alphazero.games.registry import read_game
from alphazero.players.registry import parse_player


class SlowClock:
    """A clock on which every look takes a twentieth of a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 0.05
        return self.now


class GtpTalk:
    """A session of a player; `output` is all that it wrote."""

    def __init__(
        self,
        player: str,
        game: str,
        lines: Iterable[str] | Callable[["GtpTalk"], Iterable[str]] = (),
        ponder: bool = False,
    ) -> None:
        self.output = ""
        self.ponder = ponder
        self._is_created = threading.Event()
        script = self._lines(lines)
        self.engine = Engine(parse_player(player), read_game(game), script, self._say)
        self._is_created.set()

    def run(self) -> str:
        run(self.engine, self.ponder)
        return self.output

    def ask(self, line: str) -> str:
        """Return the reply to one line."""
        before = len(self.output)
        answer(self.engine, line)
        return self.output[before:]

    def _lines(self, lines: Iterable[str] | Callable[["GtpTalk"], Iterable[str]]) -> Iterator[str]:
        self._is_created.wait()
        yield from lines(self) if callable(lines) else lines

    def _say(self, text: str) -> None:
        self.output += text


def regress(path: Path, talk: GtpTalk) -> list[str]:
    """Play a regression file; return a line for each test that fails.

    A test is a command with a number; the pattern that its answer must match follows as
    `#? [pattern]`, with `!` in front for one that it must not match.
    """
    failures, command, reply, tests = [], "", "", 0
    for line in path.read_text(encoding="utf-8").splitlines():
        test = re.fullmatch(r"#\? \[(!?)(.*)\]", line)
        if test:
            tests += 1
            matches = re.fullmatch(test[2], reply) is not None
            if matches == bool(test[1]):
                failures.append(f"{path.name}: {command}: correct {test[2]!r}, got {reply!r}")
        elif line and not line.startswith("#"):
            command, text = line, talk.ask(line)
            reply = re.sub(r"^[=?][0-9]* ?", "", text).strip()
            if not line[0].isdigit() and text[0] != "=":
                failures.append(f"{path.name}: {command}: {text.strip()}")
    assert tests, f"{path.name} holds no tests"
    return failures
