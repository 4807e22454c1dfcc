"""A run seen afterwards: its curves, its checkpoints, and their ratings over time."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from alphazero.errors import PlayerError
from alphazero.players.options import CheckpointOptions
from alphazero.players.registry import PlayerSpec, parse_player
from alphazero.training.monitoring.metrics import METRICS
from alphazero.utils.files import is_folder, printable

Curve = dict[int, float]
"""Values by iteration."""

TIMES = [name for name in METRICS if name.startswith("seconds/")]
"""The curves of what an iteration spends its time on."""


def read_curves(run: Path) -> dict[str, Curve]:
    """Return every curve of a run by its name, without those that a resumed run purged whole."""
    from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-untyped]
        EventAccumulator,
    )

    folder = run / "tensorboard"
    if not is_folder(folder):
        return {}
    events = EventAccumulator(str(folder), {"scalars": 0})
    events.Reload()
    curves = {
        name: {point.step: point.value for point in events.Scalars(name)}
        for name in events.Tags()["scalars"]
    }
    return {name: curve for name, curve in curves.items() if curve}


def curves_of(run: Path, names: Sequence[str]) -> list[Curve]:
    """Return curves of a run, [len(names)]; empty where there are none."""
    curves = read_curves(run)
    return [curves.get(name, {}) for name in names]


def training_minutes(run: Path) -> dict[int, float]:
    """Return how long a run had trained by the end of each iteration; empty without curves."""
    return add_minutes(read_curves(run))


def add_minutes(curves: Mapping[str, Curve]) -> dict[int, float]:
    """Return the same from curves that were read."""
    spent: dict[int, float] = {}
    for name in TIMES:
        for iteration, seconds in curves.get(name, {}).items():
            spent[iteration] = spent.get(iteration, 0.0) + seconds
    iterations = sorted(spent)
    totals = np.cumsum([spent[iteration] for iteration in iterations]) / 60
    minutes = dict(zip(iterations, totals.tolist(), strict=True))
    return {0: 0.0} | minutes if minutes else {}


def step_checkpoints(run: Path, number: int) -> list[Path]:
    """Return at most `number` of a run's checkpoints, evenly spaced, the first and last among them.

    None where there are none; the last alone where `number` is 1.
    """
    paths = sorted(run.glob("step-*.safetensors")) if is_folder(run) else []
    if number < len(paths):
        chosen = np.linspace(len(paths) - 1, 0, number).round().astype(int)
        paths = [paths[index] for index in sorted(chosen)]
    return paths


def expand_players(
    texts: Sequence[str],
    checkpoints: int,
    simulations: int | None = None,
    seconds: float | None = None,
) -> tuple[list[PlayerSpec], dict[str, float]]:
    """Return the players that are named, and the minutes of training by the names of a run's.

    A run's folder stands for `checkpoints` of its checkpoints; the budget is as in `parse_player`.

    Raises:
        AlphaZeroError: for what is no player.
    """
    entrants: list[PlayerSpec] = []
    minutes: dict[str, float] = {}
    for text in texts:
        paths = step_checkpoints(Path(text), checkpoints)
        times = training_minutes(Path(text)) if paths else {}
        for name in [str(path) for path in paths] or [text]:
            entrant = parse_player(name, simulations=simulations, seconds=seconds)
            entrants.append(entrant)
            if isinstance(entrant.options, CheckpointOptions) and times:
                iteration = entrant.options.saved.checkpoint.iteration
                # The last iteration's curves may have been lost with the power.
                minutes[entrant.name] = max(at for i, at in times.items() if i <= iteration)
    return entrants, minutes


def anchor_index(entrants: Sequence[PlayerSpec], text: str | None) -> int:
    """Return the place of the player with rating 0: the one named, else `random`, else the first.

    Raises:
        PlayerError: when nobody has that name.
    """
    names = [entrant.name for entrant in entrants]
    if text is None:
        return names.index("random") if "random" in names else 0
    wanted = {text, parse_player(text).name}
    found = [place for place, name in enumerate(names) if name in wanted]
    if not found:
        raise PlayerError(
            f"the anchor {printable(text)!r} is none of the players: {', '.join(names)}"
        )
    return found[0]
