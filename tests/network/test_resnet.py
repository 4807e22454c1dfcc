"""The network against independent twins: a formula, functions in float64, its unfolded form."""

import dataclasses
import itertools
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import torch
from helpers.networks import boards, check_close, exact
from helpers.settings import network_config, selfplay_config
from torch.nn import functional

from alphazero.config.schema import Config, GameConfig, NetworkConfig
from alphazero.errors import RunError
from alphazero.network.inference import backend, torch_evaluator
from alphazero.network.inference.batched_evaluator import BATCH_SIZES, padded_size
from alphazero.network.inference.torch_evaluator import EagerRunner, TorchEvaluator
from alphazero.network.resnet import GlobalPooling, ResNet
from alphazero.utils.jobs import threads_per_evaluation

SHAPE, ACTIONS = (3, 6, 7), 7
SETTINGS = network_config(blocks=3, filters=16, policy_filters=2, value_filters=3, value_hidden=20)
CONVOLUTIONAL = replace(SETTINGS, heads="convolutional", policy_filters=5, value_filters=6)
OPTIONS = {
    "dense": SETTINGS,
    "global_pooling": replace(SETTINGS, global_pooling=6),
    "convolutional": CONVOLUTIONAL,
}
each_option = pytest.mark.parametrize("settings", OPTIONS.values(), ids=OPTIONS)


def new_network(settings: NetworkConfig = SETTINGS) -> ResNet:
    """A network with 7 actions, with convolutional heads one for each cell and a pass."""
    planes = int(settings.heads == "convolutional")
    return ResNet(SHAPE, 43 if planes else ACTIONS, settings, 0, planes)


def trained_like(settings: NetworkConfig = SETTINGS) -> ResNet:
    """A network in evaluation mode whose normalisations and heads are far from their start."""
    network = new_network(settings)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.weight.uniform_(0.7, 1.4, generator=generator)
                module.bias.normal_(0, 0.3, generator=generator)
                module.running_mean.normal_(0, 0.3, generator=generator)
                module.running_var.uniform_(0.5, 2.0, generator=generator)
        for module in network.modules():
            if isinstance(module, torch.nn.Linear) and module is not network.value_hidden:
                module.weight.mul_(15)
                module.bias.normal_(0, 0.3, generator=generator)
    return network.eval()


def slow_twin(weights: dict[str, torch.Tensor], blocks: int, x: torch.Tensor):
    """The paper's network as functions of its weights, in float64, without torch modules."""
    weights = {name: tensor.double() for name, tensor in weights.items()}

    def normalised(name: str, x: torch.Tensor, padding: int) -> torch.Tensor:
        x = functional.conv2d(x, weights[f"{name}.convolution.weight"], padding=padding)
        part = {
            key: weights[f"{name}.normalisation.{key}"].view(1, -1, 1, 1)
            for key in ("weight", "bias", "running_mean", "running_var")
        }
        x = (x - part["running_mean"]) / (part["running_var"] + 1e-5).sqrt()
        return x * part["weight"] + part["bias"]

    def dense(name: str, x: torch.Tensor) -> torch.Tensor:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def shifted(name: str, x: torch.Tensor) -> torch.Tensor:
        """KataGo's bias, position by position and filter by filter."""
        count = len(weights[f"{name}.dense.bias"])
        rows = []
        for features in x:
            last = features[count:].clamp(min=0)
            means = [plane.sum() / plane.numel() for plane in last]
            summary = torch.stack([*means, *(plane.max() for plane in last)])
            shifts = dense(f"{name}.dense", summary)
            rows.append([features[index] + shifts[index] for index in range(count)])
        return torch.stack([torch.stack(row) for row in rows])

    x = normalised("stem", x.double(), 1).clamp(min=0)
    for block in range(blocks):
        inner = normalised(f"tower.{block}.first", x, 1)
        if f"tower.{block}.pooling.dense.weight" in weights:
            inner = shifted(f"tower.{block}.pooling", inner)
        change = normalised(f"tower.{block}.second", inner.clamp(min=0), 1)
        x = (x + change).clamp(min=0)
    policy = normalised("policy_features", x, 0).clamp(min=0).reshape(len(x), -1)
    value = normalised("value_features", x, 0).clamp(min=0).reshape(len(x), -1)
    output = dense("value_output", dense("value_hidden", value).clamp(min=0))
    return dense("policy_output", policy), torch.tanh(output)[:, 0]


@pytest.mark.parametrize("option", ["dense", "global_pooling"])
def test_the_network_computes_what_the_papers_describe(option: str):
    settings = OPTIONS[option]
    network = trained_like(settings)
    observations = boards(9)
    logits, values = exact(network, observations)
    twin = slow_twin(network.state_dict(), settings.blocks, torch.from_numpy(observations))
    assert logits.dtype == values.dtype == np.float32
    assert logits.shape == (9, ACTIONS)
    assert values.shape == (9,)
    np.testing.assert_allclose(logits, twin[0], atol=1e-4)
    np.testing.assert_allclose(values, twin[1], atol=1e-5)
    # The comparison means something: answers differ between positions, and by much.
    assert logits.std(axis=0).min() > 0.15
    assert values.std() > 0.02


def test_global_pooling_is_in_the_second_block_and_every_third_from_there():
    network = ResNet(SHAPE, ACTIONS, replace(SETTINGS, blocks=9, global_pooling=4))
    places = [isinstance(block.pooling, GlobalPooling) for block in network.tower]
    assert [index + 1 for index, place in enumerate(places) if place] == [2, 5, 8]


def test_the_gradient_of_global_pooling_is_laid_out_as_its_features_are():
    features = torch.rand(4, 8, 6, 7).to(memory_format=torch.channels_last).requires_grad_()
    inner = features * 1
    gradients: list[torch.Tensor] = []
    inner.register_hook(gradients.append)
    outputs = GlobalPooling(8, 3)(inner)
    outputs.backward(torch.ones_like(outputs))
    assert gradients[0].is_contiguous(memory_format=torch.channels_last)
    assert (gradients[0][:, :5] == 1).all()


@each_option
def test_each_block_starts_as_the_identity(settings: NetworkConfig):
    network = new_network(settings).train()
    features = torch.rand(5, 16, 6, 7, generator=torch.Generator().manual_seed(0))
    for block in network.tower:
        assert torch.equal(block(features.clone()), features)


@each_option
def test_options_leave_the_draws_before_them_as_they_were(settings: NetworkConfig):
    stem = new_network().stem.convolution.weight
    assert torch.equal(new_network(settings).stem.convolution.weight, stem)


@pytest.mark.parametrize("blocks", [0, 1, 19])
def test_the_parameter_count_is_that_of_the_formula(blocks: int):
    filters, policy, value, hidden = 24, 2, 1, 32
    settings = network_config(blocks=blocks, filters=filters, value_hidden=hidden)
    planes, height, width = SHAPE
    cells = height * width
    tower = planes * filters * 9 + 2 * filters + blocks * 2 * (filters * filters * 9 + 2 * filters)
    policy_head = filters * policy + 2 * policy + (policy * cells + 1) * ACTIONS
    value_head = filters * value + 2 * value + (value * cells + 1) * hidden + hidden + 1
    network = ResNet(SHAPE, ACTIONS, settings)
    count = sum(parameter.numel() for parameter in network.parameters())
    assert count == tower + policy_head + value_head


@pytest.mark.parametrize(
    ("heads", "blocks", "size"),
    [
        *(("dense", blocks, 6) for blocks in (0, 5, 19)),
        *(("convolutional", 5, size) for size in (5, 19)),
    ],
)
def test_an_untrained_network_is_nearly_uniform_and_nearly_indifferent(
    heads: str, blocks: int, size: int
):
    settings = replace(CONVOLUTIONAL, blocks=blocks, filters=32, heads=heads)
    if heads == "dense":
        settings = network_config(blocks=blocks, filters=32)
    actions = ACTIONS if heads == "dense" else size * size + 1
    for seed in range(3):
        network = ResNet((3, size, size), actions, settings, seed, int(heads != "dense")).eval()
        logits, values = exact(network, boards(50, size, size))
        policy = torch.softmax(torch.from_numpy(logits), 1).numpy()
        assert np.abs(policy * actions - 1).max() < 0.42
        assert np.abs(values).max() < 0.3


def test_convolutions_start_by_the_rule_of_he():
    network = ResNet(SHAPE, ACTIONS, network_config(blocks=1, filters=128))
    weight = network.tower[0].first.convolution.weight
    assert weight.std().item() == pytest.approx(math.sqrt(2 / (128 * 9)), rel=0.02)
    assert abs(weight.mean().item()) < 1e-3


def test_the_same_seed_gives_the_same_weights_and_the_global_generator_is_not_touched():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = ResNet(SHAPE, ACTIONS, SETTINGS, seed=1).state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    again = ResNet(SHAPE, ACTIONS, SETTINGS, 1).state_dict()
    other = ResNet(SHAPE, ACTIONS, SETTINGS, seed=2).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["stem.convolution.weight"], other["stem.convolution.weight"])


@each_option
def test_every_weight_learns(settings: NetworkConfig):
    network = new_network(settings)
    before = {name: value.detach().clone() for name, value in network.named_parameters()}
    moves, wins = torch.arange(64) % network.num_actions, torch.arange(64) % 2 * 2.0 - 1
    optimizer = torch.optim.Adam(network.train().parameters(), lr=0.01)
    # Three steps: where a normalisation's scale is still 0, the convolution before it waits one.
    for _ in range(3):
        logits, values = network(torch.from_numpy(boards(64)))
        loss = functional.cross_entropy(logits, moves) + (values - wins).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    still = [name for name, value in network.named_parameters() if torch.equal(value, before[name])]
    assert still == []


@pytest.mark.parametrize("shape", [(2, 3, 6), (2, 3, 7, 6), (2, 4, 6, 7), (3, 6, 7)])
def test_observations_of_another_shape_are_refused_with_both_shapes(shape):
    network = trained_like()
    words = rf"expected observations \[B, C=3, H=6, W=7\], received \{list(shape)}"
    with pytest.raises(ValueError, match=words.replace("(", "[").replace(")", "]")):
        network(torch.zeros(shape))
    evaluator = TorchEvaluator(network, "cpu")
    for compute in (evaluator.evaluate, evaluator.predict):
        with pytest.raises(ValueError, match="expected observations"):
            compute(np.zeros(shape, np.float32))


def test_a_batch_larger_than_any_size_is_cut():
    network = trained_like(network_config(blocks=0, filters=2, value_hidden=2))
    evaluator = TorchEvaluator(network, "cpu", "float32")
    observations = boards(BATCH_SIZES[-1] + 5)
    check_close(evaluator.evaluate(observations), exact(network, observations), 2e-5)


def test_answers_are_new_arrays_and_the_question_may_be_read_only_or_a_view():
    evaluator = TorchEvaluator(trained_like(), "cpu", "float32")
    observations = boards(6)
    first = evaluator.evaluate(observations)
    kept = [answer.copy() for answer in first]
    observations.flags.writeable = False
    backwards = evaluator.evaluate(observations[::-1])
    for answer, copy, reversed_answer in zip(first, kept, backwards, strict=True):
        np.testing.assert_array_equal(answer, copy)
        np.testing.assert_allclose(reversed_answer[::-1], answer, atol=2e-5)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_rows_that_are_not_numbers_are_counted_and_stop_the_run(precision: str):
    evaluator = TorchEvaluator(trained_like(), "cpu", precision)
    observations = boards(10)
    observations[[2, 5, 6]] = np.nan
    words = "NaN or infinity for 3 of 10 .*last good checkpoint.*lower learning rate"
    with pytest.raises(RunError, match=words):
        evaluator.evaluate(observations)
    # What was left in the padding does not reach the next answer.
    logits, _ = evaluator.evaluate(boards(9))
    assert np.isfinite(logits).all()


@each_option
def test_an_answer_does_not_depend_on_its_place_in_the_batch(settings: NetworkConfig):
    evaluator = TorchEvaluator(trained_like(settings), "cpu", "float32")
    order = np.random.default_rng(0).permutation(64)
    answers, moved = evaluator.evaluate(boards(64)), evaluator.evaluate(boards(64)[order])
    for ours, theirs in zip(moved, answers, strict=True):
        np.testing.assert_array_equal(ours, theirs[order])


def test_batch_sizes_hold_what_they_are_asked_for_and_waste_less_than_half():
    for count in range(1, BATCH_SIZES[-1] + 1):
        size = padded_size(count)
        assert size in BATCH_SIZES
        assert count <= size < 2 * count or count == size
    assert padded_size(BATCH_SIZES[-1] + 1) == BATCH_SIZES[-1]


class Unrecordable:
    """Stands for a GPU on which nothing can be recorded."""

    def __init__(self, *_: object) -> None:
        raise RuntimeError("no graphs here\nand more")


def test_where_nothing_can_be_recorded_the_network_is_run_all_the_same(monkeypatch, capsys):
    expected = TorchEvaluator(trained_like(), "cpu", "float32").evaluate(boards(5))
    evaluator = TorchEvaluator(trained_like(), "cpu", "float32")
    monkeypatch.setattr(torch_evaluator, "CudaGraphRunner", Unrecordable)
    evaluator._records = True
    for _ in range(2):
        for mine, theirs in zip(evaluator.evaluate(boards(5)), expected, strict=True):
            assert (mine == theirs).all()
    captured = capsys.readouterr()
    text = "CUDA graphs cannot be used (no graphs here); evaluation will be slower\n"
    assert (captured.out, captured.err) == ("", text), "programs read the standard output"


class Recorder(EagerRunner):
    """Stands for a recorded batch; notes at its start how many others are being recorded."""

    begun: ClassVar[list[int]] = []
    under_way: ClassVar[list[object]] = []

    def __init__(self, network: ResNet, size: int) -> None:
        self.begun.append(len(self.under_way))
        self.under_way.append(self)
        time.sleep(0.02)
        super().__init__(network, size)
        self.under_way.remove(self)


def test_one_batch_at_a_time_is_recorded_and_used_again_by_any_thread(monkeypatch):
    monkeypatch.setattr(torch_evaluator, "CudaGraphRunner", Recorder)
    monkeypatch.setattr(Recorder, "begun", [])
    evaluator = TorchEvaluator(trained_like(), "cpu", "float32")
    evaluator._records = True

    def ask(threads: int) -> int:
        with ThreadPoolExecutor(threads) as pool:
            answers = list(pool.map(evaluator.evaluate, [boards(5)] * 2 * threads))
        for one, two in itertools.combinations(answers, 2):
            assert (one[0] == two[0]).all()
            assert (one[1] == two[1]).all()
        return len(Recorder.begun)

    recorded = ask(4)
    assert recorded > 1
    assert Recorder.begun == [0] * recorded, "a process can record but one CUDA graph at a time"
    assert [ask(1), ask(1)] == [recorded] * 2, "what a thread that is gone recorded is not lost"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@each_option
def test_a_gpu_answers_from_every_thread_as_the_processor_does(settings: NetworkConfig):
    network = trained_like(settings)
    expected = TorchEvaluator(network, "cpu", "float32").evaluate(boards(300))
    evaluator = TorchEvaluator(network, "cuda", "float32")

    def ask(_: int) -> None:
        for count in (300, 5, 300):
            answers = evaluator.evaluate(boards(300)[:count])
            check_close(answers, [output[:count] for output in expected], 2e-3)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(ask, range(2)))
    assert evaluator._records, "every batch was recorded"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_replays_in_some_threads_while_others_record():
    network = trained_like()
    expected = TorchEvaluator(network, "cpu", "float32").evaluate(boards(40))

    def ask(_: int) -> None:
        for turn in range(12):  # torch has 32 streams; each new evaluator takes one
            evaluator = TorchEvaluator(network, "cuda", "float32")
            for _ in range(10):
                check_close(evaluator.evaluate(boards(40)), expected, 2e-3)
            assert evaluator._records, turn

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))


def test_a_gpu_has_two_threads_and_more_for_many_games_or_large_boards(monkeypatch):
    def threads(game: str, cores: int, games: int) -> int:
        selfplay = selfplay_config(parallel_games=games)
        return backend.num_selfplay_threads(Config(GameConfig(game), selfplay=selfplay), cores)

    monkeypatch.setattr(backend, "resolve_device", lambda _: "cpu")
    assert [threads("connect_four", cores, 256) for cores in (1, 4, 16)] == [1, 4, 16]
    small = Config(GameConfig("connect_four"), selfplay=selfplay_config(parallel_games=128))
    assert backend.explain_threads(small, 2) == ""
    assert backend.explain_threads(small, 16) == (
        "16 threads share 128 games, so batches are small; "
        "selfplay.parallel_games=2048 would be faster"
    )
    monkeypatch.setattr(backend, "resolve_device", lambda _: "cuda")
    assert [threads("connect_four", cores, 256) for cores in (1, 4, 16)] == [2, 2, 2]
    assert [threads("connect_four", 16, games) for games in (8, 4096, 16384)] == [2, 7, 16]
    assert [threads("go", cores, 4096) for cores in (4, 16)] == [4, 16], "its batches take longer"
    large = Config(GameConfig("connect_four"), selfplay=selfplay_config(parallel_games=4096))
    assert backend.num_threads(large, 40, 16) == 2, "a gate has fewer games than self-play"
    chosen = dataclasses.replace(large, run=dataclasses.replace(large.run, threads=1))
    assert backend.num_selfplay_threads(chosen, 16) == 1, "as the user says"


@pytest.mark.parametrize(("size", "threads"), [(8, 1), (10**6, 3)])
def test_a_small_batch_is_computed_by_one_thread(monkeypatch, size: int, threads: int):
    evaluator, used = TorchEvaluator(trained_like(), "cpu", "float32"), []
    useful = evaluator._network.useful_threads(size)
    forward = evaluator._network.forward

    def watched(observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        used.append(torch.get_num_threads())
        return forward(observations)

    monkeypatch.setattr(evaluator._network, "forward", watched)
    monkeypatch.setattr(evaluator._network, "useful_threads", lambda _: useful)
    before = torch.get_num_threads()
    with threads_per_evaluation(3):
        evaluator.evaluate(boards(8))
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == before
    assert used == [threads]
