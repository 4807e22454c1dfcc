"""Self-play in int8: calibrated on the window, checked on other positions, else given up."""

from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.games import CONNECT_FOUR
from helpers.networks import needs_openvino, scrambled
from helpers.paths import CHECKPOINTS
from helpers.runs.events import points
from helpers.runs.records import random_records
from helpers.runs.tiny_run import content_of, tiny_config
from helpers.settings import replay_config

from alphazero.diagnostics.benchmark import SelfPlayBenchmark
from alphazero.network.checkpoint import load_checkpoint
from alphazero.network.inference import quantization
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.inference.quantization import QuantizationError
from alphazero.network.resnet import ResNet
from alphazero.training import gate as gates
from alphazero.training import iteration, loop
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.int8 import quantize, sample_positions

INT8 = "inference.selfplay_precision=int8"

pytestmark = pytest.mark.arithmetic


def set_limits(patch: pytest.MonkeyPatch, policy_error: float, value_error: float) -> None:
    """Set the limits of int8: 1 and 2 allow anything, 0 and 0 nothing."""
    patch.setattr(quantization, "MAX_POLICY_ERROR", policy_error)
    patch.setattr(quantization, "MAX_VALUE_ERROR", value_error)


def test_policies_and_values_are_compared_as_by_hand():
    exact = np.log([[8, 1, 1], [2, 6, 2], [1, 4, 5], [4, 4, 2]]), np.array([0.5, -0.25, 1, 0])
    logits = np.log([[6, 3, 1], [2, 6, 2], [2, 8, 10], [2, 4, 4]]) + 1000
    other = logits, np.array([0.25, -0.25, 0.5, 0.25])
    # Probability that moved: 0.2, none, none, 0.2; distances 0.25, 0, 0.5, 0.25.
    assert QuantizationError.between(other, exact) == pytest.approx((0.1, 0.25))


@pytest.mark.parametrize(
    ("policy_error", "value_error", "good"),
    [(0.2, 0.1, True), (0.21, 0.1, False), (0.2, 0.11, False), (0, 0, True), (1, 2, False)],
)
def test_both_limits_must_be_kept(policy_error: float, value_error: float, good: bool):
    with pytest.MonkeyPatch.context() as patch:
        set_limits(patch, 0.2, 0.1)
        assert QuantizationError(policy_error, value_error).good is good


# Rounding an evaluator


def random_replay() -> ReplayBuffer:
    """Return a window over random games of Connect Four."""
    replay = ReplayBuffer(CONNECT_FOUR, replay_config())
    replay.add(1, GameBatch.of(CONNECT_FOUR, random_records(CONNECT_FOUR, 60)))
    return replay


def wild() -> ResNet:
    """Return a network with huge weights where nothing comes in: only rounding sees them."""
    network = scrambled()
    parts = [part for block in network.tower for part in block.children()]
    with torch.no_grad():
        for layer in [network.stem, *parts]:
            layer.normalisation.weight[0] = 0
            layer.normalisation.bias[0] = -1
            if layer is not network.stem:
                layer.convolution.weight[:, 0] = 1000
    return network


def test_positions_to_calibrate_and_to_check_on_are_distinct_ones_of_the_window():
    replay = random_replay()
    game = replay.game
    known = set()
    for record in replay.games.records():
        state = game.initial_state()
        for action in record.actions:
            known.add(game.observe(state).tobytes())
            state = game.play(state, int(action))
    calibration, check = sample_positions(replay, np.random.default_rng(1))
    keys = [each.tobytes() for each in (*calibration, *check)]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= known
    assert len(check) == pytest.approx(3 * len(calibration), abs=3)
    assert len(calibration) > 100
    # In no order: both parts have early and late positions.
    for part in (calibration, check):
        stones = part[:, :2].sum(axis=(1, 2, 3))
        assert stones.min() < 5
        assert stones.max() > 25


@needs_openvino
def test_a_sound_network_is_rounded_and_a_wild_one_is_not():
    replay = random_replay()
    sound = OpenVINOEvaluator(scrambled(), "float32")
    rounded, comparison, calibration = quantize(sound, replay, [1])
    assert calibration is not None
    assert calibration.shape[1:] == sound.observation_shape
    assert rounded is not sound
    assert comparison is not None
    assert 0 < comparison.policy_error < 0.02
    assert 0 < comparison.value_error < 0.03
    bad = OpenVINOEvaluator(wild(), "float32")
    kept, comparison, calibration = quantize(bad, replay, [1])
    assert kept is bad
    assert calibration is None
    assert comparison is not None
    assert not comparison.good


@needs_openvino
def test_ranges_do_not_depend_on_how_weights_lie_in_memory():
    """A learner's lie channels-last, those of a file do not."""
    network = load_checkpoint(CHECKPOINTS / "connect_four.safetensors").network()
    shape = 64, *network.observation_shape
    observations = np.random.default_rng(0).integers(0, 2, shape).astype(np.float32)
    ranges = []
    for layout in (torch.contiguous_format, torch.channels_last):
        evaluator = OpenVINOEvaluator(network.to(memory_format=layout), "float32")
        ranges.append([float(each) for each in evaluator.quantized(observations)._ranges.values()])
    assert ranges[0] == ranges[1]


# In a run

NEWEST = ["gate.games=0", "budget.iterations=3"]
"""The newest network plays: rounding an untrained one, whose blocks are zeros, changes nothing."""


@pytest.fixture(scope="module")
def run_in_int8(tmp_path_factory) -> Path:
    """The folder of a run that takes int8 whatever the check says."""
    with pytest.MonkeyPatch.context() as patch:
        set_limits(patch, 1, 2)
        return loop.train(tiny_config(tmp_path_factory.mktemp("int8"), *NEWEST, INT8))


@needs_openvino
def test_a_run_in_int8_resumes_to_the_very_same_files(run_in_int8, tmp_path, monkeypatch):
    options = [*NEWEST, INT8]
    set_limits(monkeypatch, 1, 2)
    broken = loop.train(tiny_config(tmp_path, *options, "budget.iterations=2"))
    loop.resume(broken, ["budget.iterations=3"])
    assert content_of(broken) == content_of(run_in_int8)
    for name in ("inference/int8_policy_error", "inference/int8_value_error"):
        found = points(run_in_int8, name)
        assert [iteration for iteration, _ in found] == [2, 3]
        assert all(0 <= value <= 1 for _, value in found)


@needs_openvino
def test_a_run_whose_limits_nothing_keeps_plays_as_without_int8_and_says_so(
    run_in_int8, tmp_path, capsys, monkeypatch
):
    set_limits(monkeypatch, 0, 0)
    refused = loop.train(tiny_config(tmp_path / "refused", *NEWEST, INT8))
    lines = [line for line in capsys.readouterr().out.splitlines() if "self-play stays in" in line]
    assert [line.split(":")[0] for line in lines] == ["iteration 2", "iteration 3"]
    for line in lines:
        assert "stays in float32; int8 moves " in line
        assert "at most 0.0% wanted" in line
    plain = loop.train(tiny_config(tmp_path / "plain", *NEWEST))
    assert content_of(refused) == content_of(plain)
    assert content_of(refused) != content_of(run_in_int8)


def test_where_torch_computes_a_run_in_int8_is_the_run_without(tmp_path):
    torch_alone = "inference.backend=torch"
    asked, plain = (
        loop.train(tiny_config(tmp_path / name, *NEWEST, torch_alone, "budget.iterations=2", *more))
        for name, more in (("asked", [INT8]), ("plain", []))
    )
    assert content_of(asked) == content_of(plain)
    found = SelfPlayBenchmark(tiny_config(tmp_path, INT8, torch_alone), 1).measure(0.2)
    assert "int8" not in found.backend


@needs_openvino
def test_the_gate_and_the_best_player_stay_in_the_ordinary_precision(tmp_path):
    seen: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        gate, play = gates.play_gate, iteration.play_games

        def watched_gate(*given, **named):
            seen.extend(evaluator.precision for evaluator in given[2:4])
            return gate(*given, **named)

        def watched_play(*given):
            seen.append(given[2].precision)
            return play(*given)

        patch.setattr(gates, "play_gate", watched_gate)
        patch.setattr(iteration, "play_games", watched_play)
        set_limits(patch, 1, 2)
        loop.train(tiny_config(tmp_path, INT8, "budget.iterations=2"))
    assert seen == ["float32", "int8 and float32", "float32", "float32"]


@needs_openvino
def test_the_benchmark_measures_what_self_play_computes_with(tmp_path):
    found = SelfPlayBenchmark(tiny_config(tmp_path, INT8), 1).measure(0.2)
    assert "int8 and float32" in found.backend
