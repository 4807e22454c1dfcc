"""Auxiliary heads: apart from the network that plays, and read by people."""

import dataclasses

import numpy as np
import pytest
import torch
from helpers.networks import moved, needs_openvino
from helpers.settings import network_config

from alphazero.config.schema import AUXILIARY_HEADS, NetworkConfig
from alphazero.network.heads import MIN_SPREAD
from alphazero.network.inference.batched_evaluator import AuxiliaryPredictions
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.inference.torch_evaluator import TorchEvaluator
from alphazero.network.resnet import ResNet

SHAPE, ACTIONS = (3, 4, 5), 21
WITHOUT_HEADS = network_config(blocks=2, filters=8, value_hidden=8, global_pooling=2)
WITH_HEADS = dataclasses.replace(WITHOUT_HEADS, auxiliary=AUXILIARY_HEADS)
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
    predictions = predict(trained_like(dataclasses.replace(WITHOUT_HEADS, auxiliary=heads)))
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
