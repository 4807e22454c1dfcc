"""Plays many games in parallel between one or two players.

`Match.step` applies the finished moves, replaces finished games and lets every player search. Used
by self-play, the gate, tournaments and the front ends.

Letters: G games in parallel, n some of them, S state size. `slots` are game indices.
"""

import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types

from alphazero.errors import GameError
from alphazero.games.compiled_rules import RulesType
from alphazero.games.game import ONGOING, OUTCOME, PLY, Game, State, value_of
from alphazero.games.registry import write_game
from alphazero.mcts.kernels.moves import (
    MISCOUNTED,
    RESIGNED,
    Games,
    GamesType,
    new_games,
    play_move,
)
from alphazero.players.base import Decisions, DecisionsType, Forfeit, Player
from alphazero.players.search_player import SearchPlayer
from alphazero.records.game_record import NEVER_RESIGN, GameRecord, Pairing, Policies
from alphazero.utils.arrays import Int32Array, Int64Array
from alphazero.utils.jit import kernel
from alphazero.utils.jobs import JobProgress, run_jobs
from alphazero.utils.progress import Progress, do_nothing, no_progress

DEFAULT_PARALLEL_GAMES = 256
"""Default number of parallel games: two players fill batches of 48 on each of two cores."""


@kernel(types.int64(RulesType, GamesType, DecisionsType, types.int64[::1]))
def _play_all(rules: Any, games: Games, decisions: Decisions, outcomes: Int64Array) -> int:
    """Record `decisions` [n], play them and write `outcomes` [n]; return how many games ended."""
    ended = 0
    for index in range(len(decisions.slots)):
        outcomes[index] = play_move(
            rules.functions,
            games,
            decisions.slots[index],
            decisions.actions[index],
            decisions.values[index],
            decisions.best_values[index % len(decisions.best_values)],
            decisions.policy_actions[index],
            decisions.policy_shares[index],
            True,
        )
        ended += outcomes[index] != ONGOING
    return ended


class _Ending(NamedTuple):
    """How a game ended, as in `GameRecord`."""

    outcome: int = ONGOING
    resigned: bool = False
    forfeit_reason: str = ""


@dataclass
class Match:
    """Plays the games of `schedule`, in order, in `num_games` parallel games."""

    game: Game
    players: Sequence[Player]
    num_games: int
    schedule: Iterator[Pairing]

    def __post_init__(self) -> None:
        self._first_state = self.game.initial_state()
        states = np.tile(self._first_state, (self.num_games, 1))
        self._games = new_games(states, self.game.max_moves, self.game.most_legal)
        self._pairings: list[Pairing | None] = [None] * self.num_games
        self._ended: dict[int, GameRecord] = {}
        """games at whose index the next one has not begun"""
        self.set_resignation(NEVER_RESIGN)
        self._let_searches_move()

    @property
    def states(self) -> State:
        """[G, S] current positions."""
        return self._games.states

    @property
    def moves_made(self) -> int:
        return int(self._games.played[0])

    def set_resignation(self, threshold: float) -> None:
        """From now on players who may resign do so when their best value is below `threshold`."""
        self._games.resign_below[0] = threshold

    @property
    def playing(self) -> list[int]:
        """Indices of the games in progress."""
        return [slot for slot, pairing in enumerate(self._pairings) if pairing is not None]

    def start_games(self) -> None:
        """Start a game at every free index, while the schedule lasts."""
        self._begin_next([slot for slot, pairing in enumerate(self._pairings) if pairing is None])

    def load(self, games: Mapping[int, GameRecord]) -> None:
        """Load games in progress at their indices, replacing the games there.

        Raises GameError when one is longer than the game's `max_moves`, or has an illegal
        move.
        """
        self._begin({slot: (game.pairing, game.actions) for slot, game in games.items()})
        for slot, game in games.items():
            policies, data = game.policies, self._games
            length, size = len(game.actions), len(policies.shares)
            data.used[slot] = size
            data.values[slot, :length] = game.values
            data.best_values[slot, :length] = game.best_values
            data.counts[slot, :length] = policies.counts
            data.policy_actions[slot, :size] = policies.actions
            data.policy_shares[slot, :size] = policies.shares

    def step(self) -> list[GameRecord]:
        """Advance all games and searches once; return the games that ended, each once.

        Where no move needs Python, ended games are returned, and others begun, many at once, which
        takes a fraction of the time. Raises GameError when a game does not count its moves, or
        exceeds `max_moves`.
        """
        if self._searches:
            active = [search.active for search in self._searches]
            # The one with most to do searches, so that its batches are full.
            self.players[active.index(max(active))].step()
            going_on = sum(search.active for search in self._searches)
            is_full = going_on > self.num_games - self._spare_games // 2
            return [] if is_full else self._take_records()
        for index, player in enumerate(self.players):
            decisions = player.take_decisions()
            if len(decisions.slots):
                self.play(decisions)
            for forfeit in player.forfeits():
                self._end_early(index, forfeit)
        records = self._take_records()
        for player in self.players:
            player.step()
        return records + self._take_records()

    def _take_records(self) -> list[GameRecord]:
        """Return the games that have ended, each once, and start the next ones in their place."""
        outcomes = self._games.outcomes
        slots = np.flatnonzero(outcomes != ONGOING)
        for slot, outcome in zip(slots.tolist(), outcomes[slots].tolist(), strict=True):
            if outcome == MISCOUNTED:
                raise self._miscounted()
            ending = _Ending(outcome)
            if outcome == RESIGNED:  # `value_of` is its own inverse
                ending = _Ending(value_of(-1, int(self.states[slot, PLY]) % 2), resigned=True)
            self._ended[slot] = self._record(slot, ending)
        outcomes[:] = ONGOING
        ended, self._ended = self._ended, {}
        self._begin_next([*ended])
        return [*ended.values()]

    def _let_searches_move(self) -> None:
        """Let the players' searches play their moves themselves, if they can."""
        compiled = [p.compiled for p in self.players if isinstance(p, SearchPlayer)]
        searches = [search for search in compiled if search is not None]
        self._searches = searches if len(self.players) == len(searches) <= 2 else []
        for number, search in enumerate(searches):
            if self._searches:
                search.move_on(self._games, [search.side for search in searches], number)
            else:
                search.play_in_python()
        self._spare_games = max(self.num_games - sum(search.rows for search in searches), 0)
        """games for which a batch has no row: so many may have ended while it is full"""

    def play(self, decisions: Decisions) -> None:
        """Apply moves or resignations, report them to every player, and request the next moves."""
        slots, actions = decisions.slots, decisions.actions
        outcomes = np.empty(len(slots), np.int64)
        going_on = slots
        if _play_all(self.game.rules, self._games, decisions, outcomes):
            self._games.outcomes[slots] = outcomes
            played, going_on = outcomes != RESIGNED, slots[outcomes == ONGOING]
            slots, actions = slots[played], actions[played]
        for player in self.players:
            player.advance(slots, actions)
        self._request_moves(going_on)

    def record(self, slot: int) -> GameRecord:
        """Return the game at an index, as far as it is played; raise GameError as `step`."""
        if self._games.outcomes[slot] == MISCOUNTED:
            raise self._miscounted()
        return self._record(slot, _Ending())

    def _record(self, slot: int, ending: _Ending) -> GameRecord:
        """Return a copy of the game at an index; a move at which a player resigned is left out."""
        games, pairing = self._games, self._pairings[slot]
        assert pairing is not None, f"no game in slot {slot}"
        played = slice(int(games.states[slot, PLY]))
        counts = games.counts[slot, played].copy()
        used = slice(int(counts.sum()))
        moves, shares = games.policy_actions[slot, used], games.policy_shares[slot, used]
        return GameRecord(
            pairing,
            games.actions[slot, played].copy(),
            Policies(counts, moves.copy(), shares.copy()),
            games.values[slot, played].copy(),
            games.best_values[slot, played].copy(),
            *ending,
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
        is_over = slot in self._ended or self._games.outcomes[slot] != ONGOING
        if self._pairings[slot] is None or is_over:
            return
        players = self._games.players[slot].tolist()
        loser = players.index(index)
        if players[0] == players[1]:
            loser = int(self.states[slot, PLY]) % 2
        ending = _Ending(value_of(-1, loser), not reason, reason)
        self._ended[slot] = self._record(slot, ending)
        # Drop move requests of this game at the other players.
        for player in self.players:
            if player is not self.players[index]:
                player.reset(np.array([slot]), self.game.initial_state()[None])

    def _request_moves(self, slots: Int64Array) -> None:
        if len(self.players) == 1:
            if len(slots):
                self.players[0].begin_moves(slots)
            return
        to_move = self._games.players[slots, self.states[slots, PLY] % 2]
        for index, player in enumerate(self.players):
            own = slots[to_move == index]
            if len(own):
                player.begin_moves(own)

    def _begin_next(self, slots: Sequence[int]) -> None:
        """Start the schedule's next games at indices `slots`, or leave these free."""
        openings = {}
        for slot in slots:
            self._pairings[slot] = None
            if pairing := next(self.schedule, None):
                openings[slot] = pairing, pairing.opening
        if openings:
            self._begin(openings)

    def _begin(self, openings: Mapping[int, tuple[Pairing, Sequence[int] | Int32Array]]) -> None:
        """Begin games at their indices, each with moves that are not searched.

        Raises GameError as `load`.
        """
        games, slots = self._games, np.array([*openings])
        pairings, lines = zip(*openings.values(), strict=True)
        if max(map(len, lines)) > self.game.max_moves:
            raise self._miscounted()
        moves = [np.array(line, np.int64) for line in lines]
        for slot, pairing, line in zip(openings, pairings, moves, strict=True):
            self._pairings[slot] = pairing
            state = self._first_state
            if pairing.options:
                state = self.game.variant(pairing.options).initial_state()
            try:
                games.states[slot] = self.game.play(state, *line.tolist())
            except GameError as error:
                reason = "has a move that is not legal"
                raise GameError(f"the game at index {slot} {reason}") from error
            games.actions[slot, : len(line)] = line
            for numbers in (games.counts, games.values, games.best_values):
                numbers[slot, : len(line)] = 0
        games.players[slots] = [pairing.players for pairing in pairings]
        games.may_resign[slots] = [pairing.may_resign for pairing in pairings]
        games.used[slots] = 0
        games.outcomes[slots] = games.states[slots, OUTCOME]
        for player in self.players:
            player.load_games(slots, games.states[slots], moves)
        self._request_moves(slots[games.outcomes[slots] == ONGOING])


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
