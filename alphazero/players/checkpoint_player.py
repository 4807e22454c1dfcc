"""Players from checkpoints."""

import dataclasses
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from alphazero.config.fields import WrongValueError, check_value, config_fields
from alphazero.config.schema import InferenceConfig, SearchConfig
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator, FixedBatches
from alphazero.mcts.kernels.root import read_roots
from alphazero.mcts.kernels.selection_rules import UNLIMITED
from alphazero.mcts.kernels.simulation import next_batch
from alphazero.mcts.kernels.subtree import advance_trees
from alphazero.mcts.kernels.tree import EDGE
from alphazero.mcts.network_search import NetworkSearch
from alphazero.mcts.search import NODES_PER_SIMULATION
from alphazero.network.checkpoint import (
    Checkpoint,
    find_checkpoint,
    load_checkpoint,
    refuse,
    save_checkpoint,
)
from alphazero.players.budget import Budget
from alphazero.players.levels import (
    Level,
    LevelSettings,
    LevelTable,
    copy_levels,
    default_levels,
    levels_file,
    load_levels,
)
from alphazero.players.search_player import SearchPlayer, choose_moves
from alphazero.utils.files import printable
from alphazero.utils.jit import compile_aside

TREE_BYTES = 2 << 30
"""Memory limit, in bytes, of the trees of one player; only the part in use is touched."""

LEAVES_PER_BATCH = 8
"""Leaves of one tree evaluated together, where no other game fills the batch."""

SEQUENTIAL_BELOW = 32
"""Simulation count up to which leaves are evaluated one by one."""


def search_settings(checkpoint: Checkpoint) -> SearchConfig:
    """Return the search settings of training; raise CheckpointError if one is missing or wrong."""
    stored: Any = checkpoint.details.get("search")
    values: dict[str, Any] = {}
    for field, kind, note in config_fields(SearchConfig):
        try:
            values[field.name] = check_value(kind, note, stored[field.name])
        except (KeyError, TypeError):
            refuse(checkpoint.source, f"it lacks the search setting {field.name!r}")
        except WrongValueError as error:
            refuse(checkpoint.source, f"its search setting {field.name}: {error}")
    return SearchConfig(**values)


def most_trees(game: Game, simulations: int) -> int:
    """Return how many trees of a player have room for a move and as many nodes kept before."""
    nodes = 2 * simulations + 1
    return max(1, TREE_BYTES // (EDGE.itemsize * game.edges_per_node * nodes))


@dataclass(frozen=True)
class CheckpointPlayer:
    """A loaded checkpoint, from which players are created."""

    path: Path
    checkpoint: Checkpoint
    game: Game
    evaluator: Evaluator
    settings: SearchConfig
    """Search settings: those of training, unless overridden."""

    def create(
        self,
        num_games: int = 1,
        budget: Budget | None = None,
        *,
        leaves: int | None = None,
        level: LevelSettings | None = None,
        rng: np.random.Generator | None = None,
    ) -> SearchPlayer:
        """Return a player with trees for `num_games` games.

        The default budget is that of the `level`, if any, else of training.
        `leaves` of a tree are evaluated together; default: `LEAVES_PER_BATCH` for one game, which
        alone must fill a batch, else 1. With `leaves` or one game, results are bitwise independent
        of earlier searches and other games; otherwise last bits depend on how games share batches.
        """
        from alphazero.network.inference.batched_evaluator import rows_in_match

        budget = budget or Budget(level.simulations if level else self.settings.simulations)
        simulations = UNLIMITED if budget.simulations is None else budget.simulations
        settings = dataclasses.replace(self.settings, simulations=simulations)
        evaluator: Evaluator = self.evaluator
        if leaves is None and num_games > 1:
            leaves = 1
        else:
            leaves = leaves or (LEAVES_PER_BATCH if simulations > SEQUENTIAL_BELOW else 1)
            averages = settings.leaf_symmetry == "average"  # all views of a leaf in one batch
            views = len(self.game.symmetries().actions) if averages else 1
            evaluator = FixedBatches(evaluator, leaves * views)
        fresh = 1 if simulations == UNLIMITED else simulations + 1
        limit = TREE_BYTES // (EDGE.itemsize * self.game.edges_per_node * num_games)
        search = NetworkSearch(
            self.game,
            evaluator,
            settings,
            slots=num_games,
            nodes=max(fresh, min(NODES_PER_SIMULATION * simulations + 1, limit)),
            leaves=leaves,
            rows=rows_in_match(num_games, evaluator) if leaves == 1 else None,
            rng=rng,
        )
        player = SearchPlayer(search, seconds=budget.seconds)
        if budget.seconds is not None or budget.simulations is None:
            player.warm_up()
        player.level = level
        return player

    def for_game(self, game: Game) -> "CheckpointPlayer":
        """Return the same player for other options of its game, such as another size of the board.

        Raises CheckpointError when its weights do not fit, as those of dense heads.
        """
        from alphazero.network.inference.backend import make_evaluator

        evaluator = make_evaluator(self.checkpoint.network(game), InferenceConfig())
        return dataclasses.replace(self, game=game, evaluator=evaluator)

    @functools.cached_property
    def levels(self) -> LevelTable:
        """The levels for people: the measured ones beside the checkpoint, else the default.

        Raises PlayerError for a file of levels that cannot be read.
        """
        trained = self.checkpoint.game
        table = load_levels(levels_file(self.path), trained, self.checkpoint.player_hash)
        if table is None:
            return default_levels(self.settings.simulations)
        if self.game == trained:
            return table
        return LevelTable(tuple(Level(level.number, level.settings) for level in table.levels))


def load_checkpoint_player(path: Path | str) -> CheckpointPlayer:
    """Load a checkpoint, or the best player of a run directory.

    Raises CheckpointError for a file that is no checkpoint.
    """
    path = find_checkpoint(Path(path))
    compile_aside(next_batch, read_roots, advance_trees, choose_moves)  # while torch is loaded
    checkpoint = load_checkpoint(path)
    from alphazero.network.inference.backend import make_evaluator

    return CheckpointPlayer(
        path,
        checkpoint,
        checkpoint.game,
        make_evaluator(checkpoint.network(), InferenceConfig()),
        search_settings(checkpoint),
    )


AS_TRAINED = "as trained"
"""Beginning of the line of a match in which a player searched as in training."""


def grades_of(checkpoint: Checkpoint) -> list[str]:
    """Return the strength measurements in a checkpoint's header, one line each."""
    stored = checkpoint.details.get("grades")
    return [line for line in stored if isinstance(line, str)] if isinstance(stored, list) else []


def save_grades(saved: CheckpointPlayer, grades: Sequence[str], path: Path) -> None:
    """Write a copy of a checkpoint with `grades`, one line a measurement, in its header.

    Its measured levels go with it. Raises RunError when a file cannot be written.
    """
    details = saved.checkpoint.details | {"grades": list(grades)}
    digest = save_checkpoint(path, dataclasses.replace(saved.checkpoint, details=details))
    player_hash = saved.checkpoint.player_hash
    copy_levels(saved.path, player_hash, path, digest[: len(player_hash)])


def describe_game(checkpoint: Checkpoint) -> str:
    """Return the name and options of a checkpoint's game."""
    options = ", ".join(f"{name} {value}" for name, value in checkpoint.game_options.items())
    return checkpoint.game_name + (f" ({options})" if options else "")


def summarize(path: Path, checkpoint: Checkpoint) -> str:
    """Return two lines: game, network and training; the last measurement, as trained if any."""
    network = checkpoint.network_settings
    evaluations = checkpoint.details.get("evaluations")
    trained = f"{evaluations / 1e6:.1f} million" if isinstance(evaluations, int) else "unknown"
    lines = grades_of(checkpoint)
    own = [line for line in lines if ", against " not in line or line.startswith(AS_TRAINED)]
    strength = re.search(r"^.*?%\)?", (own or lines)[-1]) if lines else None
    return (
        f"{describe_game(checkpoint)}; {network.blocks} blocks x {network.filters} filters, "
        f"{path.stat().st_size / 1e6:.1f} MB; {trained} evaluations\n"
        f"{strength[0] if strength else 'strength not measured'}"
    )


def describe(path: Path, checkpoint: Checkpoint) -> str:
    """Describe a checkpoint: game, network, training and strength."""
    network, details = checkpoint.network_settings, checkpoint.details
    search = search_settings(checkpoint)
    shares = search.transpositions != "never" and not checkpoint.game.history_in_state
    parts = [f"{network.blocks} blocks x {network.filters} filters"]
    if network.global_pooling:
        parts.append(f"global pooling {network.global_pooling}")
    if network.heads != "dense":
        parts.append(f"{network.heads} heads")
    # What was measured says more than the gates, whose errors add up.
    strength = [f"graded    {line}" for line in grades_of(checkpoint)]
    if not strength:
        rating = "not rated by gates"
        if checkpoint.rating is not None:
            rating = f"Elo {checkpoint.rating:+z.0f} by the run's own gates, whose errors add up; "
            rating += "its first network has 0"
        strength = [f"strength  {rating}"]

    initial = details.get("initial")
    start = f", from {printable(initial)}" if isinstance(initial, str) else ""

    def count(name: str) -> str:
        value = details.get(name)
        return f"{value:,}" if isinstance(value, int) else "an unknown number of"

    return "\n".join(
        [
            f"file      {path}",
            f"game      {describe_game(checkpoint)}",
            f"network   {', '.join(parts)}, {checkpoint.num_weights:,} weights",
            f"trained   {count('games')} games, {count('positions')} positions, "
            f"{checkpoint.step:,} steps, {checkpoint.iteration:,} iterations{start}",
            f"search    {search.simulations} simulations a move by {search.selection}"
            + " in a graph" * shares
            + f", c_puct {search.c_puct}"
            + f", leaf symmetry {search.leaf_symmetry}" * (search.leaf_symmetry != "none"),
            *strength,
        ]
    )


def facts(path: Path, checkpoint: Checkpoint) -> dict[str, Any]:
    """Return what `describe` says, as values; None where it is unknown."""
    details = checkpoint.details
    return {
        "file": path,
        "game": checkpoint.game_name,
        "game_options": checkpoint.game_options,
        "network": checkpoint.network_settings,
        "weights": checkpoint.num_weights,
        "steps": checkpoint.step,
        "iterations": checkpoint.iteration,
        **{name: details.get(name) for name in ("games", "positions", "evaluations", "initial")},
        "search": search_settings(checkpoint),
        "rating": checkpoint.rating,
        "grades": grades_of(checkpoint),
    }
