"""A new network's first weights from a checkpoint, part by part, and with more filters.

Source of widening: Net2Net, Chen, Goodfellow, Shlens 2016 (arXiv:1511.05641). Net2WiderNet: each
new filter is a copy of an old one, and the layers that read the copies divide the old weight among
them. Net2DeeperNet: new blocks are the identity, as those of an untrained network are.

Shapes: F filters of the smaller network, N of the larger one, G pooled ones of both, O outputs.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from alphazero.errors import ConfigError
from alphazero.network.checkpoint import find_checkpoint, load_checkpoint
from alphazero.network.resnet import ResNet
from alphazero.utils.files import printable

BLOCK: Final = "block "
_STEM: Final = "stem.convolution.weight"
_NO_CELL: Final = "actions without a cell"

SPREAD: Final = 0.5
"""By how much the copies' shares of a weight differ from equal ones, relative to these.

Copies with equal shares would get equal gradients and stay equal. The paper adds noise to the
copies, which changes the function; unequal shares do not.
"""


@dataclass
class Transfer:
    """The parts of a network that a checkpoint's weights fit, and those that they do not."""

    taken: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """reasons by part"""
    unused: list[str] = field(default_factory=list)
    """parts that only the checkpoint has"""
    growth: list[str] = field(default_factory=list)
    """what this network has more of, in words: filters, planes"""

    def __str__(self) -> str:
        parts_of = defaultdict(list)
        for part, reason in self.refused.items():
            parts_of[reason].append(part)
        refused = ", ".join(f"{_listed(parts)} ({reason})" for reason, parts in parts_of.items())
        texts = [*self.growth, f"taken: {_listed(self.taken)}"]
        texts += [f"not taken: {refused}"] if refused else []
        texts += [f"not in this network: {_listed(self.unused)}"] if self.unused else []
        return "; ".join(texts)


@torch.no_grad()
def start_from(path: str, network: ResNet, rng: np.random.Generator) -> Transfer:
    """Copy what fits of the checkpoint at `path`, a file or a run's folder, into a network.

    Weights of fewer filters are widened to the network's number, with `rng`. Each part is taken as
    a whole or keeps its untrained weights. A new block of a longer tower is the identity then, so a
    network with more blocks, filters or both begins with the checkpoint's answers. If it reads more
    planes, the first ones must mean what the checkpoint's do; the others have no weight yet.

    Raises:
        CheckpointError: for a file that is no checkpoint.
        ConfigError: when no part of it fits.
    """
    checkpoint = load_checkpoint(find_checkpoint(Path(path)))
    weights, ours = checkpoint.weights, network.state_dict()
    before, after = checkpoint.network_settings.filters, network.settings.filters
    growth = []
    if after > before:
        weights = widen(weights, after - before, rng)
        growth.append(f"{before} filters widened to {after}")
    more = ours[_STEM].shape[1] - weights[_STEM].shape[1]
    if more > 0 and len(ours[_STEM]) == len(weights[_STEM]):
        weights = {**weights, _STEM: F.pad(weights[_STEM], (0, 0, 0, 0, 0, more))}
        growth.append(f"{more} more planes")
    transfer = compare_parts(weights, ours)
    transfer.growth = growth
    if set(transfer.taken) <= {_NO_CELL}:  # which are few weights, of features that are not taken
        raise ConfigError(f"network.initial: nothing of {printable(path)} fits: {transfer}")
    for name, weight in ours.items():
        if part_of(name) in transfer.taken:
            weight.copy_(weights[name])
    return transfer


def compare_parts(theirs: Mapping[str, Tensor], ours: Mapping[str, Tensor]) -> Transfer:
    """Compare two networks' weights by name; a part fits if all its weights have equal shapes."""
    parts, transfer = _by_part(theirs), Transfer()
    for part, names in _by_part(ours).items():
        if part not in parts:
            transfer.refused[part] = "not there"
        elif names != parts[part]:
            transfer.refused[part] = "of another kind there"
        elif odd := [name for name in names if theirs[name].shape != ours[name].shape]:
            name = min(odd, key=lambda name: (-theirs[name].ndim, name))  # no bias, if possible
            shapes = f"{list(theirs[name].shape)} there, {list(ours[name].shape)} here"
            transfer.refused[part] = f"{name} is {shapes}"
        else:
            transfer.taken.append(part)
    unused = parts.keys() - _by_part(ours).keys()
    transfer.unused = sorted(unused, key=lambda part: (len(part), part))  # block 9, block 10
    return transfer


def part_of(name: str) -> str:
    """Return the part of a network that a weight belongs to: `block 3`, `policy head`."""
    if name.startswith("tower."):
        return f"{BLOCK}{int(name.split('.')[1]) + 1}"
    if name.startswith("policy_output.others."):
        return _NO_CELL
    first, _, rest = name.partition(".")
    if first == "auxiliary":
        return f"{rest.partition('.')[0].replace('_', ' ')} head"
    return first if first == "stem" else f"{first.partition('_')[0]} head"


def _by_part(weights: Iterable[str]) -> dict[str, set[str]]:
    parts = defaultdict(set)
    for name in weights:
        parts[part_of(name)].add(name)
    return parts


def _listed(parts: Iterable[str]) -> str:
    """Return `stem, blocks 1 to 3, policy head`: neighbouring blocks in one."""
    words: list[str] = []
    run: list[int] = []
    for part in (*parts, ""):
        number = int(part.removeprefix(BLOCK)) if part.startswith(BLOCK) else 0
        if run and number != run[-1] + 1:
            words.append(f"blocks {run[0]} to {run[-1]}" if run[1:] else f"{BLOCK}{run[0]}")
            run = []
        if number:
            run.append(number)
        elif part:
            words.append(part)
    return ", ".join(words) or "nothing"


@torch.no_grad()
def widen(
    weights: Mapping[str, Tensor], more: int, rng: np.random.Generator, spread: float = SPREAD
) -> dict[str, Tensor]:
    """Return weights with `more` filters that compute the same as `weights`, up to rounding.

    Both are `state_dict`s of a `ResNet`.
    """
    filters, inner, wider = len(weights[_STEM]), {}, {}
    trunk = _sources(filters, more, rng)
    for name, tensor in weights.items():
        if name.endswith("second.convolution.weight"):  # reads F filters; F - G with pooling
            inner[name.split(".")[1]] = _sources(tensor.shape[1], more, rng)
    for name, tensor in weights.items():
        weight = tensor.cpu()
        outputs = inputs = None
        match name.split("."):
            case ["stem", *_]:
                outputs = trunk
            case ["tower", block, "first", *_]:
                pooled = torch.arange(len(inner[block]) - more, filters)
                outputs, inputs = torch.cat([inner[block], pooled]), trunk
            case ["tower", block, "pooling", *_]:
                outputs = inner[block]
            case ["tower", block, *_]:
                outputs, inputs = trunk, inner[block]
            case [*_, "policy_features" | "value_features" | "features", "convolution", "weight"]:
                inputs = trunk  # the first layer of a head
        if outputs is not None and weight.ndim:
            weight = weight[outputs]
        if inputs is not None and weight.ndim > 1:
            weight = _divided(weight, inputs, rng, spread)
        wider[name] = weight
    return wider


def _sources(old: int, more: int, rng: np.random.Generator) -> Tensor:
    """Return the old filter of each filter: the old ones, then copies of random ones."""
    return torch.cat([torch.arange(old), torch.from_numpy(rng.integers(old, size=more))])


def _divided(weight: Tensor, sources: Tensor, rng: np.random.Generator, spread: float) -> Tensor:
    """Map weights [O, F, ...] to [O, N, ...], each divided among the copies of its input."""
    sizes = torch.from_numpy(1 + spread * rng.uniform(-1, 1, (len(weight), len(sources))))
    sums = torch.zeros(weight.shape[:2], dtype=sizes.dtype).index_add_(1, sources, sizes)
    shares = (sizes / sums[:, sources]).to(weight.dtype)
    return weight[:, sources] * shares[:, :, None, None]
