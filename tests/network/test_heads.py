"""Convolutional heads against a slow twin, cell by cell; auxiliary heads beside the others."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.networks import boards, exact, moved, needs_openvino
from helpers.settings import network_config
from numpy.typing import NDArray

from alphazero.config.schema import AUXILIARY_HEADS, NetworkConfig
from alphazero.games import make_game
from alphazero.network.heads import MIN_SPREAD, ConvolutionalPolicy, pool_board
from alphazero.network.inference.batched_evaluator import AuxiliaryPredictions
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.inference.torch_evaluator import TorchEvaluator
from alphazero.network.resnet import ResNet

SETTINGS = network_config(
    blocks=2, filters=16, policy_filters=5, value_filters=6, value_hidden=9, heads="convolutional"
)
Array = NDArray[np.float64]


def network_for(rows: int = 6, columns: int = 7, planes: int = 1, others: int = 1) -> ResNet:
    """A network in evaluation mode whose normalisations and heads are far from their start."""
    actions = planes * rows * columns + others
    network = moved(ResNet((3, rows, columns), actions, SETTINGS, 1, planes), 0.3)
    with torch.no_grad():
        network.value_output.weight.mul_(0.2)  # so that no outcome is certain
        network.value_output.bias.zero_()
    return network


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
    network = network_for(rows, columns, planes, others)
    logits, values = check_heads(network, network, rows, columns, planes)
    assert logits.shape == (4, planes * rows * columns + others)
    # The comparison means something: answers differ between cells and between positions.
    assert logits[:, :-2].std(1).min() > 0.15
    assert values.std() > 0.01


def check_heads(
    network: ResNet, twin: ResNet, rows: int, columns: int, planes: int
) -> list[np.ndarray]:
    """Compare a network's outputs with the slow heads of its `twin` on its trunk; return them."""
    observations = torch.from_numpy(boards(4, rows, columns))
    with torch.no_grad():
        trunk = network.tower(network.stem(observations).clamp(min=0)).double().numpy()
    logits, values = exact(network, observations.numpy())
    for position in range(4):
        expected = slow_heads(twin, trunk[position], planes)
        np.testing.assert_allclose(logits[position], expected[0], atol=2e-4)
        np.testing.assert_allclose(values[position], expected[1], atol=2e-5)
    return [logits, values]


def test_the_same_weights_play_on_boards_of_other_sizes():
    small, large = network_for(7, 7), ResNet((3, 9, 9), 82, SETTINGS, 9, 1).eval()
    large.load_state_dict(small.state_dict())
    check_heads(large, small, 9, 9, 1)


def test_a_head_treats_all_cells_alike():
    """Cells in another order, such as on a shifted board, have their logits in that order."""
    head = ConvolutionalPolicy(4, 2, 3)
    features = torch.randn(2, 8, 5, 6, generator=torch.Generator().manual_seed(0))
    order = torch.randperm(30, generator=torch.Generator().manual_seed(1))
    moved = features.flatten(2)[:, :, order].view_as(features)
    with torch.no_grad():
        before, after = head(features), head(moved)
    expected = torch.cat([before[:, :30][:, order], before[:, 30:60][:, order], before[:, 60:]], 1)
    torch.testing.assert_close(after, expected)
    torch.testing.assert_close(pool_board(moved), pool_board(features))


def test_only_the_board_s_width_scales_the_means():
    ones = torch.ones(1, 2, 14, 14)
    assert pool_board(ones).tolist() == [[1, 1, 0, 0, 1, 1]]
    assert pool_board(ones[:, :, :9, :9]).tolist() == [[1, 1, -0.5, -0.5, 1, 1]]


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


def test_a_game_of_pieces_has_an_action_for_each_logit():
    game = make_game("gardner")
    network = ResNet.of(game, network_config(blocks=1, filters=16, heads="convolutional"))
    logits, _ = network(torch.from_numpy(game.observe(game.initial_state()))[None])
    assert logits.shape == (1, 455)


# Auxiliary heads

SHAPE, ACTIONS = (3, 4, 5), 21
WITHOUT_HEADS = network_config(blocks=2, filters=8, value_hidden=8, global_pooling=2)
WITH_HEADS = replace(WITHOUT_HEADS, auxiliary=AUXILIARY_HEADS)
OBSERVATIONS = np.random.default_rng(0).standard_normal((6, *SHAPE)).astype(np.float32)


def trained_like(settings: NetworkConfig = WITH_HEADS) -> ResNet:
    """A network in evaluation mode whose outputs all depend on its input."""
    return moved(ResNet(SHAPE, ACTIONS, settings, 1), 0.3)


def predict(network: ResNet) -> AuxiliaryPredictions:
    return TorchEvaluator(network, "cpu", "float32").predict(OBSERVATIONS)


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
    evaluator = TorchEvaluator(network, "cpu", "float32")
    for copy in (network, evaluator._network):
        for head in copy.auxiliary.values():
            monkeypatch.setattr(head, "forward", None)
    network(torch.from_numpy(OBSERVATIONS))
    evaluator.evaluate(OBSERVATIONS)
    with pytest.raises(TypeError):
        network.forward_full(torch.from_numpy(OBSERVATIONS))


def test_predictions_are_the_outputs_in_words_for_people():
    network = trained_like()
    predictions = predict(network)
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
    rounded = TorchEvaluator(network, "cpu", "bfloat16").predict(OBSERVATIONS)
    for ours, theirs in zip(rounded, predict(network), strict=True):
        assert np.allclose(ours, theirs, rtol=0.2, atol=0.2)


@needs_openvino
def test_openvino_plays_without_the_heads_and_predicts_by_torch():
    network = trained_like()
    evaluator = OpenVINOEvaluator(network, "float32")
    with torch.inference_mode():
        expected = network(torch.from_numpy(OBSERVATIONS))
    for ours, theirs in zip(evaluator.evaluate(OBSERVATIONS), expected, strict=True):
        assert np.allclose(ours, theirs, rtol=1e-3, atol=1e-3)
    for ours, theirs in zip(evaluator.predict(OBSERVATIONS), predict(network), strict=True):
        assert np.allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="expected observations"):
        evaluator.predict(OBSERVATIONS[:, :2])


def test_an_untrained_network_expects_nothing_in_particular():
    predictions = predict(ResNet(SHAPE, ACTIONS, WITH_HEADS, 0))
    assert np.abs(predictions.ownership).max() < 0.5
    assert np.abs(predictions.margin).max() < 0.5 * np.sqrt(20)
