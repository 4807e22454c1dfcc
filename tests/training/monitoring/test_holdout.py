"""What is measured for the doctor's sake: the value before it is learned, and visits that stay."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.runs.records import random_records
from helpers.runs.tiny_run import tiny_config
from helpers.searches import FIRST, UniformEvaluator, finish, search_from
from helpers.settings import learner_config, replay_config, search_config

from alphazero.mcts.kernels.root import Exploration
from alphazero.mcts.network_search import NetworkSearch
from alphazero.records.game_record import Policies
from alphazero.training import iteration
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.iteration import holdout_value_loss
from alphazero.training.run_directory import RunDirectory
from alphazero.training.selfplay import SelfPlayStats
from alphazero.utils.arrays import Float32Array

SETTINGS = learner_config()


def random_games(number: int, seed: int) -> GameBatch:
    return GameBatch.of(TIC_TAC_TOE, random_records(TIC_TAC_TOE, number, seed))


class Oracle:
    """Returns the known values of some observations, and 0 for all others."""

    def __init__(self, known: dict[bytes, float]) -> None:
        self.known = known

    def evaluate(self, observations: Float32Array) -> tuple[None, Float32Array]:
        values = [self.known.get(each.tobytes(), 0.0) for each in observations]
        return None, np.array(values, np.float32)


def test_the_holdout_loss_exposes_a_network_that_knows_its_games_by_heart():
    """The oracle of what it has seen is right there; decided games it has not seen cost 1 each."""
    window = ReplayBuffer(TIC_TAC_TOE, replay_config())
    old, new = random_games(1, 0), random_games(60, 1)
    window.add(1, old)
    batch = window.sample(4000, np.random.default_rng(0), False)
    known = {
        seen.tobytes(): float(value)
        for seen, value in zip(batch.observations, batch.values, strict=True)
    }
    # The empty board is in every game, and others may be in several: they are known, too.
    figures = holdout_value_loss(Oracle(known), window, new, SETTINGS, [0])
    assert figures["learner/seen_value_loss"] == 0
    decided = np.repeat(new.outcomes != 0, new.lengths).mean()
    assert figures["learner/unseen_value_loss"] == pytest.approx(decided, abs=0.25)


def test_a_run_without_games_has_no_holdout_metrics():
    player = UniformEvaluator(9)
    empty, games = ReplayBuffer(TIC_TAC_TOE, replay_config()), random_games(3, 0)
    assert holdout_value_loss(player, empty, games, SETTINGS, [0]) == {}
    empty.add(1, games)
    before = empty.games
    figures = holdout_value_loss(player, empty, games, SETTINGS, [0])
    assert empty.games is before, "it changes nothing of the window"
    assert set(figures) == {"learner/seen_value_loss", "learner/unseen_value_loss"}
    unlearned = GameBatch.of(
        TIC_TAC_TOE,
        [replace(game, policies=Policies.none(len(game.actions))) for game in games.records()],
    )
    assert holdout_value_loss(player, empty, unlearned, SETTINGS, [0]) == {}


def test_it_is_that_of_the_best_player_also_while_a_gate_refuses_what_is_learned(
    tmp_path, monkeypatch
):
    players: list[object] = []
    monkeypatch.setattr(
        iteration, "holdout_value_loss", lambda player, *_: (players.append(player), {})[1]
    )
    run = RunDirectory.create(tiny_config(tmp_path, "gate.threshold=1", "gate.interval=1"))
    training = iteration.Training(run, 1)
    first = training.best
    for _ in range(2):
        training.iterate(lambda *_: None)
    assert players == [first, first]


def work_of(search: NetworkSearch) -> SelfPlayStats:
    work = SelfPlayStats()
    work.add(search)
    return work


def test_simulations_that_a_solved_root_saves_are_not_counted():
    """The player to move wins at once."""
    settings = search_config(simulations=50, mcts_solver=True)
    exploration = Exploration(0.25, 1.0)
    search = NetworkSearch(TIC_TAC_TOE, UniformEvaluator(9), settings, exploration=exploration)
    search_from(search, TIC_TAC_TOE.from_moves(["a1", "b1", "a2", "b2"]))
    assert 0 < work_of(search).new_visits == search.simulations < 50


@pytest.mark.parametrize(("explore", "keep"), [(True, True), (True, False), (False, True)])
def test_visits_that_a_tree_kept_are_counted_at_the_next_exploring_search(
    explore: bool, keep: bool
):
    """The child that is played was visited n times, the first of them to expand it."""
    settings = search_config(simulations=50, reuse_tree=keep, evaluation_cache_mib=0)
    exploration = Exploration(0.25, 1.0) if explore else None
    search = NetworkSearch(TIC_TAC_TOE, UniformEvaluator(9), settings, exploration=exploration)
    visits = search_from(search, TIC_TAC_TOE.initial_state()).visits[0]
    work = work_of(search)
    assert (work.kept_visits, work.new_visits) == (0, 50 * explore)
    action = int(visits.argmax())
    search.advance(FIRST, np.array([action]))
    search.begin_search(FIRST)
    finish(search)
    expected = int(visits[action]) - 1 if explore and keep else 0
    assert visits[action] > 3
    work = work_of(search)
    assert (work.kept_visits, work.new_visits) == (expected, 100 * explore)
    assert work.kept_share == (expected / (expected + 100) if explore else 0)


def test_simulations_whose_node_has_no_room_are_counted():
    settings = search_config(simulations=50, evaluation_cache_mib=0)
    search = NetworkSearch(CONNECT_FOUR, UniformEvaluator(7), settings, nodes=10)
    search_from(search, CONNECT_FOUR.initial_state())
    work = work_of(search)
    assert work.refused == 50 - 9, "the root has a node too"
    assert work.refused_share == 41 / 50
