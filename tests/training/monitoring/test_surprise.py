"""Search statistics of an iteration, against numbers computed by hand."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.runs.events import read
from helpers.runs.tiny_run import ITERATIONS, tiny_config

from alphazero.drawing.palette import LETTER
from alphazero.drawing.position import POLICY_COLOURS, board_at
from alphazero.games.game import Game
from alphazero.games.mnk import Mnk
from alphazero.mcts import network_search
from alphazero.records.game_record import GameRecord, Pairing, Policies
from alphazero.training import iteration, selfplay
from alphazero.training.loop import train
from alphazero.training.monitoring import surprise as surprises
from alphazero.training.monitoring.metrics import IterationReport
from alphazero.training.monitoring.surprise import (
    SURPRISE_POSITIONS,
    ask_network,
    kl_divergences,
    most_surprising_position,
)
from alphazero.training.selfplay import SelfPlayStats
from alphazero.utils.arrays import Float32Array


class Stub:
    """Logits that grow with the action's number, and a value that counts the stones."""

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        rows = len(observations)
        stones = observations[:, :2].sum(axis=(1, 2, 3))
        logits = np.tile(np.log(np.arange(1, 10, dtype=np.float32)), (rows, 1))
        return logits, (stones / 10).astype(np.float32)


def record_of(game: Game, actions: list[int], policies: dict[int, dict[int, float]]) -> GameRecord:
    """Return a game; its moves named in `policies` were searched fully."""
    state = game.play(game.initial_state(), *actions)
    rows = np.zeros((len(actions), game.num_actions), np.float32)
    for move, shares in policies.items():
        for action, share in shares.items():
            rows[move, action] = share
    values = np.linspace(-0.8, 0.8, len(actions), dtype=np.float32)
    none = np.zeros(len(actions), np.float32)
    moves = np.array(actions, np.int32)
    return GameRecord(Pairing(), moves, Policies.of(rows), values, none, game.outcome(state))


def test_entropies_are_those_computed_by_hand():
    policies = np.array([[0.5, 0.5, 0, 0], [0, 0, 1, 0], [0.25] * 4, [0.5, 0.25, 0.25, 0]])
    expected = [math.log(2), 0, math.log(4), 1.5 * math.log(2)]
    assert Policies.of(policies).entropies() == pytest.approx(expected, abs=1e-12)


def searches_of(records: list[GameRecord]) -> tuple[np.ndarray, np.ndarray]:
    """The entropies and values that a report of these games counts."""
    report = SimpleNamespace(games=SimpleNamespace(finished=records))
    return IterationReport.searches.func(report)


def test_only_full_searches_are_findings():
    game = Mnk()
    record = record_of(game, [0, 3, 1, 4, 2], {1: {1: 0.5, 3: 0.5}, 4: {2: 1.0}})
    empty = record_of(game, [0, 3, 1, 4, 2], {})
    entropies, values = searches_of([empty, record, empty])
    assert entropies == pytest.approx([math.log(2), 0])
    assert values == pytest.approx([-0.4, 0.8])
    assert [each.shape for each in searches_of([empty])] == [(0,), (0,)]


def test_the_bare_network_is_asked_for_legal_moves_only():
    game = Mnk()
    states = np.stack([game.initial_state(), game.play(game.initial_state(), 8, 0)])
    priors, values = ask_network(game, Stub(), states)
    assert priors[0] == pytest.approx(np.arange(1, 10) / 45)
    expected = np.array([0, 2, 3, 4, 5, 6, 7, 8, 0]) / 35
    assert priors[1] == pytest.approx(expected)
    assert values == pytest.approx([0, 0.2])


def test_the_surprise_is_the_position_with_the_largest_divergence():
    game = Mnk()
    # The prior of cell a is a + 1 parts: a search that is sure of cell 1 differs by log(45 / 2) at
    # the start; at move 3, of cell 4 with parts 1, 4 and 2 taken, by log(38 / 5).
    first = record_of(game, [0, 3, 1, 4, 2], {0: {8: 1.0}, 3: {4: 1.0}})
    second = record_of(game, [1, 3, 0, 4, 2], {0: {1: 1.0}, 1: {8: 0.5, 0: 0.5}})
    surprise = most_surprising_position(game, [first, second, first], Stub())
    assert surprise is not None
    assert (surprise.record, surprise.move) == (second, 0)
    assert surprise.divergence == pytest.approx(math.log(45 / 2))
    assert surprise.prior == pytest.approx(np.arange(1, 10) / 45)
    again = most_surprising_position(game, [first], Stub())
    assert again is not None
    assert again.move == 3
    assert again.divergence == pytest.approx(math.log(38 / 5))
    assert again.network_value == pytest.approx(0.3)


def test_the_newest_positions_are_looked_at_and_no_other():
    """Of a game that fits in part, the last moves: here four of five."""
    game = Mnk()
    dull = {move: {8: 1.0} for move in range(5)}
    games = [record_of(game, [0, 3, 1, 4, 2], dull)] * (SURPRISE_POSITIONS // 5)
    assert SURPRISE_POSITIONS % 5 == 4
    for move, cell in ((0, 0), (1, 1)):
        record = record_of(game, [0, 3, 1, 4, 2], {**dull, move: {cell: 1.0}})
        alone = most_surprising_position(game, [record], Stub())
        assert alone is not None
        assert alone.move == move
        surprise = most_surprising_position(game, [record, *games], Stub())
        assert surprise is not None
        assert (surprise.record is record and surprise.move == move) == (move == 1)
        surprise = most_surprising_position(game, [record, *games, games[0]], Stub())
        assert surprise is not None
        assert surprise.record is not record


def test_without_full_searches_there_is_no_surprise():
    game = Mnk()
    assert most_surprising_position(game, [record_of(game, [0, 3, 1, 4, 2], {})], Stub()) is None


def test_a_surprise_is_drawn_before_its_move_with_values_for_the_player_to_move():
    game = Mnk()
    record = record_of(game, [0, 3, 1, 4, 2], {3: {5: 1.0}})
    surprise = most_surprising_position(game, [record], Stub())
    assert surprise is not None
    picture = surprise.draw(game, "a title")
    board, visits = board_at(game, 0), board_at(game, 1)

    def pixel(x: float, y: float) -> object:
        return picture.getpixel((round(x), round(y)))

    def letter_in(cell: int) -> str:
        """Return the letter of a cell: X crosses in the middle, O passes left of it."""
        x, y = board.centres[cell]
        if pixel(x, y) == LETTER.colour:
            return "X"
        return "O" if pixel(x - 0.8 * board.radius, y) == LETTER.colour else ""

    assert [letter_in(cell) for cell in (0, 1, 3)] == ["X", "X", "O"]
    assert letter_in(2) == "", "what comes later is not shown"
    x, y = visits.centres[5]
    assert pixel(x, y - 0.36 * visits.cell) == POLICY_COLOURS[1].colour
    # X won, O is to move: the outcome's bar is the left half, the search's is 0.4 to the right.
    middle = board_at(game, 2).left + 95
    outcome = [pixel(middle + x, 106 + 2 * 52 + 30) for x in (-90, -10, 10)]
    assert [found == POLICY_COLOURS[2].colour for found in outcome] == [True, True, False]
    search = [pixel(middle + x, 106 + 52 + 30) for x in (-10, 10, 34, 44)]
    assert [found == POLICY_COLOURS[1].colour for found in search] == [False, True, True, False]
    assert picture.tobytes() == surprise.draw(game, "a title").tobytes()


def test_a_run_shows_every_metric_and_asks_the_network_that_played(tmp_path, monkeypatch):
    def remember(module: Any, name: str) -> list[object]:
        function, evaluators = getattr(module, name), []

        def watched(*arguments: Any) -> object:
            evaluators.append(arguments[2])
            return function(*arguments)

        monkeypatch.setattr(module, name, watched)
        return evaluators

    played = remember(iteration, "play_games")
    asked = remember(surprises, "most_surprising_position")
    # Without a gate the challenger has taken the player's place when the games are looked at.
    run = train(tiny_config(tmp_path, "gate.games=0"))
    assert asked == played
    assert len({id(each) for each in asked}) == ITERATIONS
    reader = read(run)
    tags = reader.Tags()
    assert set(tags["histograms"]) == {"selfplay/search_entropies", "selfplay/search_values"}
    assert tags["images"] == ["selfplay/surprise"]
    steps = list(range(1, ITERATIONS + 1))
    assert [event.step for event in reader.Images("selfplay/surprise")] == steps
    efficiency = reader.Scalars("speed/network_share")
    assert [event.step for event in efficiency] == steps
    assert all(0 < event.value <= 1 for event in efficiency)
    for event, mean in zip(
        reader.Histograms("selfplay/search_entropies"),
        reader.Scalars("selfplay/search_entropy"),
        strict=True,
    ):
        histogram = event.histogram_value
        assert histogram.sum / histogram.num == pytest.approx(mean.value, rel=1e-6)
        assert 0 <= histogram.min <= histogram.max <= math.log(9)


def test_network_share_is_the_share_of_the_time_in_the_evaluator(tmp_path, monkeypatch):
    """On a clock that goes on by 3 at each evaluation, by 5 at each end of a game, else not."""
    spent = {"evaluating": 0, "else": 0}

    class Slow(Stub):
        def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
            spent["evaluating"] += 3
            return super().evaluate(observations)

    def show(ended: int) -> None:
        spent["else"] += 5 * ended

    clock = SimpleNamespace(perf_counter=lambda: float(sum(spent.values())))
    for module in (network_search, selfplay):
        monkeypatch.setattr(module, "time", clock)
    work = selfplay.play_games(Mnk(), tiny_config(tmp_path), Slow(), [0], show=show).stats
    assert spent["evaluating"] >= 3
    assert spent["else"] >= 30
    assert work.seconds_evaluating == spent["evaluating"]
    assert work.network_share == spent["evaluating"] / sum(spent.values())
    assert SelfPlayStats().network_share == 0


def test_divergences_are_those_computed_by_hand():
    policies = np.array([[0.5, 0.5, 0], [0, 1, 0], [0.25, 0.25, 0.5], [0, 0, 1]])
    priors = np.array([[0.25, 0.75, 0], [0.5, 0.125, 0.375], [0.25, 0.25, 0.5], [1, 0, 0]])
    expected = [0.5 * np.log(2) + 0.5 * np.log(2 / 3), np.log(8), 0, 126 * np.log(2)]
    # The last: a prior of 0 counts as float32's least normal number, 2^-126.
    assert kl_divergences(policies, priors) == pytest.approx(expected, abs=1e-12)
