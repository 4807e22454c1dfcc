"""A GTP session: reads lines, answers `COMMANDS` and streams the analyses of `analysis.py`."""

import functools
import time
from collections.abc import Callable, Iterable

from alphazero.errors import AlphaZeroError
from alphazero.frontends.gtp import commands, go_commands
from alphazero.frontends.gtp.analysis import (
    STREAMING_COMMANDS,
    STREAMING_MOVES,
    Request,
    info_line,
    read_request,
)
from alphazero.frontends.gtp.engine import Engine
from alphazero.frontends.gtp.line_reader import LONGEST, Lines, lines_of
from alphazero.frontends.gtp.protocol import GtpCommand, GtpError, answer, expect, read_command
from alphazero.games.game import Game, State
from alphazero.players.specs import PlayerSpec

COMMANDS = commands.COMMANDS | go_commands.COMMANDS
"""Commands with an immediate reply, by name."""

QUIT = "quit"

OWN = ["list_commands", "known_command", "stop", QUIT]
"""Commands that the session answers itself."""

WORDS = [*COMMANDS, *STREAMING_COMMANDS, *STREAMING_MOVES, *OWN]

IDLE = 0.05
"""Seconds between polls for input when a search has nothing left to do."""


def serve(spec: PlayerSpec, game: Game, ponder: bool = False) -> None:
    """Serve GTP on standard input and output until the end of the input or `quit`."""
    say = functools.partial(print, end="", flush=True)
    GtpSession(Engine(spec, game), lines_of(0), say, ponder).run()


class GtpSession:
    """A GTP session; with `ponder` the engine searches on after its move until the next line."""

    def __init__(
        self,
        engine: Engine,
        lines: Iterable[str],
        say: Callable[[str], object],
        ponder: bool = False,
    ) -> None:
        self.engine = engine
        self.lines = Lines(lines, _is_quit)
        engine.has_controller_left = self.lines.ended_since
        self.say = say
        self.ponder = ponder
        self._own_move = -1
        """The number of moves right after the engine's last move."""

    def run(self) -> None:
        """Answer lines until the end of the input or `quit`."""
        while True:
            if self.ponder:
                self._search_on()
            line = self.lines.next()
            if line is None or not self.take(line):
                return

    def take(self, line: str) -> bool:
        """Answer a line; return whether the session continues."""
        if len(line) > LONGEST:
            self.say(f"? line too long: at most {LONGEST:,} characters\n\n")
            return True
        command = read_command(line)
        if command is None:
            return True
        try:
            if command.word in STREAMING_COMMANDS:
                self._analyze(command, STREAMING_COMMANDS[command.word])
            elif command.word in STREAMING_MOVES:
                self._generate(command, STREAMING_MOVES[command.word])
            else:
                self.say(answer(command, self._answer(command)))
        except (GtpError, AlphaZeroError) as error:
            self.say(answer(command, str(error), succeeded=False))
        if "genmove" in command.word:
            self._own_move = len(self.engine.position.moves)
        return command.word != QUIT

    def _answer(self, command: GtpCommand) -> str:
        word, arguments = command.word, command.arguments
        if word == "known_command":
            expect(arguments, 1, what="a command")
            return "true" if arguments[0] in WORDS else "false"
        if word == "list_commands":
            expect(arguments, 0)
            return "\n".join(WORDS)
        if word == "stop":
            expect(arguments, 0)
            self._own_move = -1  # ends pondering, until the engine's next move
        if word in ("stop", QUIT):
            return ""
        if word not in COMMANDS:
            raise GtpError("unknown command")
        return COMMANDS[word].answer(self.engine, arguments)

    def _analyze(self, command: GtpCommand, fractions: bool) -> None:
        """Stream the search result until the next line arrives."""
        request, passes, state = self._read_request(command)
        analyzer, actions = self.engine.analyzer, request.actions(self.engine, state)
        self.engine.sync(passes)
        if actions is not None:
            analyzer.set_position([*self.engine.position.moves, *passes])
            analyzer.begin(0)
            analyzer.end()
            analyzer.restrict(actions)
        report = self._reporter(request, state, fractions)
        self.say(f"={command.number}\n")
        analyzer.begin()
        while not self.lines.is_waiting(IDLE if analyzer.search.has_finished else 0.0):
            analyzer.step()
            report()
        analyzer.end()
        report(last=True)
        self.say("\n")

    def _generate(self, command: GtpCommand, fractions: bool) -> None:
        """Play a move, streaming the search result meanwhile."""
        request, _, state = self._read_request(command)
        if request.actions(self.engine, state) is not None:
            raise GtpError("not supported: allow and avoid for a move; analyze with them")
        report = self._reporter(request, state, fractions)
        self.say(f"={command.number}\n")
        step = self.engine.choose(request.player, report)
        if step:
            report(last=True)
        self.say(f"play {self.engine.make(step)}\n\n")

    def _read_request(self, command: GtpCommand) -> tuple[Request, tuple[int, ...], State]:
        """Return the request, the passes before the player's turn, and the state after them."""
        position = self.engine.position
        request = read_request(command.arguments, position.to_play)
        passes = position.passes_before(request.player)
        _ = self.engine.analyzer.search  # raises when the player has no search
        return request, passes, position.game.play(position.state, *passes)

    def _reporter(self, request: Request, state: State, fractions: bool) -> Callable[..., None]:
        """Return a function that writes an info line when one is due, or when `last`."""
        due = time.monotonic() + request.interval

        def report(last: bool = False) -> None:
            nonlocal due
            if last or time.monotonic() >= due:
                due = time.monotonic() + request.interval
                line = info_line(self.engine, state, request, fractions)
                if line:
                    self.say(f"{line}\n")

        return report

    def _search_on(self) -> None:
        """Search until a line arrives, if the last move was the engine's."""
        position, analyzer = self.engine.position, self.engine.analyzer
        is_own_move = len(position.moves) == self._own_move and not position.is_over
        if not is_own_move or not analyzer.searches:
            return
        self.engine.sync()
        analyzer.begin()
        while not (analyzer.search.has_finished or self.lines.is_waiting()):
            analyzer.step()
        analyzer.end()


def _is_quit(line: str) -> bool:
    command = read_command(line) if len(line) <= LONGEST else None
    return command is not None and command.word == QUIT
