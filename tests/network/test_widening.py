"""A larger network computes what the smaller one did."""

import copy
import dataclasses

import numpy as np
import pytest
import torch

from alphazero.config.schema import NetworkConfig
from alphazero.games import make_game
from alphazero.network.resnet import ResNet
from alphazero.network.widening import widen

SETTINGS = NetworkConfig(
    blocks=2, filters=8, policy_filters=3, value_filters=4, value_hidden=5, global_pooling=3
)
HEADS = ("ownership", "margin", "short_term_value")


@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.parametrize("spread", [0.0, 0.5])
@pytest.mark.parametrize(
    ("own", "blocks", "filters"),
    [
        ({}, 2, 8),
        ({}, 3, 12),
        ({"heads": "convolutional", "auxiliary": HEADS}, 6, 19),
        ({"auxiliary": HEADS}, 2, 16),
        ({"global_pooling": 0}, 2, 31),
        ({"blocks": 0}, 2, 9),
    ],
)
def test_the_outputs_are_those_of_the_smaller_network(
    own: dict[str, object], blocks: int, filters: int, spread: float, trains: bool
) -> None:
    game = make_game("go", rows=5, columns=5)
    settings = dataclasses.replace(SETTINGS, **own)
    generator = torch.Generator().manual_seed(3)
    small = ResNet.of(game, settings, 6)
    for name, tensor in small.state_dict().items():
        if tensor.is_floating_point():
            least = 0.5 if name.endswith("running_var") else -0.5
            tensor.add_(torch.rand(tensor.shape, generator=generator) + least)
    large = ResNet.of(game, dataclasses.replace(settings, blocks=blocks, filters=filters), 4)
    large.load_state_dict(
        widen(small.state_dict(), filters - settings.filters, np.random.default_rng(5), spread),
        strict=False,  # new blocks keep their weights
    )
    observations = torch.rand(16, *game.observation_shape, generator=generator)
    answers, wider = (
        copy.deepcopy(each).train(trains).forward_full(observations) for each in (small, large)
    )
    pairs = [(answers.policy_logits, wider.policy_logits), (answers.values, wider.values)]
    pairs += [(answers.auxiliary[name], wider.auxiliary[name]) for name in settings.auxiliary]
    for one, other in pairs:
        assert one.std() > 1e-3
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_copies_learn_apart_where_their_shares_differ(spread: float) -> None:
    game = make_game("tic_tac_toe")
    settings = dataclasses.replace(SETTINGS, filters=4, global_pooling=0)
    small = ResNet.of(game, settings, 1)
    large = ResNet.of(game, dataclasses.replace(settings, filters=8), 2)
    large.load_state_dict(widen(small.state_dict(), 4, np.random.default_rng(3), spread))
    generator = torch.Generator().manual_seed(4)
    observations = torch.rand(16, *game.observation_shape, generator=generator)
    large(observations)[0].square().sum().backward()
    stem = large.stem.convolution.weight
    gradient = stem.grad
    assert gradient is not None
    apart = [
        not torch.allclose(gradient[first], gradient[second], rtol=1e-3)
        for first in range(8)
        for second in range(first)
        if torch.equal(stem[first], stem[second])
    ]
    assert len(apart) >= 4
    assert all(each == (spread > 0) for each in apart)
