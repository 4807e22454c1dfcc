"""Another program as a player, over the Go Text Protocol: one process a table.

A program that crashes, falls silent or answers with a move that is not legal forfeits its game;
the next game on that table begins with a new process. What it is told in one turn is sent at
once, and answers are read as they come, so that the programs of several tables think side by side.
"""

import time
from dataclasses import dataclass
from typing import Final

import numpy as np

from alphazero.errors import PlayerError
from alphazero.games.game import PLY, Game, State
from alphazero.games.registry import name_of
from alphazero.players.base import Decisions, Forfeit, Player
from alphazero.players.gtp_process import PATIENCE, GtpProcess, GtpReply, ProgramError
from alphazero.records.gtp_notation import COLOURS, PASS, RESIGN, GtpNotation, normalize_name
from alphazero.utils.arrays import Slots
from alphazero.utils.files import printable

PAUSE: Final = 0.005
"""Seconds between two looks at programs that think."""


@dataclass
class _Game:
    """One table: its program and what is known of its game."""

    state: State
    program: GtpProcess | None = None
    old_answers: int = 0
    """Answers still to come that belong to an earlier game."""
    asked: bool = False
    found: int | None = None
    """The move that it answered with, and has made on its own board."""
    lost: bool = False
    """Whether it has forfeited this game."""


class GtpPlayer(Player):
    """Plays as another program says.

    Raises:
        PlayerError: when the program cannot be started, or does not play this game.
    """

    def __init__(self, game: Game, tables: int, command: str, patience: float = PATIENCE) -> None:
        self.game = game
        self.command = command
        self.patience = patience
        self.vertices = GtpNotation(game)
        self._seats = [_Game(game.initial_state()) for _ in range(tables)]
        self._forfeits: list[Forfeit] = []
        # The first program tells, before any game begins, whether all this can work.
        try:
            self._seats[0].program = self._launch()
        except ProgramError as error:
            raise PlayerError(f"gtp:{printable(command)}: {error}") from None

    def reset(self, tables: Slots, states: State) -> None:
        """Begin a game on each table; another program knows none but the first position."""
        for table, state in zip(tables.tolist(), states, strict=True):
            if state[PLY] != 0:
                raise PlayerError(
                    "a GTP program needs to see a game from its first move, not a position alone"
                )
            self._begin(table, state)

    def load_games(self, tables: Slots, states: State, actions: Slots) -> None:
        """Begin a game and show it move by move."""
        del states
        self.reset(tables, self.game.initial_state()[None])
        for action in actions:
            self.advance(tables, np.array([action]))

    def advance(self, tables: Slots, actions: Slots) -> None:
        """Tell the programs of the moves, unless they made them."""
        for table, action in zip(tables.tolist(), actions.tolist(), strict=True):
            seat = self._seats[table]
            if seat.found != action and not seat.lost:
                name = self.vertices.name(seat.state, action)
                self._send(seat, f"play {self._colour(seat)} {name}")
            seat.found = None
            seat.state = self.game.play(seat.state, action)

    def begin_moves(self, tables: Slots) -> None:
        """Ask the programs for a move."""
        for table in tables.tolist():
            seat = self._seats[table]
            seat.asked = True
            if not seat.lost:
                self._send(seat, f"genmove {self._colour(seat)}")

    def step(self) -> None:
        """Hear what the programs have to say; wait a moment if none says anything."""
        heard = [self._listen(table) for table in range(len(self._seats))]
        if not any(heard) and any(seat.asked and not seat.lost for seat in self._seats):
            time.sleep(PAUSE)

    def take_decisions(self) -> Decisions:
        """Return the moves that were answered."""
        tables = [t for t, seat in enumerate(self._seats) if seat.asked and seat.found is not None]
        for table in tables:
            self._seats[table].asked = False
        actions = np.array([self._seats[table].found for table in tables], np.int64)
        nothing = np.zeros((len(tables), self.game.num_actions), np.float32)
        return Decisions(np.array(tables, np.int64), actions, nothing, nothing[:, 0].copy())

    def forfeits(self) -> list[Forfeit]:
        """Return the games that programs lost by what they did, or did not, or resigned."""
        forfeits, self._forfeits = self._forfeits, []
        return forfeits

    def close(self) -> None:
        """End the programs."""
        for seat in self._seats:
            if seat.program:
                seat.program.close()
                seat.program = None

    def _begin(self, table: int, state: State) -> None:
        """Let a table's program, a new one where there is none, clear its board."""
        program = self._seats[table].program
        if program and not program.is_running:
            program.close()
            program = None
        seat = self._seats[table] = _Game(state.copy(), program)
        try:
            seat.program = program or self._launch()
        except (ProgramError, PlayerError) as error:
            self._give_up(table, f"it cannot be started again: {error}")
            return
        seat.old_answers = seat.program.pending
        seat.program.send("clear_board")

    def _launch(self) -> GtpProcess:
        """Start a program and let it set up the game."""
        program = GtpProcess(self.command)
        try:
            self._set_up(program)
        except BaseException:
            program.close()
            raise
        return program

    def _set_up(self, program: GtpProcess) -> None:
        """Agree on the game, the board and the komi."""
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
        """Ask what must not fail."""
        answer = program.ask(command, self.patience)
        if not answer.succeeded:
            raise PlayerError(
                f"gtp:{self.command} refuses '{command}': {printable(answer.text[:200])}; "
                "it cannot play this game"
            )
        return answer

    def _listen(self, table: int) -> bool:
        """Take in what a table's program has answered; return whether there was anything."""
        seat = self._seats[table]
        if seat.program is None:
            return False
        try:
            answers = seat.program.answers()
            if seat.program.silence > self.patience:
                raise ProgramError(f"the program has not answered for {self.patience:g} s")
        except ProgramError as error:
            self._give_up(table, str(error))
            return True
        for answer in answers:
            if seat.old_answers:
                seat.old_answers -= 1
            elif not seat.lost:
                self._take(table, answer)
        return bool(answers)

    def _take(self, table: int, answer: GtpReply) -> None:
        """Take a move, or an objection to one."""
        seat, word = self._seats[table], answer.text.lower()
        if not answer.succeeded:
            # Programs such as gtp-rhino skip a forced wait by themselves and know no pass.
            if not answer.command.endswith(PASS):
                self._give_up(table, f"refused '{answer.command}': {answer.text[:100]!r}")
        elif answer.command.startswith("genmove"):
            seat.found = self.vertices.action(seat.state, word)
            if word == RESIGN:
                self._give_up(table)
            elif seat.found is None:
                self._give_up(table, f"illegal move {answer.text[:40]!r}")

    def _send(self, seat: _Game, command: str) -> None:
        if seat.program:
            seat.program.send(command)

    def _give_up(self, table: int, fault: str = "") -> None:
        """Forfeit the game on a table; after a fault its program is ended too."""
        seat = self._seats[table]
        if not seat.lost:
            self._forfeits.append(Forfeit(table, fault))
        seat.lost = True
        if fault and seat.program:
            seat.program.close()
            seat.program = None

    def _colour(self, seat: _Game) -> str:
        return COLOURS[int(seat.state[PLY]) % 2]
