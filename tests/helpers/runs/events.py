"""TensorBoard events as TensorBoard reads them."""

import warnings
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def read(folder: Path) -> EventAccumulator:
    everything = {"histograms": 0, "scalars": 0, "tensors": 0}
    accumulator = EventAccumulator(str(folder), size_guidance=everything)
    accumulator.Reload()
    return accumulator


def points(folder: Path, name: str) -> list[tuple[int, float]]:
    return [(event.step, event.value) for event in read(folder).Scalars(name)]


def scalar_log(run: Path) -> dict[str, list[tuple[int, float]]]:
    """Return every curve but those of times, as (iteration, value) in order."""
    reader, timed = read(run), ("speed/", "seconds/")
    return {
        name: [(event.step, event.value) for event in reader.Scalars(name)]
        for name in sorted(reader.Tags()["scalars"])
        if not name.startswith(timed)
    }
