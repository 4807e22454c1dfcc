"""The one loop that plays every game, and self-play and the gate, its guests.

Letters: n tables, A actions, S state size, R rows of a batch.
"""

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from helpers.players import TIC_TAC_TOE, ScriptedPlayer, first_legal

from alphazero.arena.match import Match, play_schedule
from alphazero.arena.openings import paired_openings, random_opening
from alphazero.config.schema import Config, GameConfig, GateConfig, SearchConfig, SelfplayConfig
from alphazero.errors import GameError
from alphazero.games import ONGOING, Game, State, make_game
from alphazero.games.game import PLAY_RULE, PLY
from alphazero.games.line_games import place_stone
from alphazero.games.mnk import Mnk
from alphazero.mcts.evaluator import UniformEvaluator
from alphazero.mcts.network_search import NetworkSearch
from alphazero.mcts.rollout_methods import UNLIMITED
from alphazero.players import search_player as player_module
from alphazero.players.base import Player, RandomPlayer
from alphazero.players.search_player import SearchPlayer
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.training.gate import run_gate
from alphazero.training.selfplay import SelfPlayResult, play_games
from alphazero.utils.arrays import Float32Array, Int64Array
from alphazero.utils.jit import kernel

SMALL_FOUR = make_game("connect_four", rows=4, columns=5, length=3)
TINY_FOUR = make_game("connect_four", rows=2, columns=3, length=3)
LAST_CELLS = """
    X O X
    O O X
    . X .
"""


class HashedEvaluator:
    """Draws logits and a value from each observation alone, and counts the rows it is given."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        shape = math.prod(game.observation_shape), game.num_actions + 1
        self.keys = np.random.default_rng(seed).integers(1, 2**63, shape, dtype=np.uint64)
        self.rows: list[int] = []

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        self.rows.append(len(observations))
        codes = observations.reshape(len(observations), -1).astype(np.uint64) @ self.keys
        codes = (codes ^ (codes >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        numbers = ((codes >> np.uint64(40)) / 2**23 - 1).astype(np.float32)
        return 2 * numbers[:, :-1], numbers[:, -1].copy()


def last_legal(state: State) -> int:
    return int(np.flatnonzero(TIC_TAC_TOE.legal_action_mask(state))[-1])


def play_all(match: Match) -> list[GameRecord]:
    """Play a match to the end of its schedule."""
    match.start_games()
    records = []
    while match.playing:
        records += match.step()
    return records


def as_text(record: GameRecord) -> tuple[object, ...]:
    """Everything a record says, as something to compare."""
    return (
        record.pairing,
        record.actions.tolist(),
        record.policies.tolist(),
        record.values.tolist(),
        record.surprises.tolist(),
        record.prospects.tolist(),
        record.outcome,
        record.resigned,
    )


def searchers(game: Game, tables: int, simulations: int = 12) -> list[Player]:
    """Two different deterministic players."""
    settings = SearchConfig(simulations=simulations)
    return [
        SearchPlayer(NetworkSearch(game, HashedEvaluator(game, seed), settings, slots=tables))
        for seed in (1, 2)
    ]


# The loop


def test_two_scripted_players_play_the_known_game():
    players = [ScriptedPlayer(TIC_TAC_TOE, 1, rule) for rule in (first_legal, last_legal)]
    (record,) = play_all(Match(TIC_TAC_TOE, players, 1, iter([Pairing((0, 1), (), 7)])))
    # X: a3 b3 c3, the top row; O: c1 b1.
    assert record.actions.tolist() == [0, 8, 1, 7, 2]
    assert record.moves(TIC_TAC_TOE) == ["a3", "c1", "b3", "b1", "c3"]
    assert record.outcome == 1
    assert record.pairing.pair_id == 7
    assert np.array_equal(record.policies.argmax(axis=1), record.actions)
    assert record.values.tolist() == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04])


def test_the_seats_say_who_moves_first():
    schedule = [Pairing((0, 1)), Pairing((1, 0)), Pairing((0, 0)), Pairing((1, 1))]
    players = [ScriptedPlayer(TIC_TAC_TOE, 4, rule) for rule in (first_legal, last_legal)]
    records = play_all(Match(TIC_TAC_TOE, players, 4, iter(schedule)))
    games = {record.pairing.players: record.actions.tolist() for record in records}
    assert games[0, 1] == [0, 8, 1, 7, 2]
    assert games[1, 0] == [8, 0, 7, 1, 6]
    assert games[0, 0] == [0, 1, 2, 3, 4, 5, 6]
    assert games[1, 1] == [8, 7, 6, 5, 4, 3, 2]


def test_each_player_is_asked_only_for_the_moves_of_its_colour():
    players = [ScriptedPlayer(TIC_TAC_TOE, 2, rule) for rule in (first_legal, last_legal)]
    play_all(Match(TIC_TAC_TOE, players, 2, iter([Pairing((0, 1))] * 3)))
    assert players[0].asked_to_play == [0] * 9
    assert players[1].asked_to_play == [1] * 6


def test_rows_of_the_opening_are_zero_and_the_others_belong_to_their_ply():
    opening = (4, 0, 8)
    players = [ScriptedPlayer(TIC_TAC_TOE, 1, rule) for rule in (first_legal, last_legal)]
    (record,) = play_all(Match(TIC_TAC_TOE, players, 1, iter([Pairing((0, 1), opening)])))
    # X . .      O holds a3; O plays the last free cell, X the first.
    assert record.actions.tolist() == [4, 0, 8, 7, 1, 6, 2, 5, 3]
    assert record.outcome == 0
    assert not record.policies[:3].any()
    assert not record.values[:3].any()
    assert np.array_equal(record.policies[3:].argmax(axis=1), record.actions[3:])
    assert record.values[3:].tolist() == pytest.approx([ply / 100 for ply in range(3, 9)])


def test_every_table_owes_a_move_at_every_turn_while_the_schedule_lasts():
    tables, games = 5, 23

    def patience(state: State) -> int:
        return 1 + int(state[3:].sum()) % 3

    openings = [
        random_opening(TIC_TAC_TOE, game % 4, np.random.default_rng(game)) for game in range(games)
    ]
    player = ScriptedPlayer(TIC_TAC_TOE, tables, first_legal, patience)
    schedule = iter([Pairing((0, 0), opening) for opening in openings])
    match = Match(TIC_TAC_TOE, [player], tables, schedule)
    match.start_games()
    ended = 0
    while match.playing:
        ended += len(match.step())
        assert player.owed[-1] == len(match.playing) == min(tables, games - ended)
    assert ended == games


def test_each_step_evaluates_what_each_game_would_alone_without_a_gap_between_games(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(player_module, "STEPS_PER_POLL", 1)

    def rows_of(tables: int, schedule: Sequence[Pairing]) -> list[int]:
        """How many positions each step evaluates."""
        evaluator = HashedEvaluator(SMALL_FOUR)
        settings = SearchConfig(simulations=9, evaluation_cache_mib=0)
        player = SearchPlayer(NetworkSearch(SMALL_FOUR, evaluator, settings, slots=tables))
        match = Match(SMALL_FOUR, [player], tables, iter(schedule))
        match.start_games()
        rows = []
        while match.playing:
            before = sum(evaluator.rows)
            match.step()
            rows.append(sum(evaluator.rows) - before)
        return rows

    rng = np.random.default_rng(0)
    schedule = [Pairing((0, 0), random_opening(SMALL_FOUR, game % 5, rng)) for game in range(20)]
    # The first step of a match only lets players think. At its last step a game leaves its table,
    # and the next game's first rows come in that very step.
    alone = [rows_of(1, [pairing])[:-1] for pairing in schedule]
    tables: list[list[int]] = [[] for _ in range(6)]
    for rows in alone:
        min(tables, key=len).extend(rows)
    expected = [sum(step) for step in itertools.zip_longest(*tables, fillvalue=0)]
    assert rows_of(6, schedule)[: len(expected)] == expected
    full = min(map(len, tables))
    assert np.mean(expected[:full]) > 0.95 * 6


@pytest.mark.parametrize("tables", [2, 7, 300])
def test_games_do_not_depend_on_the_number_of_tables(tables: int):
    rng = np.random.default_rng(3)
    schedule = paired_openings(SMALL_FOUR, 40, 3, rng)

    def play(tables: int) -> list[tuple[object, ...]]:
        players = searchers(SMALL_FOUR, tables)
        records = play_all(Match(SMALL_FOUR, players, tables, iter(schedule)))
        return sorted((as_text(record) for record in records), key=repr)

    assert play(tables) == play(1)


def test_hundreds_of_tables_play_the_same_game_as_one():
    pairing = Pairing((0, 1), (2, 2))
    (alone,) = play_all(Match(SMALL_FOUR, searchers(SMALL_FOUR, 1), 1, iter([pairing])))
    players = searchers(SMALL_FOUR, 250)
    records = play_all(Match(SMALL_FOUR, players, 250, iter([pairing] * 400)))
    assert len(records) == 400
    assert {repr(as_text(record)) for record in records} == {repr(as_text(alone))}


def test_a_resumed_game_goes_on_as_if_it_had_not_been_interrupted(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(player_module, "STEPS_PER_POLL", 1)
    # Without trees kept between moves a search depends on its position alone.
    settings = SearchConfig(simulations=12, reuse_tree=False)

    def seat(tables: int) -> list[Player]:
        return [
            SearchPlayer(
                NetworkSearch(SMALL_FOUR, HashedEvaluator(SMALL_FOUR, seed), settings, slots=tables)
            )
            for seed in (1, 2)
        ]

    schedule = paired_openings(SMALL_FOUR, 6, 2, np.random.default_rng(1))
    expected = {
        (record.pairing.pair_id, record.pairing.players): as_text(record)
        for record in play_all(Match(SMALL_FOUR, seat(6), 6, iter(schedule)))
    }
    resumed = 0
    for steps in range(0, 90, 7):
        match = Match(SMALL_FOUR, seat(6), 6, iter(schedule))
        match.start_games()
        records = [record for _ in range(steps) for record in match.step()]
        second = Match(SMALL_FOUR, seat(6), 6, iter([]))
        for table, free in enumerate(match.playing):
            second.load(5 - table, match.record(free))
        resumed += len(match.playing)
        records += play_all(second)
        assert {
            (record.pairing.pair_id, record.pairing.players): as_text(record) for record in records
        } == expected
    assert resumed > 20


def test_a_game_laid_out_over_another_replaces_it_wholly():
    random = RandomPlayer(TIC_TAC_TOE, 1, np.random.default_rng(0))
    scripted = ScriptedPlayer(TIC_TAC_TOE, 1, last_legal)
    match = Match(TIC_TAC_TOE, [random, scripted], 1, iter([Pairing((0, 1))]))
    match.start_games()  # the random player owes a move
    under_way = GameRecord.opening(TIC_TAC_TOE, Pairing((0, 1), (4,)))
    match.load(0, under_way)  # and now it is the other's turn
    match.step()
    match.step()
    assert match.record(0).actions[:2].tolist() == [4, 8]


def test_a_finished_game_that_is_laid_out_ends_at_the_next_step():
    actions = [0, 8, 1, 7, 2]
    finished = GameRecord.opening(TIC_TAC_TOE, Pairing(opening=tuple(actions)))
    match = Match(TIC_TAC_TOE, [ScriptedPlayer(TIC_TAC_TOE, 1, first_legal)], 1, iter([]))
    match.load(0, finished)
    (record,) = match.step()
    assert record.outcome == 1
    assert record.actions.tolist() == actions
    assert match.playing == []


# Openings and schedules


@pytest.mark.parametrize("moves", [0, 1, 4, 7])
def test_paired_openings_are_legal_unfinished_and_played_once_in_each_colour(moves: int):
    rng = np.random.default_rng(moves)
    pairings = paired_openings(TIC_TAC_TOE, 60, moves, rng)
    assert len(pairings) == 60
    for pair in range(30):
        first, second = pairings[2 * pair : 2 * pair + 2]
        assert (first.players, second.players) == ((0, 1), (1, 0))
        assert first.opening == second.opening
        assert first.pair_id == second.pair_id == pair
        state = TIC_TAC_TOE.play(TIC_TAC_TOE.initial_state(), *first.opening)
        assert TIC_TAC_TOE.outcome(state) == ONGOING
        assert len(first.opening) <= moves
    if moves == 4:  # no game of tic-tac-toe ends so soon
        assert {len(pairing.opening) for pairing in pairings} == {4}
        assert len({pairing.opening for pairing in pairings}) > 20


def test_every_opening_of_legal_moves_is_drawn_equally_often():
    rng, draws = np.random.default_rng(3), 6000
    drawn = Counter(random_opening(TINY_FOUR, 4, rng) for _ in range(draws))
    # 2 x 3 cells: a column is full after two stones, so some moves have two legal answers.
    chances = {
        line: math.prod(1 / len({0, 1, 2} - full_before(line, move)) for move in range(4))
        for line in itertools.product(range(3), repeat=4)
        if max(Counter(line).values()) <= 2
    }
    assert sum(chances.values()) == pytest.approx(1)
    assert drawn.keys() == chances.keys()
    squares = sum((drawn[line] - draws * p) ** 2 / (draws * p) for line, p in chances.items())
    assert squares < len(chances) + 4 * math.sqrt(2 * len(chances))


def full_before(line: tuple[int, ...], move: int) -> set[int]:
    """Return the columns that hold two stones before a move of the line."""
    return {column for column, stones in Counter(line[:move]).items() if stones == 2}


def test_an_opening_longer_than_every_game_becomes_shorter():
    line = make_game("mnk", rows=1, columns=2, length=2)
    opening = random_opening(line, 50, np.random.default_rng(0))
    assert opening in {(0,), (1,)}


def test_a_schedule_gives_the_same_games_on_one_core_and_on_two_in_a_fixed_order():
    schedule = paired_openings(SMALL_FOUR, 30, 3, np.random.default_rng(5))
    shown: list[int] = []

    def play(workers: int) -> list[str]:
        records = play_schedule(
            SMALL_FOUR,
            lambda tables: searchers(SMALL_FOUR, tables),
            schedule,
            8,
            workers,
            shown.append,
        )
        return [repr(as_text(record)) for record in records]

    one, two = play(1), play(2)
    assert Counter(one) == Counter(two)
    assert len(one) == 30
    assert play(1) == one
    assert play(2) == two
    assert sum(shown) == 4 * 30


@pytest.mark.parametrize("games", [0, 1, 3])
def test_a_schedule_may_be_shorter_than_the_workers_and_tables_are_many(games: int):
    schedule = [Pairing((0, 1), (), game) for game in range(games)]
    records = play_schedule(
        TIC_TAC_TOE, lambda tables: searchers(TIC_TAC_TOE, tables), schedule, 64, 8
    )
    assert sorted(record.pairing.pair_id for record in records) == list(range(games))


# Players


def test_a_search_that_knows_nothing_never_loses_to_chance_when_it_moves_first():
    settings = SearchConfig(simulations=200)

    def seat(tables: int) -> list[Player]:
        return [
            SearchPlayer(NetworkSearch(TIC_TAC_TOE, UniformEvaluator(9), settings, slots=tables)),
            RandomPlayer(TIC_TAC_TOE, tables, np.random.default_rng(8)),
        ]

    records = play_schedule(TIC_TAC_TOE, seat, [Pairing((0, 1))] * 40, 20)
    outcomes = [record.outcome for record in records]
    assert len(outcomes) == 40
    assert min(outcomes) >= 0
    assert outcomes.count(1) > 30


def test_a_question_to_the_random_player_is_void_when_its_table_begins_anew():
    player, tables = RandomPlayer(TIC_TAC_TOE, 3, np.random.default_rng(0)), np.arange(3)
    states = np.tile(TIC_TAC_TOE.initial_state(), (3, 1))
    player.reset(tables, states)
    player.begin_moves(tables)
    player.reset(tables[:2], states[:2])
    assert player.take_decisions().slots.tolist() == [2]


def test_the_random_player_plays_every_legal_move_and_no_other():
    state = TIC_TAC_TOE.parse(LAST_CELLS)
    player = RandomPlayer(TIC_TAC_TOE, 1, np.random.default_rng(0))
    assert {player.choose(state) for _ in range(50)} == {6, 8}


@pytest.mark.parametrize("moves", [(), (4,), (4, 0, 8), (4, 0, 8, 7, 1, 6, 2, 5)])
@pytest.mark.parametrize("leaves", [1, 8])
def test_a_search_limited_by_seconds_ends_and_answers_legally(moves: tuple[int, ...], leaves: int):
    settings = SearchConfig(simulations=UNLIMITED)
    search = NetworkSearch(TIC_TAC_TOE, UniformEvaluator(9), settings, nodes=5_000, leaves=leaves)
    player = SearchPlayer(search, seconds=0.2)
    state = TIC_TAC_TOE.play(TIC_TAC_TOE.initial_state(), *moves)
    assert TIC_TAC_TOE.legal_action_mask(state)[player.choose(state)]
    assert 0 < player.search.simulations < UNLIMITED


def test_players_limited_by_seconds_play_a_match_to_its_end():
    settings = SearchConfig(simulations=UNLIMITED)
    search = NetworkSearch(TIC_TAC_TOE, UniformEvaluator(9), settings, slots=3, nodes=5_000)
    player = SearchPlayer(search, seconds=0.02)
    records = play_all(Match(TIC_TAC_TOE, [player], 3, itertools.repeat(Pairing(), 3)))
    assert len(records) == 3
    for record in records:
        state = TIC_TAC_TOE.play(TIC_TAC_TOE.initial_state(), *record.actions.tolist())
        assert TIC_TAC_TOE.outcome(state) == record.outcome != ONGOING


# Self-play


def make_config(game: str = "tic_tac_toe", **changes: object) -> Config:
    """A quick configuration; trees are not kept, so a policy is visits over `simulations`."""
    settings = {"games_per_iteration": 10, "parallel_games": 8, "temperature_moves": 4, **changes}
    return Config(
        game=GameConfig(game),
        search=SearchConfig(simulations=16, reuse_tree=False),
        selfplay=SelfplayConfig(**settings),
    )


def self_play(
    config: Config,
    seed: Sequence[int] = (0,),
    unfinished: Sequence[GameRecord] = (),
    workers: int = 1,
) -> SelfPlayResult:
    evaluator = HashedEvaluator(TIC_TAC_TOE)
    return play_games(TIC_TAC_TOE, config, evaluator, seed, unfinished, workers)


def everything(games: SelfPlayResult) -> str:
    finished, unfinished = ([*map(as_text, each)] for each in games[:2])
    return repr((finished, unfinished, games.work))


@pytest.mark.parametrize("workers", [1, 2])
def test_self_play_is_settled_by_its_seed(workers: int):
    config = make_config()
    games = self_play(config, (3, 1), workers=workers)
    assert everything(self_play(config, (3, 1), workers=workers)) == everything(games)
    assert everything(self_play(config, (3, 2), workers=workers)) != everything(games)
    assert everything(self_play(config, (4, 1), workers=workers)) != everything(games)


def test_each_worker_of_self_play_draws_numbers_of_its_own():
    games = self_play(make_config(games_per_iteration=20), workers=2)
    texts = [str(record.policies.tolist()) for record in games.finished]
    assert len(set(texts)) == len(texts)


def test_games_under_way_that_find_no_table_wait_for_the_next_iteration():
    evaluator = HashedEvaluator(TIC_TAC_TOE)
    config = make_config(games_per_iteration=1, parallel_games=8)
    under_way = play_games(TIC_TAC_TOE, config, evaluator, (0, 0)).unfinished
    assert len(under_way) == 8
    config = make_config(games_per_iteration=1, parallel_games=3)
    games = play_games(TIC_TAC_TOE, config, evaluator, (0, 1), under_way)
    waiting = [record.actions.tolist() for record in games.unfinished[3:]]
    assert waiting == [record.actions.tolist() for record in under_way[3:]]


@pytest.mark.parametrize(("workers", "goal", "parallel"), [(1, 10, 8), (2, 9, 7), (4, 2, 6)])
def test_games_under_way_are_carried_over_and_none_is_lost_or_counted_twice(
    workers: int, goal: int, parallel: int
):
    config = make_config(games_per_iteration=goal, parallel_games=parallel)
    carried: list[GameRecord] = []
    moves_before = 0
    for iteration in range(3):
        shown: list[int] = []
        games = play_games(
            TIC_TAC_TOE,
            config,
            HashedEvaluator(TIC_TAC_TOE, iteration),
            (0, iteration),
            carried,
            workers,
            shown.append,
        )
        everyone = [*games.finished, *games.unfinished]
        assert sum(shown) == len(games.finished) >= goal
        assert len(games.unfinished) == parallel
        assert all(record.outcome == ONGOING for record in games.unfinished)
        # The games that were carried over bear labels: each is there once, and goes on.
        found = {record.pairing.pair_id: record for record in everyone if record.pairing.pair_id}
        labels = Counter(record.pairing.pair_id for record in everyone)
        assert [labels[record.pairing.pair_id] for record in carried] == [1] * len(carried)
        for before in carried:
            after, length = found[before.pairing.pair_id], len(before.actions)
            assert after.actions[:length].tolist() == before.actions.tolist()
            assert after.policies[:length].tolist() == before.policies.tolist()
            assert after.values[:length].tolist() == before.values.tolist()
        assert len(found) == len(carried)
        # Every move was searched for: so many simulations, or else some moves are missing.
        moves = sum(len(record.actions) for record in everyone)
        searched = (moves - moves_before) * config.search.simulations
        assert searched <= games.work.simulations < searched + parallel * config.search.simulations
        for record in games.finished:
            state = TIC_TAC_TOE.play(TIC_TAC_TOE.initial_state(), *record.actions.tolist())
            assert TIC_TAC_TOE.outcome(state) == record.outcome != ONGOING
        carried = [
            dataclasses.replace(record, pairing=Pairing(pair_id=label))
            for label, record in enumerate(games.unfinished, 1)
        ]
        moves_before = sum(len(record.actions) for record in carried)
    assert moves_before > 0


def chosen_most_visited(records: Sequence[GameRecord], plies: slice) -> list[bool]:
    """Whether each move in `plies` of each game was the first of its most visited ones."""
    return [
        bool(policy.argmax() == action)
        for record in records
        for policy, action in zip(record.policies[plies], record.actions[plies], strict=True)
    ]


def test_temperature_zero_always_plays_the_most_visited_move():
    games = self_play(make_config(temperature=0.0, final_temperature=0.0))
    assert all(chosen_most_visited(games.finished, slice(None)))


def test_the_early_temperature_ends_after_its_moves():
    config = make_config(temperature=50.0, final_temperature=0.0, games_per_iteration=30)
    games = self_play(config)
    assert np.mean(chosen_most_visited(games.finished, slice(4))) < 0.6
    assert all(chosen_most_visited(games.finished, slice(4, None)))


def test_the_final_temperature_holds_for_the_moves_after():
    config = make_config(temperature=0.0, final_temperature=50.0, games_per_iteration=30)
    games = self_play(config)
    assert all(chosen_most_visited(games.finished, slice(4)))
    assert np.mean(chosen_most_visited(games.finished, slice(4, 7))) < 0.8


def test_a_game_carried_over_keeps_its_place_in_the_temperature_schedule():
    config = make_config(temperature=50.0, final_temperature=0.0)
    first = self_play(config)
    second = self_play(config, (1,), first.unfinished)
    lengths = {len(record.actions) for record in first.unfinished}
    assert max(lengths) > 0
    assert all(chosen_most_visited(second.finished, slice(4, None)))


@pytest.mark.parametrize("temperature", [0.0, 0.5, 50.0])
def test_recorded_policies_are_visits_whatever_the_temperature(temperature: float):
    config = make_config(
        temperature=temperature, final_temperature=temperature, dirichlet_fraction=0.0
    )
    games = self_play(config)
    player = SearchPlayer(NetworkSearch(TIC_TAC_TOE, HashedEvaluator(TIC_TAC_TOE), config.search))
    some = 0
    for record in games.finished:
        state = TIC_TAC_TOE.initial_state()
        for action, policy, value in zip(*record_rows(record), strict=True):
            player.choose(state)
            roots = player.search.root_statistics(np.array([0]))
            assert np.allclose(policy, roots.visits[0] / config.search.simulations, atol=1e-6)
            assert value == pytest.approx(roots.values[0])
            some += np.count_nonzero(policy) > 1
            state = TIC_TAC_TOE.play(state, int(action))
    assert some > 10


def record_rows(record: GameRecord) -> tuple[Int64Array, Float32Array, Float32Array]:
    return record.actions, record.policies, record.values


def test_noise_makes_searches_of_one_position_differ_in_self_play():
    def first_policies(fraction: float) -> set[bytes]:
        games = self_play(make_config(dirichlet_fraction=fraction, games_per_iteration=20))
        return {record.policies[0].tobytes() for record in games.finished}

    assert len(first_policies(0.0)) == 1
    assert len(first_policies(0.5)) > 5


# The gate


def gate_config(**changes: float) -> Config:
    return dataclasses.replace(
        make_config(temperature=50.0, final_temperature=50.0, dirichlet_fraction=1.0),
        gate=GateConfig(**{"games": 20, "opening_moves": 3, **changes}),
    )


def test_a_gate_has_no_noise_and_no_temperature_so_equals_play_alike_in_both_colours():
    evaluator = HashedEvaluator(TIC_TAC_TOE)
    result, records = run_gate(TIC_TAC_TOE, gate_config(), evaluator, evaluator, (0,))
    assert result.games == 20
    assert result.score == 0.5
    games: dict[int, list[bytes]] = {}
    for record in records:
        assert all(chosen_most_visited([record], slice(3, None)))
        games.setdefault(record.pairing.pair_id, []).append(record.actions.tobytes())
    assert [len(pair) for pair in games.values()] == [2] * 10
    assert all(first == second for first, second in games.values())


class Blind(HashedEvaluator):
    """Takes every position for lost, whoever looks, and wants the first cell."""

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        logits, values = super().evaluate(observations)
        return np.tile(-100 * np.arange(9, dtype=np.float32), (len(logits), 1)), values


def test_a_gate_gives_the_challenger_the_wins_of_player_0_of_its_pairings():
    strong, weak = UniformEvaluator(9), Blind(TIC_TAC_TOE)
    config = dataclasses.replace(gate_config(), search=SearchConfig(simulations=100))
    for workers in (1, 2):
        up, _ = run_gate(TIC_TAC_TOE, config, strong, weak, (1,), workers)
        down, _ = run_gate(TIC_TAC_TOE, config, weak, strong, (1,), workers)
        assert up.score > 0.6
        assert (down.wins, down.draws, down.losses) == (up.losses, up.draws, up.wins)


def test_a_gate_may_have_simulations_of_its_own():
    evaluator = HashedEvaluator(TIC_TAC_TOE)
    _, records = run_gate(TIC_TAC_TOE, gate_config(simulations=5), evaluator, evaluator, (0,))
    visits = np.concatenate([record.policies[3:] for record in records]) * 5
    assert np.allclose(visits, visits.round(), atol=1e-5)
    assert (visits.round().sum(axis=1) == 5).all()


def test_a_gate_with_a_sequential_test_plays_the_first_of_the_same_games_until_it_knows():
    strong, weak = UniformEvaluator(9), Blind(TIC_TAC_TOE)
    config = gate_config(games=120, sprt_elo1=100, sprt_error=0.1)
    config = dataclasses.replace(config, search=SearchConfig(simulations=30))
    test = dataclasses.replace(config, gate=dataclasses.replace(config.gate, sprt=True))
    for players, stronger in (((strong, weak), True), ((weak, strong), False)):
        all_games, whole = run_gate(TIC_TAC_TOE, config, *players, (1,))
        assert (all_games.games, all_games.verdict) == (120, None)
        for workers in (1, 2):
            result, records = run_gate(TIC_TAC_TOE, test, *players, (1,), workers)
            assert result.verdict is stronger
            assert result.games == len(records) < 120
            played = [as_text(record) for record in records]
            assert played == [as_text(record) for record in whole[: len(played)]]


@pytest.mark.parametrize(
    ("score", "verdict", "accepted"),
    [
        (0.55, None, True),
        (0.54, None, False),
        (0.54, True, True),
        (0.9, False, False),
    ],
)
def test_the_answer_of_a_sequential_test_decides_and_the_threshold_where_there_is_none(
    score: float, verdict: bool | None, accepted: bool
):
    assert GateConfig(threshold=0.55).accepts(score, verdict) is accepted


class ShortMnk(Mnk):
    """Tic-tac-toe, said to end sooner than it does."""

    max_moves = 5


@kernel(PLAY_RULE)
def play_uncounted(state: State, action: int) -> None:
    """Put a stone down and count no move."""
    place_stone(state, action, action)
    state[PLY] -= 1


class UncountedMnk(Mnk):
    """Tic-tac-toe in which it is always the first player's turn."""

    rule_functions = (Mnk.rule_functions[0], play_uncounted, *Mnk.rule_functions[2:])


@pytest.mark.parametrize("game", [ShortMnk(), UncountedMnk()], ids=lambda game: type(game).__name__)
def test_a_game_that_miscounts_its_moves_is_left_before_anything_is_written_past_its_end(
    game: Game,
) -> None:
    player = RandomPlayer(game, 3, np.random.default_rng(0))
    match = Match(game, [player], 3, itertools.repeat(Pairing(), 12))
    with pytest.raises(GameError, match=r"goes on after max_moves, \d, or does not count its move"):
        play_all(match)


def test_moves_beyond_the_longest_game_are_not_laid_out() -> None:
    game = ShortMnk()
    player = RandomPlayer(game, 1, np.random.default_rng(0))
    match = Match(game, [player], 1, iter(()))
    with pytest.raises(GameError, match="goes on after max_moves, 5"):
        match.load(0, GameRecord.opening(game, Pairing(opening=(0, 1, 2, 4, 3, 6))))
