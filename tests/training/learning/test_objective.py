"""The pass of a step recorded as CUDA graphs, where torch can record and where it cannot."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import pytest
import torch
from helpers.runs.learners import NETWORK, PLAIN, make_batch, make_network, with_targets
from torch import Tensor, nn

from alphazero.config.schema import AUXILIARY_HEADS, InferenceConfig
from alphazero.training.learning.learner import Learner
from alphazero.training.learning.objective import Objective

HEADS = dataclasses.replace(NETWORK, auxiliary=AUXILIARY_HEADS, global_pooling=2, blocks=2)

PARAMETERS = [f"network.{name}" for name, _ in make_network(settings=HEADS).named_parameters()]


@contextmanager
def recording_by(monkeypatch: pytest.MonkeyPatch, record: Callable[..., nn.Module]) -> Iterator:
    """Let `record` stand for torch's recorder, in an objective that believes in a GPU."""
    with monkeypatch.context() as patch:
        patch.setattr(torch.cuda, "make_graphed_callables", record)
        patch.setattr(torch.cuda, "device", nullcontext)
        patch.setattr(Tensor, "is_cuda", True)
        yield


def arrays(seed: int = 0, size: int = 8) -> list[Tensor]:
    return [torch.from_numpy(each) for each in with_targets(make_batch(size, seed)).arrays()]


def assert_same_buffers(network: nn.Module, twin: nn.Module) -> None:
    assert all(map(torch.equal, network.buffers(), twin.buffers()))


def test_recording_leaves_the_network_as_it_was(monkeypatch):
    shapes = []

    def record(module: nn.Module, examples: tuple[Tensor, ...]) -> nn.Module:
        shapes.append(len(examples[0]))
        for _ in range(3):
            module(*(torch.randn_like(each) for each in examples))
        return module

    network, twin = make_network(settings=HEADS).train(), make_network(settings=HEADS).train()
    with recording_by(monkeypatch, record):
        recorded = Objective(network, PLAIN, False, records=True)
    eager = Objective(twin, PLAIN, False, records=False)
    with recording_by(monkeypatch, record):
        answers = [recorded.compute(*arrays(seed, size)) for seed, size in [(0, 8), (1, 8), (2, 4)]]
    expected = [eager.compute(*arrays(seed, size)) for seed, size in [(0, 8), (1, 8), (2, 4)]]
    assert shapes == [8, 4], "once for each shape"
    for found, other in zip(answers, expected, strict=True):
        torch.testing.assert_close(found, other, rtol=0, atol=0)
        assert not found[1].requires_grad
    assert_same_buffers(network, twin)


def test_where_torch_cannot_record_it_learns_without_and_says_so_once(monkeypatch, capsys):
    def refuse(module: nn.Module, examples: tuple[Tensor, ...]) -> nn.Module:
        module(*examples)
        raise RuntimeError("no graphs here\nat all")

    network, twin = make_network(settings=HEADS).train(), make_network(settings=HEADS).train()
    with recording_by(monkeypatch, refuse):
        objective = Objective(network, PLAIN, False, records=True)
        losses = [objective.compute(*arrays())[0] for _ in range(2)]
    eager = Objective(twin, PLAIN, False, records=False)
    assert losses == [eager.compute(*arrays())[0] for _ in range(2)]
    assert_same_buffers(network, twin)
    expected = "CUDA graphs cannot be used (no graphs here); learning will be slower\n"
    assert capsys.readouterr().out == expected


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "muon"])
def test_a_gpu_learns_as_the_processor_does(optimizer: str):
    """Moments are compared, for they are means of gradients.

    AdamW divides each gradient by its size, and Muon each direction of a matrix: they make whole
    steps of what is mere rounding. So of their weights only the whole step's direction is compared.
    """
    settings = dataclasses.replace(PLAIN, optimizer=optimizer, ema_decay=0.9)
    learners = [
        Learner(make_network(settings=HEADS), settings, InferenceConfig("auto", device, "float32"))
        for device in ("cpu", "cuda")
    ]
    for step in range(6):
        batch = with_targets(make_batch(8 if step % 2 else 4, step), step)
        before = learners[0].state()
        learners[1].restore(before, step)
        steps = [learner.train_step(batch) for learner in learners]
        for name, figure in steps[0].items():
            assert float(steps[1][name]) == pytest.approx(float(figure), rel=0.02, abs=1e-3), name
        states = [learner.state() for learner in learners]
        for name, expected in states[0].items():
            if optimizer == "sgd" or not name.startswith(("network", "player")):
                size = float(expected.abs().max())
                torch.testing.assert_close(
                    states[1][name], expected, rtol=0.01, atol=1e-3 * size, msg=name
                )
        moved = [
            torch.cat([(state[name] - before[name]).flatten() for name in PARAMETERS])
            for state in states
        ]
        assert torch.cosine_similarity(*moved, dim=0) > 0.9
    assert len(learners[1]._objective._recorded) == 2
