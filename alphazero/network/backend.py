"""The choice of the evaluator: the fastest one that is installed for the device."""

from typing import Final

from alphazero.config.schema import InferenceConfig
from alphazero.errors import ConfigError
from alphazero.network.inference import BatchedEvaluator, resolve_device
from alphazero.network.openvino_evaluator import OpenVINOEvaluator, openvino_is_installed
from alphazero.network.resnet import ResNet
from alphazero.network.torch_evaluator import TorchEvaluator


def resolve_backend(settings: InferenceConfig) -> str:
    """Return "torch" or "openvino"; raise ConfigError if the configured one cannot be used."""
    on_cpu = resolve_device(settings.device) == "cpu"
    if settings.backend == "openvino" and not (on_cpu and openvino_is_installed()):
        why = "is not installed; use 'auto', or pip install 'alphazero[openvino]'"
        if not on_cpu:
            why = "computes on CPUs only; use 'auto', or inference.device=cpu"
        raise ConfigError(f"inference.backend: OpenVINO {why}")
    if settings.backend == "auto":
        return "openvino" if on_cpu and openvino_is_installed() else "torch"
    return settings.backend


def explain_backend(settings: InferenceConfig) -> str:
    """Return one line that names the backend, and a faster one if there is one."""
    int8 = settings.selfplay_precision == "int8"
    if resolve_backend(settings) == "openvino":
        return f"positions are evaluated by OpenVINO on the CPU{', in self-play in int8' * int8}"
    device = resolve_device(settings.device)
    line = f"positions are evaluated by torch on {'the CPU' if device == 'cpu' else device}"
    if int8:
        line += ", in self-play too: int8 is computed by OpenVINO alone"
    if device == "cpu" and settings.backend == "auto":
        line += "; OpenVINO is not installed and would be faster: pip install 'alphazero[openvino]'"
    return line


def make_evaluator(network: ResNet, settings: InferenceConfig) -> BatchedEvaluator:
    """Return a frozen copy of `network` that evaluates positions."""
    if resolve_backend(settings) == "openvino":
        return OpenVINOEvaluator(network, settings.precision)
    return TorchEvaluator(network, settings.device, settings.precision)


GAMES_PER_GPU_THREAD: Final = 64
"""Games that a thread should have at least when a GPU evaluates their positions. A batch has a
fixed cost there, and all threads share one interpreter: with an evaluator that took 0.3 ms for any
batch, 256 games gave 253,000, 257,000, 123,000 and 77,000 evaluations a second with 2, 4, 8 and 16
threads on two cores."""


def num_selfplay_threads(settings: InferenceConfig, cores: int, games: int) -> int:
    """Return the number of threads for `games` games: one per core; on a GPU at least 2.

    Two take turns: while one waits for the GPU, the other grows its trees; the GPU never waits.
    """
    if resolve_device(settings.device) == "cpu":
        return cores
    return max(min(cores, games // GAMES_PER_GPU_THREAD), 2)
