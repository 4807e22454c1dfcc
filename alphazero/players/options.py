"""The options of each kind of player, as written in a player spec."""

import dataclasses
import functools
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from alphazero.config.fields import REQUIRED, config_field
from alphazero.config.schema import LEAF_SYMMETRIES, SELECTIONS
from alphazero.errors import CheckpointError, PlayerError
from alphazero.mcts.rollout_methods import FINAL_MOVES, RolloutConfig
from alphazero.network.checkpoint import check_checkpoint, find_checkpoint
from alphazero.players.budget import NO_LIMIT, Budget, budget_of
from alphazero.players.gtp_process import MOVE_TIMEOUT, split_command
from alphazero.utils.files import printable

if TYPE_CHECKING:
    from alphazero.games.game import Game
    from alphazero.players.checkpoint_player import CheckpointPlayer
    from alphazero.players.levels import LevelSettings, LevelTable


@dataclass(frozen=True)
class Options:
    """Options of a player: documented keys, in the order of the spec."""

    has_search: ClassVar[bool] = False
    """whether its values and policies come from a search or a network"""
    path = ""
    """the path of a checkpoint, as it is named; empty for other players"""

    @property
    def saved(self) -> "CheckpointPlayer | None":
        """Its checkpoint, loaded on first use; None for other players."""
        return None

    @property
    def game(self) -> "Game | None":
        """The only game it plays; None for any."""
        return self.saved.game if self.saved else None

    @property
    def budget(self) -> Budget:
        """Its limits of a move; none for players that do not search or whose depth is limited."""
        return NO_LIMIT

    @property
    def player_hash(self) -> str:
        """The first 16 hex digits of a checkpoint's SHA-256; empty for other players."""
        return self.saved.player_hash if self.saved else ""

    @property
    def is_timed(self) -> bool:
        """Whether a time limit ends its search, so that it needs a processor core of its own."""
        return self.budget.seconds is not None

    @property
    def levels(self) -> "LevelTable | None":
        """The levels for people; only checkpoints that search have any.

        Raises:
            PlayerError: for a file of levels that cannot be read.
        """
        return None

    def check(self) -> None:
        """Raise an error for mistakes that show before the player is loaded."""


SEARCH_KEYS = (*("selection", "transpositions", "mcts_solver", "leaf_symmetry"),)
"""Search settings that a spec may override."""


@dataclass(frozen=True)
class CheckpointOptions(Options):
    """A checkpoint and its search budget; the default is the budget of training."""

    path: str = config_field(REQUIRED, "a .safetensors file, or a run's folder for its best player")
    simulations: int | None = config_field(
        None, "simulations a move; 0 is the network alone", at_least=0, at_most=10**9
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
    mcts_solver: bool | None = config_field(
        None, "whether wins and losses are proven, where not as in training"
    )
    leaf_symmetry: str | None = config_field(
        None,
        "symmetries under which the network evaluates leaves, where not as in training",
        choices=LEAF_SYMMETRIES,
    )
    level: int | None = config_field(
        None, "a level for people, from the weakest to the strongest", at_least=1, at_most=10
    )
    loaded: Any = field(default=None, compare=False, repr=False)
    """`saved`, if it is loaded already"""

    has_search = True

    @property
    def levels(self) -> "LevelTable | None":
        return self.saved.levels

    @property
    def settings_of_level(self) -> "LevelSettings | None":
        """How its level plays; None at full strength.

        Raises:
            PlayerError: for a file of levels that cannot be read.
        """
        return None if self.level is None else self.saved.levels.level(self.level).settings

    @property
    def changes(self) -> dict[str, Any]:
        """The search settings that differ from training."""
        values = {name: getattr(self, name) for name in SEARCH_KEYS}
        if self.transpositions is not None:
            values["transpositions"] = "always" if self.transpositions else "never"
        return {name: value for name, value in values.items() if value is not None}

    @functools.cached_property
    def saved(self) -> "CheckpointPlayer":
        if self.loaded is not None:
            return self.loaded  # type: ignore[no-any-return]
        self.check()
        from alphazero.players.checkpoint_player import load_checkpoint_player

        saved = load_checkpoint_player(self.path)
        settings = dataclasses.replace(saved.settings, **self.changes)
        return dataclasses.replace(saved, settings=settings)

    @property
    def budget(self) -> Budget:
        """The given limits, or those of its level, or as in training."""
        if level := self.settings_of_level:
            return Budget(level.simulations)
        given = budget_of(self.simulations, self.seconds)
        return given or Budget(self.saved.settings.simulations)

    def check(self) -> None:
        path = Path(self.path)
        if path.suffix in (".yaml", ".yml"):
            raise CheckpointError(
                f"{printable(path)} is a configuration, not a player; train one with: alphazero "
                f"train {printable(path)}"
            )
        if self.level is not None and (self.simulations is not None or self.seconds is not None):
            raise PlayerError(
                f"{printable(path)}: a level sets how long the player thinks; leave out level, or "
                "simulations and seconds"
            )
        check_checkpoint(find_checkpoint(path))

    def on(self, game: "Game") -> "CheckpointOptions":
        """Return the options of the same player for another size of its game.

        Raises:
            CheckpointError: when its weights do not fit.
        """
        return dataclasses.replace(self, loaded=self.saved.on(game))


@dataclass(frozen=True)
class NetworkOptions(CheckpointOptions):
    """The network of a checkpoint alone: plays the most probable move, without a search."""

    simulations: int | None = 0
    seconds: float | None = None
    selection: str | None = None
    transpositions: bool | None = None
    mcts_solver: bool | None = None
    leaf_symmetry: str | None = None
    level: int | None = None

    @property
    def levels(self) -> "LevelTable | None":
        return None


@dataclass(frozen=True)
class RolloutOptions(Options):
    """A search without a network; defaults are those of `RolloutConfig`."""

    simulations: int | None = config_field(
        None, "rollouts a move; without limit if only `seconds` is given", at_least=1
    )
    seconds: float | None = config_field(
        None, "time for a move", unit="seconds", above=0, below=10**6
    )
    exploration: float | None = config_field(None, "C_p of UCB1, for rewards in [0, 1]", at_least=0)
    final_move: str | None = config_field(None, "how the move is chosen", choices=FINAL_MOVES)
    threads: int | None = config_field(None, "trees side by side", at_least=1, at_most=256)

    has_search = True

    @property
    def budget(self) -> Budget:
        """The given limits, or as in `RolloutConfig`."""
        return budget_of(self.simulations, self.seconds) or Budget(RolloutConfig().simulations)


@dataclass(frozen=True)
class MinimaxOptions(Options):
    """Limits of the alpha-beta search."""

    depth: int | None = config_field(None, "plies", at_least=1, at_most=1000)
    seconds: float | None = config_field(
        None, "time for a move", unit="seconds", above=0, below=10**6
    )

    def __post_init__(self) -> None:
        if self.depth is None and self.seconds is None:
            raise PlayerError("minimax needs a depth in plies or seconds, as in minimax:depth=5")

    @property
    def budget(self) -> Budget:
        return Budget(seconds=self.seconds)


@dataclass(frozen=True)
class GtpOptions(Options):
    """An external program that speaks the Go Text Protocol."""

    command: str = config_field(REQUIRED, "the command line that starts it")
    move_timeout: float = config_field(
        MOVE_TIMEOUT, "time for a response", unit="seconds", above=0, below=10**6
    )

    def __post_init__(self) -> None:
        program = split_command(self.command)[0]
        if shutil.which(program) is None:
            raise PlayerError(
                f"gtp:{printable(self.command[:80])}: there is no program "
                f"{printable(program[:80])!r}; install it, or give its path"
            )

    @property
    def is_timed(self) -> bool:
        """Always: the program searches on its own, and needs a core."""
        return True
