"""An external program as a player, over the Go Text Protocol: one process per game.

A program that crashes, times out or replies an illegal move forfeits its game; the next game with
that index starts a new process. No send or read waits, so that the programs search in parallel.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from alphazero.errors import PlayerError
from alphazero.games.game import PLY, Game, State
from alphazero.players.base import Decisions, Forfeit, Player
from alphazero.players.gtp_process import MOVE_TIMEOUT, GtpProcess, GtpReply, ProgramError
from alphazero.records.gtp_notation import COLOURS, PASS, RESIGN, GtpNotation
from alphazero.utils.arrays import Int64Array
from alphazero.utils.files import printable

PAUSE: Final = 0.005
"""Seconds between two polls while programs search."""


@dataclass
class _Game:
    """One game: its program and its state."""

    state: State
    program: GtpProcess | None = None
    stale_replies: int = 0
    """Pending replies that belong to an earlier game."""
    requested: bool = False
    move: int | None = None
    """The move it answered, which it has already played on its own board."""
    lost: bool = False

    @property
    def colour(self) -> str:
        return COLOURS[int(self.state[PLY]) % 2]

    def send(self, command: str) -> None:
        if self.program:
            self.program.send(command)

    def end_program(self) -> None:
        if self.program:
            self.program.close()
        self.program = None


class GtpPlayer(Player):
    """Plays the moves of an external program.

    Raises:
        PlayerError: when the program cannot be started, or does not play this game.
    """

    def __init__(
        self, game: Game, slots: int, command: str, move_timeout: float = MOVE_TIMEOUT
    ) -> None:
        self.game = game
        self.command = command
        self.move_timeout = move_timeout
        self.vertices = GtpNotation(game)
        self._games = [_Game(game.initial_state()) for _ in range(slots)]
        self._forfeits: list[Forfeit] = []
        # Start one program now, so that a bad command fails before any game.
        try:
            self._games[0].program = self._launch()
        except ProgramError as error:
            raise PlayerError(f"gtp:{printable(command)}: {error}") from None

    def reset(self, slots: Int64Array, states: State) -> None:
        """Start games; only from the initial state, because GTP sets no positions."""
        for slot, state in zip(slots.tolist(), states, strict=True):
            if state[PLY] != 0:
                raise PlayerError(
                    "a GTP program needs to see a game from its first move, not a position alone"
                )
            self._begin(slot, state)

    def load_games(self, slots: Int64Array, states: State, lines: Sequence[Int64Array]) -> None:
        self.reset(slots, np.tile(self.game.initial_state(), (len(states), 1)))
        for slot, line in zip(slots, lines, strict=True):
            for action in line:
                self.advance(np.array([slot]), np.array([action]))

    def advance(self, slots: Int64Array, actions: Int64Array) -> None:
        """Send the moves to the programs, except the moves they made."""
        for slot, action in zip(slots.tolist(), actions.tolist(), strict=True):
            game = self._games[slot]
            if game.move != action and not game.lost:
                game.send(f"play {game.colour} {self.vertices.name(game.state, action)}")
            game.move = None
            game.state = self.game.play(game.state, action)

    def begin_moves(self, slots: Int64Array) -> None:
        for slot in slots.tolist():
            game = self._games[slot]
            game.requested = True
            if not game.lost:
                game.send(f"genmove {game.colour}")

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

    def _begin(self, slot: int, state: State) -> None:
        """Clear the program's board, starting a new process if there is none."""
        former = self._games[slot]
        if former.program and not former.program.is_running:
            former.end_program()
        game = self._games[slot] = _Game(state.copy(), former.program)
        try:
            game.program = game.program or self._launch()
        except (ProgramError, PlayerError) as error:
            self._forfeit(slot, f"it cannot be started again: {error}")
            return
        game.stale_replies = game.program.pending
        game.program.send("clear_board")

    def _launch(self) -> GtpProcess:
        program = GtpProcess(self.command)
        try:
            self._set_up(program)
        except BaseException:
            program.close()
            raise
        return program

    def _set_up(self, program: GtpProcess) -> None:
        """Set the board size and the komi."""
        commands = self._ask(program, "list_commands").text.split()
        rows, columns = self.vertices.rows, self.vertices.columns
        if rows == columns and "boardsize" in commands:
            self._ask(program, f"boardsize {columns}")
        elif "rectangular_boardsize" in commands:
            self._ask(program, f"rectangular_boardsize {columns} {rows}")
        komi = getattr(self.game, "komi", None)
        if komi is not None:
            self._ask(program, f"komi {komi:g}")

    def _ask(self, program: GtpProcess, command: str) -> GtpReply:
        """Send a command that must succeed."""
        reply = program.ask(command, self.move_timeout)
        if not reply.succeeded:
            raise PlayerError(
                f"gtp:{self.command} refuses '{command}': {printable(reply.text[:200])}; "
                "it cannot play this game"
            )
        return reply

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
            self._forfeit(slot, str(error))
            return True
        for reply in replies:
            if game.stale_replies:
                game.stale_replies -= 1
            elif not game.lost:
                self._take_reply(slot, reply)
        return bool(replies)

    def _take_reply(self, slot: int, reply: GtpReply) -> None:
        game, word = self._games[slot], reply.text.lower()
        if not reply.succeeded:
            # gtp-rhino and similar programs skip a forced pass and do not know the move.
            if not reply.command.endswith(PASS):
                self._forfeit(slot, f"refused '{reply.command}': {reply.text[:100]!r}")
        elif reply.command.startswith("genmove"):
            game.move = self.vertices.action(game.state, word)
            if word == RESIGN:
                self._forfeit(slot)
            elif game.move is None:
                self._forfeit(slot, f"illegal move {reply.text[:40]!r}")

    def _forfeit(self, slot: int, reason: str = "") -> None:
        """Forfeit the game; with a reason the program is ended too."""
        game = self._games[slot]
        if not game.lost:
            self._forfeits.append(Forfeit(slot, reason))
        game.lost = True
        if reason:
            game.end_program()
