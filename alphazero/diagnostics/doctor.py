"""The diagnosis of a run, by the rules of `doctor_rules.py`, and the report of a machine."""

import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from alphazero.config.loader import load_config
from alphazero.config.schema import InferenceConfig
from alphazero.diagnostics.doctor_rules import (
    ENOUGH_ITERATIONS,
    ENOUGH_STEPS,
    RULES,
    RunData,
    TooLittleData,
)
from alphazero.diagnostics.run_history import read_curves
from alphazero.errors import AlphaZeroError
from alphazero.network.inference.backend import explain_backend, make_evaluator, passed_over
from alphazero.network.inference.device_check import check_network, compare, self_check
from alphazero.network.inference.devices import available_devices
from alphazero.training.run_directory import RunDirectory
from alphazero.utils.jit import cache_folder
from alphazero.utils.machine import read_system_file, total_memory, usable_cores
from alphazero.utils.shipped import shipped_configs

SHARDS: Final = 10
"""Newest iterations whose games are read."""


@dataclass(frozen=True)
class Diagnosis:
    """The results of the rules for a run."""

    data: RunData
    findings: list[str]
    """one line each, with the figure and the key to change"""
    skipped: list[str]
    """rules without enough data"""

    def __str__(self) -> str:
        iterations, steps = self.data.iterations, self.data.steps
        lines = [f"examined {iterations:,} iterations", *self.findings]
        if not steps:
            lines.append("nothing was learned yet: no optimizer step is done")
        if self.data.is_short:
            lines.append(
                f"too short to judge: {iterations:,} iterations and {steps:,} steps; a "
                f"verdict takes {ENOUGH_ITERATIONS} iterations and {ENOUGH_STEPS} steps, at least"
            )
        elif not self.findings:
            lines.append("no problem found")
        if self.skipped:
            lines.append(f"not checked, for too little data: {', '.join(self.skipped)}")
        return "\n".join(lines)


def examine(run: Path) -> Diagnosis:
    """Diagnose a finished or running run from its folder, without changing it.

    Raises RunError when there is no run, or a file of it is damaged.
    """
    opened = RunDirectory.open(run)
    newest = opened.state.shards[-SHARDS:]
    shards = [(iteration, opened.load_shard(iteration)) for iteration in newest]
    return diagnose(RunData(opened.config, read_curves(run), shards))


def diagnose(data: RunData) -> Diagnosis:
    """Apply every rule to the run."""
    findings, skipped = [], []
    for name, check in RULES.items():
        try:
            message = check(data)
        except TooLittleData:
            skipped.append(name)
        else:
            findings += [f"{name}: {message}"] if message else []
    return Diagnosis(data, findings, skipped)


PACKAGES: Final = "torch", "numpy", "numba", "openvino", "onnxruntime", "ray", "tensorboard"
"""Packages whose versions are reported."""

CPU_INFO: Final = Path("/proc/cpuinfo")
INSTRUCTIONS: Final = re.compile("avx.*|amx.*|asimd|neon|sve|bf16|i8mm")
"""Linux's description of the processor, and its flags for sets of instructions for networks."""

VARIABLES: Final = re.compile(
    "ALPHAZERO_.*|ATEN_CPU_CAPABILITY|CUDA_VISIBLE_DEVICES|MALLOC_ARENA_MAX|MKL_ENABLE_INSTRUCTIONS"
    "|MKL_NUM_THREADS|NUMBA_.*|OMP_NUM_THREADS|ONEDNN_MAX_CPU_ISA|OPENBLAS_NUM_THREADS"
)
"""Environment variables that change what computes, or how fast."""


def describe_machine() -> str:
    """Describe hardware, software and inference backends as text, with the home folder as `~`."""
    text = "\n".join(f"{name:14} {words}".rstrip() for name, words in (*_machine(), *_backends()))
    return without_home(text, Path.home())


def without_home(text: str, home: Path) -> str:
    """Return `text` with `~` for the home folder and for what a symbolic link of it leads to."""
    for folder in {str(home), str(home.resolve())} - {home.anchor}:
        text = re.sub(rf"{re.escape(folder)}(?![\w.-])", "~", text)
    return text


def _machine() -> Iterator[tuple[str, str]]:
    memory, capability = total_memory(), torch.backends.cpu.get_cpu_capability()
    yield "processor", f"{processor()}, {platform.machine()}"
    yield "instructions", f"{instructions()}; torch uses {capability}"
    yield "cores", f"{usable_cores()} usable of {os.cpu_count()}"
    yield "memory", f"{memory / (1 << 30):.1f} GiB" if memory else "unknown"
    for device in available_devices():
        if device != "cpu":
            part = getattr(torch, device)
            name = part.get_device_name(0) if hasattr(part, "get_device_name") else "a GPU"
            yield "device", f"{device}: {name}; self-check: {self_check(device)}"
    yield "system", platform.platform()
    yield "alphazero", f"{_version('alphazero')}, Python {platform.python_version()}"
    yield "packages", ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    variables = [f"{name}={os.environ[name]}" for name in sorted(os.environ)]
    yield "environment", " ".join(filter(VARIABLES.match, variables)) or "nothing of ours set"
    folder = cache_folder()
    yield "cache", f"{folder}, {len(list(folder.glob('**/*.nbi')))} kernels"


def processor() -> str:
    """Return the name of the processor, as the system tells it."""
    name = _cpu_info("model name")
    if not name and sys.platform == "darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        name = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return name or platform.processor() or "unknown"


def instructions() -> str:
    """Return the processor's flags that speed up a network, as Linux names them."""
    flags = (_cpu_info("flags") or _cpu_info("Features")).split()
    return " ".join(sorted(filter(INSTRUCTIONS.fullmatch, set(flags)))) or "unknown"


def _cpu_info(key: str) -> str:
    line = re.search(rf"^{key}\s*: (.*)$", read_system_file(CPU_INFO), re.MULTILINE)
    return line[1].strip() if line else ""


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _backends() -> Iterator[tuple[str, str]]:
    """Yield the evaluator of each configuration, what keeps faster ones away, and its error."""
    users: dict[InferenceConfig, list[str]] = {}
    for name, path in shipped_configs().items():
        users.setdefault(load_config(path).inference, []).append(name)
    for settings, names in users.items():
        yield "configurations", ", ".join(names)
        try:
            yield "", explain_backend(settings).partition(";")[0]
            yield from (("", obstacle) for obstacle in passed_over(settings))
            network, observations = check_network()
            evaluator = make_evaluator(network, settings)
            error = compare(evaluator, network, observations.numpy())
            yield "", f"{evaluator.precision}: {error}"
        except AlphaZeroError as error:
            yield "", str(error)
