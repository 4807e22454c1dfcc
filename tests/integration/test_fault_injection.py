"""Whatever dies, refuses or lies, nothing committed is lost; with figures, printed by `-rP`.

Kills by SIGKILL are in `training/test_resume.py`, damaged and hostile files in
`test_hostile_files.py`.
"""

import contextlib
import errno
import io
import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers.commands import error_line
from helpers.processes import run_python
from helpers.runs.events import scalar_log
from helpers.runs.tiny_run import YAML as TINY
from helpers.runs.tiny_run import fingerprint, manifest_of, torn_files

from alphazero.cli.main import main
from alphazero.network.inference.backend import make_evaluator
from alphazero.training.data.batch import Batch
from alphazero.training.iteration import Training
from alphazero.training.selfplay import SelfPlayResult
from alphazero.utils.jit import cache_folder

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch

YAML = TINY.replace("device: cpu", "device: cpu, backend: torch")
"""The tiny run without OpenVINO, which compiles each network: a third of so short a run."""

SHORT = "budget.iterations=2"
"""Long enough for a gate, which comes in each second iteration."""


def train_in(place: Path, *overrides: str) -> int:
    """Train the tiny run in `place`, new or from its last published state; return the exit code."""
    (place / "tiny.yaml").write_text(YAML)
    has_state = (place / "runs/tiny/state/manifest.json").exists()
    run = ["--resume", "runs/tiny"] if has_state else ["tiny.yaml"]
    with contextlib.chdir(place):
        return main(["train", *run, *overrides])


# --- a disk that refuses -------------------------------------------------------------------------


class _File(io.FileIO):
    """A file whose `write` the disk may refuse, half of the data written."""

    disk: "Disk"

    def write(self, data: Any) -> int:
        try:
            self.disk.ask("write")
        except OSError:
            super().write(data[: len(data) // 2])
            raise
        return super().write(data)


class Disk:
    """Counts every call that changes the disk; refuses the so-many-th and all that follow.

    Those are: making a folder, opening a file to write, writing, fsync of file and folder, rename,
    removing (which a full disk still does), and each flush of the curves.
    """

    def __init__(self, monkeypatch: Patch, fatal: int = 0, code: int = errno.ENOSPC) -> None:
        from tensorboard.summary.writer.record_writer import RecordWriter

        self.calls = 0
        self.kinds: list[str] = []
        self._fatal = fatal
        self._code = code
        for name in ("mkdir", "fsync", "replace", "unlink"):
            monkeypatch.setattr(os, name, partial(self._call, name, getattr(os, name)))
        monkeypatch.setattr(os, "open", partial(self._open, os.open))
        monkeypatch.setattr(os, "fdopen", self._fdopen)
        flush = RecordWriter.flush

        def flush_curves(writer: Any) -> None:
            self.ask("curves")
            flush(writer)

        monkeypatch.setattr(RecordWriter, "flush", flush_curves)

    def ask(self, kind: str) -> None:
        """Count a call of a kind; raise OSError when the disk has begun to refuse."""
        if kind == "unlink" and self._code == errno.ENOSPC:
            return
        self.calls += 1
        self.kinds.append(kind)
        if self._fatal and self.calls >= self._fatal:
            raise OSError(self._code, os.strerror(self._code))

    def _call(self, kind: str, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        self.ask(kind)
        return function(*given, **named)

    def _open(self, function: Callable[..., int], path: Any, flags: int, *more: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and "/dev/" not in str(path):
            self.ask("open")
        return function(path, flags, *more)

    def _fdopen(self, descriptor: int, mode: str) -> _File:
        file = _File(descriptor, mode)
        file.disk = self
        return file


CODES = [errno.ENOSPC, errno.EACCES, errno.EROFS]


@pytest.fixture(scope="module")
def short(tmp_path_factory) -> Path:
    """A run of two iterations that nothing disturbed."""
    place = tmp_path_factory.mktemp("short")
    assert train_in(place, SHORT) == 0
    return place / "runs/tiny"


def refuse_from(place: Path, call: int, code: int, capsys: Capture) -> str:
    """Train on a disk that refuses from a call on, then on a sound one; return what was refused."""
    place.mkdir()
    (place / "tiny.yaml").write_text(YAML)
    run = place / "runs/tiny"
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as monkeypatch:
        disk = Disk(monkeypatch, call, code)
        ended = train_in(place, SHORT)
    assert ended == 2
    line = error_line(capsys)
    assert line.startswith("error: cannot "), line
    assert "runs/tiny" in line
    assert os.strerror(code)[1:] in line
    games = 0
    if (run / "state/manifest.json").exists():
        games = manifest_of(run)["games"]
        assert not torn_files(run)
    assert train_in(place, SHORT) == 0
    assert manifest_of(run)["games"] >= games
    return disk.kinds[call - 1]


@pytest.mark.parametrize(
    ("every", "codes"),
    [(41, CODES), *(pytest.param(1, [code], marks=pytest.mark.slow) for code in CODES)],
)
def test_a_disk_that_refuses_at_any_call_is_one_line_and_nothing_committed_is_lost(
    short, tmp_path, capsys, every: int, codes: list[int]
):
    (tmp_path / "whole").mkdir()
    with pytest.MonkeyPatch.context() as monkeypatch:
        disk = Disk(monkeypatch, code=codes[-1])
        assert train_in(tmp_path / "whole", SHORT) == 0
    assert {"mkdir", "open", "write", "fsync", "replace", "unlink", "curves"} >= set(disk.kinds)
    assert len(disk.kinds) > 80
    expected, curves = fingerprint(short), scalar_log(short)
    assert fingerprint(tmp_path / "whole/runs/tiny") == expected
    refused = []
    for number, call in enumerate(range(1, disk.calls + 1, every)):
        place = tmp_path / str(call)
        refused.append(refuse_from(place, call, codes[number % len(codes)], capsys))
        assert fingerprint(place / "runs/tiny") == expected, call
        assert scalar_log(place / "runs/tiny") == curves, call
    names = ", ".join(errno.errorcode[code] for code in codes)
    counts = ", ".join(f"{refused.count(kind)} {kind}" for kind in sorted(set(refused)))
    print(
        f"{names} from each of {len(refused)} of {disk.calls} calls on ({counts}): "
        f"{len(refused)} refused in a line, 0 committed games lost, {len(refused)} resumed to the "
        "same files and curves"
    )


# --- numbers that are none -----------------------------------------------------------------------


BAD = 2
"""The iteration in which something is not finite."""


def poison_weights(training: Training, _: object) -> None:
    with torch.no_grad():
        next(training.learner.network.parameters())[0] = float("nan")


def poison_gradients(training: Training, _: object) -> None:
    """Let a gradient be infinite while weights, batch and loss are sound."""
    weight = training.learner.network.policy_output.weight
    weight.register_hook(lambda gradient: gradient + float("inf"))


def poison_data(training: Training, _: object) -> None:
    """Let batches hold what no shard does, as after a fault of the memory."""
    sample = training.replay.sample

    def poisoned(*given: Any, **named: Any) -> Batch:
        batch = sample(*given, **named)
        batch.values[0] = np.nan
        return batch

    training.replay.sample = poisoned


def poison_search(_: Training, games: SelfPlayResult) -> None:
    """Let one search of one game answer with infinity."""
    games.finished[2].policies.shares[1] = np.inf


def poison_player(training: Training) -> None:
    """Let the best player's network answer with NaN, as where a device's memory fails."""
    network, best = training.run.load_best().network(), training._selfplay_network()
    with torch.no_grad():
        network.value_output.bias.fill_(float("nan"))
    evaluator = make_evaluator(network, training.config.inference)
    training._selfplay_network = lambda: best._replace(evaluator=evaluator)


DOORS: dict[str, tuple[str, Callable[..., None], str]] = {
    "weights": ("store_games", poison_weights, "training stopped at step "),
    "gradients": ("learn", poison_gradients, "a gradient of norm inf"),
    "data": ("learn", poison_data, "a batch whose values are not finite"),
    "search policies": ("store_games", poison_search, "the search answered with NaN"),
    "network answers": ("play", poison_player, "the network answered with NaN or infinity"),
}
"""A method of the training, what happens before it in the iteration BAD, and words of the error."""


@pytest.mark.parametrize("what", DOORS)
def test_what_is_not_finite_is_refused_and_the_last_good_state_goes_on(
    short, tmp_path, capsys, what: str
):
    method, poison, message = DOORS[what]
    original = getattr(Training, method)

    def poisoned(training: Training, *given: Any) -> Any:
        if training.run.state.iteration == BAD:
            poison(training, *given)
        return original(training, *given)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Training, method, poisoned)
        assert train_in(tmp_path, SHORT) == 2
    assert message in error_line(capsys)
    run = tmp_path / "runs/tiny"
    assert manifest_of(run)["iteration"] == BAD - 1
    assert not torn_files(run)
    assert main(["check", str(run)]) == 0
    assert train_in(tmp_path, SHORT) == 0
    assert fingerprint(run) == fingerprint(short)
    assert scalar_log(run) == scalar_log(short)
    print(f"{what} that are not finite: caught in iteration {BAD}, {BAD - 1} kept, resumed equal")


# --- a long time ---------------------------------------------------------------------------------

SOAK = '''\
"""Train a tiny run for long under a small limit of open files; print what it holds meanwhile."""
import ctypes, gc, json, os, resource, sys
from pathlib import Path

resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
from alphazero.cli.main import main
from alphazero.utils.jit import cache_folder
from alphazero.training.iteration import Training
from alphazero.training.selfplay import SelfPlayResult

iterations, samples = int(sys.argv[1]), []
save = Training.save

def watched(training):
    save(training)
    iteration = training.run.state.iteration
    if iteration % max(iterations // 50, 1) == 0:
        gc.collect()
        getattr(ctypes.CDLL(None), "malloc_trim", bool)(0)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        samples.append({
            "iteration": iteration,
            "games": training.run.state.games,
            "files": len(os.listdir("/proc/self/fd")),
            "megabytes": pages * os.sysconf("SC_PAGESIZE") / (1 << 20),
            "kernels": sum(path.is_file() for path in cache_folder().rglob("*")),
        })

Training.save = watched
more = [f"budget.iterations={iterations}", *sys.argv[2:]]
code = main(["train", "tiny.yaml", *more])
Path("samples.json").write_text(json.dumps(samples))
sys.exit(code)
'''


def soak(place: Path, iterations: int, *overrides: str) -> list[dict[str, float]]:
    """Train for `iterations` in another process; return about 50 samples.

    It has a single arena of memory and gives back what is free. By default glibc has several for
    the threads, whose gaps fill up for a long time: with OpenVINO by 150 MiB in 1,000 iterations,
    which would hide a leak.
    """
    (place / "tiny.yaml").write_text(YAML)
    (place / "soak.py").write_text(SOAK)
    # Its kernels are counted, so they are a copy, to which tests that run beside it add nothing.
    shutil.copytree(
        cache_folder(),
        place / "cache" / cache_folder().name,
        ignore=shutil.ignore_patterns("*.tmp.*"),
    )
    variables = {"MALLOC_ARENA_MAX": "1", "ALPHAZERO_CACHE_DIR": str(place / "cache")}
    run_python("soak.py", iterations, *overrides, cwd=place, **variables)
    samples: list[dict[str, float]] = json.loads((place / "samples.json").read_text())
    return samples


@pytest.mark.parametrize(
    ("iterations", "backend"),
    [
        (4, "torch"),
        *(pytest.param(1000, each, marks=pytest.mark.slow) for each in ("torch", "auto")),
    ],
)
def test_many_iterations_leave_files_memory_and_kernels_as_they_were(
    tmp_path, iterations: int, backend: str
):
    options = [f"inference.backend={backend}"]
    samples = soak(tmp_path, iterations, *options)
    first, last = samples[2], samples[-1]  # the second iteration has the first gate
    games, megabytes = np.array([[each["games"], each["megabytes"]] for each in samples]).T
    warm = games >= games[-1] / 5
    slope = 1000 * np.polyfit(games[warm], megabytes[warm], 1)[0]
    print(
        f"{iterations:,} iterations, {last['games']:,} games, backend {backend}: open files "
        f"{first['files']} to {max(sample['files'] for sample in samples)} of 256, memory "
        f"{first['megabytes']:.0f} to {last['megabytes']:.0f} MiB, {slope:+.2f} MiB per 1,000 "
        f"games, kernel files {first['kernels']} to {last['kernels']}"
    )
    assert last["iteration"] == iterations
    if iterations < 100:
        (tmp_path / "here").mkdir()
        more = [*options, f"budget.iterations={iterations}"]
        assert train_in(tmp_path / "here", *more) == 0
        here, there = (fingerprint(place / "runs/tiny") for place in (tmp_path / "here", tmp_path))
        assert here == there, "a process of its own leaves other files"
    assert all(sample["files"] <= first["files"] + 2 for sample in samples)
    assert last["kernels"] == first["kernels"]
    if iterations > 100:  # a short run is still warming up
        assert slope < 1
