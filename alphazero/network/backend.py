"""Which evaluator a network gets: the fastest one that is installed for the device."""

from alphazero.config import InferenceConfig
from alphazero.errors import ConfigError
from alphazero.network.inference import TorchEvaluator, resolve_device
from alphazero.network.openvino_evaluator import OpenVINOEvaluator, openvino_is_installed
from alphazero.network.resnet import ResNet


def resolve_backend(settings: InferenceConfig) -> str:
    """Return "torch" or "openvino".

    Raises:
        ConfigError: when OpenVINO, or what it alone does, is asked for where it cannot be had.
    """
    on_cpu = resolve_device(settings.device) == "cpu"
    if settings.backend == "openvino" and not (on_cpu and openvino_is_installed()):
        why = "is not installed; use 'auto', or pip install 'alphazero[openvino]'"
        if not on_cpu:
            why = "computes on CPUs only; use 'auto', or inference.device=cpu"
        raise ConfigError(f"inference.backend: OpenVINO {why}")
    backend = settings.backend
    if backend == "auto":
        backend = "openvino" if on_cpu and openvino_is_installed() else "torch"
    if settings.selfplay_precision == "int8" and backend != "openvino":
        why = "and inference.backend=torch was asked for"
        if settings.backend == "auto":
            why = "which is not installed; pip install 'alphazero[openvino]'"
            if not on_cpu:
                why = "on a CPU; inference.device=cpu"
        raise ConfigError(
            f"inference.selfplay_precision: int8 is computed by OpenVINO alone, {why}, or use "
            "'same'"
        )
    return backend


def explain_backend(settings: InferenceConfig) -> str:
    """Say in one line what evaluates positions, and what would be faster."""
    if resolve_backend(settings) == "openvino":
        rounded = ", in self-play in int8" if settings.selfplay_precision == "int8" else ""
        return f"positions are evaluated by OpenVINO on the CPU{rounded}"
    device = resolve_device(settings.device)
    if device == "cpu" and settings.backend == "auto":
        return (
            "positions are evaluated by torch on the CPU; OpenVINO is not installed and would be "
            "faster: pip install 'alphazero[openvino]'"
        )
    return f"positions are evaluated by torch on {device}"


def make_evaluator(
    network: ResNet, settings: InferenceConfig
) -> TorchEvaluator | OpenVINOEvaluator:
    """Return a frozen copy of `network` that evaluates positions."""
    if resolve_backend(settings) == "openvino":
        return OpenVINOEvaluator(network, settings.precision)
    return TorchEvaluator(network, settings.device, settings.precision)


def useful_workers(settings: InferenceConfig, cores: int) -> int:
    """Return how many threads should play: one a core, and on a GPU at least two.

    Two take turns: while one waits for the GPU, the other grows its trees, and the GPU waits for
    neither.
    """
    return max(cores, 1 if resolve_device(settings.device) == "cpu" else 2)
