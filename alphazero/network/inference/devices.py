"""The device that computes: found by torch, and admitted by a self-check.

Shapes: B positions, C planes, H rows, W columns, A actions.
"""

import functools
import os
import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from alphazero.config.schema import NetworkConfig
from alphazero.errors import ConfigError
from alphazero.network.inference.device_check import TOLERANCES, relative_error
from alphazero.network.resnet import ResNet
from alphazero.utils.arrays import Float32Array

TYPES: Final = {"float32": torch.float32, "bfloat16": torch.bfloat16}

ACCELERATORS: Final = {"cuda": torch.cuda, "xpu": torch.xpu, "mps": torch.backends.mps}
"""The parts of torch for the kinds of devices besides the CPU, in the order in which "auto" tries
them: GPUs of NVIDIA or AMD, of Intel, of Apple."""


def available_devices() -> list[str]:
    """Return the kinds of devices that this torch has here, the CPU last."""
    return [kind for kind, part in ACCELERATORS.items() if part.is_available()] + ["cpu"]


def resolve_device(device: str) -> str:
    """Return a device that computes correctly; "auto" is the first one that does.

    Raises:
        ConfigError: when torch has no such device, or it fails its self-check.
    """
    if device == "auto":
        return _best_device()
    if not _exists(device):
        raise ConfigError(
            f"device {device!r} is not usable by torch {torch.__version__}, which has here: "
            f"{', '.join(available_devices())}; use 'auto' or 'cpu'"
        )
    if torch.device(device).type != "cpu" and (fault := self_check(device).fault):
        raise ConfigError(f"device {device!r} fails its self-check: {fault}; use 'auto' or 'cpu'")
    return device


@functools.cache
def _best_device() -> str:
    """Return the first device that passes its self-check, else the CPU; print those that fail."""
    for kind in available_devices()[:-1]:
        fault = self_check(kind).fault
        if not fault:
            return kind
        print(f"{kind} is not used, it fails its self-check: {fault}", file=sys.stderr)
    return "cpu"


def _exists(device: str) -> bool:
    """Whether torch has the device, such as "cuda:1"."""
    try:
        torch.empty(0, device=device)
        return torch.device(device).type in available_devices()
    except (RuntimeError, AssertionError, NotImplementedError):
        return False


class SelfCheck(NamedTuple):
    """The errors of a device's outputs and gradients from the CPU's, in float32."""

    errors: Mapping[str, float]
    """shares of the spread of the CPU's numbers, of `policies`, `values` and `gradients`"""
    failure: str = ""
    """what torch said if it could not compute"""

    def __str__(self) -> str:
        shown = ", ".join(f"{name} by {error:.3%}" for name, error in self.errors.items())
        return self.failure or (
            f"{shown} of their spread off the CPU's (at most {TOLERANCES['float32']:.0%})"
        )

    @property
    def fault(self) -> str:
        """The fault of the device; empty if there is none."""
        good = not self.failure and max(self.errors.values()) <= TOLERANCES["float32"]
        return "" if good else str(self)


@functools.cache
def self_check(device: str) -> SelfCheck:
    """Compute a small network and its gradient on a device and on the CPU, and compare them.

    A run also compares its own network, in the precision of play, by `check_device`.
    """
    _compute_convolutions_in_float32()
    try:
        answers = _compute(torch.device(device))
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        return SelfCheck({}, f"torch cannot compute there ({str(error).splitlines()[0][:120]})")
    exact = _compute(torch.device("cpu"))
    return SelfCheck({name: relative_error(answers[name], exact[name]) for name in exact})


def _compute_convolutions_in_float32() -> None:
    """Let NVIDIA's GPUs keep all bits of float32; torch's default for convolutions is TF32."""
    cudnn = torch.backends.cudnn
    if hasattr(cudnn, "conv"):
        cudnn.conv.fp32_precision = "ieee"
    else:  # before torch 2.9
        cudnn.allow_tf32 = False


def check_network() -> tuple[ResNet, Tensor]:
    """Return the network of the self-check, and 16 observations [B, C, H, W]."""
    network = ResNet((3, 6, 7), 7, NetworkConfig(blocks=2, filters=16, value_hidden=16))
    draw = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weights in network.parameters():  # a new network's blocks are the identity
            weights.add_(0.3 * torch.randn(weights.shape, generator=draw))
    return network, torch.randint(0, 2, (16, 3, 6, 7), generator=draw).float()


def _compute(device: torch.device) -> dict[str, Float32Array]:
    """Return the policy logits [B, A], values [B] and gradient of one step of a fixed network."""
    network, observations = check_network()
    draw = torch.Generator().manual_seed(3)
    policies = torch.softmax(torch.randn(len(observations), 7, generator=draw), 1)
    outcomes = torch.randn(len(observations), generator=draw).sign()
    network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    given = observations.to(device).contiguous(memory_format=torch.channels_last)
    logits, values = network.train()(given)
    loss: Tensor = cross_entropy(logits, policies.to(device))
    loss = loss + (outcomes.to(device) - values).square().mean()
    loss.backward()  # type: ignore[no-untyped-call]
    slopes = [each.grad.flatten() for each in network.parameters() if each.grad is not None]
    found = {"policies": logits, "values": values, "gradients": torch.cat(slopes)}
    return {name: numbers.detach().cpu().numpy() for name, numbers in found.items()}


def resolve_precision(precision: str, device: str) -> str:
    """Return "float32" or "bfloat16" ("auto": bfloat16 if native), or raise ConfigError."""
    if precision == "auto":
        return "bfloat16" if _has_native_bfloat16(torch.device(device).type) else "float32"
    if precision not in TYPES:
        names = ", ".join(repr(name) for name in ("auto", *TYPES))
        raise ConfigError(f"unknown precision {precision!r}; expected one of {names}")
    return precision


def _has_native_bfloat16(kind: str) -> bool:
    """Whether the device multiplies bfloat16 matrices in hardware; False if unknown.

    It is unknown on Apple's GPUs: older ones emulate it, and torch does not say which it has.
    """
    if kind == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if kind == "xpu":
        device = torch.xpu.get_device_properties()
        return bool(getattr(device, "has_bfloat16_conversions", False))
    allowed = os.environ.get("ONEDNN_MAX_CPU_ISA", "DEFAULT").upper()
    if kind != "cpu" or not any(each in allowed for each in ("DEFAULT", "BF16", "FP16", "AMX")):
        return False
    # torch may lack these functions; without them support is unknown.
    functions = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(bool(getattr(torch.cpu, function, bool)()) for function in functions)
