"""An external program as a player: one process per game, asked in a thread of its own.

A program that crashes, times out or replies an illegal move forfeits its game; the next game with
that index starts a new process.
"""

import queue
import threading
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np

from alphazero.errors import GameError, PlayerError
from alphazero.games.game import PLY, Game, State
from alphazero.players.base import Decisions, Forfeit
from alphazero.players.program_process import ProgramProcess, ProgramProtocol, read_command
from alphazero.players.sequential_player import SequentialPlayer
from alphazero.utils.arrays import Int64Array
from alphazero.utils.files import printable

PAUSE: Final = 0.005
"""Seconds that a step waits for a move that was asked for. To wait at other times would cost an
opponent on a clock most of its time."""


@dataclass(eq=False)
class ProgramGame:
    """One game of a program."""

    start: State
    moves: list[int] = field(default_factory=list)
    sent: list[int] | None = None
    """the moves that its program knows, with the last one that it answered; None: no game yet"""


class ProgramPlayer(SequentialPlayer):
    """Plays the moves of an external program.

    Raises PlayerError when the program cannot be started, or does not play this game.
    """

    protocol: ClassVar[ProgramProtocol]

    def __init__(self, game: Game, slots: int, text: str) -> None:
        super().__init__(game, slots)
        self.command, self.limits, self.options = read_command(text, self.protocol)
        self._games = [ProgramGame(game.initial_state()) for _ in range(slots)]
        self._programs: list[ProgramProcess | None] = [None] * slots
        self._locks = [threading.Lock() for _ in range(slots)]
        self._results: queue.Queue[tuple[int, ProgramGame, int | Exception | None]]
        self._results = queue.Queue()
        """game and move, None for a resignation, or what went wrong"""
        self._forfeits: list[Forfeit] = []
        # Start one program now, so that a bad command fails before any game.
        try:
            self._programs[0] = self._launch()
        except PlayerError as error:
            raise PlayerError(f"{self.protocol.name}:{printable(self.command)}: {error}") from None

    @property
    def thinking_time(self) -> float:
        """Seconds that its limits of a move allow; 0 without a limit of time."""
        return self.limits.get(self.protocol.time_limit, 0) / 1000

    @abstractmethod
    def set_up(self, program: ProgramProcess) -> None:
        """Prepare a new program for the player's game; raise PlayerError if it cannot play it."""

    @abstractmethod
    def find_move(self, program: ProgramProcess, game: ProgramGame) -> int | None:
        """Return the program's move after those of `game`; None if it resigns.

        Raises PlayerError when it answers no legal move.
        """

    def reset(self, slots: Int64Array, states: State) -> None:
        """Start games; from another position than the first only if the protocol sets positions."""
        if not self.protocol.sets_positions:
            initial = self.game.pieces(self.game.initial_state())
            if any(state[PLY] or (self.game.pieces(state) != initial).any() for state in states):
                raise PlayerError(
                    f"a program that speaks {self.protocol.name} needs to see a game from its "
                    "first move, not a position alone"
                )
        super().reset(slots, states)
        for slot, state in zip(slots.tolist(), states, strict=True):
            self._games[slot] = ProgramGame(state.copy())
            program = self._programs[slot]
            if program and self._locks[slot].locked():  # it thinks about the game before
                program.stop()

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
        super().advance(slots, actions)
        for slot, action in zip(slots.tolist(), actions.tolist(), strict=True):
            self._games[slot].moves.append(action)

    def begin_moves(self, slots: Int64Array) -> None:
        super().begin_moves(slots)
        for slot in slots.tolist():
            threading.Thread(
                target=self._think, args=(slot, self._games[slot]), daemon=True
            ).start()

    def step(self) -> None:
        """Take the next move; wait a short time for it if one is asked for."""
        try:
            slot, game, result = self._results.get(bool(self._waiting), PAUSE)
        except queue.Empty:
            return
        if game is not self._games[slot]:
            return
        self._waiting.remove(slot)
        if isinstance(result, PlayerError):
            self._forfeits.append(Forfeit(slot, str(result)))
        elif isinstance(result, Exception):
            raise result
        elif result is None:
            self._forfeits.append(Forfeit(slot))
        else:
            self._answers[slot] = result, 0.0

    def take_decisions(self) -> Decisions:
        decisions = super().take_decisions()
        return decisions._replace(policy_shares=np.zeros_like(decisions.policy_shares))

    def forfeits(self) -> list[Forfeit]:
        forfeits, self._forfeits = self._forfeits, []
        return forfeits

    def close(self) -> None:
        for program in filter(None, self._programs):
            program.close()

    def _think(self, slot: int, game: ProgramGame) -> None:
        """Let the program of a game find its move, after its move of the game before."""
        result: int | Exception | None
        with self._locks[slot]:
            if game is not self._games[slot]:
                return
            try:
                program = self._programs[slot]
                if program is None or not program.is_running:
                    program, game.sent = self._launch(), None
                    self._programs[slot] = program
                result = self.find_move(program, game)
                game.sent = game.moves if result is None else [*game.moves, result]
            except Exception as error:
                result, program = error, self._programs[slot]
                if program:
                    program.close()
        self._results.put((slot, game, result))

    def _launch(self) -> ProgramProcess:
        program = ProgramProcess(self.command, self.protocol)
        try:
            self.set_up(program)
        except BaseException:
            program.close()
            raise
        return program
