"""The history of a run: curves, checkpoints and their training times."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from alphazero.errors import PlayerError
from alphazero.players.registry import parse_player
from alphazero.players.specs import PlayerSpec
from alphazero.utils.files import is_folder, printable

Curve = dict[int, float]
"""Values by iteration."""


def read_curves(run: Path) -> dict[str, Curve]:
    """Return the curves of a run by name, without those that a resumed run purged completely."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

    if not is_folder(run):
        return {}
    logging.getLogger("tensorboard").setLevel(logging.ERROR)  # it warns of purged points
    events = EventAccumulator(str(run), {"scalars": 0})
    events.Reload()
    curves = {}
    for name in events.Tags()["scalars"]:
        points = sorted(events.Scalars(name), key=lambda point: point.step)
        curves[name] = {point.step: point.value for point in points}
    return {name: curve for name, curve in curves.items() if curve}


def training_minutes(curves: Mapping[str, Curve]) -> dict[int, float]:
    """Return the minutes of training at the end of each iteration; empty without curves."""
    totals: dict[int, float] = {}
    for stage in STAGES:
        for iteration, seconds in curves.get(f"seconds/{stage}", {}).items():
            totals[iteration] = totals.get(iteration, 0.0) + seconds
    iterations = sorted(totals)
    sums = np.cumsum([totals[iteration] for iteration in iterations]) / 60
    minutes = dict(zip(iterations, sums.tolist(), strict=True))
    return {0: 0.0} | minutes if minutes else {}


STAGES = {
    "play": "self-play",
    "learn": "learning",
    "gate": "gate",
    "measure": "evaluation",
    "save": "saving",
}
"""The stages of an iteration, by the last part of the names of their curves, `seconds/play`."""


def step_checkpoints(run: Path, number: int) -> list[Path]:
    """Return up to `number` of a run's checkpoints, evenly spaced from the last to the first."""
    paths = sorted(run.glob("step-*.safetensors")) if is_folder(run) else []
    if number < len(paths):
        indices = np.linspace(len(paths) - 1, 0, number).round().astype(int)
        paths = [paths[index] for index in sorted(indices)]
    return paths


def expand_players(
    texts: Sequence[str],
    checkpoints: int,
    simulations: int | None = None,
    seconds: float | None = None,
) -> tuple[list[PlayerSpec], dict[str, float]]:
    """Return the named players, and the minutes of training of checkpoints of runs, by name.

    A run's folder stands for `checkpoints` of its checkpoints; budgets are as in `parse_player`.

    Raises:
        AlphaZeroError: for a text that names no player.
    """
    specs: list[PlayerSpec] = []
    minutes: dict[str, float] = {}
    for text in texts:
        paths = step_checkpoints(Path(text), checkpoints)
        times = training_minutes(read_curves(Path(text))) if paths else {}
        for name in [str(path) for path in paths] or [text]:
            spec = parse_player(name, simulations=simulations, seconds=seconds)
            specs.append(spec)
            if (saved := spec.saved) and times:
                iteration = saved.checkpoint.iteration
                # The last iteration's curves may be lost in a power cut.
                minutes[spec.name] = max(at for i, at in times.items() if i <= iteration)
    return specs, minutes


def anchor_index(specs: Sequence[PlayerSpec], text: str | None) -> int:
    """Return the index of the player with rating 0: `text`, else `random`, else the first.

    Raises:
        PlayerError: when no player has that name.
    """
    names = [spec.name for spec in specs]
    if text is None:
        return names.index("random") if "random" in names else 0
    spellings = {text, parse_player(text).name}
    indices = [index for index, name in enumerate(names) if name in spellings]
    if not indices:
        raise PlayerError(
            f"the anchor {printable(text)!r} is none of the players: {', '.join(names)}"
        )
    return indices[0]
