"""The training loop builds its self-play and its search as the configuration says."""

import dataclasses
import functools
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from helpers.runs.events import scalar_log
from helpers.runs.tiny_run import tiny_config

from alphazero.arena.match import Match
from alphazero.config.schema import Config, SearchConfig, SelfplayConfig
from alphazero.errors import AlphaZeroError
from alphazero.games import make_game
from alphazero.games.game import ONGOING, OUTCOME, Game, State
from alphazero.mcts.evaluator import SymmetricEvaluator
from alphazero.mcts.kernels.equations import SelectionParams
from alphazero.mcts.kernels.selection_rules import GUMBEL
from alphazero.mcts.kernels.transpositions import has_transpositions
from alphazero.mcts.network_search import NetworkSearch
from alphazero.records.game_record import GameRecord
from alphazero.training import iteration, selfplay
from alphazero.training.iteration import Training
from alphazero.training.loop import train
from alphazero.training.monitoring.tensorboard import TensorBoardWriter
from alphazero.training.run_directory import RunDirectory, read_games
from alphazero.training.selfplay import SelfPlayResult
from alphazero.utils.arrays import Float32Array


@dataclass
class Played:
    """One iteration of self-play, and what its kernels received."""

    games: list[GameRecord] = field(default_factory=list)
    match: Match = None  # type: ignore[assignment]
    search: NetworkSearch = None  # type: ignore[assignment]
    evaluated: list[int] = field(default_factory=list)
    """numbers of positions that `evaluate_states` was called with"""

    @property
    def selection(self) -> SelectionParams:
        return self.search.side.selection

    @property
    def cache_mib(self) -> float:
        return sum(each.nbytes for each in self.search._cache[:3]) / (1 << 20)

    @property
    def openings(self) -> set[int]:
        return {int(record.policies.searched.argmax()) for record in self.games}


def play_an_iteration(folder: Path, *settings: str) -> Played:
    """Let a training with these settings play its first iteration."""
    played = Played()

    def watch_match(*given: Any) -> tuple[Match, NetworkSearch]:
        played.match, played.search = make(*given)
        return played.match, played.search

    def count(search: NetworkSearch, states: State) -> Float32Array:
        played.evaluated.append(len(states))
        return evaluate(search, states)

    make, evaluate = selfplay.make_selfplay_match, NetworkSearch.evaluate_states
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selfplay, "make_selfplay_match", watch_match)
        patch.setattr(NetworkSearch, "evaluate_states", count)
        training = Training(RunDirectory.create(tiny_config(folder, *settings)), 1)
        training.run.state.iteration = 1
        played.games = training.play().finished
    return played


def simulations(played: Played) -> set[int]:
    """What the last searches of all slots were given, as far as they were full or fast."""
    side, full = played.search.side, played.search.trees.slots["full"]
    return {side.simulations if each else side.exploration.fast_simulations for each in full}


def gumbel_actions(played: Played) -> int:
    return played.selection.gumbel_max_considered_actions


def mean_noise(played: Played) -> float:
    return float(played.search.trees.root_noise.mean())


def explores(name: str) -> Callable[[Played], float]:
    return lambda played: getattr(played.search.exploration, name)


def all_may_resign(played: Played) -> bool:
    return all(record.pairing.may_resign for record in played.games)


def options(played: Played) -> set[tuple[int, ...]]:
    return {record.pairing.options for record in played.games}


def rest_of_sevens(played: Played) -> set[int]:
    return {number % 7 for number in played.evaluated}


has_graphs = has_transpositions.py_func

GUMBEL_ROOT = "search.selection=gumbel_root"
FAST = "selfplay.full_search_probability=0.5"
OPENINGS = "selfplay.random_opening_probability=1", "selfplay.games_per_iteration=30"
GO = "game.name=go", "game.rows=3", "game.columns=3", "game.features=1"

Case = tuple[str, Callable[[Played], object], object, tuple[str, ...]]

CASES: dict[str, Case] = {
    # key: its value, what is read of `p`, which was played, what is expected there, other settings
    "search.simulations": ("7", simulations, {7}, ()),
    "search.c_puct": ("3.5", lambda p: p.selection.c_puct, 3.5, ()),
    "search.c_puct_base": ("90", lambda p: p.selection.c_puct_base, 90, ()),
    "search.fpu_reduction": ("0.5", lambda p: p.selection.fpu_reduction, 0.5, ()),
    "search.reuse_tree": ("false", lambda p: any(p.search.trees.slots["kept_visits"]), False, ()),
    "search.mcts_solver": ("true", lambda p: p.selection.mcts_solver, True, ()),
    "search.transpositions": ("always", lambda p: has_graphs(p.search.trees), True, ()),
    "search.leaf_symmetry": ("average", lambda p: type(p.search.evaluator), SymmetricEvaluator, ()),
    "search.selection": ("gumbel_root", lambda p: p.selection.rule, GUMBEL, ()),
    "search.gumbel_max_considered_actions": ("5", gumbel_actions, 5, (GUMBEL_ROOT,)),
    "search.evaluation_cache_mib": ("1", lambda p: 0.5 < p.cache_mib <= 1, True, ()),
    "selfplay.games_per_iteration": ("90", lambda p: len(p.games) // 90, 1, ()),
    "selfplay.parallel_games": ("5", lambda p: p.match.num_games, 5, ()),
    "selfplay.temperature": ("0.7", explores("temperature"), 0.7, ()),
    "selfplay.temperature_moves": ("3", explores("temperature_moves"), 3, ()),
    "selfplay.final_temperature": ("0.2", explores("final_temperature"), 0.2, ()),
    "selfplay.dirichlet_fraction": ("0.5", explores("dirichlet_fraction"), 0.5, ()),
    # The noise is drawn from Gamma(alpha), whose mean is alpha and variance too.
    "selfplay.dirichlet_alpha": ("40", mean_noise, pytest.approx(40, abs=2), ()),
    "selfplay.full_search_probability": ("0.5", explores("full_search_probability"), 0.5, ()),
    "selfplay.fast_simulations": ("3", simulations, {3, 4}, (FAST,)),
    "selfplay.progressive_samples": ("100", simulations, {1}, ()),
    "selfplay.resign_enabled_fraction": ("0.999999", all_may_resign, True, ()),
    "selfplay.random_opening_probability": ("1", lambda p: max(p.openings) > 0, True, ()),
    "selfplay.random_opening_max_moves": ("1", lambda p: p.openings, {0, 1}, OPENINGS),
    "selfplay.varied_options": ("{komi_half_points: [3, 3]}", options, {(3,)}, GO),
    "selfplay.random_opening_candidates": ("7", rest_of_sevens, {0}, OPENINGS),
}


@pytest.fixture(scope="module")
def defaults(tmp_path_factory) -> Callable[[tuple[str, ...]], Played]:
    """What plays with the defaults beside some other settings."""

    @functools.cache
    def play(others: tuple[str, ...]) -> Played:
        return play_an_iteration(tmp_path_factory.mktemp("defaults"), *others)

    return play


@pytest.mark.parametrize("key", CASES)
def test_each_key_of_search_and_selfplay_reaches_what_plays(key: str, defaults, tmp_path):
    value, read, expected, others = CASES[key]
    without = defaults(others)
    played = play_an_iteration(tmp_path, *others, f"{key}={value}")
    assert read(without) != expected, "the default passes too: the check has no power"
    assert read(played) == expected


def test_the_simulations_of_a_move_grow_with_the_positions(monkeypatch, tmp_path):
    played: list[tuple[int, int]] = []
    play_games = iteration.play_games

    def remember(game: Game, config: Config, *others: Any) -> SelfPlayResult:
        played.append((config.search.simulations, config.selfplay.fast_simulations))
        return play_games(game, config, *others)

    monkeypatch.setattr(iteration, "play_games", remember)
    growing = "selfplay.progressive_samples=100", "search.simulations=14"
    train(tiny_config(tmp_path, "budget.iterations=5", *growing))
    assert played[0] == (2, 2), "15 % of 14 and of 16"
    assert all(2 < each < 14 for each in played[1])
    assert played == sorted(played)
    assert played[-1] == (14, 16)


OPTIONS = {
    "search.selection": ("puct", "gumbel", "gumbel_root"),
    "search.transpositions": ("never", "always"),
    "search.mcts_solver": ("false", "true"),
    "search.reuse_tree": ("false", "true"),
    "search.fpu_reduction": ("null", "0.2"),
    "search.leaf_symmetry": ("none", "random"),
    "search.evaluation_cache_mib": ("0", "1"),
    "selfplay.full_search_probability": ("1", "0.5"),
    "selfplay.progressive_samples": ("null", "100"),
    "selfplay.random_opening_probability": ("0", "1"),
    "selfplay.random_opening_candidates": ("1", "3"),
    "selfplay.resign_enabled_fraction": ("0", "0.9"),
}


def all_pairs(options: dict[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """Return a few choices in which every pair of values of two options occurs."""
    rng, rows = random.Random(0), []
    left = {
        ((a, one), (b, other))
        for a, b in itertools.combinations(options, 2)
        for one, other in itertools.product(options[a], options[b])
    }

    def pairs(row: dict[str, str]) -> set[Any]:
        return left & set(itertools.combinations(row.items(), 2))

    while left:
        tries = [{key: rng.choice(values) for key, values in options.items()} for _ in range(200)]
        rows.append(max(tries, key=lambda row: len(pairs(row))))
        left -= pairs(rows[-1])
    return rows


@pytest.mark.parametrize("row", all_pairs(OPTIONS), ids=lambda row: "-".join(row.values()))
def test_self_play_keeps_its_word_in_every_pair_of_options(row: dict[str, str], tmp_path):
    settings = [f"{key}={value}" for key, value in row.items()]
    sizes = "search.simulations=40", "selfplay.fast_simulations=20"
    played = play_an_iteration(tmp_path, *sizes, *settings)
    growing, capped = row["selfplay.progressive_samples"], row["selfplay.full_search_probability"]
    full, fast = (40, 20) if growing == "null" else (6, 3)
    assert simulations(played) == ({full} if capped == "1" else {full, fast})
    game = played.search.game
    for record in played.games:
        opening = len(record.pairing.opening)
        sums = record.policies.dense(game.num_actions).sum(axis=1)
        assert not sums[:opening].any()
        assert set(sums[opening:].round(5)) <= ({1.0} if capped == "1" else {0.0, 1.0})
        assert (abs(record.values) <= 1).all()
        assert (record.best_values >= record.values).all()
        end = game.outcome(game.play(game.initial_state(), *map(int, record.actions)))
        assert end == (ONGOING if record.resigned else record.outcome)
        assert record.outcome != ONGOING


def test_every_key_of_search_and_selfplay_is_checked_here():
    keys = {
        f"{section}.{each.name}"
        for section, settings in (("search", SearchConfig), ("selfplay", SelfplayConfig))
        for each in dataclasses.fields(settings)
    }
    # `test_actor_pool.py` and `test_ray_cluster.py` test distributed self-play.
    assert keys - {"selfplay.distributed"} == set(CASES)


def test_numbers_that_an_observer_returns_are_curves_and_recorded_games_can_be_read(tmp_path):
    def observe(event: dict[str, Any]) -> dict[str, float] | None:
        if event["event"] != "iteration":
            return None
        games = list(read_games(event["run"]))
        return {"mine/games": len(games), "mine/moves": games[-1].actions.size}

    folder = train(tiny_config(tmp_path, "budget.iterations=2"), observe)
    games = list(read_games(folder))
    assert [count for _, count in scalar_log(folder)["mine/games"]] == [6, 12]
    assert scalar_log(folder)["mine/moves"][-1] == (2, games[-1].actions.size)
    for game in games:
        assert game.policies.dense(9).shape == (len(game.values), 9)
        state = make_game("tic_tac_toe").from_moves(game.moves(make_game("tic_tac_toe")))
        assert state[OUTCOME] == game.outcome != ONGOING


@pytest.mark.parametrize(
    ("values", "message"),
    [({"loss/total": 1}, "'loss/total' cannot be added"), ({"mine": "1"}, "mine must be a number")],
)
def test_a_curve_of_an_observer_needs_a_name_of_its_own_and_numbers(
    values: dict[str, Any], message: str, tmp_path
):
    with pytest.raises(AlphaZeroError, match=f"observe: {message}"):
        TensorBoardWriter(tmp_path, 0).write_more(1, values)
