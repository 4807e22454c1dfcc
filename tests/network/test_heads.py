"""Convolutional heads against a plain computation, cell by cell, on boards of several sizes."""

import math

import numpy as np
import pytest
import torch
from helpers.settings import network_config
from numpy.typing import NDArray
from torch.nn import functional

from alphazero.games import make_game
from alphazero.network.heads import ConvolutionalPolicy, pool_board
from alphazero.network.inference.torch_evaluator import TorchEvaluator
from alphazero.network.resnet import ResNet, fold_batch_norm

SETTINGS = network_config(
    blocks=2, filters=16, policy_filters=5, value_filters=6, value_hidden=9, heads="convolutional"
)
Array = NDArray[np.float64]


def network_for(rows: int = 6, columns: int = 7, planes: int = 1, others: int = 1) -> ResNet:
    """A network in evaluation mode whose normalisations and heads are far from their start."""
    actions = planes * rows * columns + others
    network = ResNet((3, rows, columns), actions, SETTINGS, 1, planes)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if tensor.is_floating_point():
                noise = torch.randn(tensor.shape, generator=generator) * 0.3
                tensor.add_(noise.abs() if name.endswith("running_var") else noise)
        network.value_output.weight.mul_(0.2)  # so that no outcome is certain
        network.value_output.bias.zero_()
    return network.eval()


def boards(count: int, rows: int = 6, columns: int = 7) -> torch.Tensor:
    rng = np.random.default_rng(3)
    return torch.from_numpy((rng.random((count, 3, rows, columns)) < 0.4).astype(np.float32))


def plain_heads(network: ResNet, trunk: Array, planes: int) -> tuple[Array, float]:
    """Return logits [A] and value of one position, of the trunk's features [F, H, W]."""
    weights = {name: each.double().numpy() for name, each in network.state_dict().items()}
    height, width = trunk.shape[1:]

    def normalised(name: str, cell: Array) -> Array:
        x = weights[f"{name}.convolution.weight"][:, :, 0, 0] @ cell
        mean, variance, scale, shift = (
            weights[f"{name}.normalisation.{each}"]
            for each in ("running_mean", "running_var", "weight", "bias")
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
) -> None:
    network = network_for(rows, columns, planes, others)
    observations = boards(4, rows, columns)
    with torch.no_grad():
        logits, values = network(observations)
        trunk = network.tower(network.stem(observations).clamp(min=0)).double().numpy()
    assert logits.shape == (4, planes * rows * columns + others)
    for position in range(4):
        expected = plain_heads(network, trunk[position], planes)
        np.testing.assert_allclose(logits[position], expected[0], atol=2e-4)
        np.testing.assert_allclose(values[position], expected[1], atol=2e-5)
    # The comparison means something: answers differ between cells and between positions.
    assert logits[:, :-2].std(1).min() > 0.15
    assert values.std() > 0.01


def test_the_same_weights_play_on_boards_of_other_sizes() -> None:
    small, large = network_for(7, 7), network_for(9, 9)
    weights = small.state_dict()
    with torch.no_grad():
        for tensor in large.state_dict().values():
            tensor.zero_()
    large.load_state_dict(weights)
    observations = boards(3, 9, 9)
    with torch.no_grad():
        logits, values = large(observations)
        trunk = large.tower(large.stem(observations).clamp(min=0)).double().numpy()
    for position in range(3):
        expected = plain_heads(small, trunk[position], 1)
        np.testing.assert_allclose(logits[position], expected[0], atol=2e-4)
        np.testing.assert_allclose(values[position], expected[1], atol=2e-5)


def test_a_head_treats_all_cells_alike() -> None:
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


def test_only_the_board_s_width_scales_the_means() -> None:
    ones = torch.ones(1, 2, 14, 14)
    assert pool_board(ones).tolist() == [[1, 1, 0, 0, 1, 1]]
    assert pool_board(ones[:, :, :9, :9]).tolist() == [[1, 1, -0.5, -0.5, 1, 1]]


def test_a_game_without_cells_for_its_actions_keeps_the_dense_policy_head() -> None:
    connect_four = ResNet.of(make_game("connect_four"), SETTINGS)
    assert connect_four.policy_output.weight.shape == (7, 5 * 42)
    assert connect_four.value_hidden.weight.shape == (9, 3 * 6)
    logits, values = connect_four(boards(2))
    assert (logits.shape, values.shape) == ((2, 7), (2,))


@pytest.mark.parametrize("name", ["go", "hex", "othello", "gomoku", "tic_tac_toe"])
def test_no_weight_knows_the_size_of_the_board(name: str) -> None:
    option = {"hex": "size", "othello": "size"}.get(name)
    options = [{option: 6}, {option: 8}] if option else [{"rows": 6}, {"rows": 8}]
    shapes = [
        {
            key: weight.shape
            for key, weight in ResNet.of(make_game(name, **each), SETTINGS, None)
            .state_dict()
            .items()
        }
        for each in options
    ]
    assert shapes[0] == shapes[1]
    assert ("policy_output.others.weight" in shapes[0]) == (name in ("go", "othello"))


@pytest.mark.parametrize("size", [5, 19])
def test_an_untrained_network_is_nearly_uniform_and_nearly_indifferent(size: int) -> None:
    settings = network_config(
        blocks=5, filters=32, policy_filters=16, value_filters=16, heads="convolutional"
    )
    uniform = 1 / (size * size + 1)
    for seed in range(3):
        network = ResNet((3, size, size), size * size + 1, settings, seed, 1).eval()
        with torch.no_grad():
            logits, values = network(boards(50, size, size))
        policy = torch.softmax(logits, 1)
        assert uniform / 2 < policy.min()
        assert policy.max() < 2 * uniform
        assert values.abs().max() < 0.3


def test_every_weight_learns() -> None:
    network = ResNet((3, 6, 7), 43, SETTINGS, 0, 1).train()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    before = {name: value.detach().clone() for name, value in network.named_parameters()}
    for _ in range(3):
        logits, values = network(boards(32))
        moves = torch.arange(32) % 43
        moves[:4] = 42
        loss = functional.cross_entropy(logits, moves) + (values - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    still = [name for name, value in network.named_parameters() if torch.equal(value, before[name])]
    assert still == []


def test_folding_changes_nothing_but_the_last_digits() -> None:
    network = network_for()
    with torch.no_grad():
        folded, plain = fold_batch_norm(network)(boards(32)), network(boards(32))
    for ours, theirs in zip(folded, plain, strict=True):
        torch.testing.assert_close(ours, theirs, atol=2e-4, rtol=0)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_evaluator_answers_as_the_plain_network(device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    network = network_for(planes=2, others=3)
    with torch.no_grad():
        logits, values = (each.numpy() for each in network(boards(70)))
    for precision, error in (("float32", 1e-3), ("bfloat16", 0.05)):
        evaluator = TorchEvaluator(network, device, precision)
        for count in (1, 7, 70):
            ours = evaluator.evaluate(boards(70)[:count].numpy())
            assert np.abs(ours[0] - logits[:count]).max() < error * max(1, logits.std())
            assert np.abs(ours[1] - values[:count]).max() < 2 * error
        assert evaluator._records == (device == "cuda"), "every batch was recorded"


def test_an_answer_does_not_depend_on_its_place_in_the_batch() -> None:
    evaluator = TorchEvaluator(network_for(), "cpu", "float32")
    observations = boards(64).numpy()
    order = np.random.default_rng(0).permutation(64)
    logits, values = evaluator.evaluate(observations)
    moved = evaluator.evaluate(observations[order])
    np.testing.assert_array_equal(moved[0], logits[order])
    np.testing.assert_array_equal(moved[1], values[order])
