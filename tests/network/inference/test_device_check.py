"""A device that computes wrongly stops a run before anything that it answered is kept."""

import dataclasses
import os
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from helpers.paths import CHECKPOINTS
from helpers.runs.tiny_run import ITERATIONS, YAML, files_of, fingerprint, manifest_of, tiny_config
from helpers.settings import network_config

from alphazero.cli.main import main
from alphazero.config.schema import InferenceConfig
from alphazero.errors import RunError
from alphazero.games import make_game
from alphazero.network.checkpoint import load_checkpoint
from alphazero.network.inference.backend import make_evaluator, openvino_is_installed
from alphazero.network.inference.device_check import TOLERANCES, check_device, fixed_positions
from alphazero.network.inference.torch_evaluator import TorchEvaluator
from alphazero.network.resnet import ResNet
from alphazero.training import iteration
from alphazero.training.loop import train
from alphazero.utils.arrays import Float32Array

Outputs = tuple[Float32Array, Float32Array]

SHIPPED = sorted(CHECKPOINTS.glob("*.safetensors"), key=lambda path: path.stat().st_size)
GAME = make_game("connect_four")
SETTINGS = network_config(blocks=2, filters=8, policy_filters=2, value_filters=1, value_hidden=8)

SICK: dict[str, Callable[[Float32Array, Float32Array], Outputs]] = {
    "zeros": lambda logits, values: (logits * 0, values * 0),
    "NaN": lambda logits, values: (logits * np.nan, values),
    "another position's": lambda logits, values: (np.roll(logits, 1, 0), np.roll(values, 1)),
    "another position's policy": lambda logits, values: (np.roll(logits, 1, 0), values),
    "the first position's": lambda logits, values: (
        np.repeat(logits[:1], len(logits), 0),
        np.repeat(values[:1], len(values)),
    ),
    "the other player's value": lambda logits, values: (logits, -values),
    "another column's": lambda logits, values: (np.roll(logits, 1, 1), values),
    "a constant too much": lambda logits, values: (logits, values + np.float32(0.3)),
}
"""How a device may answer wrongly."""

pytestmark = pytest.mark.arithmetic


class Sick(TorchEvaluator):
    """Answers otherwise than the network, in the way `kind`."""

    kind = "zeros"

    def evaluate(self, observations: Float32Array) -> Outputs:
        return SICK[self.kind](*super().evaluate(observations))


def new_network(seed: int = 0, **options: Any) -> ResNet:
    settings = dataclasses.replace(SETTINGS, **options)
    return ResNet(GAME.observation_shape, GAME.num_actions, settings, seed)


@pytest.mark.parametrize("players", [2, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("backend", "precision"),
    [*product(("torch", "openvino"), TOLERANCES), ("onnxruntime", "float32")],
)
def test_healthy_backends_pass_with_new_and_trained_networks(
    backend: str, precision: str, players: int | None
):
    """The smallest players; the slow test takes all."""
    if backend == "openvino" and not openvino_is_installed():
        pytest.skip("OpenVINO is not installed")
    if (backend, precision) == ("openvino", "bfloat16") and "ONEDNN_MAX_CPU_ISA" in os.environ:
        pytest.skip("OpenVINO asks the processor, not this variable, whether it has bfloat16")
    settings = InferenceConfig(backend=backend, precision=precision, device="cpu")
    networks = [(GAME, new_network()), (GAME, new_network(global_pooling=2))]
    for path in SHIPPED[:players]:
        saved = load_checkpoint(path)
        networks.append((saved.game, saved.network()))
    worst = 0.0
    for game, network in networks:
        check = check_device(make_evaluator(network, settings), network, game)
        worst = max(worst, *check.errors.values())
    print(f"{backend} {precision}: at most {worst:.5%} of {TOLERANCES[precision]:.0%}")
    assert worst < TOLERANCES[precision] / 4


@pytest.mark.parametrize("precision", TOLERANCES)
def test_wrong_answers_are_noticed_of_new_and_trained_networks(precision: str):
    trained = load_checkpoint(CHECKPOINTS / "connect_four.safetensors")
    for network in (new_network(seed=2), trained.network()):
        evaluator = Sick(network, "cpu", precision)
        for evaluator.kind in SICK:
            with pytest.raises(RunError, match=r"computes wrongly: .*device=cpu") as caught:
                check_device(evaluator, network, GAME)
            assert str(caught.value).isprintable()


def test_another_position_s_policy_is_noticed_beside_a_bias_that_all_have_in_common():
    network = new_network(seed=2)
    with torch.no_grad():
        network.policy_output.bias.fill_(30.0)
    evaluator = Sick(network, "cpu", "float32")
    check_device(TorchEvaluator(network, "cpu", "float32"), network, GAME)
    evaluator.kind = "another position's policy"
    with pytest.raises(RunError, match="computes wrongly"):
        check_device(evaluator, network, GAME)


def test_a_value_head_that_is_sure_of_everything_is_no_fault_of_the_device():
    network = new_network()
    with torch.no_grad():
        network.value_output.bias.fill_(9.0)
    for precision in TOLERANCES:
        check_device(TorchEvaluator(network, "cpu", precision), network, GAME)


def test_the_positions_are_the_same_at_every_start_and_differ_from_one_another():
    for name in ("tic_tac_toe", "connect_four", "nim", "hex"):
        positions = fixed_positions(make_game(name))
        assert np.array_equal(positions, fixed_positions(make_game(name)))
        assert 1 < len(positions) <= 16
        assert len(np.unique(positions, axis=0)) == len(positions)


def test_the_check_changes_neither_the_network_nor_any_random_numbers():
    network = new_network().train()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    check_device(TorchEvaluator(network, "cpu", "float32"), network, GAME)
    assert torch.equal(torch.rand(3), expected)
    assert network.training
    assert all(torch.equal(network.state_dict()[name], before[name]) for name in before)


def poison(monkeypatch: pytest.MonkeyPatch) -> None:
    def make_sick(network: ResNet, settings: InferenceConfig) -> Sick:
        return Sick(network, settings.device, settings.precision)

    monkeypatch.setattr(iteration, "make_evaluator", make_sick)


def test_a_sick_device_stops_a_new_run_before_anything_is_saved(
    tmp_path, monkeypatch, capsys, only_line
):
    (tmp_path / "tiny.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        poison(patch)
        assert only_line("train", "tiny.yaml").startswith("error: this device computes wrongly: ")
    assert files_of(tmp_path / "runs/tiny") <= {"config.yaml", "run.lock"}
    assert main(["train", "tiny.yaml"]) == 0
    assert "self-check: policies by 0.000%, " in capsys.readouterr().out


def test_a_sick_device_stops_a_resumed_run_with_its_state_as_it_was(
    tmp_path, monkeypatch, only_line
):
    run = train(tiny_config(tmp_path, "budget.iterations=1"))
    before = fingerprint(run), manifest_of(run)
    more = ["train", "--resume", str(run), f"budget.iterations={ITERATIONS}"]
    with monkeypatch.context() as patch:
        poison(patch)
        assert "computes wrongly" in only_line(*more)
    after = fingerprint(run), manifest_of(run)
    for files, manifest in (before, after):
        # It has the larger budget now, and another hash.
        del files["config.yaml"], manifest["hashes"]["config.yaml"], manifest["sha256"]
    assert after == before
    assert main(more) == 0
    assert manifest_of(run)["iteration"] == ITERATIONS
