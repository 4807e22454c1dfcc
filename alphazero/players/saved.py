"""Players from checkpoints."""

import contextlib
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from alphazero.config import InferenceConfig, SearchConfig
from alphazero.errors import CheckpointError
from alphazero.files import reason, shown
from alphazero.games.game import Game
from alphazero.games.registry import make_game
from alphazero.network.backend import make_evaluator
from alphazero.network.checkpoint import Checkpoint, load_checkpoint
from alphazero.players.player import UNLIMITED, Player, SearchPlayer
from alphazero.schema import check_value, noted_fields
from alphazero.yamlfile import WrongValueError

EDGE_BYTES = 28
"""Memory that an action of a node in the tree takes."""

TREE_BYTES = 2 << 30
"""Memory that the tree of one thinking player may take; only what it reaches is used."""


def find_checkpoint(path: Path) -> Path:
    """Return `path`, or the best player's checkpoint when it is a run's folder.

    Raises:
        CheckpointError: for a folder without one.
    """
    best = path / "best.safetensors"
    try:
        if best.exists():
            return best
        if path.is_dir():
            raise CheckpointError(
                f"{shown(path)} holds no best.safetensors; give a .safetensors file or the folder "
                "of a run"
            )
    except OSError as error:
        raise CheckpointError(f"cannot read {shown(path)}: {reason(error)}") from error
    return path


def search_settings(checkpoint: Checkpoint) -> SearchConfig:
    """Return the search that the checkpoint was trained with; the defaults where it is unknown."""
    known: dict[str, Any] = {}
    told = checkpoint.details.get("search")
    if isinstance(told, dict):
        for field, kind, note in noted_fields(SearchConfig):
            with contextlib.suppress(WrongValueError, KeyError):
                known[field.name] = check_value(kind, note, told[field.name])
    return SearchConfig(**known)


def load_player(
    path: Path | str,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    tables: int = 1,
    inference: InferenceConfig | None = None,
) -> tuple[Game, SearchPlayer]:
    """Read a checkpoint, or the best of a run's folder, and seat its player.

    It thinks for `simulations` a move, or for `seconds` if given, or for as many simulations as
    it was trained with. At a single table several leaves of the tree are evaluated together.

    Raises:
        CheckpointError: in one line, for a file that is no player.
    """
    checkpoint = load_checkpoint(find_checkpoint(Path(path)))
    game = make_game(checkpoint.game_name, **checkpoint.game_options)
    settings = search_settings(checkpoint)
    if simulations is None and seconds is not None:
        simulations = UNLIMITED
    if simulations is not None:
        settings = dataclasses.replace(settings, simulations=simulations)
    room = TREE_BYTES // (EDGE_BYTES * game.num_actions * tables)
    player = SearchPlayer(
        game,
        make_evaluator(checkpoint.network(), inference or InferenceConfig()),
        settings,
        name=Path(path).stem,
        tables=tables,
        nodes=min(4 * settings.simulations + 1, room),
        leaves=8 if tables == 1 and settings.simulations > 32 else 1,
        seconds=seconds,
    )
    return game, player


def load_opponents(
    paths: tuple[Path, Path], *, simulations: int | None = None, seconds: float | None = None
) -> tuple[Game, Callable[[int], list[Player]]]:
    """Read two checkpoints of one game; return it, and how to seat both at so many tables.

    Raises:
        CheckpointError: when one is no player, or they play different games.
    """
    checkpoints = [load_checkpoint(find_checkpoint(path)) for path in paths]
    first, second = (
        make_game(checkpoint.game_name, **checkpoint.game_options) for checkpoint in checkpoints
    )
    if first != second:
        raise CheckpointError(
            f"{paths[0]} plays {describe_game(checkpoints[0])} and {paths[1]} plays "
            f"{describe_game(checkpoints[1])}: a match needs two players of one game"
        )

    def seat_players(tables: int) -> list[Player]:
        return [
            load_player(path, simulations=simulations, seconds=seconds, tables=tables)[1]
            for path in paths
        ]

    return first, seat_players


def describe_game(checkpoint: Checkpoint) -> str:
    """Return the name and the options of a checkpoint's game."""
    options = ", ".join(f"{name} {value}" for name, value in checkpoint.game_options.items())
    return checkpoint.game_name + (f" ({options})" if options else "")


def describe(path: Path, checkpoint: Checkpoint) -> str:
    """Say what a checkpoint is, how it was trained and how strong it is."""
    network, details = checkpoint.network_settings, checkpoint.details
    weights = sum(tensor.numel() for tensor in checkpoint.weights.values())
    search = search_settings(checkpoint)
    rating = "not measured"
    if checkpoint.rating is not None:
        rating = f"Elo {checkpoint.rating:+.0f}, where the run's untrained network has 0"

    def count(name: str) -> str:
        value = details.get(name)
        return f"{value:,}" if isinstance(value, int) else "an unknown number of"

    return "\n".join(
        [
            f"file      {path}",
            f"game      {describe_game(checkpoint)}",
            f"network   {network.blocks} blocks x {network.filters} filters, {weights:,} weights",
            f"trained   {count('games')} games, {count('positions')} positions, "
            f"{checkpoint.step:,} steps, {checkpoint.iteration:,} iterations",
            f"search    {search.simulations} simulations a move, c_puct {search.c_puct}",
            f"strength  {rating}",
        ]
    )
