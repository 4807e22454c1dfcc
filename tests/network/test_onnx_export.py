"""A player as an ONNX file: it explains itself, and other programs compute what torch does."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers.networks import (
    OPTIONS,
    Outputs,
    boards,
    check_close,
    exact,
    needs_onnx,
    scrambled,
    strengthen_pooling,
)
from helpers.paths import CHECKPOINTS

from alphazero.errors import ConfigError, RunError
from alphazero.games import make_game
from alphazero.network import onnx_export
from alphazero.network.checkpoint import load_checkpoint
from alphazero.network.inference.device_check import fixed_positions
from alphazero.network.inference.onnx_evaluator import onnx_bytes, open_session
from alphazero.network.onnx_export import GAMES, TOLERANCE, export_model
from alphazero.network.resnet import fold_batch_norm
from alphazero.utils.files import sha256_of
from alphazero.utils.shipped import shipped_players

pytestmark = needs_onnx

TIC_TAC_TOE = CHECKPOINTS / "tic_tac_toe.safetensors"


def test_the_file_alone_says_what_it_computes_and_whose_it_is():
    import onnx

    checkpoint = load_checkpoint(TIC_TAC_TOE)
    model = export_model(checkpoint, games=5)
    read = onnx.load_from_string(model.data)
    metadata = {entry.key: entry.value for entry in read.metadata_props}
    assert metadata["format"] == "alphazero-onnx"
    assert metadata["format_version"] == "1"
    assert metadata["player_sha256"] == sha256_of(TIC_TAC_TOE)
    assert metadata["license"] == "MIT"
    assert metadata["game"] == "tic_tac_toe"
    assert json.loads(metadata["game_options"]) == {"rows": 3, "columns": 3, "length": 3}
    assert metadata["planes"] == "Own stones, opponent's stones, last move, colour to move"
    assert json.loads(metadata["num_actions"]) == 9
    assert json.loads(metadata["first_actions"])[:4] == ["a3", "b3", "c3", "a2"]
    assert json.loads(metadata["step"]) == checkpoint.step
    assert json.loads(metadata["network"])["filters"] == checkpoint.network_settings.filters

    def shapes(values: Any) -> dict[str, list[Any]]:
        return {
            value.name: [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]
            for value in values
        }

    assert shapes(read.graph.input) == {"observations": ["batch", 4, 3, 3]}
    assert shapes(read.graph.output) == {"policy_logits": ["batch", 9], "values": ["batch"]}
    assert all(value.doc_string for value in [*read.graph.input, *read.graph.output])
    kinds = {node.op_type for node in read.graph.node}
    assert "BatchNormalization" not in kinds


@pytest.mark.parametrize("player", ["breakthrough_5x5", "gardner", "othello_8x8"])
def test_the_file_describes_its_planes(player: str):
    checkpoint = load_checkpoint(CHECKPOINTS / f"{player}.safetensors")
    assert export_model(checkpoint, games=1).metadata["planes"].startswith("Own ")


def test_the_reported_difference_is_the_one_from_torch():
    checkpoint = replace(load_checkpoint(TIC_TAC_TOE), sha256=64 * "0")
    exported = export_model(checkpoint)
    assert exported.metadata["license"] == "unspecified", "it is no shipped player's file"
    observations = fixed_positions(make_game("tic_tac_toe"), GAMES)
    with torch.no_grad():
        exact = [output.numpy() for output in checkpoint.network()(torch.from_numpy(observations))]
    received: Any = open_session(exported.data).run(None, {"observations": observations})
    largest = [np.abs(one - other).max() for one, other in zip(received, exact, strict=True)]
    np.testing.assert_allclose(exported.comparison[1:3], largest, rtol=1e-3, atol=2e-5)
    assert exported.comparison.positions == len(observations) > 200
    assert f"{exported.comparison.logit_error:.2g} in a policy logit" in exported.describe()


def test_a_model_that_differs_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(onnx_export, "TOLERANCE", 0.0)
    with pytest.raises(RunError, match=r"the model was not written: on \d+ positions"):
        export_model(load_checkpoint(TIC_TAC_TOE), games=5)


def by_reference(model: bytes, observations: np.ndarray) -> Outputs:
    """Return the outputs by the reference of the ONNX standard, written in numpy."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    return evaluator.run(None, {"observations": observations})  # type: ignore[return-value]


@pytest.mark.parametrize("options", [{}, *OPTIONS])
def test_each_option_is_computed_as_by_the_network(options: dict[str, str | int]):
    network = scrambled(**options)
    strengthen_pooling(network)
    model = onnx_bytes(fold_batch_norm(network))
    check_close(by_reference(model, boards(3)), exact(network, boards(3)))


@pytest.mark.slow
@pytest.mark.parametrize("path", shipped_players().values(), ids=lambda path: Path(path).stem)
def test_shipped_players_agree_with_torch_in_random_games(path: Path):
    model = export_model(load_checkpoint(path))
    print(f"{path.stem}, {len(model.data):,} bytes: {model.comparison}")
    assert model.comparison.positions >= 20
    assert max(model.comparison[1:]) < TOLERANCE / 10


def test_without_onnx_one_line_names_the_extra(monkeypatch):
    monkeypatch.setattr(onnx_export, "onnx_is_installed", lambda: False)
    with pytest.raises(ConfigError, match=r"pip install 'alphazero\[onnx\]'"):
        export_model(load_checkpoint(TIC_TAC_TOE))
