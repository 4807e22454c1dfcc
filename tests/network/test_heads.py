"""Convolutional heads against a slow twin, cell by cell; auxiliary heads beside the others."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.networks import boards, exact, moved, needs_openvino
from helpers.settings import network_config
from numpy.typing import NDArray

from alphazero.config.schema import AUXILIARY_HEADS, NetworkConfig
from alphazero.games import make_game
from alphazero.network.heads import MIN_SPREAD
from alphazero.network.inference.batched_evaluator import AuxiliaryPredictions, BatchedEvaluator
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.inference.torch_evaluator import TorchEvaluator
from alphazero.network.resnet import ResNet

SETTINGS = network_config(
    blocks=2, filters=16, policy_filters=5, value_filters=6, value_hidden=9, heads="convolutional"
)
Array = NDArray[np.float64]


def slow_heads(network: ResNet, trunk: Array, planes: int) -> tuple[Array, float]:
    """Return logits [A] and value of one position, of the trunk's features [F, H, W]."""
    weights = {name: weight.double().numpy() for name, weight in network.state_dict().items()}
    height, width = trunk.shape[1:]

    def normalised(name: str, cell: Array) -> Array:
        x = weights[f"{name}.convolution.weight"][:, :, 0, 0] @ cell
        mean, variance, scale, shift = (
            weights[f"{name}.normalisation.{part}"]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift

    def dense(name: str, x: Array) -> Array:
        return weights[f"{name}.weight"] @ x + weights[f"{name}.bias"]

    def pooled(cells: list[Array]) -> Array:
        """KataGo's pooling layer, filter by filter."""
        filters = range(len(cells[0]))
        means = [sum(max(cell[f], 0) for cell in cells) / len(cells) for f in filters]
        scaled = [mean * (math.sqrt(height * width) - 14) / 10 for mean in means]
        return np.array([*means, *scaled, *(max(0, *(c[f] for c in cells)) for f in filters)])

    cells = [trunk[:, row, column] for row in range(height) for column in range(width)]
    policy = [normalised("policy_features", cell) for cell in cells]
    half = len(policy[0]) // 2
    summary = pooled([cell[half:] for cell in policy])
    shift = dense("policy_output.bias", summary)
    logits = np.zeros((planes, len(cells)))
    for index, cell in enumerate(policy):
        logits[:, index] = dense("policy_output.planes", np.maximum(cell[:half] + shift, 0))
    others = (
        dense("policy_output.others", summary) if "policy_output.others.bias" in weights else []
    )
    inputs = pooled([normalised("value_features", cell) for cell in cells])
    (output,) = dense("value_output", np.maximum(dense("value_hidden", inputs), 0))
    return np.concatenate([logits.ravel(), others]), math.tanh(output)


@pytest.mark.parametrize(("planes", "others"), [(1, 1), (1, 0), (3, 2)])
@pytest.mark.parametrize(("rows", "columns"), [(7, 7), (9, 9), (4, 19)])
def test_the_heads_compute_what_the_paper_describes(
    rows: int, columns: int, planes: int, others: int
):
    actions = planes * rows * columns + others
    network = moved(ResNet((3, rows, columns), actions, SETTINGS, 1, planes), 0.3)
    observations = torch.from_numpy(boards(4, rows, columns))
    with torch.no_grad():
        network.value_output.weight.mul_(0.2)  # so that no outcome is certain
        network.value_output.bias.zero_()
        trunk = network.tower(network.stem(observations).clamp(min=0)).double().numpy()
    logits, values = exact(network, observations.numpy())
    for position in range(4):
        expected = slow_heads(network, trunk[position], planes)
        np.testing.assert_allclose(logits[position], expected[0], atol=2e-4)
        np.testing.assert_allclose(values[position], expected[1], atol=2e-5)
    assert logits.shape == (4, actions)
    # The comparison means something: answers differ between cells and between positions.
    assert logits[:, :-2].std(1).min() > 0.15
    assert values.std() > 0.01


def test_a_game_without_cells_for_its_actions_keeps_the_dense_policy_head():
    connect_four = ResNet.of(make_game("connect_four"), SETTINGS)
    assert connect_four.policy_output.weight.shape == (7, 5 * 42)
    assert connect_four.value_hidden.weight.shape == (9, 3 * 6)
    logits, values = exact(connect_four, boards(2))
    assert (logits.shape, values.shape) == ((2, 7), (2,))


@pytest.mark.parametrize("name", ["go", "hex", "othello", "gomoku", "tic_tac_toe"])
def test_no_weight_knows_the_size_of_the_board(name: str):
    key = "size" if name in ("hex", "othello") else "rows"
    options = [{key: 6}, {key: 8}]
    settings = replace(SETTINGS, auxiliary=AUXILIARY_HEADS)
    networks = [ResNet.of(make_game(name, **option), settings, None) for option in options]
    shapes = [
        {key: weight.shape for key, weight in network.state_dict().items()} for network in networks
    ]
    assert shapes[0] == shapes[1]
    assert ("policy_output.others.weight" in shapes[0]) == (name in ("go", "othello"))


def test_an_index_of_the_actions_picks_their_places_in_the_planes():
    index = np.random.default_rng(5).permutation(3 * 30)[:41].astype(np.int64)
    laid_out = ResNet((2, 5, 6), 41, SETTINGS, 4, 3, index)
    planes = ResNet((2, 5, 6), 90, SETTINGS, 4, 3)
    assert laid_out.state_dict().keys() == planes.state_dict().keys()  # no weight of its own
    observations = torch.randn((7, 2, 5, 6), generator=torch.Generator().manual_seed(1))
    logits, values = laid_out.eval()(observations)
    every, same = planes.eval()(observations)
    assert torch.equal(logits, every[:, torch.from_numpy(index)])
    assert torch.equal(values, same)


# Auxiliary heads

SHAPE, ACTIONS = (3, 4, 5), 21
WITHOUT_HEADS = network_config(blocks=2, filters=8, value_hidden=8, global_pooling=2)
WITH_HEADS = replace(WITHOUT_HEADS, auxiliary=AUXILIARY_HEADS)
OBSERVATIONS = np.random.default_rng(0).standard_normal((6, *SHAPE)).astype(np.float32)


def trained_like(settings: NetworkConfig = WITH_HEADS) -> ResNet:
    """A network in evaluation mode whose outputs all depend on its input."""
    return moved(ResNet(SHAPE, ACTIONS, settings, 1), 0.3)


def by_torch(network: ResNet, precision: str = "float32") -> TorchEvaluator:
    return TorchEvaluator(network, "cpu", precision)


def predict(network: ResNet) -> AuxiliaryPredictions:
    return by_torch(network).predict(OBSERVATIONS)


def test_the_ordinary_weights_start_the_same_with_and_without_heads():
    few, more = (
        ResNet(SHAPE, ACTIONS, settings, 7).state_dict() for settings in (WITHOUT_HEADS, WITH_HEADS)
    )
    assert [name for name in more if name not in few] == [
        name for name in more if name.startswith("auxiliary.")
    ]
    assert all(torch.equal(weights, more[name]) for name, weights in few.items())


def test_heads_change_nothing_of_policy_and_value():
    network = trained_like()
    without = ResNet(SHAPE, ACTIONS, WITHOUT_HEADS, 0).eval()
    without.load_state_dict(network.state_dict(), strict=False)
    planes = torch.from_numpy(OBSERVATIONS)
    with torch.inference_mode():
        full, expected = network.forward_full(planes), without(planes)
        assert all(map(torch.equal, network(planes), expected))
        assert all(map(torch.equal, full[:2], expected))
        assert without.forward_full(planes).auxiliary == {}
    assert [*full.auxiliary] == [*AUXILIARY_HEADS]


def test_playing_computes_no_head(monkeypatch):
    network = trained_like()
    evaluator = by_torch(network)
    for copy in (network, evaluator._network):
        for head in copy.auxiliary.values():
            monkeypatch.setattr(head, "forward", None)
    network(torch.from_numpy(OBSERVATIONS))
    evaluator.evaluate(OBSERVATIONS)
    with pytest.raises(TypeError):
        network.forward_full(torch.from_numpy(OBSERVATIONS))


@pytest.mark.parametrize(
    "evaluator_of", [by_torch, pytest.param(OpenVINOEvaluator, marks=needs_openvino)]
)
def test_predictions_are_the_outputs_in_words_for_people(
    evaluator_of: Callable[[ResNet], BatchedEvaluator],
):
    network = trained_like()
    predictions = evaluator_of(network).predict(OBSERVATIONS)
    with torch.inference_mode():
        outputs = network.forward_full(torch.from_numpy(OBSERVATIONS)).auxiliary
    arrays = {name: output.numpy().astype(np.float64) for name, output in outputs.items()}
    chances = 1 / (1 + np.exp(-arrays["ownership"]))
    assert predictions.ownership.shape == (6, 20)
    assert np.allclose(predictions.ownership, chances - (1 - chances), atol=1e-5)
    assert np.allclose(predictions.margin, arrays["margin"][:, 0], atol=1e-5)
    assert np.allclose(predictions.margin_spread, arrays["margin"][:, 1], atol=1e-5)
    assert (predictions.margin_spread >= MIN_SPREAD * np.sqrt(20)).all()
    assert predictions.ownership.std() > 0.01
    assert predictions.margin.std() > 0.01


@pytest.mark.parametrize("heads", [(), ("ownership",), ("margin", "ownership")])
def test_what_a_network_does_not_learn_it_does_not_predict(heads: tuple[str, ...]):
    predictions = predict(trained_like(replace(WITHOUT_HEADS, auxiliary=heads)))
    names = {name for name, array in predictions._asdict().items() if array is not None}
    assert names == {*heads} | ({"margin_spread"} if "margin" in heads else set())


def test_bfloat16_predicts_nearly_the_same():
    network = trained_like()
    rounded = by_torch(network, "bfloat16").predict(OBSERVATIONS)
    for ours, theirs in zip(rounded, predict(network), strict=True):
        assert np.allclose(ours, theirs, rtol=0.2, atol=0.2)


def test_an_untrained_network_expects_nothing_in_particular():
    predictions = predict(ResNet(SHAPE, ACTIONS, WITH_HEADS, 0))
    assert np.abs(predictions.ownership).max() < 0.5
    assert np.abs(predictions.margin).max() < 0.5 * np.sqrt(20)
