"""Runs whose curves nobody measured."""

from collections.abc import Mapping
from pathlib import Path

from alphazero.config.loader import dump_config
from alphazero.training.monitoring.tensorboard import Metrics, TensorBoardWriter
from helpers.runs.tiny_run import tiny_config


def made_run(folder: Path, curves: Mapping[str, Mapping[int, float]], *overrides: str) -> Path:
    """Write a run's configuration and curves into `folder`, and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(dump_config(tiny_config(folder, *overrides)))
    writer = TensorBoardWriter(folder, 0)
    for iteration in sorted({each for curve in curves.values() for each in curve}):
        here = {name: curve[iteration] for name, curve in curves.items() if iteration in curve}
        writer.write(iteration, Metrics(here))
    return folder
