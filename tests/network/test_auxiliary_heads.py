"""Auxiliary heads: apart from the network that plays, and read by people."""

import dataclasses

import numpy as np
import pytest
import torch
from helpers.networks import needs_openvino

from alphazero.config.schema import AUXILIARY_HEADS, NetworkConfig
from alphazero.network.heads import LEAST_SPREAD
from alphazero.network.inference.batched_evaluator import predict
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.inference.torch_evaluator import TorchEvaluator
from alphazero.network.resnet import ResNet, fold_batch_norm

SHAPE, ACTIONS = (3, 4, 5), 21
PLAIN = NetworkConfig(blocks=2, filters=8, value_hidden=8, global_pooling=2)
WITH_HEADS = dataclasses.replace(PLAIN, auxiliary=AUXILIARY_HEADS)
OBSERVATIONS = np.random.default_rng(0).standard_normal((6, *SHAPE)).astype(np.float32)


def trained_like(settings: NetworkConfig = WITH_HEADS) -> ResNet:
    """A network in evaluation mode whose outputs all depend on its input."""
    network, generator = ResNet(SHAPE, ACTIONS, settings, 1), torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.3)
    return network.eval()


def test_the_ordinary_weights_start_the_same_with_and_without_heads() -> None:
    plain, other = (ResNet(SHAPE, ACTIONS, each, 7).state_dict() for each in (PLAIN, WITH_HEADS))
    assert [name for name in other if name not in plain] == [
        name for name in other if name.startswith("auxiliary.")
    ]
    assert all(torch.equal(weights, other[name]) for name, weights in plain.items())


def test_heads_change_nothing_of_policy_and_value() -> None:
    network = trained_like()
    plain = ResNet(SHAPE, ACTIONS, PLAIN, 0).eval()
    plain.load_state_dict(
        {name: each for name, each in network.state_dict().items() if name[:9] != "auxiliary"}
    )
    given = torch.from_numpy(OBSERVATIONS)
    with torch.inference_mode():
        full = network.forward_full(given)
        for one, two in (
            (network(given), plain(given)),
            (full[:2], plain(given)),
            (full[:2], network.forward_full(given)[:2]),
        ):
            assert all(map(torch.equal, one, two))
        assert plain.forward_full(given).auxiliary == {}
    assert [*full.auxiliary] == [*AUXILIARY_HEADS]


def test_playing_computes_no_head(monkeypatch: pytest.MonkeyPatch) -> None:
    network = trained_like()
    evaluator = TorchEvaluator(network, "cpu", "float32")
    for each in (network, evaluator._network):
        for head in each.auxiliary.values():
            monkeypatch.setattr(head, "forward", None)
    network(torch.from_numpy(OBSERVATIONS))
    evaluator.evaluate(OBSERVATIONS)
    with pytest.raises(TypeError):
        network.forward_full(torch.from_numpy(OBSERVATIONS))


def test_predictions_are_the_outputs_in_words_for_people() -> None:
    network = trained_like()
    found = predict(network, OBSERVATIONS)
    with torch.inference_mode():
        outputs = network.forward_full(torch.from_numpy(OBSERVATIONS)).auxiliary
    arrays = {name: each.numpy().astype(np.float64) for name, each in outputs.items()}
    chances = 1 / (1 + np.exp(-arrays["ownership"]))
    assert found.ownership.shape == (6, 20)
    assert np.allclose(found.ownership, chances - (1 - chances), atol=1e-6)
    assert np.allclose(found.margin, arrays["margin"][:, 0])
    assert np.allclose(found.margin_spread, arrays["margin"][:, 1])
    assert (found.margin_spread >= LEAST_SPREAD * np.sqrt(20)).all()
    chances = 1 / (1 + np.exp(-arrays["short_term_value"]))
    assert np.allclose(found.short_term_value, 2 * chances - 1, atol=1e-6)
    assert found.ownership.std() > 0.01
    assert found.margin.std() > 0.01


@pytest.mark.parametrize("heads", [(), ("short_term_value",), ("margin", "ownership")])
def test_what_a_network_does_not_learn_it_does_not_predict(heads: tuple[str, ...]) -> None:
    found = predict(trained_like(dataclasses.replace(PLAIN, auxiliary=heads)), OBSERVATIONS)
    predicted = {name for name, array in found._asdict().items() if array is not None}
    assert predicted == {*heads} | ({"margin_spread"} if "margin" in heads else set())


def test_a_folded_network_of_any_precision_predicts_the_same() -> None:
    network = trained_like()
    expected = predict(network, OBSERVATIONS)
    for found, tolerance in (
        (predict(fold_batch_norm(network), OBSERVATIONS), 1e-5),
        (TorchEvaluator(network, "cpu", "float32").predict(OBSERVATIONS), 1e-5),
        (TorchEvaluator(network, "cpu", "bfloat16").predict(OBSERVATIONS), 0.2),
    ):
        for one, two in zip(found, expected, strict=True):
            assert np.allclose(one, two, rtol=tolerance, atol=tolerance)


@needs_openvino
def test_openvino_plays_without_the_heads_and_predicts_by_torch() -> None:
    network = trained_like()
    evaluator = OpenVINOEvaluator(network, "float32")
    with torch.inference_mode():
        expected = network(torch.from_numpy(OBSERVATIONS))
    for one, two in zip(evaluator.evaluate(OBSERVATIONS), expected, strict=True):
        assert np.allclose(one, two, rtol=1e-3, atol=1e-3)
    for one, two in zip(
        evaluator.predict(OBSERVATIONS), predict(network, OBSERVATIONS), strict=True
    ):
        assert np.allclose(one, two, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="expected observations"):
        evaluator.predict(OBSERVATIONS[:, :2])


def test_no_weight_of_a_head_knows_the_size_of_the_board() -> None:
    sizes = [ResNet((3, n, n), n * n, WITH_HEADS, None).auxiliary.state_dict() for n in (4, 9)]
    shapes = [{name: each.shape for name, each in weights.items()} for weights in sizes]
    assert shapes[0] == shapes[1]


def test_an_untrained_network_expects_nothing_in_particular() -> None:
    found = predict(ResNet(SHAPE, ACTIONS, WITH_HEADS, 0).eval(), OBSERVATIONS)
    assert np.abs(found.ownership).max() < 0.5
    assert np.abs(found.short_term_value).max() < 0.5
    assert np.abs(found.margin).max() < 0.5 * np.sqrt(20)
