"""A run in which a larger network takes the place of the first one."""

from pathlib import Path

import pytest
import torch
from helpers.commands import OnlyLine
from helpers.tiny_run import ITERATIONS, YAML, fingerprint, manifest_of, tiny_config, torn_files

from alphazero.config.schema import LearnerConfig, NetworkConfig
from alphazero.diagnostics.verify import verify
from alphazero.errors import ConfigError
from alphazero.network.checkpoint import load_checkpoint
from alphazero.network.resnet import ResNet
from alphazero.training.data.replay_buffer import Batch
from alphazero.training.learning.learner import Learner
from alphazero.training.loop import resume, train
from alphazero.training.run_directory import RunDirectory

SAMPLES = 60
"""The tiny run has about as many positions after two iterations."""

GROWTH = (f"growth.samples={SAMPLES}", "growth.blocks=2", "growth.filters=12")
OPEN, SHUT = "gate.threshold=0.0", "gate.threshold=1.0"


def shape_of(path: Path) -> tuple[int, int]:
    """Return the blocks and filters of a player, which its weights must have."""
    checkpoint = load_checkpoint(path)
    network = checkpoint.network()
    return len(network.tower), network.stem.convolution.out_channels


def shapes_of(run: Path) -> list[tuple[int, int]]:
    """Return the shapes of all players of a run, in the order of their steps."""
    return [shape_of(path) for path in sorted(run.glob("step-*.safetensors"))]


def grow(place: Path, *overrides: str) -> Path:
    return train(tiny_config(place, *GROWTH, "run.keep_checkpoints=0", *overrides))


def test_the_larger_network_learns_once_the_positions_have_come_and_plays_once_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = grow(tmp_path, OPEN, f"budget.iterations={2 * ITERATIONS}")
    shapes = shapes_of(run)
    assert shapes[0] == (1, 8)
    assert shapes[-1] == (2, 12)
    assert shapes == sorted(shapes)
    assert shape_of(run / "best.safetensors") == (2, 12)
    assert not torn_files(run)
    said = capsys.readouterr().out
    begins = "it begins as the function of the 1 x 8 network and plays once a gate accepts it"
    assert said.count(f"from now on a network of 2 x 12 learns; {begins}") == 1
    assert not verify(run).faults


def test_the_first_network_plays_on_where_no_gate_accepts_the_larger_one(tmp_path: Path) -> None:
    run = grow(tmp_path, SHUT, "gate.games=20", f"budget.iterations={2 * ITERATIONS}")
    assert shape_of(run / "best.safetensors") == (1, 8)
    assert shapes_of(run)[-1] == (2, 12)
    assert not verify(run).faults


def test_it_begins_with_the_iteration_in_which_the_positions_have_come(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, *GROWTH, "budget.iterations=1")
    folder = train(config)
    while (positions := manifest_of(folder)["positions"]) < SAMPLES:
        learner = RunDirectory.open(folder).load_learner()
        assert learner["network.stem.convolution.weight"].shape[0] == 8, positions
        resume(folder, [f"budget.iterations={manifest_of(folder)['iteration'] + 1}"])
    learner = RunDirectory.open(folder).load_learner()
    assert learner["network.stem.convolution.weight"].shape[0] == 12
    assert not any(name.startswith("optimizer") for name in learner)
    steps = manifest_of(folder)["step"]
    assert steps == config.steps_due(positions) == int(positions * 2.0 / 16)
    resume(folder, [f"budget.iterations={manifest_of(folder)['iteration'] + 1}"])
    after = manifest_of(folder)
    assert after["step"] == int(after["positions"] * 2.0 / 16) > steps


def test_it_begins_as_the_function_of_the_first_network(tmp_path: Path) -> None:
    more = ["gate.games=0", "learner.ema_decay=0.9", "budget.iterations=1"]
    folder = train(tiny_config(tmp_path, *GROWTH, *more))
    while manifest_of(folder)["positions"] < SAMPLES:
        resume(folder, [f"budget.iterations={manifest_of(folder)['iteration'] + 1}"])
    run = RunDirectory.open(folder)
    first = load_checkpoint(folder / "best.safetensors").network()
    assert len(first.tower) == 1
    larger = ResNet.of(run.game, run.config.networks[1])
    observations = torch.rand(8, *run.game.observation_shape)
    for kind in ("network", "player"):
        weights = {
            name.removeprefix(f"{kind}."): weight
            for name, weight in run.load_learner().items()
            if name.startswith(f"{kind}.")
        }
        larger.load_state_dict(weights)
        for one, other in zip(first(observations), larger.eval()(observations), strict=True):
            assert torch.allclose(one, other, atol=1e-5)
    resume(folder, [f"budget.iterations={manifest_of(folder)['iteration'] + 1}"])
    assert shape_of(folder / "best.safetensors") == (2, 12)


def test_from_then_on_new_positions_are_learned_from_as_often_as_growth_says(
    tmp_path: Path,
) -> None:
    config = tiny_config(tmp_path, *GROWTH, "growth.replay_ratio=8")
    state = manifest_of(train(config))
    assert state["positions"] > SAMPLES + 10
    assert state["step"] == int((SAMPLES * 2.0 + (state["positions"] - SAMPLES) * 8.0) / 16)
    assert state["step"] > tiny_config(tmp_path).steps_due(state["positions"])


def test_a_run_stopped_around_its_growth_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    more = [OPEN, "learner.ema_decay=0.9", "growth.replay_ratio=3"]
    whole = grow(tmp_path / "whole", *more, "budget.iterations=6")
    parts = tmp_path / "parts"
    grow(parts, *more, "budget.iterations=1")
    for iterations in range(2, 7):
        resume(parts / "tiny", [f"budget.iterations={iterations}"])
    one, two = fingerprint(whole), fingerprint(parts / "tiny")
    assert one.keys() == two.keys()
    different = {name for name in one if one[name] != two[name]}
    assert different <= {"config.yaml"}  # it names the folder


def test_the_average_of_the_weights_begins_anew_with_the_larger_network() -> None:
    shape, settings = NetworkConfig(blocks=1, filters=4), LearnerConfig(ema_decay=0.999)
    batch = Batch(
        torch.rand(8, 3, 3, 3).numpy(), torch.full((8, 9), 1 / 9).numpy(), torch.zeros(8).numpy()
    )
    averages = []
    for born, step in ((0, 0), (1000, 1000), (0, 1000)):
        learner = Learner(ResNet((3, 3, 3), 9, shape, 1), settings, "cpu", start_step=born)
        learner.step = step
        learner.train_step(batch)
        averages.append(learner.ema_network.state_dict()["stem.convolution.weight"])
    fresh, grown, old = averages
    assert torch.equal(fresh, grown)
    assert not torch.equal(fresh, old)


def test_what_a_run_has_grown_to_cannot_change(tmp_path: Path, only_line: OnlyLine) -> None:
    run = grow(tmp_path, SHUT)
    for override in ("growth.filters=16", "growth.samples=1000000", "growth.samples=null"):
        line = only_line("train", "--resume", run, override, "budget.iterations=9")
        assert "the game and the network of a run cannot change" in line


def test_growth_may_still_be_put_off_or_given_up_before_it_has_begun(tmp_path: Path) -> None:
    run = grow(tmp_path, "budget.iterations=1")
    resume(run, ["growth.samples=100000", "budget.iterations=2"])
    resume(run, ["growth.samples=null", "budget.iterations=3"])
    assert set(shapes_of(run)) == {(1, 8)}


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (
            ["growth.filters=7"],
            r"growth.filters \(7\) must be at least network.filters \(8\), because the larger",
        ),
        (["network.blocks=3"], r"growth.blocks \(2\) must be at least network.blocks \(3\)"),
        (["growth.samples=0"], "growth.samples"),
        (["budget.samples=60"], r"growth.samples \(60\) must be below budget.samples \(60\)"),
    ],
)
def test_a_growth_that_cannot_be_is_refused(overrides: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        tiny_config(Path("runs"), *GROWTH, *overrides)


@pytest.mark.slow
def test_two_processes_grow_together(tmp_path: Path) -> None:
    from helpers.processes import together

    (tmp_path / "tiny.yaml").write_text(YAML)
    told = together(["-m", "alphazero", "train", "tiny.yaml", OPEN, *GROWTH], tmp_path)
    assert "from now on a network of 2 x 12 learns" in told[0]
    run = tmp_path / "runs/tiny"
    assert shapes_of(run)[-1] == (2, 12)
    assert manifest_of(run)["step"] == int(manifest_of(run)["positions"] * 2.0 / 16)
    assert not torn_files(run)
