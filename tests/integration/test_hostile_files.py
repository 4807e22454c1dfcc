"""Damaged and hostile files are noticed, in one line, in little memory, and run no code."""

import json

import pytest
from helpers.bugs.file_damage import SMALL_CHANGE
from helpers.paths import ROOT, TESTS
from helpers.processes import run_python
from helpers.settings import network_config

from alphazero.network.checkpoint import Checkpoint, save_checkpoint
from alphazero.network.resnet import ResNet


@pytest.mark.parametrize("count", [40, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutated_files_are_all_noticed_in_one_line_in_little_memory_and_run_no_code(
    tmp_path, count: int
):
    program, path = TESTS / "helpers" / "bugs" / "file_damage.py", str(TESTS)
    printed = run_python(program, count, 2017, tmp_path / "trial", PYTHONPATH=path)
    for what, figures in json.loads(printed).items():
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


def test_a_large_damaged_checkpoint_takes_at_most_twice_its_size(tmp_path):
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
    refused, used = run_python("-c", code, sound, path).split()
    assert refused == "True"
    print(f"a damaged file of {len(data):,} bytes took {int(used):,} bytes")
    assert int(used) < 2 * len(data) + SMALL_CHANGE
