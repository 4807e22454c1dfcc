"""The learner of a run, in its own process and in the followers of `torchrun`."""

import contextlib
from pathlib import Path

import numpy as np

from alphazero.errors import RunError
from alphazero.network.resnet import ResNet
from alphazero.network.transfer import start_from
from alphazero.network.widening import widen
from alphazero.training.learning.data_parallel import Group
from alphazero.training.learning.learner import Learner
from alphazero.training.random_streams import INITIALISE, stream
from alphazero.training.run_directory import RunDirectory
from alphazero.utils.files import printable


def new_learner(run: RunDirectory, group: Group | None, smaller: ResNet | None = None) -> Learner:
    """Return a learner for the network that the run has at its number of positions.

    It is untrained, or at the run's start has the weights of `network.initial`. With `smaller` it
    computes what that network does.
    """
    config, game = run.config, run.game
    rng = np.random.default_rng(stream(config, run.state.iteration, INITIALISE))
    shape = config.network_at(run.state.positions)
    network = ResNet.of(game, shape, int(rng.integers(2**31)))
    if config.network.initial and not run.state.best:
        transfer = start_from(config.network.initial, network)
        print(f"starts from {printable(config.network.initial)}; {transfer}")
    if smaller is not None:
        widen(smaller, network, rng)
    start_step = 0 if shape == config.networks[0] else config.steps_due(config.growth.samples or 0)
    return Learner(network, config.learner, config.inference.device, group, start_step)


def follow_leader(group: Group, folder: Path) -> None:
    """Do the learner's steps as a follower process, until the leader ends."""
    has_network = True
    while has_network:
        group.barrier()  # the leader has published
        run = RunDirectory.resume(folder)
        learner = new_learner(run, group)
        learner.restore(run.load_learner(), run.state.step)
        group.barrier()  # the followers have loaded it
        has_network = False
        with contextlib.suppress(RunError):  # the leader raises the same error and reports it
            has_network = learner.run_follower()
