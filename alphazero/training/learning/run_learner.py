"""The learner of a run, in its own process and in the followers of `torchrun`."""

import contextlib
from pathlib import Path

import numpy as np

from alphazero.errors import RunError
from alphazero.network.resnet import ResNet
from alphazero.network.transfer import start_from
from alphazero.training.learning.data_parallel import Group
from alphazero.training.learning.learner import Learner
from alphazero.training.random_streams import INITIALISE, stream
from alphazero.training.run_directory import RunDirectory
from alphazero.utils.files import printable


def new_learner(run: RunDirectory, group: Group | None) -> Learner:
    """Return an untrained learner; a new run's has the weights of `network.initial`, if any."""
    config = run.config
    rng = np.random.default_rng(stream(config, run.state.iteration, INITIALISE))
    network = ResNet.of(run.game, config.network.without_initial(), int(rng.integers(2**31)))
    if config.network.initial and not run.state.best:
        transfer = start_from(config.network.initial, network, rng)
        print(f"starts from {printable(config.network.initial)}; {transfer}")
    return Learner(network, config.learner, config.inference.device, group)


def follow_leader(group: Group, folder: Path) -> None:
    """Do the learner's steps as a follower process, until the leader ends."""
    group.barrier()  # the leader has published
    run = RunDirectory.resume(folder)
    learner = new_learner(run, group)
    learner.restore(run.load_learner(), run.state.step)
    group.barrier()  # the followers have loaded it
    with contextlib.suppress(RunError):  # the leader raises the same error and reports it
        learner.run_follower()
