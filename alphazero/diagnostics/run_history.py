"""The history of a run: its curves and checkpoints."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from alphazero.players.registry import parse_player
from alphazero.players.specs import PlayerSpec
from alphazero.utils.files import is_folder

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
) -> list[PlayerSpec]:
    """Return the named players; a run's folder stands for `checkpoints` of its checkpoints.

    Budgets are as in `parse_player`. Raises AlphaZeroError for a text that names no player.
    """
    return [
        parse_player(name, simulations=simulations, seconds=seconds)
        for text in texts
        for name in [*map(str, step_checkpoints(Path(text), checkpoints))] or [text]
    ]
