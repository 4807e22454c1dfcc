"""A small run, and functions that read its files."""

import json
from pathlib import Path
from typing import Any

from alphazero.config.loader import parse_config
from alphazero.config.schema import Config
from alphazero.utils.files import sha256_of

ITERATIONS = 4

YAML = f"""\
game: {{name: tic_tac_toe}}
run: {{name: tiny, folder: runs, seed: 5, threads: 1, keep_checkpoints: 2}}
network:
  {{blocks: 1, filters: 8, policy_filters: 2, value_filters: 1, value_hidden: 8, global_pooling: 0}}
search: {{simulations: 4, c_puct: 1.25, selection: puct, transpositions: never, mcts_solver: false}}
selfplay:
  {{games_per_iteration: 6, parallel_games: 8, full_search_probability: 1.0, fast_simulations: 16,
  random_opening_probability: 0.0, random_opening_max_moves: 16}}
replay: {{window_minimum: 60, window_maximum: 200, window_fraction: 0.5, ratio: 2.0}}
learner:
  {{batch_size: 16, optimizer: sgd, learning_rate: 0.02, l2_penalty: 0.0001,
  ema_decay: 0.0, search_value_weight: 0.0}}
gate: {{games: 4, interval: 2, opening_moves: 2, threshold: 0.5}}
budget: {{iterations: {ITERATIONS}}}
evaluation: {{interval: 10}}
inference: {{device: cpu, precision: float32, selfplay_precision: same}}
"""

_SHIPPED = """\
search:
  {simulations: 4, c_puct: 1.25, selection: gumbel_root, transpositions: play, mcts_solver: true}
selfplay:
  {games_per_iteration: 12, parallel_games: 12, full_search_probability: 0.5, fast_simulations: 2,
  random_opening_probability: 0.7, random_opening_max_moves: 4, random_opening_candidates: 3,
  resign_enabled_fraction: 0.5}
replay:
  {window_minimum: 60, window_maximum: 200, window_fraction: 0.5, ratio: 2.0,
  deblunder_threshold: 0.25}
learner:
  {batch_size: 16, optimizer: sgd, learning_rate: 0.02, l2_penalty: 0.0001,
  ema_decay: 0.9, search_value_weight: 0.3}
"""

YAML_AS_SHIPPED = YAML[: YAML.index("search:")] + _SHIPPED + YAML[YAML.index("gate:") :]
"""The tiny run with the options of the shipped configurations."""


def tiny_config(folder: Path, *overrides: str) -> Config:
    """Return the configuration of a run below `folder`."""
    return parse_config(YAML, "tiny", [f"run.folder={json.dumps(str(folder))}", *overrides])


def manifest_of(run: Path) -> dict[str, Any]:
    """Return the content of a run's manifest."""
    content: dict[str, Any] = json.loads((run / "state/manifest.json").read_text())
    return content


def files_of(run: Path) -> set[str]:
    """Return the path of every file of a run within its folder."""
    return {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}


def fingerprint(run: Path) -> dict[str, Any]:
    """Return what two equal runs have in common: everything but clock times.

    Not the curves, which are dated, and not the lock; of the manifest all but `seconds`, and its
    own hash, in which they are; nor that of `config.yaml`, which is a file like the others.
    """
    names = {name for name in files_of(run) if not name.startswith(("events.", "run.lock"))}
    manifest = manifest_of(run)
    names.remove("state/manifest.json")
    del manifest["seconds"], manifest["sha256"], manifest["hashes"]["config.yaml"]
    return {"manifest": manifest} | {name: sha256_of(run / name) for name in sorted(names)}


def content_of(run: Path) -> dict[str, Any]:
    """Return the fingerprint of a run without its configuration."""
    return {name: part for name, part in fingerprint(run).items() if name != "config.yaml"}


def torn_files(run: Path) -> list[str]:
    """Return the files whose content differs from the hash in the manifest."""
    return [
        name
        for name, digest in manifest_of(run)["hashes"].items()
        if not (run / name).exists() or sha256_of(run / name) != digest
    ]
