"""The options of a player: what may follow its name on the command line."""

import dataclasses
import functools
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alphazero.config.fields import (
    REQUIRED,
    config_field,
)
from alphazero.config.schema import SELECTIONS
from alphazero.errors import PlayerError
from alphazero.mcts.rollout_methods import FINAL_MOVES, RolloutConfig
from alphazero.network.header import check_checkpoint, find_checkpoint
from alphazero.players.gtp_process import PATIENCE, split_command
from alphazero.utils.files import printable, sha256_of

if TYPE_CHECKING:
    from alphazero.games.game import Game
    from alphazero.players.checkpoint_player import CheckpointPlayer


UNLIMITED_SECONDS = 999_999.0
"""Seconds a move that no move takes."""


@dataclass(frozen=True)
class Options:
    """What can be said of a player: documented keys, in the order in which they are written."""

    @property
    def game(self) -> "Game | None":
        """The only game it plays; None: any."""
        return None

    @property
    def fingerprint(self) -> str:
        """What tells this player from a later one of the same name; empty where none will be."""
        return ""

    @property
    def is_timed(self) -> bool:
        """Whether the clock ends its thinking, so that it wants a processor core to itself."""
        return getattr(self, "seconds", None) is not None

    @property
    def has_search(self) -> bool:
        """Whether its values and policies are what a search or a network thinks of a position."""
        return False

    @property
    def default_simulations(self) -> int | None:
        """The simulations of a move; None where time decides, or something else."""
        return None

    def check(self) -> None:
        """Raise an error for what can be seen to be wrong before the player is loaded."""

    def unlimited(self) -> "Options":
        """Return the same for a face that says itself how long to think: a tree has room then."""
        return self


SEARCH_KEYS = "selection", "transpositions", "value_weighting"
"""What a checkpoint may do otherwise than in training."""


@dataclass(frozen=True)
class CheckpointOptions(Options):
    """A checkpoint and how long it thinks; as long as in training where nothing is said."""

    path: str = config_field(REQUIRED, "a .safetensors file, or a run's folder for its best player")
    simulations: int | None = config_field(
        None, "simulations a move; 0 is the bare network", at_least=0, at_most=10**9
    )
    seconds: float | None = config_field(
        None, "time for a move", unit="seconds", above=0, below=10**6
    )
    selection: str | None = config_field(
        None, "how the tree chooses, where not as in training", choices=SELECTIONS
    )
    transpositions: bool | None = config_field(
        None, "whether a position has one node, where not as in training"
    )
    value_weighting: float | None = config_field(
        None, "how much less bad moves count, where not as in training", at_least=0, at_most=1000
    )

    @property
    def changes(self) -> dict[str, Any]:
        """The keys of its search that are not as in training."""
        told = {name: getattr(self, name) for name in SEARCH_KEYS}
        return {name: value for name, value in told.items() if value is not None}

    @functools.cached_property
    def saved(self) -> "CheckpointPlayer":
        """The checkpoint, read when it is first asked for."""
        self.check()
        from alphazero.players.checkpoint_player import load_checkpoint_player

        saved = load_checkpoint_player(self.path)
        settings = dataclasses.replace(saved.settings, **self.changes)
        return dataclasses.replace(saved, settings=settings)

    @property
    def game(self) -> "Game | None":
        """The game that it learned."""
        return self.saved.game

    @property
    def has_search(self) -> bool:
        """It does."""
        return True

    @property
    def default_simulations(self) -> int | None:
        """As many as it is told, or as in training."""
        if self.simulations is None and self.seconds is None:
            return self.saved.settings.simulations
        return self.simulations

    def check(self) -> None:
        """Look at the beginning of the file."""
        check_checkpoint(find_checkpoint(Path(self.path)))

    def unlimited(self) -> "CheckpointOptions":
        """Return the same without a number of simulations."""
        endless = dataclasses.replace(self, simulations=None, seconds=UNLIMITED_SECONDS)
        vars(endless)["saved"] = self.saved  # which is not read twice
        return endless

    @functools.cached_property
    def fingerprint(self) -> str:
        """The beginning of its file's SHA-256."""
        return sha256_of(self.saved.path)[:16]


@dataclass(frozen=True)
class NetworkOptions(CheckpointOptions):
    """The bare network of a checkpoint: the most probable move, without a search."""

    simulations: int | None = 0
    seconds: float | None = None
    selection: str | None = None
    transpositions: bool | None = None
    value_weighting: float | None = None


@dataclass(frozen=True)
class RolloutOptions(Options):
    """A search without a network; what is not said is as `RolloutConfig` has it."""

    simulations: int | None = config_field(
        None, "rollouts a move; without limit where only `seconds` are said", at_least=1
    )
    seconds: float | None = config_field(
        None, "time for a move", unit="seconds", above=0, below=10**6
    )
    exploration: float | None = config_field(None, "C_p of UCB1, for rewards in [0, 1]", at_least=0)
    final_move: str | None = config_field(None, "how the move is chosen", choices=FINAL_MOVES)
    threads: int | None = config_field(None, "trees side by side", at_least=1, at_most=256)

    @property
    def has_search(self) -> bool:
        """It does."""
        return True

    @property
    def default_simulations(self) -> int | None:
        """As many as it is told, or as `RolloutConfig` has it."""
        if self.simulations is None and self.seconds is None:
            return RolloutConfig().simulations
        return self.simulations

    def unlimited(self) -> "RolloutOptions":
        """Return the same without a number of simulations."""
        return dataclasses.replace(self, simulations=None, seconds=UNLIMITED_SECONDS)


@dataclass(frozen=True)
class MinimaxOptions(Options):
    """How far alpha-beta looks."""

    depth: int | None = config_field(None, "plies", at_least=1, at_most=1000)
    seconds: float | None = config_field(
        None, "time for a move", unit="seconds", above=0, below=10**6
    )

    def __post_init__(self) -> None:
        """Ask for a budget."""
        if self.depth is None and self.seconds is None:
            raise PlayerError("minimax needs a depth in plies or seconds, as in minimax:depth=5")


@dataclass(frozen=True)
class GtpOptions(Options):
    """Another program that speaks the Go Text Protocol."""

    command: str = config_field(REQUIRED, "the command line that starts it")
    patience: float = config_field(
        PATIENCE, "time for an answer", unit="seconds", above=0, below=10**6
    )

    def __post_init__(self) -> None:
        """Look for the program."""
        program = split_command(self.command)[0]
        if shutil.which(program) is None:
            raise PlayerError(
                f"gtp:{printable(self.command[:80])}: there is no program "
                f"{printable(program[:80])!r}; "
                "install it, or give its path"
            )

    @property
    def is_timed(self) -> bool:
        """It thinks by itself, on a core of its own."""
        return True
