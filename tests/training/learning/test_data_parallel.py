"""Two processes learn what one does, but for rounding."""

import json

import numpy as np
import pytest
import torch
from helpers.paths import TESTS
from helpers.processes import together
from helpers.runs.tiny_run import YAML, manifest_of, torn_files

from alphazero.config.schema import AUXILIARY_HEADS
from alphazero.errors import RunError
from alphazero.training.learning.data_parallel import Group

# Of each optimizer and head once, with everything in the network that looks at a whole batch.
LEARNING = """\
import json, sys
from dataclasses import replace
sys.path.insert(0, sys.argv[1])
import torch
from helpers.runs.learners import NETWORK, PLAIN, make_batch, make_network, with_targets
from alphazero.config.schema import InferenceConfig, RatePoint
from alphazero.training.learning.learner import Learner
from alphazero.training.learning.data_parallel import SharedLearner, join_group

HEADS = tuple(sys.argv[3:])
form = "convolutional" if HEADS else "dense"
NETWORK = replace(NETWORK, blocks=2, filters=8, auxiliary=HEADS, global_pooling=2, heads=form)
SETTINGS = replace(
    PLAIN, optimizer=sys.argv[2], learning_rate=(RatePoint(0, 0.02),), l2_penalty=1e-4,
    batch_size=16, ema_decay=0.9, max_grad_norm=0.5,
)
batches = [make_batch(16, seed) for seed in range(5)]
if HEADS:
    batches = [with_targets(batch, seed) for seed, batch in enumerate(batches)]
def learner(kind, *group):
    inference = InferenceConfig(device="cpu", precision="float32")
    return kind(make_network(settings=NETWORK), SETTINGS, inference, *group)
group = join_group()
shared = learner(SharedLearner, group)
if group.rank:
    for _ in range(2):  # the leader has published, this process has loaded it
        torch.distributed.barrier()
    shared.run_follower()
else:
    alone = learner(Learner)
    before = {name: each.clone() for name, each in alone.state().items()}
    reports = [[float(v) for v in alone.train_step(each).values()] for each in batches]
    together = [[float(v) for v in shared.train_step(each).values()] for each in batches]
    group.shutdown()
    one, two = alone.state(), shared.state()
    assert one.keys() == two.keys()
    print(json.dumps({
        "moved": max(float((one[n] - each).abs().max()) for n, each in before.items()),
        "apart": max(float((one[n] - two[n]).abs().max()) for n in one),
        "reports": [reports, together],
    }))
torch.distributed.barrier()  # a process that is left behind in its last call is aborted
"""


@pytest.mark.parametrize(
    ("optimizer", "auxiliary"),
    [
        ("sgd", AUXILIARY_HEADS),
        # Dense heads: a bias that shifts all logits has no gradient but rounding, of which these
        # optimizers make whole steps.
        pytest.param("adamw", (), marks=pytest.mark.slow),
        pytest.param("muon", (), marks=pytest.mark.slow),
    ],
)
def test_two_processes_learn_what_one_does_but_for_rounding(
    tmp_path, optimizer: str, auxiliary: tuple[str, ...]
):
    (tmp_path / "learning.py").write_text(LEARNING)
    found = json.loads(together(["learning.py", str(TESTS), optimizer, *auxiliary], tmp_path)[0])
    assert found["moved"] > 1e-2
    assert found["apart"] < 2e-5
    alone, shared = np.array(found["reports"])
    assert np.allclose(alone, shared, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_run_of_two_processes_goes_to_its_end_and_on(tmp_path):
    (tmp_path / "tiny.yaml").write_text(YAML)
    together(["-m", "alphazero", "train", "tiny.yaml"], tmp_path)
    run = tmp_path / "runs/tiny"
    before = manifest_of(run)
    assert before["step"] == int(before["positions"] * 2.0 / 16)
    more = ["--resume", "runs/tiny", "budget.iterations=6"]
    together(["-m", "alphazero", "train", *more], tmp_path)
    after = manifest_of(run)
    assert after["iteration"] == 6
    assert after["step"] == int(after["positions"] * 2.0 / 16)
    assert not torn_files(run)


INTERRUPTED = """\
import os, sys
from alphazero.cli.main import main
from alphazero.training.learning.data_parallel import Group

def stop(*_):
    raise KeyboardInterrupt

if os.environ["RANK"] == sys.argv[1]:
    Group.average = stop  # in the middle of a step
sys.exit(main(["train", "tiny.yaml"]))
"""


@pytest.mark.parametrize("rank", [0, 1])
def test_when_a_process_ends_in_a_step_the_other_ends_with_one_line(tmp_path, rank: int):
    (tmp_path / "tiny.yaml").write_text(YAML)
    (tmp_path / "interrupted.py").write_text(INTERRUPTED)
    codes = [130, 2] if rank == 0 else [2, 130]
    outputs = together(["interrupted.py", str(rank)], tmp_path, codes)
    assert "stopped; go on with" in outputs[rank]
    assert "Traceback" not in "".join(outputs)
    line = "error: another process of torchrun has ended, "
    assert outputs[1 - rank].splitlines()[-1].startswith(line)


def test_a_batch_that_cannot_be_cut_evenly_is_refused(monkeypatch):
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 0)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 3)
    Group().check(96)
    with pytest.raises(RunError, match=r"learner.batch_size \(100\) must be a multiple of 3"):
        Group().check(100)
