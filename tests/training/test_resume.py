"""A run is published whole, goes on as if it had never been stopped, and says what is wrong."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from filelock import FileLock, Timeout
from helpers.bugs.file_damage import cut_in_half, flip_bit
from helpers.commands import exit_code
from helpers.processes import HANG, until
from helpers.runs.events import points, scalar_log
from helpers.runs.records import drawn_games
from helpers.runs.tiny_run import (
    ITERATIONS,
    YAML,
    YAML_AS_SHIPPED,
    content_of,
    files_of,
    fingerprint,
    manifest_of,
    tiny_config,
    torn_files,
)

from alphazero.arena.elo import MatchResult
from alphazero.cli.main import main
from alphazero.errors import RunError
from alphazero.network.checkpoint import load_checkpoint
from alphazero.training import iteration, resignation
from alphazero.training.data.game_shard import RESIGNED
from alphazero.training.gate import GateResult
from alphazero.training.iteration import Training
from alphazero.training.loop import resume, train
from alphazero.training.manifest import player_name
from alphazero.training.run_directory import GATE, LEARN, PLAY, RunDirectory, read_games
from alphazero.utils.files import write_atomic
from alphazero.utils.jobs import map_ahead

RESUME = ["train", "--resume"]
MORE = f"budget.iterations={ITERATIONS + 1}"


OPEN_GATE = YAML_AS_SHIPPED.replace("threshold: 0.5", "threshold: 0.0").replace(
    "device: cpu", "device: cpu, backend: torch"
)
"""The tiny run with a gate that everyone passes: its files then hang on no rounding. It is without
OpenVINO, which compiles each network: a third of so short a run."""


@pytest.fixture(scope="module")
def reference(tmp_path_factory) -> Path:
    """The folder of a run that nothing disturbed; tests only read it."""
    return train_in(tmp_path_factory.mktemp("reference"))


@pytest.fixture
def run(reference, tmp_path) -> Path:
    """A copy of the finished run, to be changed."""
    return Path(shutil.copytree(reference, tmp_path / "copy"))


def train_in(place: Path, *overrides: str) -> Path:
    """Train the tiny run in `place`, whose path is not in its files; return its folder."""
    (place / "tiny.yaml").write_text(OPEN_GATE)
    before = Path.cwd()
    os.chdir(place)
    try:
        assert main(["train", "tiny.yaml", *overrides]) == 0
    finally:
        os.chdir(before)
    return place / "runs/tiny"


def go_on(run: Path, iterations: int = ITERATIONS + 1, *more: str) -> int:
    """Resume a run up to `iterations`; return the exit code."""
    return main(["train", "--resume", str(run), f"budget.iterations={iterations}", *more])


# --- kills ---------------------------------------------------------------------------------------

DRIVER = '''\
"""Run, kill, resume, kill ... in forked children of one process that has all modules loaded."""
import collections, contextlib, importlib, json, os, random, signal, sys, threading, time
from pathlib import Path

import torch.utils.tensorboard
from alphazero.cli.main import main
from alphazero.games import make_game
from alphazero.utils.jobs import JobProgress
from alphazero.training import loop
from alphazero.training.learning import learner

kills_wanted, seed, place = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
rng = random.Random(seed)
make_game("tic_tac_toe").rules

def child(arguments, kind, number, afterwards):
    """Run the command; die at the so-many-th call of a kind, before or after it."""
    assert threading.active_count() == 1
    identity = os.fork()
    if identity:
        if kind == "clock":
            time.sleep(number)
            os.kill(identity, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(identity, 0)[1])
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    counts = collections.Counter()
    def deadly(name, function):
        def call(*given, **named):
            counts[name] += 1
            dying = name == kind and counts[name] == number
            if dying and not afterwards:
                os.kill(os.getpid(), signal.SIGKILL)
            result = function(*given, **named)
            if dying:
                os.kill(os.getpid(), signal.SIGKILL)
            return result
        return call
    for name in ("open", "fsync", "replace", "unlink"):
        setattr(os, name, deadly(name, getattr(os, name)))
    JobProgress.advance = deadly("tick", JobProgress.advance)
    learner.Learner.train_step = deadly("step", learner.Learner.train_step)
    code = main(arguments)
    (place / "counts.json").write_text(json.dumps([counts, sorted(sys.modules)]))
    os._exit(code)

def chain(folder, kills):
    """Start a run and resume it after each of `kills`, then let it end; return what happened."""
    folder.mkdir()
    (folder / "tiny.yaml").write_text((place / "tiny.yaml").read_text())
    os.chdir(folder)
    happened, manifest = [], Path("runs/tiny/state/manifest.json")
    while True:
        new = ["tiny.yaml", "run.threads=2"]
        arguments = ["train", *(["--resume", "runs/tiny"] if manifest.exists() else new)]
        kill = kills.pop() if kills else ("none", 0, False)
        begin = time.monotonic()
        code = child(arguments, *kill)
        if code == 0:
            return happened, time.monotonic() - begin
        if code != -signal.SIGKILL:
            raise SystemExit(f"{arguments} with {kill} ended with {code}")
        reached = json.loads(manifest.read_text())["iteration"] if manifest.exists() else -1
        happened.append([kill[0], reached])

_, seconds = chain(place / "whole", [])
counts, modules = json.loads((place / "counts.json").read_text())
for name in modules:  # loaded here, they are not loaded by each child: half of a child's time
    if not name.startswith("openvino"):  # which starts a thread
        with contextlib.suppress(Exception):
            importlib.import_module(name)
happened, chains = [], 0
names = ["open", "fsync", "replace", "unlink", "tick", "step", "clock"]
while len(happened) < kills_wanted:
    kinds = rng.choices(names, k=min(kills_wanted, 10))
    kills = [
        (kind,
         rng.uniform(0, seconds / 4) if kind == "clock" else rng.randint(1, counts[kind] // 2),
         rng.random() < 0.5)
        for kind in kinds
    ]
    happened += chain(place / f"chain-{chains}", kills)[0]
    chains += 1
print(json.dumps(happened))
'''


PATIENT = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
"""Threads that wait do so asleep: on a busy machine that is many times faster."""


def kill_often(place: Path, kills: int, seed: int) -> list[list[Any]]:
    """Let a driver do chains of killed and resumed runs in `place`; return kind and iteration."""
    (place / "tiny.yaml").write_text(YAML_AS_SHIPPED)
    (place / "driver.py").write_text(DRIVER)
    command = [sys.executable, "driver.py", str(kills), str(seed), str(place)]
    done = subprocess.run(
        command,
        cwd=place,
        env=PATIENT,
        capture_output=True,
        text=True,
        timeout=600 + 15 * kills,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    happened: list[list[Any]] = json.loads(done.stdout)
    return happened


@pytest.mark.arithmetic
@pytest.mark.parametrize(("kills", "seed"), [(2, 35), pytest.param(200, 2, marks=pytest.mark.slow)])
def test_a_run_killed_at_any_instant_resumes_to_the_very_same_files(
    tmp_path, kills: int, seed: int
):
    happened = kill_often(tmp_path, kills, seed)
    assert len(happened) >= kills
    reached = {iteration for _, iteration in happened}
    assert len(reached) >= min(kills, ITERATIONS - 1), f"kills were not spread: {happened}"
    chains = sorted(tmp_path.glob("chain-*"))
    assert chains
    whole = fingerprint(tmp_path / "whole/runs/tiny")
    curves = scalar_log(tmp_path / "whole/runs/tiny")
    assert whole["manifest"]["iteration"] == ITERATIONS
    assert [step for step, _ in curves["loss/total"]] == list(range(1, ITERATIONS + 1))
    for chain in chains:
        assert fingerprint(chain / "runs/tiny") == whole, chain.name
        assert scalar_log(chain / "runs/tiny") == curves, chain.name
    print(
        f"{len(happened)} kills in {len(chains)} runs; {len(chains)} of {len(chains)} ended with "
        "the same weights, optimizer, games, index and curves as the run that was not killed"
    )


# --- Ctrl-C, and a run that is in use ------------------------------------------------------------


def test_ctrl_c_leaves_with_130_and_the_command_that_goes_on(tmp_path, monkeypatch):
    """The lock of the run is held while it plays."""
    place = tmp_path / "with a space"
    place.mkdir()
    monkeypatch.chdir(place)
    Path("tiny.yaml").write_text(YAML)
    few, many = (f"selfplay.games_per_iteration={games}" for games in (8, 1_000_000))
    names = ["run.folder=my runs", "run.name=long"]
    more = ["budget.iterations=1", "replay.ratio=0.01"]
    # A shell's background ignores Ctrl-C, and whoever is started there inherits that from us.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "alphazero", "train", "tiny.yaml", *names, *more, many],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    run = Path("my runs/long")
    until(lambda: process.poll() is not None or (run / "state/manifest.json").exists())
    assert process.poll() is None, process.communicate()[1]
    with pytest.raises(Timeout):
        FileLock(run / "run.lock").acquire(timeout=0)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=HANG)
    assert process.returncode == 130, error
    assert "Traceback" not in error
    said, _, command = error.splitlines()[-1].partition(": ")
    assert (said, command) == ("stopped; go on with", "alphazero train --resume 'my runs/long'")
    assert manifest_of(run)["iteration"] == 0
    assert not torn_files(run)
    assert main([*shlex.split(command)[1:], few]) == 0
    assert manifest_of(run)["iteration"] == 1


def test_a_run_in_use_refuses_a_second_process_in_one_line(run, only_line):
    before = fingerprint(run)
    with FileLock(run / "run.lock"):
        assert f"{run} is in use by another process" in only_line(*RESUME, run, MORE)
    assert fingerprint(run) == before
    assert go_on(run) == 0


def test_ctrl_c_before_anything_is_saved_says_so(tmp_path, monkeypatch, capsys):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Training, "_save_first", interrupt)
    (tmp_path / "tiny.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)
    assert main(["train", "tiny.yaml"]) == 130
    error = capsys.readouterr().err
    assert "nothing was saved yet" in error
    assert "--resume" not in error
    monkeypatch.undo()
    train_in(tmp_path, "budget.iterations=1")


# --- going on ------------------------------------------------------------------------------------


def test_resuming_a_finished_run_says_so_and_changes_nothing(run, capsys):
    names, before = files_of(run), (fingerprint(run), manifest_of(run))
    assert main(["train", "--resume", str(run)]) == 0
    out = capsys.readouterr().out
    assert f"its budget is spent, at iteration {ITERATIONS}" in out
    assert "budget.iterations=" in out
    assert (fingerprint(run), manifest_of(run)) == before
    assert files_of(run) == names


def test_a_finished_run_names_the_limit_that_is_spent(run, capsys):
    """Another limit would not let it go on."""
    assert main(["train", "--resume", str(run), "budget.iterations=99", "budget.samples=1"]) == 0
    assert "to go on, enlarge it: budget.samples=...\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("game.name=connect_four", "the game and the network"),
        ("game.rows=4", "the game and the network"),
        ("network.filters=16", "the game and the network"),
        ("learner.optimizer=adamw", "learner.optimizer"),
        ("run.name=other", "run.name and run.folder"),
        ("run.folder=other", "run.name and run.folder"),
    ],
)
def test_settings_that_define_a_run_cannot_change(
    reference, only_line, override: str, message: str
):
    before = fingerprint(reference)
    line = only_line(*RESUME, reference, override)
    assert all(each in line for each in (str(reference), message, "cannot change"))
    assert fingerprint(reference) == before


@pytest.mark.parametrize(
    "override", ["evaluation.anchors=[utc:100]", "evaluation.anchors=[connect_four]"]
)
def test_an_override_that_is_refused_is_not_kept(reference, only_line, override: str):
    before = fingerprint(reference)
    assert "evaluation.anchors" in only_line(*RESUME, reference, override)
    assert fingerprint(reference) == before


def test_a_configuration_edited_by_hand_is_refused_with_the_way_to_change_it(run, only_line):
    config = run / "config.yaml"
    text = config.read_text()
    assert "  seed: 5\n" in text
    config.write_text(text.replace("  seed: 5\n", "  seed: 6\n"))
    line = only_line(*RESUME, run, MORE)
    assert f"{config} is not as the run wrote it" in line
    assert f"`alphazero train --resume {run} section.key=value`" in line
    config.write_text(text)
    assert go_on(run, ITERATIONS) == 0


@pytest.mark.parametrize("writes", [1, 2, 3])
def test_a_kill_while_overrides_are_saved_leaves_a_run_that_resumes(run, monkeypatch, writes: int):
    done = []

    def deadly(path: Path, data: bytes) -> None:
        if len(done) == writes:
            raise KeyboardInterrupt
        done.append(path.name)
        write_atomic(path, data)

    monkeypatch.setattr("alphazero.training.run_directory.write_atomic", deadly)
    assert go_on(run, ITERATIONS + 1) == 130
    monkeypatch.undo()
    assert done == ["manifest.json", "config.yaml", "manifest.json"][:writes]
    assert main(["check", str(run)]) == 0
    assert main(["train", "--resume", str(run)]) == 0
    assert manifest_of(run)["iteration"] == ITERATIONS + (writes > 1)
    assert "config.yaml, next" not in manifest_of(run)["hashes"] or writes == 1


def test_a_new_run_over_an_old_one_is_refused_with_the_command_that_resumes(
    reference, tmp_path, only_line
):
    before = fingerprint(reference)
    (tmp_path / "tiny.yaml").write_text(YAML)
    names = [f"run.folder={reference.parent}", f"run.name={reference.name}"]
    line = only_line("train", tmp_path / "tiny.yaml", *names)
    assert f"{reference} already holds a run" in line
    assert f"`alphazero train --resume {reference}`" in line
    assert fingerprint(reference) == before


@pytest.mark.parametrize("name", ["best.safetensors", "step-00004000.safetensors", "config.yaml"])
def test_a_new_run_replaces_no_files_of_another_one(reference, tmp_path, only_line, name: str):
    folder = tmp_path / "copied"
    folder.mkdir()
    (tmp_path / "tiny.yaml").write_text(YAML)
    shutil.copy(tmp_path / "tiny.yaml", folder / "config.yaml")
    if name != "config.yaml":
        shutil.copy(reference / "config.yaml", folder)
        shutil.copy(reference / "best.safetensors", folder / name)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    line = only_line("train", tmp_path / "tiny.yaml", f"run.folder={tmp_path}", "run.name=copied")
    assert f"{folder / name} would be replaced or removed by a new run" in line
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["nothing", "a" * 300, "file"])
def test_resuming_without_a_run_is_refused_in_one_line(tmp_path, only_line, name: str):
    (tmp_path / "file").write_text("")
    assert str(tmp_path / name) in only_line(*RESUME, tmp_path / name)
    assert files_of(tmp_path) == {"file"}


@pytest.mark.parametrize("function", [resume, lambda folder: next(read_games(folder))])
def test_what_is_no_folder_is_one_line_in_python(function: Callable[[Any], Any]):
    with pytest.raises(RunError, match=r"^expected the folder of a run, got NoneType$"):
        function(None)


def test_what_cannot_observe_is_refused_before_a_run_is_made(tmp_path):
    with pytest.raises(RunError, match=r"^observe: expected a function, got list; for overrides"):
        train(tiny_config(tmp_path), ["budget.iterations=1"])  # type: ignore[arg-type]
    assert not files_of(tmp_path)


# --- the folder ----------------------------------------------------------------------------------


def expected_files(run: Path) -> set[str]:
    """Return what DESIGN.md, section 7, promises of a finished tiny run, but for the curves."""
    manifest = manifest_of(run)
    iteration, step = manifest["iteration"], manifest["step"]
    return {
        *("run.lock", "config.yaml", "best.safetensors", "state/manifest.json"),
        f"state/learner-{iteration:06d}.safetensors",
        f"state/unfinished-{iteration:06d}.npz",
        f"step-{step:08d}.safetensors",
        manifest["best"],
        *(f"replay/games-{shard:06d}.npz" for shard in manifest["shards"]),
        *(
            f"games/{kind}-{turn:06d}.{ending}"
            for kind, every in (("selfplay", 1), ("gate", 2))
            for turn in range(every, iteration + 1, every)
            for ending in ("txt", "sgf")
        ),
    }


def test_a_finished_run_holds_the_files_of_the_design_and_no_other(reference):
    names, manifest = files_of(reference), manifest_of(reference)
    curves = {name for name in names if name.startswith("events.out.tfevents.")}
    assert len(curves) == 1
    steps = sorted(name for name in names if name.startswith("step-"))
    assert names - curves - set(steps) == expected_files(reference) - set(steps)
    assert len(steps) == 2, "keep_checkpoints is 2"
    assert manifest["best"] in steps
    assert manifest["shards"][-1] == ITERATIONS
    assert manifest["shards"][0] > 1, "the window holds 60 to 200 positions, less than all"
    assert not torn_files(reference)


def test_left_overs_are_swept(run):
    left = [
        *(".best.safetensors.0a1b2c.temporary", "state/.manifest.json.0a1b2c.temporary"),
        *("replay/.games-000001.npz.0a1b2c.temporary", "games/.x.txt.0a1b2c.temporary"),
        *("state/learner-000099.safetensors", "state/unfinished-000001.npz"),
        *("replay/games-000099.npz", "replay/games-000001.npz", "step-99999999.safetensors"),
    ]
    for name in left:
        (run / name).write_bytes(b"left over")
    assert go_on(run) == 0
    assert files_of(run).isdisjoint(left)


def test_resuming_repairs_the_copy_of_the_best_player(run):
    best = run / "best.safetensors"
    whole = best.read_bytes()
    for data in (None, b"an older player", whole[:100]):
        best.unlink()
        if data:
            best.write_bytes(data)
        assert main(["train", "--resume", str(run)]) == 0
        assert best.read_bytes() == whole
    assert whole == (run / manifest_of(run)["best"]).read_bytes()


# --- damage --------------------------------------------------------------------------------------


@pytest.fixture
def alarm() -> Iterator[None]:
    """Fail the test where it waits for longer than `HANG`."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits"))
    signal.alarm(HANG)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "flipped": flip_bit,
    "cut": cut_in_half,
    "empty": lambda path: path.write_bytes(b""),
    "missing": Path.unlink,
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_named_in_one_line(run, capsys, only_line, alarm, damage: str):
    names, before = [*manifest_of(run)["hashes"], "state/manifest.json"], content_of(run)
    assert len(names) >= 6
    for name in names:
        path = run / name
        whole = path.read_bytes()
        DAMAGES[damage](path)
        line = only_line(*RESUME, run, MORE)
        assert str(path) in line or (damage == "missing" and path.name in line), line
        if damage == "a pipe":  # which is not waited for
            assert "not a regular file" in line
            assert exit_code("check", run) == 2
            lines = [each for each in capsys.readouterr().err.splitlines() if str(path) in each]
            assert any("not a regular file" in each for each in lines), lines
        path.unlink(missing_ok=True)
        path.write_bytes(whole)
    assert content_of(run) == before
    assert main(["check", str(run)]) == 0


def edit(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Return what changes the content of a manifest."""

    def write(path: Path) -> None:
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return write


STRANGE: list[Callable[[Path], object]] = [
    edit(lambda manifest: manifest.update(format_version=1)),
    edit(lambda manifest: manifest.update(format="another-program")),
    edit(lambda manifest: manifest.pop("format")),
    edit(lambda manifest: manifest.update(iteration=1)),
    edit(lambda manifest: manifest.update(shards=["x"])),
    lambda path: path.write_text("[]"),
    lambda path: path.write_text("[" * 100_000),
    lambda path: path.write_bytes(b"\xff\xfe\0"),
]


def test_a_strange_manifest_is_refused_in_one_line(run, only_line):
    manifest = run / "state/manifest.json"
    whole = manifest.read_bytes()
    for number, damage in enumerate(STRANGE):
        damage(manifest)
        line = only_line(*RESUME, run, MORE)
        assert str(manifest) in line
        assert ("not a run's manifest" if number else "by another version") in line
        manifest.write_bytes(whole)


# --- budgets -------------------------------------------------------------------------------------


def test_a_budget_of_samples_ends_the_run_at_the_first_iteration_that_reaches_it(tmp_path):
    run = train(tiny_config(tmp_path, "budget.samples=60", "budget.iterations=50"))
    *_, (_, before), (_, last) = points(run, "selfplay/positions")
    assert before < 60 <= last == manifest_of(run)["positions"]


def test_a_budget_of_minutes_ends_the_run_by_the_clock(tmp_path, monkeypatch):
    clock = iter(range(1_000_000))
    monkeypatch.setattr(iteration, "time", SimpleNamespace(monotonic=lambda: 10.0 * next(clock)))
    config = tiny_config(tmp_path, "budget.minutes=3", "budget.iterations=50")
    # Ten seconds each: the first save; then in each iteration play, learn, save, in each second
    # one the gate too. The last save ends after its manifest is written: 170 s stand there.
    manifest = manifest_of(train(config))
    assert manifest["iteration"] == 5
    assert manifest["seconds"] == 170


# --- the loop ------------------------------------------------------------------------------------


def test_a_gate_adds_its_gain_to_the_rating_whether_it_accepts_or_not(tmp_path):
    training = Training(RunDirectory.create(tiny_config(tmp_path)), 1)
    state = training.run.state
    gates = [(3, 120, 100, 100), (4, 80, 70, 170), (0, -50, -5, 165)]
    for step, (wins, elo, gain, best) in enumerate(gates, 1):
        state.step, before = step, state.best
        match = MatchResult(wins, 0, 4 - wins, 4, elo, elo - 10, elo + 10)
        result = GateResult(match, drawn_games(1), wins > 0, gain)
        training.decide(training.checkpoint(), training.best, result)
        assert state.rating == best
        saved = load_checkpoint(training.run.folder / player_name(step))
        assert saved.rating == [100, 170, 115][step - 1]
        assert state.best == (player_name(step) if wins else before)


def test_no_two_purposes_and_no_two_iterations_have_random_numbers_in_common(tmp_path, monkeypatch):
    draw, seeds = RunDirectory.seed, []

    def watch(run: RunDirectory, purpose: int) -> list[int]:
        drawn = draw(run, purpose)
        entry = (run.state.iteration, purpose, tuple(drawn))
        if purpose != LEARN or entry not in seeds:  # each step adds its number to the seed
            seeds.append(entry)
        return drawn

    monkeypatch.setattr(RunDirectory, "seed", watch)
    train(tiny_config(tmp_path, "run.seed=8"))
    iterations, purposes, streams = map(set, zip(*seeds, strict=True))
    assert iterations == set(range(ITERATIONS + 1))  # the network is drawn before the first
    assert all(8 in stream for stream in streams)
    assert {PLAY, LEARN, GATE} <= purposes
    assert len(streams) == len(seeds)


def test_batches_drawn_ahead_are_those_drawn_in_turn(tmp_path):
    training = Training(RunDirectory.create(tiny_config(tmp_path)), 1)
    training.iterate(lambda *_: None)
    in_turn = [training.batch(step) for step in range(6)]
    for batch, same in zip(map_ahead(training.batch, range(6), 3), in_turn, strict=True):
        assert all(map(np.array_equal, batch.arrays(), same.arrays()))
    assert len({batch.observations.tobytes() for batch in in_turn}) == 6


@pytest.mark.parametrize(("reuse", "batch"), [(0.3, 16), (1.7, 7)])
def test_the_learner_does_the_steps_that_the_positions_are_good_for_and_no_more(
    tmp_path, reuse: float, batch: int
):
    options = f"replay.ratio={reuse}", f"learner.batch_size={batch}", "budget.iterations=2"
    run = train(tiny_config(tmp_path, *options))
    manifest = manifest_of(run)
    assert manifest["step"] == int(manifest["positions"] * reuse / batch)
    more = manifest_of(resume(run, ["budget.iterations=4"]))
    assert more["positions"] > manifest["positions"]
    assert more["step"] == int(more["positions"] * reuse / batch)


# --- every option ------------------------------------------------------------------------------


FAST = ["selfplay.full_search_probability=0.5", "selfplay.fast_simulations=2"]
RESIGNING = "selfplay.resign_enabled_fraction=0.6"

EVERY_OPTION = {
    "the search's and the learner's": [
        *(*FAST, RESIGNING, "learner.ema_decay=0.9", "learner.search_value_weight=0.3"),
        *("learner.optimizer=adamw", "learner.learning_rate=0.001", "search.fpu_reduction=0.25"),
        *("search.evaluation_cache_mib=1", "replay.deblunder_threshold=0.3"),
    ],
    "auxiliary heads": [
        *(*FAST, RESIGNING, "game.name=othello", "game.size=4", "run.seed=2"),
        "network.auxiliary=[ownership, margin, short_term_value]",
    ],
    "varied komi": [
        *("game.name=go", "game.rows=3", "game.columns=3", "game.features=1"),
        "selfplay.varied_options={komi_half_points: [-2, 4]}",
        "selfplay.random_opening_probability=0.5",
    ],
}


@pytest.mark.parametrize("kind", EVERY_OPTION)
def test_a_run_with_every_option_resumes_to_the_very_same_files(tmp_path, monkeypatch, kind: str):
    monkeypatch.setattr(resignation, "RESIGN_FALSE_POSITIVES", 1.0)
    monkeypatch.setattr(resignation, "RESIGN_THRESHOLD_MAX", 0.1)
    options = [*EVERY_OPTION[kind], "inference.backend=torch"]  # OpenVINO is slower to start
    whole = train(tiny_config(tmp_path / "whole", *options))
    broken = train(tiny_config(tmp_path / "broken", *options, "budget.iterations=2"))
    resume(broken, ["budget.iterations=4"])
    assert content_of(broken) == content_of(whole)
    assert main(["check", str(whole)]) == 0
    run = RunDirectory.open(whole)
    last = run.load_shard(4)
    if kind == "auxiliary heads":
        curves, heads = scalar_log(whole), ("ownership", "margin", "short_term_value")
        for head in heads:
            steps = [iteration for iteration, _ in curves["loss/total"]]
            assert [iteration for iteration, _ in curves[f"auxiliary/{head}"]] == steps != []
        assert load_checkpoint(whole / "best.safetensors").network_settings.auxiliary == heads
    elif kind == "varied komi":
        assert len(set(last.options[:, 0].tolist())) > 2
        komi = last.records()[0].variant(run.game).options["komi_half_points"] / 2
        assert f"KM[{komi:g}]" in (whole / "games/selfplay-000004.sgf").read_text()
    else:
        assert RESIGNED in last.resignations
