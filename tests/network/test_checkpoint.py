"""A checkpoint is a whole player: it comes back exactly, or one line says what is wrong."""

import dataclasses
import hashlib
import json
import math
import pickle
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch
from helpers.bugs.file_damage import joined, parts
from helpers.networks import boards, exact
from helpers.settings import network_config

import alphazero
from alphazero.errors import CheckpointError
from alphazero.network import checkpoint
from alphazero.network.checkpoint import (
    Checkpoint,
    checkpoint_bytes,
    load_checkpoint,
    parse_tensors,
    save_checkpoint,
    tensors_to_bytes,
)
from alphazero.network.resnet import ResNet
from alphazero.utils.files import sha256_of

Change = Callable[[dict[str, Any], dict[str, torch.Tensor]], object]
"""Changes a description and tensors, or returns the description's text."""

SETTINGS = network_config(blocks=1, filters=4, policy_filters=2, value_filters=1, value_hidden=4)


def player(**changes: Any) -> Checkpoint:
    """A small Connect Four player."""
    network = ResNet((3, 6, 7), 7, SETTINGS, seed=3)
    checkpoint = Checkpoint(
        game_name="connect_four",
        game_options={"rows": 6, "columns": 7},
        network_settings=SETTINGS,
        weights=network.state_dict(),
        step=120,
        iteration=4,
        rating=812.5,
        details={"run": "first", "losses": [1.5, None, True], "note": 'é "quoted"\n'},
    )
    return dataclasses.replace(checkpoint, **changes)


@pytest.fixture
def path(tmp_path) -> Path:
    """Where a valid player has been written."""
    save_checkpoint(tmp_path / "step-1.safetensors", player())
    return tmp_path / "step-1.safetensors"


def refusal(path: Path) -> str:
    """Why `path` is refused: one line that names it."""
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path)
    message = str(caught.value)
    assert str(path) in message
    assert message.isprintable()
    assert len(message) < 600
    return message


def forge(path: Path, change: Change) -> None:
    """Rewrite a player's description, with a hash that is right: only its meaning is wrong."""
    tensors, metadata = parse_tensors(path.read_bytes(), str(path), "alphazero-player")
    description = json.loads(metadata["player"])
    text = change(description, tensors)
    if not isinstance(text, str):
        text = json.dumps(description)
    texts = {"format": "alphazero-player", "player": text}
    path.write_bytes(tensors_to_bytes(str(path), tensors, texts))


OPTIONS = {
    "heads": "convolutional",
    "global_pooling": 2,
    "auxiliary": ("margin", "short_term_value"),
}


@pytest.mark.parametrize(
    ("rating", "names"),
    [
        (812.5, []),
        *((number, [name]) for number, name in zip((None, 1200, -3.5), OPTIONS, strict=True)),
        (0.0, list(OPTIONS)),
    ],
)
def test_a_player_comes_back_exactly(path, rating: float | None, names: list[str]):
    options = {name: OPTIONS[name] for name in names}
    settings = dataclasses.replace(SETTINGS, blocks=2, **options)
    original = ResNet((3, 6, 7), 7, settings, seed=3).eval()
    saved = player(rating=rating, network_settings=settings, weights=original.state_dict())
    save_checkpoint(path, saved)
    loaded = load_checkpoint(path)
    for field in dataclasses.fields(Checkpoint):
        if field.name not in ("weights", "source", "sha256"):
            assert getattr(loaded, field.name) == getattr(saved, field.name)
    assert loaded.source == str(path)
    assert loaded.weights.keys() == saved.weights.keys()
    for name, tensor in saved.weights.items():
        assert torch.equal(loaded.weights[name], tensor)
        assert loaded.weights[name].dtype == tensor.dtype
    network = loaded.network()
    for ours, theirs in zip(exact(network, boards(5)), exact(original, boards(5)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert not network.training
    assert all(parameter.requires_grad for parameter in network.parameters())


def test_training_a_loaded_network_leaves_the_checkpoint_as_it_was(path):
    loaded = load_checkpoint(path)
    with torch.no_grad():
        for parameter in loaded.network().parameters():
            parameter.add_(1)
    assert torch.equal(
        loaded.weights["stem.convolution.weight"], player().weights["stem.convolution.weight"]
    )


def test_equal_players_give_equal_files_and_the_hash_returned_is_the_files(tmp_path):
    hashes = {save_checkpoint(tmp_path / f"{number}", player()) for number in range(4)}
    assert hashes == {sha256_of(tmp_path / f"{number}") for number in range(4)}
    assert hashes == {load_checkpoint(tmp_path / "0").sha256}


def test_the_largest_seed_of_a_run_comes_back(tmp_path):
    details = {"seed": 2**63 - 1}
    save_checkpoint(tmp_path / "a", dataclasses.replace(player(), details=details))
    assert load_checkpoint(tmp_path / "a").details == details


def test_the_file_is_plain_safetensors_that_the_library_reads(path):
    tensors = safetensors.torch.load_file(path)
    assert torch.equal(tensors["value_output.weight"], player().weights["value_output.weight"])
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    assert metadata.keys() == {"format", "format_version", "player", "sha256"}
    assert (metadata["format"], metadata["format_version"]) == ("alphazero-player", "2")
    assert json.loads(metadata["player"])["game"]["name"] == "connect_four"


def test_the_hash_is_that_of_the_file_with_zeros_in_its_place(path):
    data = path.read_bytes()
    digest = parts(data)[0]["__metadata__"]["sha256"].encode()
    assert data.count(digest) == 1
    assert hashlib.sha256(data.replace(digest, b"0" * 64)).hexdigest().encode() == digest


def test_a_text_that_looks_like_a_hash_does_not_hide_it(path):
    details = {"note": f'"sha256":"{"0" * 64}"'}
    save_checkpoint(path, player(details=details))
    assert load_checkpoint(path).details == details


def test_every_flipped_bit_of_the_header_is_noticed(path):
    data = path.read_bytes()
    header_end = 8 + int.from_bytes(data[:8], "little")
    choice = random.Random(1)
    for place in [*range(40), *choice.sample(range(40, header_end), 400)]:
        flipped = data[place] ^ (1 << choice.randrange(8))
        path.write_bytes(data[:place] + bytes([flipped]) + data[place + 1 :])
        refusal(path)


def test_a_file_that_is_no_checkpoint_is_refused_with_the_reason(path, tmp_path):
    data = path.read_bytes()
    assert "no such file" in refusal(tmp_path / "missing.safetensors")
    assert "is a directory; give the path of a file" in refusal(tmp_path)
    for content, words in (
        (b"", "ends too early, after 0 bytes"),
        (data[:5], "ends too early, after 5 bytes"),
        (data[:100], "ends too early"),
        (data[:-1], "SHA-256 does not match"),
        (b"name: connect_four\n" * 9, "is no .safetensors file"),
        ((1 << 21).to_bytes(8, "little") + b" " * (1 << 21), "longer than 1 MiB"),
        ((5).to_bytes(8, "little") + b"[1,2]", "no JSON of tensors"),
        ((1 << 19).to_bytes(8, "little") + b"[" * (1 << 19), "no JSON of tensors"),
    ):
        path.write_bytes(content)
        assert words in refusal(path)


def test_a_file_larger_than_the_limit_is_not_read(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "FILE_LIMIT", 1000)
    assert "the limit is 1,000" in refusal(path)


def test_a_header_whose_length_begins_like_a_pickle_is_read(tmp_path):
    path = tmp_path / "file.safetensors"
    length = (0x80 - checkpoint_bytes(player(details={"note": ""}), "a name")[0]) % 256
    path.write_bytes(checkpoint_bytes(player(details={"note": "x" * length}), "a name"))
    assert path.read_bytes()[0] == 0x80
    assert load_checkpoint(path).details == {"note": "x" * length}


def test_a_pickled_file_is_never_opened_by_an_unpickler(path, tmp_path):
    torch.save(player().weights, tmp_path / "new.pt")
    (tmp_path / "plain.pkl").write_bytes(pickle.dumps({"weights": [1, 2, 3]}))
    torch.save(player().weights, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    for name in ("new.pt", "plain.pkl", "old.pt"):
        assert refusal(tmp_path / name) == (
            f"cannot read {tmp_path / name}: this is a pickled PyTorch file, which can run code; "
            "only .safetensors are read"
        )


def test_a_foreign_safetensors_file_is_refused(path):
    for metadata, words in (
        (None, "of another program; expected 'alphazero-player'"),
        ({"format": "pt"}, "of format 'pt'; expected 'alphazero-player'"),
    ):
        safetensors.torch.save_file({"weight": torch.zeros(3)}, path, metadata)
        assert words in refusal(path)


def test_another_format_is_refused(path):
    header, body = parts(path.read_bytes())
    for version in ("1", "3", "9" * 5000, "²", 2):
        header["__metadata__"]["format_version"] = version
        path.write_bytes(joined(header, body))
        message = f"its format is {str(version)[:9]}, and this version of alphazero reads 2"
        assert message in refusal(path)


def test_weights_that_cannot_be_are_neither_written_nor_read(path):
    variances = [name for name in player().weights if name.endswith("running_var")]
    assert len(variances) == 5, "stem, two in the block, two heads"
    cases = [("value_output.bias", number, "NaN or infinity") for number in (math.nan, math.inf)]
    for name, number, fault in [
        *cases,
        *((name, -0.5, "a negative variance") for name in variances),
    ]:
        weights = {key: tensor.clone() for key, tensor in player().weights.items()}
        weights[name][-1] = number
        message = f"weight '{name}' holds {fault}; use an earlier checkpoint"
        data = path.read_bytes()
        with pytest.raises(CheckpointError, match=message):
            save_checkpoint(path, player(weights=weights))
        assert path.read_bytes() == data
        forge(path, lambda _, tensors, name=name, number=number: tensors[name][-1:].fill_(number))
        assert message in refusal(path)
        save_checkpoint(path, player())


def test_weights_that_do_not_fit_the_game_are_refused(path):
    save_checkpoint(path, player(game_options={"rows": 5}))
    assert (
        "it does not fit the game 'connect_four': expected weight 'policy_output.weight' "
        "F32 [7, 70], received F32 [7, 84]"
    ) in refusal(path)
    with pytest.raises(CheckpointError, match="this checkpoint: it does not fit the game"):
        player(game_options={"rows": 5}).network()


def put(key: str, value: Any) -> Change:
    """A change of one value of a player's description."""
    section, _, name = key.rpartition(".")

    def change(player: dict[str, Any], _: Any) -> None:
        (player[section] if section else player)[name] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("game.name", "connect_for"), "unknown game"),
        (put("game.name", "x\ny\x1b[31m"), "unknown game"),
        (put("game.options", {"size": 9}), "no option 'size'"),
        (put("game.options", {"rows": 10**30}), "out of range"),
        (put("game.options", {"rows": "6"}), "cannot be made"),
        (put("game.options", []), "unreadable"),
        (put("network.blocks", 200), "fewer weights than"),
        (put("network.blocks", 10**12), "unreadable"),
        (put("network.blocks", 2), "lacks weight"),
        (put("network.blocks", 0), "unknown weight"),
        (put("network.filters", 4000), "does not fit"),
        (put("network.filters", 0), "unreadable"),
        (put("network.filters", "4"), "unreadable"),
        (put("network.attention", True), "unknown setting 'attention'; it is of another"),
        (put("network.value_filters", 10**9), "value_filters: must be at"),
        (put("network.heads", "dence"), "heads: must be one of"),
        (put("network.heads", "convolutional"), "does not fit"),
        (put("network.heads", ["dense"]), "unreadable"),
        (put("network.global_pooling", -1), "global_pooling: must be at least"),
        (put("network.global_pooling", 4), "global_pooling: 4 is not less"),
        (put("network.auxiliary", ["margin"]), "lacks weight"),
        (put("network.auxiliary", ["margi"]), "unreadable"),
        (put("network.auxiliary", [["margin"]]), "unreadable"),
        (put("network.auxiliary", "margin"), "unreadable"),
        (put("network.auxiliary", ["margin"] * 2), "appears twice"),
        (put("step", 1.5), "unreadable"),
        (put("iteration", True), "unreadable"),
        (put("rating", "strong"), "unreadable"),
        (put("rating", 10**400), "0000... is out of range"),
        (put("rating", -(10**400)), "0000... is out of range"),
        (put("step", 10**400), "0000... is out of range"),
        (put("details.losses", 10**400), "0000... is out of range"),
        (lambda player, _: player["network"].pop("heads") is None, "lacks the setting 'heads'"),
        (lambda player, _: player.pop("rating"), "unreadable ('rating')"),
        (lambda player, _: "{" + json.dumps(player), "unreadable"),
        (lambda player, _: "[]", "unreadable"),
        (lambda player, _: "[" * 100_000, "unreadable"),
        (lambda player, _: json.dumps(player).replace("812.5", "NaN"), "unreadable"),
        (lambda player, _: json.dumps(player).replace("812.5", "1e999"), "unreadable"),
        (lambda player, _: json.dumps(player).replace("120", "1" * 5000), "unreadable"),
        (lambda _, tensors: tensors.pop("stem.convolution.weight") is None, "lacks weight"),
        (lambda _, tensors: tensors.update(more=torch.zeros(1)), "has an unknown weight 'more'"),
        (
            lambda _, tensors: tensors.update({"value_output.bias": torch.zeros(1).bfloat16()}),
            "expected weight 'value_output.bias' F32 [1], received BF16 [1]",
        ),
    ],
)
def test_a_well_hashed_but_senseless_player_is_refused(path, change: Change, words: str):
    forge(path, change)
    assert words in refusal(path)


def test_tensors_of_every_kind_and_shape_come_back(tmp_path):
    tensors = {
        "scalar": torch.tensor(7),
        "empty": torch.zeros(0, 3),
        "half": torch.randn(3, 5, generator=torch.Generator().manual_seed(0)).bfloat16(),
        "flags": torch.tensor([True, False, True]),
        "state": torch.arange(11, dtype=torch.uint8),
        "transposed": torch.arange(6.0).view(2, 3).T,
        "layout": torch.arange(48.0).view(2, 3, 2, 4).contiguous(memory_format=torch.channels_last),
        "not a number": torch.tensor([float("nan"), float("inf")]),
    }
    data = tensors_to_bytes("state", tensors, {"format": "alphazero-state", "counters": "{}"})
    (tmp_path / "state").write_bytes(data)
    loaded, metadata = parse_tensors(data, "state", "alphazero-state")
    assert metadata == {"counters": "{}"}
    assert loaded.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert loaded[name].dtype == tensor.dtype
        assert loaded[name].shape == tensor.shape
        torch.testing.assert_close(loaded[name], tensor, rtol=0, atol=0, equal_nan=True)
    assert "of format 'alphazero-state'; expected 'alphazero-player'" in refusal(tmp_path / "state")


def test_a_header_too_large_to_be_read_is_not_written(tmp_path):
    with pytest.raises(CheckpointError, match=r"cannot write .*header would exceed"):
        save_checkpoint(tmp_path / "file", player(details={"log": "x" * (1 << 20)}))
    assert list(tmp_path.iterdir()) == []


UNSAFE = re.compile(
    r"^\s*(import|from) (pickle|cPickle|dill|cloudpickle|joblib|marshal|shelve)\b"
    r"|^\s*from (torch|yaml) import .*load|(?<!safetensors\.)\btorch\.load\("
    r"|\byaml\.(load|unsafe_load|full_load)\("
    r"|(?<![.\w])(eval|exec)\(|allow_pickle=(?!False)",
    re.MULTILINE,
)
"""What could run code found in a file: unpicklers, `eval`, `exec`."""


def test_no_source_of_the_package_can_unpickle_or_evaluate_text():
    sources = sorted(Path(alphazero.__file__).parent.rglob("*.py"))
    assert len(sources) > 5
    assert [str(source) for source in sources if UNSAFE.search(source.read_text())] == []
    for source in (
        *("import pickle", "from pickle import loads", "import torch\ntorch.load('x')"),
        *("from torch import load", "eval('1')", "np.load(f, allow_pickle=True)", "yaml.load(f)"),
    ):
        assert UNSAFE.search(source), source
    assert not UNSAFE.search("network.eval()\nnp.load(f, allow_pickle=False)")
