"""An external program as a player, over the Go Text Protocol: one process per game.

A program that crashes, times out or answers an illegal move forfeits its game; the next game with
that index starts a new process. No send or read waits, so that the programs search in parallel.
"""

import time
from dataclasses import dataclass
from typing import Final

import numpy as np

from alphazero.errors import PlayerError
from alphazero.games.game import PLY, Game, State
from alphazero.games.registry import name_of
from alphazero.players.base import Decisions, Forfeit, Player
from alphazero.players.gtp_process import MOVE_TIMEOUT, GtpProcess, GtpReply, ProgramError
from alphazero.records.gtp_notation import COLOURS, PASS, RESIGN, GtpNotation, normalize_name
from alphazero.utils.arrays import Int64Array
from alphazero.utils.files import printable

PAUSE: Final = 0.005
"""Seconds between two polls while programs search."""


@dataclass
class _Game:
    """One game: its program and its state."""

    state: State
    program: GtpProcess | None = None
    old_answers: int = 0
    """Pending replies that belong to an earlier game."""
    asked: bool = False
    found: int | None = None
    """The move it answered, which it has already played on its own board."""
    lost: bool = False


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
        self._seats = [_Game(game.initial_state()) for _ in range(slots)]
        self._forfeits: list[Forfeit] = []
        # Start one program now, so that a bad command fails before any game.
        try:
            self._seats[0].program = self._launch()
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

    def load_games(self, slots: Int64Array, states: State, actions: Int64Array) -> None:
        """Start a game and replay its moves."""
        del states
        self.reset(slots, self.game.initial_state()[None])
        for action in actions:
            self.advance(slots, np.array([action]))

    def advance(self, slots: Int64Array, actions: Int64Array) -> None:
        """Send the moves to the programs, except the moves they made."""
        for slot, action in zip(slots.tolist(), actions.tolist(), strict=True):
            seat = self._seats[slot]
            if seat.found != action and not seat.lost:
                name = self.vertices.name(seat.state, action)
                self._send(seat, f"play {self._colour(seat)} {name}")
            seat.found = None
            seat.state = self.game.play(seat.state, action)

    def begin_moves(self, slots: Int64Array) -> None:
        """Request moves from the programs."""
        for slot in slots.tolist():
            seat = self._seats[slot]
            seat.asked = True
            if not seat.lost:
                self._send(seat, f"genmove {self._colour(seat)}")

    def step(self) -> None:
        """Read pending replies; sleep briefly if there are none."""
        heard = [self._listen(slot) for slot in range(len(self._seats))]
        if not any(heard) and any(seat.asked and not seat.lost for seat in self._seats):
            time.sleep(PAUSE)

    def take_decisions(self) -> Decisions:
        """Return the moves received."""
        slots = [t for t, seat in enumerate(self._seats) if seat.asked and seat.found is not None]
        for slot in slots:
            self._seats[slot].asked = False
        actions = np.array([self._seats[slot].found for slot in slots], np.int64)
        nothing = np.zeros((len(slots), self.game.num_actions), np.float32)
        return Decisions(np.array(slots, np.int64), actions, nothing, nothing[:, 0].copy())

    def forfeits(self) -> list[Forfeit]:
        """Return the games lost by resignation or by a fault of the program."""
        forfeits, self._forfeits = self._forfeits, []
        return forfeits

    def close(self) -> None:
        """End all programs."""
        for seat in self._seats:
            if seat.program:
                seat.program.close()
                seat.program = None

    def _begin(self, slot: int, state: State) -> None:
        """Clear the program's board, starting a new process if there is none."""
        program = self._seats[slot].program
        if program and not program.is_running:
            program.close()
            program = None
        seat = self._seats[slot] = _Game(state.copy(), program)
        try:
            seat.program = program or self._launch()
        except (ProgramError, PlayerError) as error:
            self._give_up(slot, f"it cannot be started again: {error}")
            return
        seat.old_answers = seat.program.pending
        seat.program.send("clear_board")

    def _launch(self) -> GtpProcess:
        program = GtpProcess(self.command)
        try:
            self._set_up(program)
        except BaseException:
            program.close()
            raise
        return program

    def _set_up(self, program: GtpProcess) -> None:
        """Set the game, the board size and the komi."""
        known = self._ask(program, "list_commands").text.split()
        if "list_games" in known and "set_game" in known:
            games = self._ask(program, "list_games").text.splitlines()
            own = normalize_name(name_of(self.game))
            name = next((name for name in games if normalize_name(name) == own), None)
            if name is None:
                told = ", ".join(games) or "nothing"
                raise PlayerError(f"gtp:{self.command} plays {printable(told)}, not {own}")
            self._ask(program, f"set_game {name}")
        rows, columns = self.vertices.rows, self.vertices.columns
        if rows == columns and "boardsize" in known:
            self._ask(program, f"boardsize {columns}")
        elif "rectangular_boardsize" in known:
            self._ask(program, f"rectangular_boardsize {columns} {rows}")
        komi = getattr(self.game, "komi", None)
        if komi is not None:
            self._ask(program, f"komi {komi:g}")

    def _ask(self, program: GtpProcess, command: str) -> GtpReply:
        """Send a command that must succeed."""
        answer = program.ask(command, self.move_timeout)
        if not answer.succeeded:
            raise PlayerError(
                f"gtp:{self.command} refuses '{command}': {printable(answer.text[:200])}; "
                "it cannot play this game"
            )
        return answer

    def _listen(self, slot: int) -> bool:
        """Handle the replies of a game's program; return whether there were any."""
        seat = self._seats[slot]
        if seat.program is None:
            return False
        try:
            answers = seat.program.answers()
            if seat.program.silence > self.move_timeout:
                raise ProgramError(f"the program has not answered for {self.move_timeout:g} s")
        except ProgramError as error:
            self._give_up(slot, str(error))
            return True
        for answer in answers:
            if seat.old_answers:
                seat.old_answers -= 1
            elif not seat.lost:
                self._take(slot, answer)
        return bool(answers)

    def _take(self, slot: int, answer: GtpReply) -> None:
        seat, word = self._seats[slot], answer.text.lower()
        if not answer.succeeded:
            # gtp-rhino and similar programs skip a forced pass and do not know the move.
            if not answer.command.endswith(PASS):
                self._give_up(slot, f"refused '{answer.command}': {answer.text[:100]!r}")
        elif answer.command.startswith("genmove"):
            seat.found = self.vertices.action(seat.state, word)
            if word == RESIGN:
                self._give_up(slot)
            elif seat.found is None:
                self._give_up(slot, f"illegal move {answer.text[:40]!r}")

    def _send(self, seat: _Game, command: str) -> None:
        if seat.program:
            seat.program.send(command)

    def _give_up(self, slot: int, fault: str = "") -> None:
        """After a fault the program is ended too."""
        seat = self._seats[slot]
        if not seat.lost:
            self._forfeits.append(Forfeit(slot, fault))
        seat.lost = True
        if fault and seat.program:
            seat.program.close()
            seat.program = None

    def _colour(self, seat: _Game) -> str:
        return COLOURS[int(seat.state[PLY]) % 2]
