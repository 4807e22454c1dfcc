"""The choice of the evaluator: the fastest one that is installed for the device."""

import math
import os
from importlib.util import find_spec
from typing import Final

from alphazero.config.schema import BACKENDS, Config, InferenceConfig
from alphazero.errors import ConfigError
from alphazero.games import make_game
from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.inference.devices import resolve_device
from alphazero.network.resnet import ResNet

BACKEND_VARIABLE: Final = "ALPHAZERO_BACKEND"
"""The environment variable that overrides `inference.backend` on this machine."""

NAMES: Final = {"openvino": "OpenVINO", "onnxruntime": "ONNX Runtime", "torch": "torch"}


def openvino_is_installed() -> bool:
    """Whether OpenVINO can be imported."""
    return find_spec("openvino") is not None


def onnx_is_installed() -> bool:
    """Whether ONNX models can be both written and run: `onnx` and `onnxruntime`."""
    return all(find_spec(name) is not None for name in ("onnx", "onnxruntime"))


def resolve_backend(settings: InferenceConfig) -> str:
    """Return the name of a backend; for "auto" the first of `NAMES` that can be used.

    Raises:
        ConfigError: for one that cannot be used, or an unknown name in `BACKEND_VARIABLE`.
    """
    backend, source = _requested(settings)
    if backend == "auto":
        return next(name for name in NAMES if not _obstacle(name, settings))
    if obstacle := _obstacle(backend, settings):
        raise ConfigError(f"{source}: {NAMES[backend]} {obstacle}")
    return backend


def _requested(settings: InferenceConfig) -> tuple[str, str]:
    """Return the backend in the environment, else in the settings, and the name of its source."""
    forced = os.environ.get(BACKEND_VARIABLE)
    if not forced:
        return settings.backend, "inference.backend"
    if forced not in BACKENDS:
        names = ", ".join(BACKENDS)
        raise ConfigError(
            f"{BACKEND_VARIABLE}: unknown backend {forced[:40]!r}; expected one of {names}"
        )
    return forced, BACKEND_VARIABLE


def _obstacle(backend: str, settings: InferenceConfig) -> str:
    """Return a reason against `backend` and its remedy; an empty text if there is none."""
    if backend == "torch":
        return ""
    if resolve_device(settings.device) != "cpu":
        return "computes on CPUs only; use 'auto', or inference.device=cpu"
    if backend == "openvino" and not openvino_is_installed():
        return "is not installed; use 'auto', or pip install 'alphazero[openvino]'"
    if backend == "onnxruntime" and not onnx_is_installed():
        return "is not installed; use 'auto', or pip install 'alphazero[onnx]'"
    if backend == "onnxruntime" and settings.precision == "bfloat16":
        return "computes in float32 only; use inference.precision=float32"
    return ""


def passed_over(settings: InferenceConfig) -> list[str]:
    """Return a line for each backend that "auto" would prefer and that cannot be used."""
    if _requested(settings)[0] != "auto":
        return []
    before = list(NAMES)[: list(NAMES).index(resolve_backend(settings))]
    return [f"{NAMES[name]} {_obstacle(name, settings)}" for name in before]


def explain_backend(settings: InferenceConfig) -> str:
    """Return one line that names the backend, and a faster one if there is one."""
    int8 = settings.selfplay_precision == "int8"
    backend, device = resolve_backend(settings), resolve_device(settings.device)
    where = "the CPU" if device == "cpu" else device
    line = f"positions are evaluated by {NAMES[backend]} on {where}"
    if backend == "openvino":
        return line + ", in self-play in int8" * int8
    if int8:
        line += ", in self-play too: int8 is computed by OpenVINO alone"
    if backend == "torch" and device == "cpu" and _requested(settings)[0] == "auto":
        line += "; OpenVINO is not installed and would be about twice as fast: "
        line += "pip install 'alphazero[openvino]', or 'alphazero[onnx]' where it has no wheel"
    return line


def make_evaluator(network: ResNet, settings: InferenceConfig) -> BatchedEvaluator:
    """Return a frozen copy of `network` that evaluates positions."""
    match resolve_backend(settings):
        case "openvino":
            from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator

            return OpenVINOEvaluator(network, settings.precision)
        case "onnxruntime":
            from alphazero.network.inference.onnx_evaluator import OnnxEvaluator

            return OnnxEvaluator(network)
    from alphazero.network.inference.torch_evaluator import TorchEvaluator

    return TorchEvaluator(network, settings.device, settings.precision)


NUMBERS_PER_GPU_THREAD: Final = 1 << 16
"""Numbers in the observations of a thread's games, at least, when a GPU evaluates them. A batch has
a fixed cost there, and all threads share one interpreter. On an H100 with 16 cores, 4,096 games of
Connect Four (126 numbers) gave 1,016,000, 886,000 and 469,000 evaluations a second with 4, 8 and 16
threads; of Go (1,377), with 10 blocks of 128 filters, 271,000 and 366,000 with 8 and 16."""

GAMES_PER_THREAD: Final = 32
"""Games that a thread should have at least. On 16 cores with AMX 256 games of Connect Four gave
46,000 evaluations a second, 4,096 games 337,000; two threads with 256 games 65,000."""


def explain_threads(config: Config, cores: int) -> str:
    """Return a line that advises more games for these threads; empty if there are enough."""
    threads, games = num_selfplay_threads(config, cores), config.selfplay.parallel_games
    if games >= threads * GAMES_PER_THREAD or threads <= 2:
        return ""
    return (
        f"{threads} threads share {games} games, so batches are small; "
        f"selfplay.parallel_games={threads * 4 * GAMES_PER_THREAD} would be faster"
    )


def num_selfplay_threads(config: Config, cores: int) -> int:
    """Return the number of threads that play the games of self-play, as `num_threads`."""
    return num_threads(config, config.selfplay.parallel_games, cores)


def num_threads(config: Config, games: int, cores: int) -> int:
    """Return the number of threads that play `games` at once: one per core.

    On a GPU `run.threads`, or by default 2 or more: while one waits for the GPU, the other grows
    its trees, and the GPU never waits.
    """
    if resolve_device(config.inference.device) == "cpu":
        return cores
    if config.run.threads:
        return config.run.threads
    shape = make_game(config.game.name, **config.game.options).observation_shape
    numbers = games * math.prod(shape)
    return max(min(cores, numbers // NUMBERS_PER_GPU_THREAD), 2)
