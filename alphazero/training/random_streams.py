"""Random numbers of a run: in every iteration, each purpose has a stream of its own."""

from alphazero.config.schema import Config

PLAY, LEARN, GATE, INITIALISE, CALIBRATE, MEASURE, HOLDOUT = range(7)
"""The purposes."""


def stream(config: Config, iteration: int, purpose: int) -> list[int]:
    """Return the seed of a stream, for `numpy.random.default_rng`."""
    return [config.run.seed, iteration, purpose]
