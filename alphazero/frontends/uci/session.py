"""A UCI session: reads lines and answers them, also while it searches.

*Universal Chess Interface*: Huber & Meyer-Kahlen, April 2006.
"""

import functools
import time
from collections import deque
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Final

import numpy as np

from alphazero.errors import AlphaZeroError, GameError
from alphazero.frontends.line_reader import MAX_LENGTH, MAX_LINES, TOGETHER, Lines, lines_of
from alphazero.frontends.uci.engine import Engine, Progress
from alphazero.frontends.uci.protocol import Limits, read_limits, read_words, score, win_draw_loss
from alphazero.games.game import ONGOING, Game
from alphazero.players.position_search import LONGEST_LINE
from alphazero.players.specs import PlayerSpec
from alphazero.utils.files import printable

INTERVAL: Final = 1.0
"""Seconds between reports of a search."""

CHECKED: Final = 0.1
"""Seconds between checks of the limits `depth` and `mate`."""

QUIT: Final = "quit"


def serve(spec: PlayerSpec, game: Game | None) -> None:
    """Serve UCI on standard input and output."""
    Session(Engine(spec, game), lines_of(0), functools.partial(print, flush=True)).run()


class Search:
    """A search that goes on, and what ends it."""

    def __init__(self, limits: Limits, engine: Engine) -> None:
        self.limits = limits
        self.engine = engine
        self.began = time.monotonic()
        self.is_endless = bool(limits.flags)
        """whether it goes on until `stop` or, when it ponders, `ponderhit`"""
        self.is_stopped = False
        self._deadline = self._most_nodes = np.inf
        self._next_check = self._next_report = self.began
        if not self.is_endless:
            self.begin_clock()

    def begin_clock(self) -> None:
        """Limit the search, from now on."""
        self.is_endless = "infinite" in self.limits.flags
        if self.is_endless:
            return
        budget, seconds = self.engine.budget(self.limits), self.engine.seconds(self.limits)
        if budget.simulations is not None:
            self._most_nodes = budget.simulations
        seconds = budget.seconds if seconds is None else seconds
        if seconds is not None:
            self._deadline = time.monotonic() + seconds

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def report_is_due(self) -> bool:
        if self.seconds < INTERVAL or time.monotonic() < self._next_report:
            return False
        self._next_report = time.monotonic() + INTERVAL
        return True

    def has_ended(self) -> bool:
        """Whether the time or another limit is reached."""
        if self.is_stopped or time.monotonic() >= self._deadline or self.engine.is_full():
            return True
        numbers = self.limits.numbers
        if self.is_endless:
            return False
        if self.engine.nodes() >= self._most_nodes:
            return True
        if not {"depth", "mate"} & numbers.keys() or time.monotonic() < self._next_check:
            return False
        self._next_check = time.monotonic() + CHECKED
        return self._is_deep_enough()

    def _is_deep_enough(self) -> bool:
        """Whether the best line is long enough, or ends the game; or the mate is proven."""
        numbers, progress = self.limits.numbers, self.engine.progress()
        if progress is None:
            return False
        value, plies, moves = progress.lines[0]
        if "mate" in numbers and value > 0 and plies is not None:
            return (plies + 1) // 2 <= numbers["mate"]
        if "depth" not in numbers:
            return False
        position = self.engine.position
        end = self.engine.game.play(position.state, *moves)
        is_long = progress.depth >= min(numbers["depth"], LONGEST_LINE)
        return is_long or self.engine.game.outcome(end) != ONGOING


class Session:
    """Answers lines in their order.

    During a search only `stop`, `ponderhit`, `isready`, `uci` and, if it comes late, `quit` are
    answered at once. Other lines wait for its end, and end a search without limits.
    """

    def __init__(self, engine: Engine, lines: Iterable[str], say: Callable[[str], object]) -> None:
        self.engine = engine
        self.say = say
        self.lines = Lines(lines, lambda line: read_words(line[:MAX_LENGTH])[:1] == [QUIT])
        self._waiting: deque[list[str]] = deque()
        """The words of lines that were read during a search."""
        self._is_leaving = False
        """Whether `quit` or the end came during a search."""
        self._commands: dict[str, Callable[[list[str]], object]] = {
            "uci": self._uci,
            "isready": lambda _: self.say("readyok"),
            "ucinewgame": lambda _: engine.forget(),
            "setoption": engine.set_option,
            "position": self._position,
            "go": self._go,
            **dict.fromkeys(("debug", "register", "stop", "ponderhit"), lambda _: None),
        }

    def run(self) -> None:
        """Answer lines until `quit` or the end of the input."""
        while True:
            words = self._waiting.popleft() if self._waiting else self._read_line()
            if words[:1] == [QUIT]:
                return
            if words:
                self._answer(words)

    def inform(self, text: object) -> None:
        self.say(f"info string {' '.join(str(text).split())}")

    def _read_line(self) -> list[str]:
        """Return a command and its arguments; unknown words before them are skipped."""
        line = self.lines.next()
        if line is None:
            return [QUIT]
        if len(line) > MAX_LENGTH:
            self.inform(f"line too long: at most {MAX_LENGTH:,} characters")
            return []
        words = read_words(line)
        skipped = 0
        while skipped < len(words) and words[skipped] not in (*self._commands, QUIT):
            skipped += 1
        if skipped:
            self.inform(f"unknown command {' '.join(words[:skipped])[:40]!r}")
        return words[skipped:]

    def _answer(self, words: list[str]) -> None:
        if words[0] in ("isready", "go"):
            self.engine.load()
        try:
            self._commands[words[0]](words[1:])
        except AlphaZeroError as error:
            self.inform(error)

    def _uci(self, _: list[str]) -> None:
        self.say(f"id name alphazero {version('alphazero')}, {printable(self.engine.spec.name)}")
        self.say("id author the authors of alphazero")
        self.say(f"{self.engine.options.text}\nuciok")

    def _position(self, words: list[str]) -> None:
        self.engine.position.read(words)

    # --- searches ---

    def _go(self, words: list[str]) -> None:
        engine, position = self.engine, self.engine.position
        limits = read_limits(words, self.inform)
        if position.is_refused or position.is_over:
            self.inform("no position" if position.is_refused else "the game is over")
            self.say("bestmove 0000")
            return
        search, actions = Search(limits, engine), self._read_actions(limits)
        search.is_stopped = self._is_leaving
        engine.prepare(limits, actions)

        def watch() -> bool:
            self._listen(search)
            if search.report_is_due():
                self._report(search, engine.progress())
            return search.has_ended()

        action = engine.analyzer.choose(engine.budget(limits), watch)
        while search.is_endless and not search.is_stopped:
            self._listen(search, INTERVAL)
        if action is None or (actions and action not in actions):
            legal = np.flatnonzero(engine.game.legal_action_mask(position.state)).tolist()
            action = (actions or legal)[0]
        progress = engine.progress()
        self._report(search, progress)
        reply = self._reply(action, progress)
        self.say(f"bestmove {engine.game.move_name(position.state, action)}{reply}")

    def _read_actions(self, limits: Limits) -> list[int]:
        """Return the legal ones of the moves after `searchmoves`; if none is, all are allowed."""
        actions = []
        for name in limits.moves:
            try:
                action = self.engine.game.parse_action(self.engine.position.state, name)
            except GameError as error:
                self.inform(f"go: searchmoves: {error}")
            else:
                actions += [action] * (action not in actions)
        return actions

    def _listen(self, search: Search, seconds: float = 0.0) -> None:
        """Read the lines that arrived, or wait for one; see the class."""
        search.is_stopped |= search.is_endless and bool(self._waiting)
        while not search.is_stopped and len(self._waiting) < MAX_LINES:
            if not self.lines.is_waiting(seconds):
                return
            seconds, words = 0.0, self._read_line()
            word = words[0] if words else ""
            if word == "stop":
                search.is_stopped = True
            elif word == "ponderhit":
                search.limits.flags.discard("ponder")
                search.begin_clock()
            elif word in ("isready", "uci"):
                self._answer(words)
            elif word:
                self._waiting.append(words)
                # As in GTP, a script that is sent at once gets whole searches.
                is_late = self.lines.arrival > search.began + TOGETHER
                self._is_leaving = word == QUIT and is_late
                search.is_stopped = search.is_endless or self._is_leaving

    def _report(self, search: Search, progress: Progress | None) -> None:
        """Write an info line for each line of moves, best first."""
        engine, game, state = self.engine, self.engine.game, self.engine.position.state
        if progress is None:
            return
        seconds, show = search.seconds, engine.options.is_set("UCI_ShowWDL")
        speed = round(progress.nodes / max(seconds, 0.001))
        for number, line in enumerate(progress.lines, 1):
            names, after = [], state
            for action in line.moves:
                names.append(game.move_name(after, action))
                after = game.play(after, action)
            self.say(
                f"info depth {progress.depth} seldepth {progress.seldepth} multipv {number} "
                f"score {score(line)} {f'{win_draw_loss(line)} ' if show else ''}"
                f"nodes {progress.nodes} nps {speed} time {round(1000 * seconds)} "
                f"pv {' '.join(names)}"
            )

    def _reply(self, action: int, progress: Progress | None) -> str:
        """Return the expected reply to a move, on which a program may ponder."""
        game, moves = self.engine.game, progress.lines[0].moves if progress else []
        if len(moves) < 2 or moves[0] != action:
            return ""
        after = game.play(self.engine.position.state, action)
        return f" ponder {game.move_name(after, moves[1])}"
