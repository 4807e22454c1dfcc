"""A session of the Gomocup protocol, in which a manager of gomoku matches asks for moves.

    START 20            OK                     a board of 20 x 20
    INFO rule 0         (nothing)              time and rules: `match_settings.py`
    TURN 10,9           11,10                  the opponent's move, and ours
    BOARD, 10,9,2, DONE 11,10                  a position; 1 is our stone, 2 the opponent's
    END                 (nothing)

A cell is `column,row`, from 0 at the top left. Other input is answered by ERROR and the reason, or
by UNKNOWN. Petříček and Laštovička, *Gomoku AI protocol*,
https://plastovicka.github.io/protocl2en.htm; managers start programs named `pbrain-...`.
"""

import functools
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Final

from alphazero.errors import AlphaZeroError, GameError, PlayerError
from alphazero.frontends.game_options import resized
from alphazero.frontends.gomocup.board import BLOCKS, Board, BoardBlock, two_numbers
from alphazero.frontends.gomocup.match_settings import MatchSettings
from alphazero.frontends.gtp.engine import Engine
from alphazero.frontends.gtp.protocol import GtpError, read_integer
from alphazero.frontends.line_reader import LONGEST, Lines, lines_of
from alphazero.games.game import ONGOING
from alphazero.games.grid import VERTEX_LETTERS
from alphazero.games.mnk import Mnk
from alphazero.games.registry import make_game, write_game
from alphazero.players.registry import PlayerSpec

LENGTH: Final = 5

END: Final = "END"

WITHOUT_ARGUMENT: Final = ("RESTART", "BEGIN", "ABOUT", *BLOCKS)

GAME_OVER: Final = "the game is over: there is no move to make"


def engine_of(spec: PlayerSpec) -> Engine:
    """Return an engine for a gomoku player; START sets its board.

    Raises:
        PlayerError: when it plays another game.
    """
    game = spec.game or make_game("gomoku")
    if not isinstance(game, Mnk) or game.length != LENGTH:
        raise PlayerError(
            f"{spec.name} plays {write_game(game)}, but the Gomocup protocol is for gomoku, "
            f"where {LENGTH} in a row win"
        )
    return Engine(spec, game)


def serve(spec: PlayerSpec) -> None:
    """Serve the protocol on standard input and output until the end of the input or END."""
    say = functools.partial(print, end="", flush=True)
    GomocupSession(engine_of(spec), lines_of(0), say).run()


class GomocupSession:
    """A Gomocup session of an engine."""

    def __init__(self, engine: Engine, lines: Iterable[str], say: Callable[[str], object]) -> None:
        self.engine = engine
        self.lines = Lines(lines, lambda line: _split(line)[0] == END)
        engine.has_controller_left = self.lines.ended_since
        self.say = say
        self.settings = MatchSettings()
        self._started = False
        """Whether START has set the board."""
        self._block: BoardBlock | None = None
        """The block being read, up to DONE."""
        self._commands: dict[str, Callable[[str], str]] = {
            "START": self._start,
            "RECTSTART": self._rectstart,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "PLAY": self._play,
            "TAKEBACK": self._takeback,
            "ABOUT": self._about,
            **{word: functools.partial(self._open_block, word) for word in BLOCKS},
        }

    def run(self) -> None:
        """Answer lines until the end of the input or END."""
        while (line := self.lines.next()) is not None and self.take(line):
            pass

    def take(self, line: str) -> bool:
        """Answer a line; return whether the session continues."""
        word, rest = _split(line)
        if word == "INFO":
            self.settings.read(rest)
        elif word and word != END:
            if self._block and word in self._commands:
                self._write(f"ERROR {self._block.word} was not ended by DONE")
                self._block = None
            try:
                answer = self._answer(word, rest)
            except (GtpError, AlphaZeroError) as error:
                answer = f"ERROR {error}"
            if answer:
                self._write(answer)
        return word != END

    def _write(self, answer: str) -> None:
        """Write pending notes and an answer, each as one line in ASCII."""
        for text in [*(f"MESSAGE {note}" for note in self.settings.take_notes()), answer]:
            line = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
            self.say(f"{line}\n")

    def _answer(self, word: str, rest: str) -> str:
        """Return the answer to a command, or an empty string."""
        if word in self._commands:
            if word in WITHOUT_ARGUMENT and rest:
                raise GtpError(f"{word} takes no argument, got {rest[:20]!r}")
            return self._commands[word](rest)
        if word == "DONE":
            return self._close_block()
        if self._block is None:
            return f"UNKNOWN {word[:20]!r}"
        self._block.read(f"{word} {rest}")
        return ""

    # Commands; the argument is the rest of the line.

    def _start(self, text: str) -> str:
        size = read_integer(text, "the board's size")
        return self._start_on(size, size)

    def _rectstart(self, text: str) -> str:
        columns, rows = two_numbers(text, "a width and a height")
        return self._start_on(rows, columns)

    def _start_on(self, rows: int, columns: int) -> str:
        if not LENGTH <= min(rows, columns) <= max(rows, columns) <= len(VERTEX_LETTERS):
            raise GtpError(
                f"expected {LENGTH} to {len(VERTEX_LETTERS)} columns and rows, "
                f"got {columns} and {rows}"
            )
        self.engine.begin(resized(self.engine.game, rows, columns))
        self._started = True
        return "OK"

    def _restart(self, _: str) -> str:
        self._check_started()
        self.engine.begin(self.engine.game)
        self.settings.restart()
        return "OK"

    def _begin(self, _: str) -> str:
        self._check_ready()
        if self.engine.position.moves:
            raise GtpError("BEGIN needs an empty board; use TURN or BOARD for later moves")
        return self._move()

    def _turn(self, text: str) -> str:
        """Play the opponent's move, then ours."""
        self._place(text)
        return self._move()

    def _play(self, text: str) -> str:
        """Play our move as given by the manager."""
        return self._board.write(self._place(text))

    def _takeback(self, text: str) -> str:
        self._check_started()
        cell, moves = self._board.read(text), self.engine.position.moves
        if not moves:
            raise GtpError("the board is empty: there is no move to take back")
        if moves[-1] != cell:
            raise GtpError(f"the last move is {self._board.write(moves[-1])}: take that back first")
        self.engine.position.undo()
        return "OK"

    def _about(self, _: str) -> str:
        return f'name="alphazero", version="{version("alphazero")}"'

    def _open_block(self, word: str, _: str) -> str:
        self._block = BoardBlock(word, self._board)
        return ""

    def _close_block(self) -> str:
        """Set up the stones that were read, and play our move."""
        block, self._block = self._block, None
        if block is None:
            raise GtpError("DONE without BOARD")
        if block.word != "BOARD":
            return "UNKNOWN swap2 openings are not supported"
        self._check_ready()
        game, moves = self.engine.game, block.moves()
        try:
            # A subset of the stones completes no line that all of them do not complete.
            is_over = game.outcome(game.play(game.initial_state(), *moves)) != ONGOING
        except GameError:
            is_over = True
        if is_over:
            raise GtpError(GAME_OVER)
        self.engine.begin(game)
        for cell in moves:
            self.engine.position.make((cell,))
        return self._move()

    # Helpers of the commands.

    @property
    def _board(self) -> Board:
        vertices = self.engine.position.vertices
        return Board(vertices.rows, vertices.columns)

    def _check_started(self) -> None:
        if not self._started:
            raise GtpError("no board: START must come first")

    def _check_ready(self) -> None:
        """Raise GtpError unless a game with our rules was started."""
        self._check_started()
        self.settings.check_rule()

    def _move(self) -> str:
        """Search, play and format our move."""
        engine = self.engine
        if engine.position.is_over:
            raise GtpError(GAME_OVER)
        clock = self.settings.clock()
        engine.clocks = [clock, clock] if clock else None
        began = time.monotonic()
        step = engine.choose(engine.position.to_play)
        self.settings.spend(time.monotonic() - began)
        if step is None:
            raise GtpError("this player resigns, and the protocol has no word for it")
        engine.position.make(step)
        return self._board.write(step[-1])

    def _place(self, text: str) -> int:
        """Play the move `text` of either side; return its cell."""
        self._check_ready()
        cell, position = self._board.read(text), self.engine.position
        if position.is_over:
            raise GtpError(GAME_OVER)
        if not position.game.legal_action_mask(position.state)[cell]:
            raise GtpError(f"{self._board.write(cell)} is taken")
        position.make((cell,))
        return cell


def _split(line: str) -> tuple[str, str]:
    """Split a line into its command, in capitals, and the rest."""
    word, rest = [*line[:LONGEST].split(maxsplit=1), "", ""][:2]
    return word.upper(), rest.strip()
