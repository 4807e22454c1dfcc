"""A person at a real terminal: a process behind a pseudo-terminal of 24 lines of 80 columns."""

import functools
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.frontends.terminal_client import Stream

from alphazero.frontends.terminal.screen import Screen
from alphazero.records.game_files import load_played

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
termios = pytest.importorskip("termios")
fcntl = pytest.importorskip("fcntl")

PATIENCE = 120
"""Seconds in which an answer must come, on whatever machine."""

ESCAPES = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")


class Session:
    """A game of tic-tac-toe against UCT at a pseudo-terminal."""

    def __init__(self, folder: Path) -> None:
        self.text = ""
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80))
        hidden = "NO_COLOR", "COLUMNS", "LINES"
        inherited = {name: os.environ[name] for name in os.environ if name not in hidden}
        command = "alphazero play uct:simulations=200 --game tic_tac_toe --save evening.sgf"
        self.process = subprocess.Popen(
            [sys.executable, "-m", *command.split()],
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**inherited, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"},
            # Ctrl-C reaches the foreground of a session's own terminal alone.
            start_new_session=True,
            preexec_fn=functools.partial(fcntl.ioctl, 0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(slave)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def expect(self, pattern: str, since: int = 0) -> int:
        """Wait for a pattern after the first `since` characters; return where it ends."""
        deadline = time.monotonic() + PATIENCE
        while not (match := re.compile(pattern).search(self.text, since)):
            assert time.monotonic() < deadline, f"no {pattern!r} in: {self.text[-500:]!r}"
            assert self._read(), f"it ended without {pattern!r}: {self.text[-500:]!r}"
        return match.end()

    def ask(self, text: str, pattern: str) -> str:
        """Type a line; return the output up to a pattern and the prompt after it."""
        begin = len(self.text)
        self.type(text + "\n")
        self.expect(r"(to move|\[y/N\]): ?|\[y/N\] ", self.expect(pattern, begin))
        return self.text[begin:]

    def leave(self) -> int:
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _read(self) -> bool:
        """Read what comes within a second; return False at the end."""
        if select.select([self._master], [], [], 1)[0]:
            try:
                read = os.read(self._master, 65536)
            except OSError:  # how Linux tells that nobody is there any more
                return False
            self.text += read.decode("utf-8", "replace")
            return bool(read)
        return True


def shown_lines(text: str) -> list[str]:
    """Return the lines of an output as they stand on the screen, without colours."""
    text = ESCAPES.sub("", text).replace("\r\n", "\n")
    return re.sub("[^\n]*\r", "", text).split("\n")  # a return begins the line again


def test_an_evening_at_the_terminal(tmp_path, request):
    session = Session(tmp_path)
    request.addfinalizer(session.close)
    session.expect("X to move: ")
    answer = session.ask("b2", "O plays [abc][123]")
    assert "\x1b[1;31m" in answer
    assert "[\x1b[1;36mO\x1b[0m]" in answer
    hint = shown_lines(session.ask("hint", "visits.*share"))
    row = next(line for line in hint if re.match(" +[abc][123] +[0-9]+ +[0-9.]+%", line))
    best = row.split()[0]

    # Ctrl-C ends a long hint.
    session.ask("budget 500s", "a move")
    begin = len(session.text)
    session.type("hint\n")
    time.sleep(1)
    session.type("\x03")
    session.expect("X to move: ", session.expect("simulations", begin))

    assert "50 simulations a move" in session.ask("budget 50", "a move")
    answer = session.ask(best, "O plays|wins|draw")
    assert "your win rate as X" in answer
    assert re.search("[▁▂▃▄▅▆▇█]{2}", ESCAPES.sub("", answer))
    assert max(len(line) for line in shown_lines(session.text)) <= 80
    session.type("\x04")  # Ctrl-D
    assert session.leave() == 0
    assert "Traceback" not in session.text
    (game,) = load_played(tmp_path / "evening.sgf")
    assert game.moves()[0] == "b2"


@pytest.mark.parametrize(
    ("terminal", "variables", "colours"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_colours_are_printed_where_a_terminal_has_them(
    terminal: bool, variables: dict[str, str], colours: bool, monkeypatch
):
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    painted = Screen(Stream(terminal)).paint("text", "1;31")
    assert painted == ("\x1b[1;31mtext\x1b[0m" if colours else "text")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "unknown"])
def test_blocks_are_drawn_as_ascii_where_they_cannot_be_written(encoding: str):
    assert Screen(Stream(encoding=encoding)).sparkline([0, 0.5, None, 1]) == "05.9"
