"""What a new network takes of a checkpoint, and a run that starts from one."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.networks import moved
from helpers.runs.tiny_run import ITERATIONS, content_of, tiny_config
from helpers.settings import network_config

from alphazero.config.schema import NetworkConfig
from alphazero.diagnostics.verify import verify
from alphazero.errors import ConfigError, RunError
from alphazero.games import make_game
from alphazero.network.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from alphazero.network.resnet import ResNet
from alphazero.network.transfer import SPREAD, start_from, widen
from alphazero.players.checkpoint_player import describe
from alphazero.training.loop import resume, train

SETTINGS = network_config(
    blocks=2,
    filters=8,
    policy_filters=3,
    value_filters=4,
    value_hidden=5,
    heads="convolutional",
    global_pooling=3,
)
GO_5 = {"rows": 5, "columns": 5}
RNG = np.random.default_rng(0)
"""Widens; the tests depend on no draw of it."""
EVERYTHING = "taken: stem, blocks 1 to 2, policy head, actions without a cell, value head"


def network_of(name: str, settings: NetworkConfig, seed: int, **options: int) -> ResNet:
    """A network whose every weight was moved from its start."""
    return moved(ResNet.of(make_game(name, **options), settings, seed), 0.3)


def save_player(path: Path, settings: NetworkConfig) -> dict[str, torch.Tensor]:
    """Write a player of Go on 5 x 5; return its weights."""
    weights = network_of("go", settings, 1, **GO_5).state_dict()
    save_checkpoint(path, Checkpoint("go", GO_5, settings, weights, 7, 1))
    return weights


@pytest.fixture
def path(tmp_path) -> Path:
    """A player of Go on 5 x 5."""
    path = tmp_path / "go_5x5.safetensors"
    save_player(path, SETTINGS)
    return path


def equal_parts(network: ResNet, path: Path) -> set[str]:
    """Return the top-level modules of a network whose every weight is the checkpoint's."""
    weights = load_checkpoint(path).weights
    names = {name.split(".")[0] for name in network.state_dict()}
    for name, tensor in network.state_dict().items():
        if name not in weights or not torch.equal(tensor, weights[name]):
            names.discard(name.split(".")[0])
    return names


def check_same_outputs(one: ResNet, other: ResNet, tolerance: float = 1e-4) -> None:
    """Compare all outputs of two networks of Go on 5 x 5, which differ between positions."""
    generator = torch.Generator().manual_seed(3)
    observations = torch.rand(16, *one.observation_shape, generator=generator)
    ours, theirs = one.forward_full(observations), other.forward_full(observations)
    assert ours.auxiliary.keys() == theirs.auxiliary.keys()
    for output, twin in zip(
        (*ours[:2], *ours.auxiliary.values()),
        (*theirs[:2], *theirs.auxiliary.values()),
        strict=True,
    ):
        assert output.std() > 1e-3
        torch.testing.assert_close(twin, output, rtol=tolerance, atol=tolerance)


def test_dense_heads_are_not_taken_from_another_size_of_the_board(path):
    dense = dataclasses.replace(SETTINGS, heads="dense")
    save_player(path, dense)
    network = network_of("go", dense, 2, rows=7, columns=7)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    assert str(start_from(str(path), network, RNG)) == (
        "taken: stem, blocks 1 to 2; not taken: policy head (policy_output.weight is [26, 75] "
        "there, [50, 147] here), value head (value_hidden.weight is [5, 100] there, [5, 196] here)"
    )
    assert equal_parts(network, path) == {"stem", "tower"}
    for name, tensor in network.state_dict().items():
        if name.startswith(("policy", "value")):
            assert torch.equal(tensor, before[name])


def test_each_auxiliary_head_is_taken_alone(path):
    settings = dataclasses.replace(SETTINGS, auxiliary=("ownership", "margin"))
    weights = save_player(path, settings)
    fewer = dataclasses.replace(SETTINGS, auxiliary=("ownership", "short_term_value"))
    network = network_of("go", fewer, 2, **GO_5)
    assert str(start_from(str(path), network, RNG)) == (
        f"{EVERYTHING}, ownership head; not taken: short term value head (not there); "
        "not in this network: margin head"
    )
    for name, tensor in network.auxiliary["ownership"].state_dict().items():
        assert torch.equal(tensor, weights[f"auxiliary.ownership.{name}"])


def test_of_another_games_network_the_parts_that_fit_are_taken(path):
    """Hex has other planes and no pass, and its network here a wider value head."""
    settings = dataclasses.replace(SETTINGS, value_hidden=7)
    network = network_of("hex", settings, 2)
    assert str(start_from(str(path), network, RNG)) == (
        "taken: blocks 1 to 2, policy head; not taken: stem (stem.convolution.weight is "
        "[8, 17, 3, 3] there, [8, 3, 3, 3] here), value head (value_hidden.weight is [5, 12] "
        "there, [7, 12] here); not in this network: actions without a cell"
    )
    assert equal_parts(network, path) == {"tower", "policy_features", "policy_output"}


@pytest.mark.parametrize("heads", ["dense", "convolutional"])
def test_a_larger_network_begins_with_the_answers_of_the_smaller_one(path, heads: str):
    small = dataclasses.replace(SETTINGS, heads=heads, auxiliary=("ownership", "margin"))
    save_player(path, small)
    for filters, words in ((8, "taken: stem"), (13, "8 filters widened to 13; taken: stem")):
        settings = dataclasses.replace(small, blocks=4, filters=filters)
        network = ResNet.of(make_game("go", **GO_5), settings, 2).eval()
        text = str(start_from(str(path), network, RNG))
        assert text.startswith(f"{words}, blocks 1 to 2, policy head")
        assert text.endswith("; not taken: blocks 3 to 4 (not there)")
        tolerance = 1e-6 if filters == 8 else 1e-4
        check_same_outputs(load_checkpoint(path).network(), network, tolerance)


def test_of_a_network_that_reads_more_planes_the_first_ones_have_the_checkpoints_weights(tmp_path):
    small = network_of("gardner", SETTINGS, 1)
    save_checkpoint(
        tmp_path / "gardner.safetensors",
        Checkpoint("gardner", {}, SETTINGS, small.state_dict(), 7, 1),
    )
    network = network_of("chess", SETTINGS, 2)
    transfer = start_from(str(tmp_path / "gardner.safetensors"), network, RNG)
    assert str(transfer).startswith("5 more planes; taken: stem, blocks 1 to 2")
    planes = torch.randn(1, 15, 5, 5, generator=torch.Generator().manual_seed(1))
    more = torch.cat([planes, torch.ones(1, 5, 5, 5)], dim=1)
    with torch.no_grad():
        torch.testing.assert_close(network.eval().stem(more), small.eval().stem(planes))


def test_a_block_of_another_kind_is_not_taken(path):
    settings = dataclasses.replace(SETTINGS, global_pooling=0, blocks=1)
    transfer = start_from(str(path), ResNet.of(make_game("go"), settings, None), RNG)
    assert (
        str(transfer) == f"{EVERYTHING.replace('blocks 1 to 2', 'block 1')}; not in this "
        "network: block 2"
    )
    settings = dataclasses.replace(SETTINGS, global_pooling=0)
    transfer = start_from(str(path), ResNet.of(make_game("go"), settings, None), RNG)
    assert transfer.refused == {"block 2": "of another kind there"}


def test_where_nothing_fits_one_line_says_why(path):
    network = ResNet.of(make_game("connect_four"), network_config(filters=6), None)
    with pytest.raises(ConfigError, match=r"nothing of .* fits: taken: nothing; not taken: stem "):
        start_from(str(path), network, RNG)
    # The pass is the one action without a cell, and its weights have the same shape.
    narrow = ResNet.of(make_game("go"), dataclasses.replace(SETTINGS, filters=6), None)
    with pytest.raises(ConfigError, match=r"nothing of .* fits: taken: actions without a cell; "):
        start_from(str(path), narrow, RNG)


# A run that starts from a checkpoint.

HEADS = ("network.heads=convolutional", "network.policy_filters=4", "network.value_filters=4")
LARGER = (
    *("game.name=mnk", "game.rows=4", "game.columns=4", "game.length=3"),
    *("run.name=larger", "run.keep_checkpoints=0"),
)


def test_a_run_goes_on_from_a_smaller_board_and_resumes_as_any_other(tmp_path, capsys):
    small = train(tiny_config(tmp_path / "small", *HEADS, "budget.iterations=1"))
    options = (*HEADS, *LARGER, f"network.initial={small}")
    whole = train(tiny_config(tmp_path / "whole", *options))
    output = capsys.readouterr().out
    line = f"starts from {small}; taken: stem, block 1, policy head, value head"
    assert output.splitlines().count(line) == 1
    first = load_checkpoint(whole / "step-00000000.safetensors")
    trained = load_checkpoint(small / "best.safetensors").weights
    assert first.weights.keys() == trained.keys()
    assert all(torch.equal(first.weights[name], trained[name]) for name in trained)
    assert "iterations, from tiny\n" in describe(whole, first)
    assert first.network_settings.initial == ""
    assert not verify(whole).faults

    broken = train(tiny_config(tmp_path / "broken", *options, "budget.iterations=2"))
    small.rename(tmp_path / "elsewhere")  # a run does not need it again
    with pytest.raises(RunError, match="the network of a run cannot change"):
        resume(broken, [f"network.initial={tmp_path}/elsewhere"])
    resume(broken, [f"budget.iterations={ITERATIONS}"])
    assert "starts from" not in capsys.readouterr().out.split("resuming")[1]
    assert content_of(broken) == content_of(whole)


def test_a_run_reads_and_widens_its_initial_checkpoint_once(path, tmp_path, monkeypatch):
    reads = []

    def counted(file: Path) -> Checkpoint:
        reads.append(file)
        return load_checkpoint(file)

    monkeypatch.setattr("alphazero.network.transfer.load_checkpoint", counted)
    options = (f"network.initial={path}", "network.filters=10", "budget.iterations=1")
    train(tiny_config(tmp_path, *options))
    assert reads == [path]


@pytest.mark.parametrize(
    ("initial", "words"),
    [("missing.safetensors", "missing.safetensors"), (".", "holds no best.safetensors")],
)
def test_an_initial_checkpoint_that_cannot_be_read_stops_the_run_before_it_writes(
    initial: str, words: str, tmp_path, only_line
):
    command = ["train", "configs/tic_tac_toe.yaml", f"run.folder={tmp_path}/runs"]
    assert words in only_line(*command, f"network.initial={tmp_path / initial}")
    assert not (tmp_path / "runs").exists()


# More filters

AUXILIARY = ("ownership", "margin", "short_term_value")


@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.parametrize("spread", [0.0, 0.5])
@pytest.mark.parametrize(
    ("own", "blocks", "filters"),
    [
        ({}, 2, 8),
        ({}, 3, 12),
        ({"heads": "convolutional", "auxiliary": AUXILIARY}, 6, 19),
        ({"auxiliary": AUXILIARY}, 2, 16),
        ({"global_pooling": 0}, 2, 31),
        ({"blocks": 0}, 2, 9),
    ],
)
def test_the_outputs_are_those_of_the_smaller_network(
    own: dict[str, object], blocks: int, filters: int, spread: float, trains: bool
):
    settings = dataclasses.replace(SETTINGS, **{"heads": "dense", **own})
    small = network_of("go", settings, 6, **GO_5)
    larger = dataclasses.replace(settings, blocks=blocks, filters=filters)
    large = ResNet.of(make_game("go", **GO_5), larger, 4)
    large.load_state_dict(
        widen(small.state_dict(), filters - settings.filters, np.random.default_rng(5), spread),
        strict=False,  # new blocks keep their weights
    )
    check_same_outputs(small.train(trains), large.train(trains))


@pytest.mark.parametrize(("spread", "learn_apart"), [(0.0, False), (SPREAD, True)])
def test_copies_learn_apart_where_their_shares_differ(spread: float, learn_apart: bool):
    game = make_game("tic_tac_toe")
    settings = dataclasses.replace(SETTINGS, heads="dense", filters=4, global_pooling=0)
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
    assert all(differs == learn_apart for differs in apart)
