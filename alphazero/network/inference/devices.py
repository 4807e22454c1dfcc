"""The device that computes: one that torch has and that passes its self-check."""

import functools
import os
import sys
from typing import Final

import torch

from alphazero.errors import ConfigError

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
    if torch.device(device).type != "cpu" and (fault := _fault_of(device)):
        raise ConfigError(f"device {device!r} fails its self-check: {fault}; use 'auto' or 'cpu'")
    return device


@functools.cache
def _best_device() -> str:
    """Return the first device that passes its self-check, else the CPU; print those that fail."""
    for kind in available_devices()[:-1]:
        if not (fault := _fault_of(kind)):
            return kind
        print(f"{kind} is not used, it fails its self-check: {fault}", file=sys.stderr)
    return "cpu"


def _fault_of(device: str) -> str:
    """Return the fault of a device that is not the CPU; empty if there is none."""
    from alphazero.network.inference.device_check import self_check  # late: the CPU needs none

    return self_check(device).fault


def _exists(device: str) -> bool:
    """Whether torch has the device, such as "cuda:1"."""
    try:
        torch.empty(0, device=device)
        return torch.device(device).type in available_devices()
    except (RuntimeError, AssertionError, NotImplementedError):
        return False


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
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA", "DEFAULT").upper()
    if kind != "cpu" or not any(name in limit for name in ("DEFAULT", "BF16", "FP16", "AMX")):
        return False
    # torch may lack these functions; without them support is unknown.
    functions = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(bool(getattr(torch.cpu, function, bool)()) for function in functions)
