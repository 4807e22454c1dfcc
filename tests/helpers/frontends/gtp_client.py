"""GTP sessions inside the test's own process, and regression files in GNU Go's form."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from alphazero.frontends.gtp.engine import Engine
from alphazero.frontends.gtp.session import GtpSession
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
        spec, made = parse_player(player), read_game(game)
        self.engine = Engine(spec, made)
        given = lines(self) if callable(lines) else lines
        self.session = GtpSession(self.engine, given, self._say, ponder)

    def has_output(self, pattern: str, begin: int) -> bool:
        """Whether the output after the first `begin` characters holds a pattern."""
        return re.search(pattern, self.output[begin:]) is not None

    def run(self) -> str:
        self.session.run()
        return self.output

    def ask(self, line: str) -> str:
        """Return the reply to one line."""
        before = len(self.output)
        self.session.take(line)
        return self.output[before:]

    def _say(self, text: str) -> None:
        self.output += text


def regress(path: Path, talk: GtpTalk) -> list[str]:
    """Play a regression file; return a line for each test that fails.

    A test is a command with a number; the pattern that its answer must match follows as
    `#? [pattern]`, with `!` in front for one that it must not match.
    """
    failed, asked, answered, tests = [], "", "", 0
    for line in path.read_text(encoding="utf-8").splitlines():
        wanted = re.fullmatch(r"#\? \[(!?)(.*)\]", line)
        if wanted:
            tests += 1
            matches = re.fullmatch(wanted[2], answered) is not None
            if matches == bool(wanted[1]):
                failed.append(f"{path.name}: {asked}: correct {wanted[2]!r}, got {answered!r}")
        elif line and not line.startswith("#"):
            asked, reply = line, talk.ask(line)
            answered = re.sub(r"^[=?][0-9]* ?", "", reply).strip()
            if not line[0].isdigit() and reply[0] != "=":
                failed.append(f"{path.name}: {asked}: {reply.strip()}")
    assert tests, f"{path.name} holds no tests"
    return failed
