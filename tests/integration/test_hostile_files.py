"""Damaged and hostile files are noticed, in one line, in little memory, and run no code."""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.bugs.file_damage import SMALL_CHANGE
from helpers.paths import ROOT, TESTS
from helpers.settings import network_config

from alphazero.config.loader import parse_config
from alphazero.errors import ConfigError
from alphazero.network.checkpoint import Checkpoint, save_checkpoint
from alphazero.network.resnet import ResNet

Capture = pytest.CaptureFixture[str]


# --- checkpoints and shards ----------------------------------------------------------------------


@pytest.mark.parametrize("count", [80, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutated_files_are_all_noticed_in_one_line_in_little_memory_and_run_no_code(
    tmp_path: Path, count: int
) -> None:
    program = str(TESTS / "helpers" / "bugs" / "file_damage.py")
    done = subprocess.run(
        [sys.executable, program, str(count), "2017", str(tmp_path / "trial")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )
    assert done.returncode == 0, done.stderr
    for what, figures in json.loads(done.stdout).items():
        assert figures["odd"] == [], what
        assert figures["tried"] == count
        assert figures["noticed"] == count
        assert figures["events"] == {}, "nothing was imported, executed, started or connected to"
        assert figures["excess"] < SMALL_CHANGE
        assert set(figures["traces"]) <= {"sound", "made", "mutant", "replay"}
        hostile = ""
        if what == "shard":
            made = figures["hostile"]
            assert figures["hostile_noticed"] == made > count / 3
            hostile = f", {made:,} of {made:,} hostile ones without a hash"
        print(
            f"{figures['noticed']:,} of {figures['tried']:,} mutated {what}s noticed{hostile}; "
            f"0 tracebacks, 0 pieces of code run, memory twice the file and at most "
            f"{max(figures['excess'], 0) / (1 << 20):.1f} MiB"
        )


def test_a_large_damaged_checkpoint_takes_at_most_twice_its_size(tmp_path: Path) -> None:
    """Measured as the process's own, so that what torch and the library allocate is counted."""
    settings = network_config(blocks=4, filters=256)
    weights = ResNet((3, 6, 7), 7, settings, seed=3).state_dict()
    path = tmp_path / "large"
    save_checkpoint(path, Checkpoint("connect_four", {}, settings, weights, 120, 4))
    data = bytearray(path.read_bytes())
    data[len(data) * 2 // 3] ^= 1
    path.write_bytes(data)
    code = (
        "import resource, sys, torch; torch.set_num_threads(1)\n"
        "from alphazero.errors import CheckpointError\n"
        "from alphazero.network.checkpoint import load_checkpoint\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10\n"
        "load_checkpoint(sys.argv[1]); before = peak(); refused = 0\n"
        "try: load_checkpoint(sys.argv[2])\n"
        "except CheckpointError as error: refused = 'SHA-256' in str(error)\n"
        "print(refused, peak() - before)\n"
    )
    sound = ROOT / "checkpoints/tic_tac_toe.safetensors"
    command = [sys.executable, "-c", code, str(sound), str(path)]
    refused, used = subprocess.check_output(command, text=True).split()
    assert refused == "True"
    print(f"a damaged file of {len(data):,} bytes took {int(used):,} bytes")
    assert int(used) < 2 * len(data) + SMALL_CHANGE


# --- configurations ------------------------------------------------------------------------------

SOUND = """\
game: {name: connect_four}
budget: {iterations: 1}
search:
  simulations: 30
  c_puct: 1.5
learner:
  batch_size: 64
  ema_decay: 0.9
replay:
  ratio: 2.0
"""

FAULTS: dict[str, list[tuple[str, str]]] = {
    "unknown key": [
        (
            "search",
            "simulation: 3|unknown key 'simulation' in 'search'; did you mean 'simulations'",
        ),
        ("search", "c_pukt: 3|unknown key 'c_pukt' in 'search'; did you mean 'c_puct'"),
        ("learner", "batchsize: 3|unknown key 'batchsize' in 'learner'; did you mean 'batch_size'"),
        ("replay", "ratoi: 3|unknown key 'ratoi' in 'replay'; did you mean 'ratio'"),
        ("", "learnr: {}|unknown section 'learnr'; did you mean 'learner'"),
        ("", "serch: {a: 1}|unknown section 'serch'; did you mean 'search'"),
    ],
    "duplicate key": [
        ("search", "simulations: 40|duplicate key 'simulations' in 'search' (first on line 4)"),
        ("replay", "ratio: 3.0|duplicate key 'ratio' in 'replay'"),
        ("", "budget: {minutes: 3}|duplicate key 'budget' at the top level (first on line 2)"),
    ],
    "wrong type": [
        ("search", "fpu: 7|search.fpu: expected text, got 7"),
        ("search", "fpu: parnt|search.fpu: must be one of"),
        ("search", "reuse_tree: 1|search.reuse_tree: expected true or false, got 1"),
        ("learner", "l2_penalty: 1e-4|learner.l2_penalty: '1e-4' is text in YAML; write 1.0e-4"),
        ("learner", "max_grad_norm: .nan|learner.max_grad_norm: must be a finite number, got nan"),
        ("learner", "max_grad_norm: [5]|learner.max_grad_norm: expected a number, got a list"),
        ("replay", "window_minimum: many|replay.window_minimum: expected a whole number, got text"),
        ("learner", "l2_penalty: 0x" + "f" * 40 + "|a number of more than 64 bits"),
        ("", "network: 5|network: expected keys and values, got 5"),
        ("", "run: {seed: -1}|run.seed: must be at least"),
    ],
}
"""By kind: the section of the line, the line, and its expected message."""

BOMBS = [
    "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)),
    "game: &x {name: *x}\n",
    "game: {<<: *nobody}\n",
    "game: !!python/object/apply:os.system ['true']\n",
    "? [a, [b]]\n: 1\n",
]


def malformed(choice: random.Random) -> tuple[str, dict[int, str]]:
    """Return a text with one to six faults, and the expected message for each faulty line."""
    lines: list[tuple[str, str, str]] = []  # the section, the line, the expected message
    section = ""
    for line in SOUND.splitlines():
        section = section if line.startswith(" ") else line.partition(":")[0]
        lines.append((section, line, ""))
    kinds = [fault for faults in FAULTS.values() for fault in faults]
    used: set[str] = set()
    for place, fault in choice.sample(kinds, choice.randint(1, 6)):
        text, _, message = fault.partition("|")
        key = place + text.partition(":")[0]
        if key in used:
            continue  # a second of one key would be reported as repeated
        used.add(key)
        last = max(n for n, (each, _, _) in enumerate(lines) if place in ("", each))
        indent = "  " if place else ""
        lines.insert(last + 1, (place or "?", indent + text, message))
    messages = {number: message for number, (*_, message) in enumerate(lines, 1) if message}
    return "".join(f"{line}\n" for _, line, _ in lines), messages


def wrecked(choice: random.Random) -> str:
    """Return a text that is no configuration at all: nested deeply, full of aliases, or no YAML."""
    depth = choice.randint(30, 3000)
    match choice.randrange(6):
        case 0:
            return choice.choice(BOMBS)
        case 1:
            return "game: " + choice.choice("[{") * depth
        case 2:
            return "game:\n" + "".join(" " * n + "a:\n" for n in range(1, min(depth, 300)))
        case 3:
            return SOUND + choice.choice(["\t- x", "run: [1,", "'", "@", "run: }", "--- x\n--- y"])
        case 4:
            return choice.choice(["[1, 2]", "7", "words", "- game"]) + "\n" * choice.randrange(9)
        case _:
            return SOUND.replace(
                "connect_four", choice.choice(["\0", "\x1b[2J", "conect_four", "[]"])
            )


def test_five_hundred_malformed_configurations_are_reported_fault_by_fault() -> None:
    choice = random.Random(500)
    faults = 0
    for number in range(500):
        text, messages = malformed(choice) if number % 5 else (wrecked(choice), {})
        with pytest.raises(ConfigError) as caught:
            parse_config(text, "go.yaml")
        lines = str(caught.value).split("\n")
        assert len(lines) <= 51
        for line in lines:
            assert line.isprintable(), line
            assert len(line) < 700, line
            assert line.startswith("go.yaml"), line
        if messages:
            assert len(lines) == len(messages), (text, lines)
            for line, (place, message) in zip(lines, sorted(messages.items()), strict=True):
                assert line.startswith(f"go.yaml:{place}: {message}"), (text, lines)
        else:
            assert re.match(r"go\.yaml:\d+: ", lines[0]), (text, lines)
        faults += len(lines)
    print(
        f"500 of 500 malformed configurations refused, {faults:,} faults reported, each in one line"
    )
