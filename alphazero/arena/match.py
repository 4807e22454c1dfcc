"""The one loop that plays every game there is.

Games lie on tables, hundreds at once or one; on each sit two players, who may be the same. One
`step` lets every player decide where it is ready, makes the moves, replaces finished games at
once, and lets every player think. Self-play, the gate, ratings and the terminal are its guests.

Letters: T tables, n some of them, A actions, S state size.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import types

from alphazero.errors import GameError
from alphazero.games.game import ONGOING, PLY, Game, RulesType, State, value_of
from alphazero.games.registry import write_game
from alphazero.players.base import Decisions, Forfeit, Player
from alphazero.players.registry import PlayerSpec
from alphazero.records.game_record import (
    MISCOUNTED,
    NEVER_RESIGN,
    RESIGNED,
    GameRecord,
    MoveData,
    Pairing,
)
from alphazero.utils.arrays import Slots
from alphazero.utils.jit import kernel
from alphazero.utils.jobs import Progress, run_jobs

DEFAULT_PARALLEL_GAMES = 128
"""Games at once where nobody says how many: enough to fill the batches of two cores."""

_floats = types.float32[::1]
slots_type = types.int64[::1]
_NotesType = types.NamedTuple(
    [types.int32[:, ::1], types.float32[:, :, ::1], *(types.float32[:, ::1],) * 3], MoveData
)
_DecisionsType = types.NamedTuple(
    [slots_type, slots_type, types.float32[:, ::1], *(_floats,) * 3], Decisions
)


@kernel(types.void(RulesType, types.int64[:, ::1], _NotesType, _DecisionsType, slots_type))
def _play_all(
    rules: Any, states: State, notes: MoveData, decisions: Decisions, outcomes: Slots
) -> None:
    """Write `decisions` [n] down, play their moves on `states` [T, S] and write `outcomes` [n].

    Where an outcome is `RESIGNED` already, the move is not played.
    """
    length = notes.actions.shape[1]
    for index in range(len(decisions.tables)):
        table, action = decisions.tables[index], decisions.actions[index]
        ply = states[table, PLY]
        if not 0 <= ply < length:
            outcomes[index] = MISCOUNTED
            continue
        notes.actions[table, ply] = action
        for each in range(decisions.policies.shape[1]):
            notes.policies[table, ply, each] = decisions.policies[index, each]
        notes.values[table, ply] = decisions.values[index]
        notes.surprises[table, ply] = decisions.surprises[index % len(decisions.surprises)]
        notes.prospects[table, ply] = decisions.prospects[index % len(decisions.prospects)]
        if outcomes[index] != RESIGNED:
            rules.play(states[table], action)
            outcomes[index] = rules.outcome(states[table])
            if states[table, PLY] != ply + 1:
                outcomes[index] = MISCOUNTED


class _FinishedGame(NamedTuple):
    """How the game on a table ended."""

    table: int
    outcome: int
    resigned: bool = False
    fault: str = ""


@dataclass
class Match:
    """Players at tables; `schedule` supplies the games, in order, until it ends.

    Where a game's pairing allows it, a player whose prospects are below `resign_below` resigns
    in place of its move. A player may forfeit a game at any time, which ends it there.
    """

    game: Game
    players: Sequence[Player]
    num_games: int
    schedule: Iterator[Pairing]
    resign_below: float = NEVER_RESIGN
    states: State = field(init=False)
    """[T, S] the positions on the tables"""

    def __post_init__(self) -> None:
        game, length = self.game, self.game.max_moves
        self.states = np.tile(game.initial_state(), (self.num_games, 1))
        self._pairings: list[Pairing | None] = [None] * self.num_games
        self._seats = np.zeros((self.num_games, 2), np.int64)
        shape = self.num_games, length
        self._notes = MoveData(
            np.zeros(shape, np.int32),
            np.zeros((*shape, game.num_actions), np.float32),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.float32),
        )
        self._may_resign = np.zeros(self.num_games, np.bool_)
        self._finished: list[_FinishedGame] = []
        self.moves_made = 0

    @property
    def playing(self) -> list[int]:
        """The tables with a game under way."""
        return [table for table, pairing in enumerate(self._pairings) if pairing is not None]

    def start_games(self) -> None:
        """Begin a game on every free table, as far as the schedule goes."""
        for table, pairing in enumerate(self._pairings):
            if pairing is None:
                self._begin_next(table)

    def load(self, table: int, game: GameRecord) -> None:
        """Lay out a game that is under way, in place of what lay on `table`.

        Raises:
            GameError: when it is longer than the game's `max_moves`.
        """
        length = len(game.actions)
        if length > self.game.max_moves:
            raise self._miscounted()
        self._pairings[table] = game.pairing
        self._seats[table] = game.pairing.players
        self._may_resign[table] = game.pairing.may_resign
        for notes, known in zip(self._notes, game.move_data, strict=True):
            notes[table, :length] = known
        place = np.array([table])
        self.states[table] = self.game.play(self.game.initial_state(), *map(int, game.actions))
        for player in self.players:
            player.load_games(place, self.states[place], game.actions.astype(np.int64))
        outcome = self.game.outcome(self.states[table])
        if outcome == ONGOING:
            self._ask(place)
        else:
            self._finished.append(_FinishedGame(table, outcome))

    def step(self) -> list[GameRecord]:
        """Turn the wheel once; return the games that ended."""
        for index, player in enumerate(self.players):
            decisions = player.take_decisions()
            if len(decisions.tables):
                self.play(decisions)
            for forfeit in player.forfeits():
                self._end_early(index, forfeit)
        records = []
        finished, self._finished = self._finished, []
        for ending in finished:
            records.append(self.record(*ending))
            self._begin_next(ending.table)
        for player in self.players:
            player.step()
        return records

    def play(self, decisions: Decisions) -> None:
        """Make moves, tell every player of them, and ask for the next ones; or resign.

        Raises:
            GameError: when a game does not count its moves, or goes on after `max_moves`.
        """
        tables, actions = decisions.tables, decisions.actions
        given_up = self._may_resign[tables] & (decisions.prospects < self.resign_below)
        outcomes = np.where(given_up, RESIGNED, ONGOING)
        _play_all(self.game.rules, self.states, self._notes, decisions, outcomes)
        if (outcomes == MISCOUNTED).any():
            raise self._miscounted()
        for index in np.flatnonzero(outcomes != ONGOING):
            table, outcome = int(tables[index]), int(outcomes[index])
            resigned = outcome == RESIGNED
            if resigned:
                # The outcome whose value for the player to move is -1: `value_of` undoes itself.
                outcome = value_of(-1, int(self.states[table, PLY]) % 2)
            self._finished.append(_FinishedGame(table, outcome, resigned))
        played = outcomes != RESIGNED
        tables, actions, outcomes = tables[played], actions[played], outcomes[played]
        self.moves_made += len(tables)
        for player in self.players:
            player.advance(tables, actions)
        self._ask(tables[outcomes == ONGOING])

    def record(
        self, table: int, outcome: int = ONGOING, resigned: bool = False, fault: str = ""
    ) -> GameRecord:
        """Return the game on `table` so far."""
        pairing = self._pairings[table]
        assert pairing is not None, f"no game on table {table}"
        length = int(self.states[table, PLY])
        return GameRecord(
            pairing,
            self._notes.actions[table, :length].copy(),
            self._notes.policies[table, :length].copy(),
            self._notes.values[table, :length].copy(),
            self._notes.surprises[table, :length].copy(),
            self._notes.prospects[table, :length].copy(),
            outcome,
            resigned,
            fault,
        )

    def _miscounted(self) -> GameError:
        name = write_game(self.game)
        return GameError(
            f"a game of {name} goes on after max_moves, {self.game.max_moves}, or does not count "
            f"its moves; `alphazero check {name}` shows where"
        )

    def _end_early(self, index: int, forfeit: Forfeit) -> None:
        """End a game that player `index` gives up, unless it is over already."""
        table, fault = forfeit
        if self._pairings[table] is None or table in {ending.table for ending in self._finished}:
            return
        seats = self._seats[table].tolist()
        loser = seats.index(index)
        if seats[0] == seats[1]:
            loser = int(self.states[table, PLY]) % 2
        lost = value_of(-1, loser)
        self._finished.append(_FinishedGame(table, lost, resigned=not fault, fault=fault))
        # The others may be thinking about this game: what they were asked is void.
        for player in self.players:
            if player is not self.players[index]:
                player.reset(np.array([table]), self.game.initial_state()[None])

    def _ask(self, tables: Slots) -> None:
        """Ask whoever is to move on `num_games` [n]."""
        to_move = self._seats[tables, self.states[tables, PLY] % 2]
        for index, player in enumerate(self.players):
            asked = tables[to_move == index]
            if len(asked):
                player.begin_moves(asked)

    def _begin_next(self, table: int) -> None:
        """Begin the schedule's next game on `table`, or leave the table free."""
        pairing = self._pairings[table] = next(self.schedule, None)
        if pairing is not None:
            self.load(table, GameRecord.opening(self.game, pairing))


def play_schedule(
    game: Game,
    seat_players: Callable[[int], Sequence[Player]],
    schedule: Sequence[Pairing],
    tables: int,
    workers: int = 1,
    show: Callable[[int], object] = bool,
) -> list[GameRecord]:
    """Play every game of a schedule at `num_games` tables, at least one a worker, on `workers`
    cores.

    `seat_players` makes the players for so many tables, for one worker after the other. `show` is
    called with the number of games that ended. The records' order is the same every time.
    """
    progress = Progress(show)
    parts = [schedule[worker::workers] for worker in range(workers)]

    def play_part(match: Match) -> list[GameRecord]:
        records = []
        try:
            match.start_games()
            while match.playing:
                ended = match.step()
                records += ended
                progress.advance(len(ended))
        finally:
            for player in match.players:
                player.close()
        return records

    jobs = []
    for part in parts:
        if part:
            places = min(len(part), max(1, tables // workers))
            match = Match(game, seat_players(places), places, iter(part))
            jobs.append(functools.partial(play_part, match))
    return [record for part in run_jobs(jobs, progress) for record in part] if jobs else []


def player_factory(
    game: "Game", players: Sequence[PlayerSpec], rng: np.random.Generator
) -> "Callable[[int], list[Player]]":
    """Return what seats `players` at so many tables, each time with random numbers of their own."""

    def seat_players(tables: int) -> "list[Player]":
        return [player.create(game, tables, rng.spawn(1)[0]) for player in players]

    return seat_players


def parallel_games_for(players: Sequence[PlayerSpec], workers: int) -> int:
    """Return how many games at once suit the players: one a core where the clock decides."""
    return workers if any(player.is_timed for player in players) else DEFAULT_PARALLEL_GAMES
