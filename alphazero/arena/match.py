"""Plays many games in parallel between one or two players.

`Match.step` applies the finished moves, replaces finished games and lets every player search. Used
by self-play, the gate, tournaments and the front ends.

Letters: G games in parallel, n some of them, A actions, S state size. `slots` are game indices.
"""

import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import types

from alphazero.errors import GameError
from alphazero.games.compiled_rules import RulesType
from alphazero.games.game import ONGOING, OUTCOME, PLY, Game, State, value_of
from alphazero.games.registry import write_game
from alphazero.players.base import Decisions, DecisionsType, Forfeit, Player
from alphazero.records.game_record import NEVER_RESIGN, RESIGNED, GameRecord, Pairing, Policies
from alphazero.utils.arrays import BoolArray, Float32Array, Int32Array, Int64Array
from alphazero.utils.jit import kernel
from alphazero.utils.jobs import JobProgress, run_jobs
from alphazero.utils.progress import Progress, do_nothing, no_progress

DEFAULT_PARALLEL_GAMES = 256
"""Default number of parallel games: two players fill batches of 48 on each of two cores."""

slots_type = types.int64[::1]


class MoveData(NamedTuple):
    """The moves of G games of at most T moves; their policies have room for M shares a game."""

    actions: Int32Array
    """[G, T]"""
    values: Float32Array
    """[G, T]"""
    best_values: Float32Array
    """[G, T]"""
    counts: Int32Array
    """[G, T] moves with a share in the policy, as in `Policies`"""
    policy_actions: Int32Array
    """[G, M]"""
    policy_shares: Float32Array
    """[G, M]"""
    used: Int64Array
    """[G] shares of the game so far"""


_integers, _numbers = types.int32[:, ::1], types.float32[:, ::1]
_MoveDataType = types.NamedTuple(
    [_integers, _numbers, _numbers, _integers, _integers, _numbers, slots_type], MoveData
)


@kernel(
    types.int64(
        RulesType,
        types.int64[:, ::1],
        _MoveDataType,
        DecisionsType,
        types.boolean[::1],
        types.float32,
        slots_type,
    )
)
def _play_all(
    rules: Any,
    states: State,
    move_data: MoveData,
    decisions: Decisions,
    may_resign: BoolArray,
    resign_below: float,
    outcomes: Int64Array,
) -> int:
    """Record `decisions` [n], play them on `states` [G, S] and write `outcomes` [n].

    A move of a player who resigns is recorded but not played. Returns how many games ended, or -1
    if one is miscounted.
    """
    length, ended = move_data.actions.shape[1], 0
    for index in range(len(decisions.slots)):
        slot, action = decisions.slots[index], decisions.actions[index]
        ply = states[slot, PLY]
        if not 0 <= ply < length:
            return -1
        move_data.actions[slot, ply] = action
        used = first = move_data.used[slot]
        for place in range(decisions.policy_shares.shape[1]):
            if decisions.policy_shares[index, place] != 0:
                move_data.policy_actions[slot, used] = decisions.policy_actions[index, place]
                move_data.policy_shares[slot, used] = decisions.policy_shares[index, place]
                used += 1
        move_data.used[slot] = used
        move_data.counts[slot, ply] = used - first
        move_data.values[slot, ply] = decisions.values[index]
        best_value = decisions.best_values[index % len(decisions.best_values)]
        move_data.best_values[slot, ply] = best_value
        outcomes[index] = RESIGNED
        if not (may_resign[slot] and best_value < resign_below):
            rules.functions.play(states[slot], action)
            outcomes[index] = states[slot, OUTCOME]
            if states[slot, PLY] != ply + 1:
                return -1
        ended += outcomes[index] != ONGOING
    return ended


class _FinishedGame(NamedTuple):
    slot: int
    outcome: int
    resigned: bool = False
    forfeit_reason: str = ""


@dataclass
class Match:
    """Plays the games of `schedule`, in order, in `num_games` parallel games.

    If the pairing allows it, a best value below `resign_below` makes a player resign, not move.
    """

    game: Game
    players: Sequence[Player]
    num_games: int
    schedule: Iterator[Pairing]
    resign_below: float = NEVER_RESIGN
    states: State = field(init=False)
    """[G, S] current positions"""

    def __post_init__(self) -> None:
        game, length = self.game, self.game.max_moves
        self.states = np.tile(game.initial_state(), (self.num_games, 1))
        self._pairings: list[Pairing | None] = [None] * self.num_games
        self._player_indices = np.zeros((self.num_games, 2), np.int64)
        moves, room = (self.num_games, length), (self.num_games, 4 * game.most_legal)
        self._move_data = MoveData(
            np.zeros(moves, np.int32),
            np.zeros(moves, np.float32),
            np.zeros(moves, np.float32),
            np.zeros(moves, np.int32),
            np.zeros(room, np.int32),
            np.zeros(room, np.float32),
            np.zeros(self.num_games, np.int64),
        )
        self._may_resign = np.zeros(self.num_games, np.bool_)
        self._finished: list[_FinishedGame] = []
        self.moves_made = 0

    @property
    def playing(self) -> list[int]:
        """Indices of the games in progress."""
        return [slot for slot, pairing in enumerate(self._pairings) if pairing is not None]

    def start_games(self) -> None:
        """Start a game at every free index, while the schedule lasts."""
        self._begin_next([slot for slot, pairing in enumerate(self._pairings) if pairing is None])

    def load(self, games: Mapping[int, GameRecord]) -> None:
        """Load games in progress at their indices, replacing the games there.

        Raises:
            GameError: when one is longer than the game's `max_moves`.
        """
        for slot, game in games.items():
            length = len(game.actions)
            if length > self.game.max_moves:
                raise self._miscounted()
            self._pairings[slot] = game.pairing
            self._player_indices[slot] = game.pairing.players
            self._may_resign[slot] = game.pairing.may_resign
            policies, size = game.policies, len(game.policies.shares)
            self._move_data.used[slot] = size
            self._make_room()
            data = self._move_data
            data.actions[slot, :length], data.values[slot, :length] = game.actions, game.values
            data.best_values[slot, :length] = game.best_values
            data.counts[slot, :length] = policies.counts
            data.policy_actions[slot, :size] = policies.actions
            data.policy_shares[slot, :size] = policies.shares
            first = game.variant(self.game).initial_state()
            self.states[slot] = self.game.play(first, *map(int, game.actions))
        slots = np.array([*games], np.int64)
        lines = [game.actions.astype(np.int64) for game in games.values()]
        for player in self.players:
            player.load_games(slots, self.states[slots], lines)
        outcomes = self.states[slots, OUTCOME]
        for slot, outcome in zip(slots.tolist(), outcomes.tolist(), strict=True):
            if outcome != ONGOING:
                self._finished.append(_FinishedGame(slot, outcome))
        self._request_moves(slots[outcomes == ONGOING])

    def step(self) -> list[GameRecord]:
        """Advance all games and searches once; return the games that ended."""
        for index, player in enumerate(self.players):
            decisions = player.take_decisions()
            if len(decisions.slots):
                self.play(decisions)
            for forfeit in player.forfeits():
                self._end_early(index, forfeit)
        finished, self._finished = self._finished, []
        records = [self.record(*ending) for ending in finished]
        self._begin_next([ending.slot for ending in finished])
        for player in self.players:
            player.step()
        return records

    def play(self, decisions: Decisions) -> None:
        """Apply moves or resignations, report them to every player, and request the next moves.

        Raises:
            GameError: when a game does not count its moves, or exceeds `max_moves`.
        """
        slots, actions = decisions.slots, decisions.actions
        outcomes = np.empty(len(slots), np.int64)
        self._make_room()
        ended = _play_all(
            self.game.rules,
            self.states,
            self._move_data,
            decisions,
            self._may_resign,
            self.resign_below,
            outcomes,
        )
        if ended < 0:
            raise self._miscounted()
        going_on = slots
        if ended:
            for index in np.flatnonzero(outcomes != ONGOING):
                slot, outcome = int(slots[index]), int(outcomes[index])
                resigned = outcome == RESIGNED
                if resigned:
                    outcome = value_of(
                        -1, int(self.states[slot, PLY]) % 2
                    )  # `value_of` is its own inverse
                self._finished.append(_FinishedGame(slot, outcome, resigned))
            played = outcomes != RESIGNED
            going_on = slots[outcomes == ONGOING]
            slots, actions = slots[played], actions[played]
        self.moves_made += len(slots)
        for player in self.players:
            player.advance(slots, actions)
        self._request_moves(going_on)

    def record(
        self, slot: int, outcome: int = ONGOING, resigned: bool = False, forfeit_reason: str = ""
    ) -> GameRecord:
        pairing = self._pairings[slot]
        assert pairing is not None, f"no game in slot {slot}"
        length, data = int(self.states[slot, PLY]), self._move_data
        counts = data.counts[slot, :length].copy()
        size = counts.sum()
        return GameRecord(
            pairing,
            data.actions[slot, :length].copy(),
            Policies(
                counts,
                data.policy_actions[slot, :size].copy(),
                data.policy_shares[slot, :size].copy(),
            ),
            data.values[slot, :length].copy(),
            data.best_values[slot, :length].copy(),
            outcome,
            resigned,
            forfeit_reason,
        )

    def _make_room(self) -> None:
        """Let every game have room for the shares of one more move."""
        room, needed = self._move_data.policy_shares.shape[1], self._move_data.used.max()
        if needed + self.game.most_legal > room:
            widths = (0, 0), (0, int(needed) + self.game.most_legal)
            self._move_data = self._move_data._replace(
                policy_actions=np.pad(self._move_data.policy_actions, widths),
                policy_shares=np.pad(self._move_data.policy_shares, widths),
            )

    def _miscounted(self) -> GameError:
        name = write_game(self.game)
        return GameError(
            f"a game of {name} goes on after max_moves, {self.game.max_moves}, or does not count "
            f"its moves; `alphazero check {name}` shows where"
        )

    def _end_early(self, index: int, forfeit: Forfeit) -> None:
        """End a game that player `index` forfeits, unless it is over already."""
        slot, reason = forfeit
        if self._pairings[slot] is None or slot in {ending.slot for ending in self._finished}:
            return
        players = self._player_indices[slot].tolist()
        loser = players.index(index)
        if players[0] == players[1]:
            loser = int(self.states[slot, PLY]) % 2
        self._finished.append(_FinishedGame(slot, value_of(-1, loser), not reason, reason))
        # Drop move requests of this game at the other players.
        for player in self.players:
            if player is not self.players[index]:
                player.reset(np.array([slot]), self.game.initial_state()[None])

    def _request_moves(self, slots: Int64Array) -> None:
        if len(self.players) == 1:
            if len(slots):
                self.players[0].begin_moves(slots)
            return
        to_move = self._player_indices[slots, self.states[slots, PLY] % 2]
        for index, player in enumerate(self.players):
            own = slots[to_move == index]
            if len(own):
                player.begin_moves(own)

    def _begin_next(self, slots: Sequence[int]) -> None:
        """Start the schedule's next games at indices `slots`, or leave these free."""
        begun = {}
        for slot in slots:
            pairing = self._pairings[slot] = next(self.schedule, None)
            if pairing is not None:
                begun[slot] = GameRecord.opening(pairing)
        if begun:
            self.load(begun)


def play_schedule(
    game: Game,
    make_players: Callable[[int], Sequence[Player]],
    schedule: Sequence[Pairing],
    parallel_games: int,
    workers: int = 1,
    show: Progress = no_progress,
    keep: Callable[[list[GameRecord]], object] = do_nothing,
) -> list[GameRecord]:
    """Play a schedule on `workers` cores, about `parallel_games` at once, at least one a worker.

    `make_players(n)` creates the players for n games, for one worker after the other. `show`
    receives the number of games that just ended, and `keep` the games, one call at a time. The
    records come in a deterministic order.
    """
    progress, lock = JobProgress(show), threading.Lock()
    parts = [schedule[worker::workers] for worker in range(workers)]

    def play_part(match: Match) -> list[GameRecord]:
        records = []
        try:
            match.start_games()
            while match.playing:
                ended = match.step()
                records += ended
                if ended:
                    with lock:
                        keep(ended)
                progress.advance(len(ended))
        finally:
            for player in match.players:
                player.close()
        return records

    jobs = []
    for part in parts:
        if part:
            num_games = min(len(part), max(1, parallel_games // workers))
            match = Match(game, make_players(num_games), num_games, iter(part))
            jobs.append(functools.partial(play_part, match))
    return [record for part in run_jobs(jobs, progress) for record in part] if jobs else []
