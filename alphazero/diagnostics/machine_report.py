"""The hardware, software and inference backends of this machine, as text to paste into an issue."""

import importlib.metadata
import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import torch

from alphazero.config.loader import load_config
from alphazero.config.schema import InferenceConfig
from alphazero.errors import AlphaZeroError
from alphazero.network.inference.backend import (
    BACKEND_VARIABLE,
    explain_backend,
    make_evaluator,
    passed_over,
)
from alphazero.network.inference.device_check import compare
from alphazero.network.inference.devices import available_devices, check_network, self_check
from alphazero.utils.jit import cache_folder
from alphazero.utils.machine import instruction_sets, processor, total_memory, usable_cores
from alphazero.utils.shipped import shipped_configs

PACKAGES: Final = (
    *("torch", "numpy", "numba", "openvino", "onnxruntime", "ray", "tensorboard", "starlette"),
)
"""Packages whose versions are reported."""

VARIABLES: Final = re.compile(
    "ALPHAZERO_.*|ATEN_CPU_CAPABILITY|CUDA_VISIBLE_DEVICES|MALLOC_ARENA_MAX|MKL_ENABLE_INSTRUCTIONS"
    "|MKL_NUM_THREADS|NUMBA_.*|OMP_NUM_THREADS|ONEDNN_MAX_CPU_ISA|OPENBLAS_NUM_THREADS"
)
"""Environment variables that change what computes, or how fast."""


def describe_machine() -> str:
    """Describe the machine in lines of a name and a text, with the home folder as `~`."""
    rows = [*_hardware(), *_software(), *_backends()]
    text = "\n".join(f"{name:14} {words}".rstrip() for name, words in rows)
    return without_home(text, Path.home())


def without_home(text: str, home: Path) -> str:
    """Return `text` with `~` for the home folder and for what a symbolic link of it leads to."""
    for folder in {str(home), str(home.resolve())} - {home.anchor}:
        text = re.sub(rf"{re.escape(folder)}(?![\w.-])", "~", text)
    return text


def _hardware() -> Iterator[tuple[str, str]]:
    yield "processor", f"{processor()}, {platform.machine()}"
    yield "instructions", ", ".join(instruction_sets()) or "unknown"
    yield "torch uses", torch.backends.cpu.get_cpu_capability()
    yield "cores", f"{usable_cores()} usable of {os.cpu_count()}"
    memory = total_memory()
    yield "memory", f"{memory / (1 << 30):.1f} GiB" if memory else "unknown"
    for device in available_devices():
        yield "device", f"{device}: {_device_name(device)}"


def _device_name(device: str) -> str:
    """Return the name of a device and the figures of its self-check."""
    if device == "cpu":
        return "the reference of the self-check"
    name = "Apple's GPU"
    if device != "mps":
        part = getattr(torch, device)
        name = f"{part.get_device_name(0)}, {part.device_count()} in all"
    return f"{name}; self-check: {self_check(device)}"


def _software() -> Iterator[tuple[str, str]]:
    yield "system", platform.platform()
    yield "alphazero", f"{_version('alphazero')}, Python {platform.python_version()}"
    yield "packages", ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    variables = [f"{name}={os.environ[name]}" for name in sorted(os.environ)]
    yield "environment", " ".join(filter(VARIABLES.match, variables)) or "nothing of ours set"
    folder = cache_folder()
    kernels = len(list(folder.glob("**/*.nbi")))
    filled = f"{kernels} kernels" if kernels else "empty: the next start compiles"
    yield "cache", f"{folder}, {filled}"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _backends() -> Iterator[tuple[str, str]]:
    """Yield the evaluator of each configuration, its check, and the missing packages."""
    users: dict[InferenceConfig, list[str]] = {}
    for name, path in shipped_configs().items():
        users.setdefault(load_config(path).inference, []).append(name)
    missing: list[str] = []
    for settings, names in users.items():
        yield "configurations", ", ".join(names)
        try:
            obstacles = passed_over(settings)
            yield "", explain_backend(settings).partition(";")[0]
            yield "", f"why: {_why(settings, obstacles)}"
            yield "", _check(settings)
        except AlphaZeroError as error:
            yield "", str(error)
            obstacles = [str(error)]
        missing += obstacles
    advice = dict.fromkeys(re.findall(r"pip install '[^']+'", "\n".join(missing)))
    yield "faster with", ", ".join(advice) or "nothing that pip could install"


def _why(settings: InferenceConfig, obstacles: list[str]) -> str:
    """Return why the backend is used, from what keeps those before it."""
    if asked := os.environ.get(BACKEND_VARIABLE):
        return f"{BACKEND_VARIABLE} is {asked}"
    if settings.backend != "auto":
        return f"inference.backend is {settings.backend}"
    return "; ".join(each.partition(";")[0] for each in obstacles) or "the fastest, and installed"


def _check(settings: InferenceConfig) -> str:
    """Return the precision, and how far the small network of the self-check is off."""
    network, observations = check_network()
    evaluator = make_evaluator(network, settings)
    return f"{evaluator.precision}: {compare(evaluator, network, observations.numpy())}"
