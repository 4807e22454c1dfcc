"""Parallel games between players.

Letters: A actions, S state size, R rows of a batch.
"""

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR_4X5X3, TIC_TAC_TOE
from helpers.matches import as_text, play_all
from helpers.players import ScriptedPlayer, first_legal
from helpers.searches import HashedEvaluator
from helpers.settings import search_config

from alphazero.arena.match import Match, play_schedule
from alphazero.arena.openings import paired_openings, random_opening
from alphazero.errors import GameError
from alphazero.games import ONGOING, Game, State, make_game
from alphazero.games.compiled_rules import Signature
from alphazero.games.game import PLY
from alphazero.games.line_games import place_stone
from alphazero.games.mnk import Mnk
from alphazero.mcts.kernels.root import Exploration
from alphazero.mcts.network_search import NetworkSearch
from alphazero.players import search_player as player_module
from alphazero.players.base import Forfeit, Player
from alphazero.players.search_player import SearchPlayer
from alphazero.players.sequential_player import RandomPlayer
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.utils.jit import kernel

GO_5X5 = make_game("go", rows=5, columns=5)


def last_legal(state: State) -> int:
    return int(np.flatnonzero(TIC_TAC_TOE.legal_action_mask(state))[-1])


def searchers(num_games: int, **options: object) -> list[Player]:
    """Two different deterministic players."""
    game, settings = CONNECT_FOUR_4X5X3, search_config(simulations=12, **options)
    return [
        SearchPlayer(NetworkSearch(game, HashedEvaluator(game, seed), settings, slots=num_games))
        for seed in (1, 2)
    ]


def texts(records: list[GameRecord]) -> list[str]:
    """The contents of records, in an order that does not depend on that of the games."""
    return sorted(repr(as_text(record)) for record in records)


# The loop


def test_the_players_of_a_pairing_say_who_moves_first():
    schedule = [Pairing((0, 1)), Pairing((1, 0)), Pairing((0, 0)), Pairing((1, 1))]
    players = [ScriptedPlayer(TIC_TAC_TOE, 4, rule) for rule in (first_legal, last_legal)]
    records = play_all(Match(TIC_TAC_TOE, players, 4, iter(schedule)))
    games = {record.pairing.players: record.actions.tolist() for record in records}
    assert games[0, 1] == [0, 8, 1, 7, 2]  # X: a3 b3 c3, the top row; O: c1 b1
    assert games[1, 0] == [8, 0, 7, 1, 6]
    assert games[0, 0] == [0, 1, 2, 3, 4, 5, 6]
    assert games[1, 1] == [8, 7, 6, 5, 4, 3, 2]


def test_rows_of_the_opening_are_zero_and_the_others_belong_to_their_ply():
    opening = (4, 0, 8)
    players = [ScriptedPlayer(TIC_TAC_TOE, 1, rule) for rule in (first_legal, last_legal)]
    (record,) = play_all(Match(TIC_TAC_TOE, players, 1, iter([Pairing((0, 1), opening)])))
    # X . .      O holds a3; O plays the last free cell, X the first.
    assert record.actions.tolist() == [4, 0, 8, 7, 1, 6, 2, 5, 3]
    assert record.moves(TIC_TAC_TOE)[:4] == ["b2", "a3", "c1", "b1"]
    assert record.outcome == 0
    assert not record.policies.searched[:3].any()
    assert not record.values[:3].any()
    assert np.array_equal(record.policies.dense(9)[3:].argmax(axis=1), record.actions[3:])
    assert record.values[3:].tolist() == pytest.approx([ply / 100 for ply in range(3, 9)])


def test_each_step_evaluates_what_each_game_would_alone_without_a_gap_between_games(monkeypatch):
    monkeypatch.setattr(player_module, "BATCHES_PER_STEP", 1)

    def rows_of(num_games: int, schedule: Sequence[Pairing]) -> list[int]:
        """How many positions each step evaluates."""
        evaluator = HashedEvaluator(CONNECT_FOUR_4X5X3)
        settings = search_config(simulations=9, evaluation_cache_mib=0)
        player = SearchPlayer(
            NetworkSearch(CONNECT_FOUR_4X5X3, evaluator, settings, slots=num_games)
        )
        match = Match(CONNECT_FOUR_4X5X3, [player], num_games, iter(schedule))
        match.start_games()
        rows = []
        while match.playing:
            before = sum(evaluator.rows)
            match.step()
            rows.append(sum(evaluator.rows) - before)
        return rows

    rng = np.random.default_rng(0)
    schedule = [
        Pairing((0, 0), random_opening(CONNECT_FOUR_4X5X3, game % 5, rng)) for game in range(20)
    ]
    alone = [rows_of(1, [pairing]) for pairing in schedule]
    rows_by_slot: list[list[int]] = [[] for _ in range(6)]
    for rows in alone:
        min(rows_by_slot, key=len).extend(rows)
    expected = [sum(step) for step in itertools.zip_longest(*rows_by_slot, fillvalue=0)]
    assert rows_of(6, schedule)[: len(expected)] == expected
    full = min(map(len, rows_by_slot))
    assert np.mean(expected[:full]) > 0.95 * 6


class PlayedInPython(SearchPlayer):
    """A player whose every move is taken and played by Python."""

    compiled = None


NOISY = Exploration(0.25, 0.5, 4, 1.0, 0.2, 0.4, 5)


@pytest.mark.parametrize(
    ("game", "options", "exploration"),
    [
        (TIC_TAC_TOE, {"mcts_solver": True}, NOISY),
        (CONNECT_FOUR_4X5X3, {}, NOISY),
        (CONNECT_FOUR_4X5X3, {"selection": "gumbel"}, NOISY._replace(temperature=0.0)),
        (CONNECT_FOUR_4X5X3, {"selection": "gumbel_root", "mcts_solver": True}, NOISY),
        (CONNECT_FOUR_4X5X3, {"transpositions": "always", "reuse_tree": False}, NOISY),
        (GO_5X5, {}, NOISY),
        (CONNECT_FOUR_4X5X3, {"mcts_solver": True}, None),
    ],
    ids=str,
)
@pytest.mark.parametrize("sides", [1, 2])
def test_searches_that_move_games_on_play_them_as_python_does_move_by_move(
    game: Game, options: dict[str, object], exploration: Exploration | None, sides: int
):
    rng = np.random.default_rng(5)
    schedule = [
        Pairing((0, sides - 1) if number % 2 else (sides - 1, 0), opening, number, number % 3 > 0)
        for number, opening in enumerate(random_opening(game, n % 4, rng) for n in range(24))
    ]

    def play(kind: type[SearchPlayer]) -> dict[int, tuple[object, ...]]:
        players = [
            kind(
                NetworkSearch(
                    game,
                    HashedEvaluator(game, side),
                    search_config(simulations=16 + 4 * side, **options),
                    slots=24,
                    rows=20,
                    exploration=exploration,
                    rng=np.random.default_rng(side),
                )
            )
            for side in range(sides)
        ]
        match = Match(game, players, 24, iter(schedule))
        match.set_resignation(-0.4)
        records = play_all(match)
        moves = [len(record.actions) - len(record.pairing.opening) for record in records]
        assert match.moves_made == sum(moves)
        return {record.pairing.pair_id: as_text(record) for record in records}

    games = play(SearchPlayer)
    assert games == play(PlayedInPython)
    assert len({str(record) for record in games.values()}) > 8


@pytest.mark.parametrize("num_games", [2, 7, 300])
def test_games_do_not_depend_on_the_number_of_parallel_games(num_games: int):
    rng = np.random.default_rng(3)
    schedule = paired_openings(CONNECT_FOUR_4X5X3, 40, 3, rng)

    def play(num_games: int) -> list[str]:
        players = searchers(num_games)
        return texts(play_all(Match(CONNECT_FOUR_4X5X3, players, num_games, iter(schedule))))

    assert play(num_games) == play(1)


def test_a_resumed_game_goes_on_as_if_it_had_not_been_interrupted(monkeypatch):
    monkeypatch.setattr(player_module, "BATCHES_PER_STEP", 1)

    def make_players() -> list[Player]:
        # Without trees kept between moves a search depends on its position alone.
        return searchers(6, reuse_tree=False)

    schedule = paired_openings(CONNECT_FOUR_4X5X3, 6, 2, np.random.default_rng(1))
    whole = play_all(Match(CONNECT_FOUR_4X5X3, make_players(), 6, iter(schedule)))
    resumed = 0
    for steps in range(0, 90, 7):
        match = Match(CONNECT_FOUR_4X5X3, make_players(), 6, iter(schedule))
        match.start_games()
        records = [record for _ in range(steps) for record in match.step()]
        second = Match(CONNECT_FOUR_4X5X3, make_players(), 6, iter([]))
        for slot, free in enumerate(match.playing):
            second.load({5 - slot: match.record(free)})
        resumed += len(match.playing)
        assert texts(records + play_all(second)) == texts(whole)
    assert resumed > 20


def test_a_game_loaded_over_another_replaces_it_wholly():
    random = RandomPlayer(TIC_TAC_TOE, 1, np.random.default_rng(0))
    scripted = ScriptedPlayer(TIC_TAC_TOE, 1, last_legal)
    match = Match(TIC_TAC_TOE, [random, scripted], 1, iter([Pairing((0, 1))]))
    match.start_games()  # the random player owes a move
    under_way = GameRecord.opening(Pairing((0, 1), (4,)))
    match.load({0: under_way})  # and now it is the other's turn
    match.step()
    match.step()
    assert match.record(0).actions[:2].tolist() == [4, 8]


def test_a_player_that_fails_after_the_last_move_forfeits_nothing():
    class Failing(ScriptedPlayer):
        def forfeits(self) -> list[Forfeit]:
            is_over = TIC_TAC_TOE.outcome(self._states[0]) != ONGOING
            return [Forfeit(0, "no answer")] if is_over else []

    players = [Failing(TIC_TAC_TOE, 1, first_legal), ScriptedPlayer(TIC_TAC_TOE, 1, last_legal)]
    schedule = [Pairing((0, 1), pair_id=pair) for pair in range(3)]
    records = play_all(Match(TIC_TAC_TOE, players, 1, iter(schedule)))
    assert [record.pairing.pair_id for record in records] == [0, 1, 2]
    assert not any(record.forfeit_reason for record in records)


def test_a_finished_game_that_is_loaded_ends_at_the_next_step():
    actions = [0, 8, 1, 7, 2]
    finished = GameRecord.opening(Pairing(opening=tuple(actions)))
    match = Match(TIC_TAC_TOE, [ScriptedPlayer(TIC_TAC_TOE, 1, first_legal)], 1, iter([]))
    match.load({0: finished})
    (record,) = match.step()
    assert record.outcome == 1
    assert record.actions.tolist() == actions
    assert match.playing == []


# Openings and schedules


def test_a_schedule_gives_the_same_games_on_one_core_and_on_two_in_a_fixed_order():
    schedule = paired_openings(CONNECT_FOUR_4X5X3, 30, 3, np.random.default_rng(5))
    shown: list[int] = []

    def play(workers: int) -> list[str]:
        records = play_schedule(CONNECT_FOUR_4X5X3, searchers, schedule, 8, workers, shown.append)
        return [repr(as_text(record)) for record in records]

    one, two = play(1), play(2)
    assert Counter(one) == Counter(two)
    assert len(one) == 30
    assert play(1) == one
    assert play(2) == two
    assert sum(shown) == 4 * 30


# The gate


class ShortMnk(Mnk):
    """Tic-tac-toe with too small a `max_moves`."""

    max_moves = 5


@kernel(Signature.play)
def play_uncounted(state: State, action: int) -> None:
    """Put a stone down and count no move."""
    place_stone(state, action, action)
    state[PLY] -= 1


class UncountedMnk(Mnk):
    """Tic-tac-toe in which it is always the first player's turn."""

    rule_functions = Mnk.rule_functions._replace(play=play_uncounted)


@pytest.mark.parametrize("game", [ShortMnk(), UncountedMnk()], ids=lambda game: type(game).__name__)
def test_a_game_that_miscounts_its_moves_is_left_before_anything_is_written_past_its_end(
    game: Game,
):
    player = RandomPlayer(game, 3, np.random.default_rng(0))
    match = Match(game, [player], 3, itertools.repeat(Pairing(), 12))
    with pytest.raises(GameError, match=r"goes on after max_moves, \d, or does not count its move"):
        play_all(match)


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ((0, 1, 2, 4, 3, 6), "goes on after max_moves, 5"),
        ((0, 1, 0), "index 0 has a move that is not legal"),
        ((0, 9), "index 0 has a move that is not legal"),
    ],
)
def test_moves_that_no_game_has_are_not_loaded(moves: tuple[int, ...], message: str):
    game = ShortMnk()
    player = RandomPlayer(game, 1, np.random.default_rng(0))
    match = Match(game, [player], 1, iter(()))
    with pytest.raises(GameError, match=message):
        match.load({0: GameRecord.opening(Pairing(opening=moves))})
