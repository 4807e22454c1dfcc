"""Two processes learn what one does, but for rounding."""

import json

import numpy as np
import pytest
import torch
from helpers.processes import together
from helpers.runs.tiny_run import YAML, manifest_of, torn_files

from alphazero.config.schema import AUXILIARY_HEADS
from alphazero.errors import RunError
from alphazero.training.learning.data_parallel import Group

# Of each optimizer and head once, with everything in the network that looks at a whole batch.
LEARNING = """\
import json, sys
import numpy as np, torch
from alphazero.config.schema import LearnerConfig, NetworkConfig, RatePoint
from alphazero.network.resnet import ResNet
from alphazero.training.learning.learner import Learner
from alphazero.training.learning.data_parallel import SharedLearner, join_group
from alphazero.training.data.auxiliary_targets import target_shapes
from alphazero.training.data.batch import Batch, Target

rng = np.random.default_rng(1)
HEADS = tuple(sys.argv[2:])
def batch():
    policies = rng.random((16, 9), np.float32)
    shapes = target_shapes(HEADS, (3, 3, 3))
    return Batch(
        rng.standard_normal((16, 3, 3, 3)).astype(np.float32),
        policies / policies.sum(1, keepdims=True),
        rng.choice([-1, 0, 1], 16).astype(np.float32),
        {
            head: Target(
                rng.random((16, *shape), np.float32), (rng.random(16) < 0.6).astype(np.float32)
            )
            for head, shape in shapes.items()
        },
    )
batches = [batch() for _ in range(5)]
def learner(group):
    network = ResNet((3, 3, 3), 9, NetworkConfig(
        blocks=2, filters=8, policy_filters=2, value_filters=1, value_hidden=8,
        auxiliary=HEADS, global_pooling=2, heads="convolutional" if HEADS else "dense",
    ), 7, 1)
    with torch.no_grad():
        for name, each in network.named_parameters():
            if name.endswith("second.normalisation.weight"):
                each.fill_(1)  # it starts at 0, which would hide what lies before it
    settings = LearnerConfig(
        optimizer=sys.argv[1], learning_rate=(RatePoint(0, 0.02),), l2_penalty=1e-4,
        weight_decay=0.0, batch_size=16, ema_decay=0.9, max_grad_norm=0.5,
    )
    if group is None:
        return Learner(network, settings, "cpu", "float32")
    return SharedLearner(network, settings, "cpu", "float32", group)
group = join_group()
shared = learner(group)
if group.rank:
    for _ in range(2):  # the leader has published, this process has loaded it
        torch.distributed.barrier()
    shared.run_follower()
else:
    alone = learner(None)
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
    found = json.loads(together(["learning.py", optimizer, *auxiliary], tmp_path)[0])
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


def test_a_batch_that_cannot_be_cut_evenly_is_refused(monkeypatch):
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 0)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 3)
    Group().check(96)
    with pytest.raises(RunError, match=r"learner.batch_size \(100\) must be a multiple of 3"):
        Group().check(100)
