"""An external program as a player: one process per game.

A program that crashes, times out or replies an illegal move forfeits its game; the next game with
that index starts a new process. No send or read waits, so that the programs search in parallel.
"""

import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np

from alphazero.errors import GameError, PlayerError
from alphazero.games.game import Game, State
from alphazero.players.base import Decisions, Forfeit, Player
from alphazero.players.program_process import ProgramError, ProgramProcess, ProgramProtocol, Reply
from alphazero.utils.arrays import Int64Array
from alphazero.utils.files import printable

PAUSE: Final = 0.005
"""Seconds between two polls while programs search."""


@dataclass
class ProgramGame:
    """One game: its program and its state."""

    start: State
    state: State
    program: ProgramProcess | None = None
    moves: list[int] = field(default_factory=list)
    stale_replies: int = 0
    """Pending replies that belong to an earlier game."""
    requested: bool = False
    move: int | None = None
    """The move it answered."""
    lost: bool = False

    def send(self, command: str, has_reply: bool = True) -> None:
        if self.program:
            self.program.send(command, has_reply)

    def end_program(self) -> None:
        if self.program:
            self.program.close()
        self.program = None


class ProgramPlayer(Player):
    """Plays the moves of an external program.

    Raises:
        PlayerError: when the program cannot be started, or does not play this game.
    """

    protocol: ClassVar[ProgramProtocol]

    def __init__(self, game: Game, slots: int, command: str, move_timeout: float) -> None:
        self.game = game
        self.command = command
        self.move_timeout = move_timeout
        start = game.initial_state()
        self._games = [ProgramGame(start, start) for _ in range(slots)]
        self._forfeits: list[Forfeit] = []
        # Start one program now, so that a bad command fails before any game.
        try:
            self._games[0].program = self._launch()
        except ProgramError as error:
            raise PlayerError(f"{self.protocol.name}:{printable(command)}: {error}") from None

    @abstractmethod
    def set_up(self, program: ProgramProcess) -> None:
        """Prepare a new program for the player's game; raise PlayerError if it cannot play it."""

    @abstractmethod
    def begin_game(self, game: ProgramGame) -> None:
        """Begin a game at its state."""

    @abstractmethod
    def send_move(self, game: ProgramGame, action: int) -> None:
        """Send a move that is played at the game's state, unless the program knows it."""

    @abstractmethod
    def request_move(self, game: ProgramGame) -> None:
        """Ask for a move."""

    @abstractmethod
    def take_reply(self, slot: int, game: ProgramGame, reply: Reply) -> None:
        """Take a reply: set the game's `move`, or call `forfeit`."""

    def reset(self, slots: Int64Array, states: State) -> None:
        for slot, state in zip(slots.tolist(), states, strict=True):
            self._begin(slot, state)

    def load_games(self, slots: Int64Array, states: State, lines: Sequence[Int64Array]) -> None:
        """Load games; one that began in another position is loaded without its moves."""
        start = self.game.initial_state()
        for slot, state, line in zip(slots[:, None], states, lines, strict=True):
            try:
                is_usual = np.array_equal(self.game.play(start, *line.tolist()), state)
            except GameError:
                is_usual = False
            self.reset(slot, (start if is_usual else state)[None])
            for action in line[: len(line) * is_usual]:
                self.advance(slot, action[None])

    def advance(self, slots: Int64Array, actions: Int64Array) -> None:
        for slot, action in zip(slots.tolist(), actions.tolist(), strict=True):
            game = self._games[slot]
            if not game.lost:
                self.send_move(game, action)
            game.move = None
            game.moves.append(action)
            game.state = self.game.play(game.state, action)

    def begin_moves(self, slots: Int64Array) -> None:
        for slot in slots.tolist():
            game = self._games[slot]
            game.requested = True
            if not game.lost:
                self.request_move(game)

    def step(self) -> None:
        """Read pending replies; sleep briefly if there are none."""
        has_replied = [self._read_replies(slot) for slot in range(len(self._games))]
        if not any(has_replied) and any(game.requested and not game.lost for game in self._games):
            time.sleep(PAUSE)

    def take_decisions(self) -> Decisions:
        answers = {
            slot: game.move
            for slot, game in enumerate(self._games)
            if game.requested and game.move is not None
        }
        for slot in answers:
            self._games[slot].requested = False
        slots, actions = np.array([*answers.items()], np.int64).reshape(-1, 2).T.copy()
        nothing = np.zeros((len(slots), 0))
        values = np.zeros(len(slots), np.float32)
        return Decisions(
            slots, actions, nothing.astype(np.int64), nothing.astype(np.float32), values
        )

    def forfeits(self) -> list[Forfeit]:
        forfeits, self._forfeits = self._forfeits, []
        return forfeits

    def close(self) -> None:
        for game in self._games:
            game.end_program()

    def ask(self, program: ProgramProcess, command: str) -> Reply:
        """Send a command that must succeed."""
        reply = program.ask(command, self.move_timeout)
        if not reply.succeeded:
            raise PlayerError(
                f"{self.protocol.name}:{self.command} refuses '{command}': "
                f"{printable(reply.text[:200])}; it cannot play this game"
            )
        return reply

    def forfeit(self, slot: int, reason: str = "") -> None:
        """Forfeit the game; with a reason the program is ended too."""
        game = self._games[slot]
        if not game.lost:
            self._forfeits.append(Forfeit(slot, reason))
        game.lost = True
        if reason:
            game.end_program()

    def _begin(self, slot: int, state: State) -> None:
        """Begin a game with the program of the one before; with a new process if there is none."""
        former = self._games[slot]
        if former.program and not former.program.is_running:
            former.end_program()
        game = self._games[slot] = ProgramGame(state.copy(), state.copy(), former.program)
        try:
            game.program = game.program or self._launch()
        except (ProgramError, PlayerError) as error:
            self.forfeit(slot, f"it cannot be started again: {error}")
            return
        game.stale_replies = game.program.pending
        self.begin_game(game)

    def _launch(self) -> ProgramProcess:
        program = ProgramProcess(self.command, self.protocol)
        try:
            self.set_up(program)
        except BaseException:
            program.close()
            raise
        return program

    def _read_replies(self, slot: int) -> bool:
        """Handle the replies of a game's program; return whether there were any."""
        game = self._games[slot]
        if game.program is None:
            return False
        try:
            replies = game.program.replies()
            if game.program.seconds_waiting > self.move_timeout:
                raise ProgramError(f"the program has not answered for {self.move_timeout:g} s")
        except ProgramError as error:
            self.forfeit(slot, str(error))
            return True
        for reply in replies:
            if game.stale_replies:
                game.stale_replies -= 1
            elif not game.lost:
                self.take_reply(slot, game, reply)
        return bool(replies)
