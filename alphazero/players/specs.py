"""The kinds of players: a class each, with its options and how its players are created.

Importing this imports no torch and compiles no kernels; creating a player does.
"""
# ruff: noqa: ARG002  (each kind uses the arguments of `_create` that it needs)

import dataclasses
import functools
import shutil
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from alphazero.config.fields import Field, config_field, config_fields
from alphazero.config.schema import LEAF_SYMMETRIES, SELECTIONS
from alphazero.errors import CheckpointError, PlayerError
from alphazero.mcts.kernels.selection_rules import UNLIMITED
from alphazero.mcts.rollout_methods import RolloutConfig
from alphazero.network.checkpoint import find_checkpoint, load_description
from alphazero.players.budget import NO_LIMIT, Budget, budget_of
from alphazero.players.program_process import (
    GOMOCUP,
    GTP,
    UCI,
    ProgramProtocol,
    read_command,
    split_command,
)
from alphazero.utils.files import printable

if TYPE_CHECKING:
    from alphazero.games.game import Game, State
    from alphazero.players.base import Player
    from alphazero.players.checkpoint_player import CheckpointPlayer
    from alphazero.players.levels import LevelSettings, LevelTable

Rng = np.random.Generator


@dataclass(frozen=True)
class PlayerSpec(ABC):
    """A parsed player spec, from which players are created.

    The documented fields of a subclass are its options, in the order of the spec; None by default.
    """

    subject: str
    """the name of the kind; or the path of a checkpoint, or the command of a program"""

    prefix: ClassVar[str] = ""
    """what precedes a subject that may hold any characters; the spec then has no options"""
    has_search: ClassVar[bool] = False
    """whether its values and policies come from a search or a network"""

    @classmethod
    def option_fields(cls) -> list[Field]:
        """Return the field, type and `FieldInfo` of each option that a spec may hold."""
        return [] if cls.prefix else config_fields(cls)

    @property
    def name(self) -> str:
        """The canonical spec, with the options given; two different names are two players."""
        texts = []
        for option, _, _ in self.option_fields():
            value = getattr(self, option.name)
            if value is not None:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                texts.append(f"{option.name}={text.removesuffix('.0')}")
        return f"{self.prefix}{self.subject}{':' * bool(texts)}{','.join(texts)}"

    @property
    def saved(self) -> "CheckpointPlayer | None":
        """Its checkpoint, loaded on first use; None for other players."""
        return None

    @property
    def game(self) -> "Game | None":
        """The only game it plays; None for any."""
        return self.saved.game if self.saved else None

    @property
    def player_hash(self) -> str:
        """The first 16 hex digits of a checkpoint's SHA-256; empty for other players."""
        return self.saved.checkpoint.player_hash if self.saved else ""

    @property
    def budget(self) -> Budget:
        """Its limits of a move; none for players that do not search or whose depth is limited."""
        return NO_LIMIT

    @property
    def is_timed(self) -> bool:
        """Whether the clock ends its search, so that its strength depends on the machine."""
        return self.budget.seconds is not None

    @property
    def needs_core(self) -> bool:
        """Whether it needs a processor core of its own."""
        return self.is_timed

    def most_games(self, game: "Game") -> int | None:
        """Return how many games one player has memory for; None if that is no limit."""
        del game
        return None

    @property
    def levels(self) -> "LevelTable | None":
        """The levels for people; only checkpoints have any.

        Raises PlayerError for a file of levels that cannot be read.
        """
        return self.saved.levels if self.saved else None

    @property
    def transfer_note(self) -> str | None:
        """A sentence about a checkpoint that plays another game than it was trained on."""
        return None

    def check(self) -> None:  # noqa: B027  (most kinds need no check)
        """Raise an error for mistakes that show before the player is loaded."""

    def plays(self, game: "Game") -> bool:
        """Whether it plays `game`: any game, or one that its network accepts."""
        return self.game is None or self.game.accepts(game)

    def for_game(self, game: "Game") -> "PlayerSpec":
        """Return the player for `game`, which may be another size of its own one.

        Raises PlayerError when it does not play `game`.
        """
        del game
        return self

    def create(
        self, game: "Game", num_games: int = 1, rng: Rng | None = None, budget: Budget | None = None
    ) -> "Player":
        """Return a player for `num_games` games of `game`, by default with its own budget."""
        assert self.plays(game), "it plays another game"
        return self._create(game, num_games, rng or np.random.default_rng(0), budget or self.budget)

    @abstractmethod
    def _create(self, game: "Game", num_games: int, rng: Rng, budget: Budget) -> "Player":
        """Return a player, as `create` says."""


def _seconds_option() -> Any:
    return config_field(None, "time for a move", unit="seconds", above=0, below=10**6)


class RandomSpec(PlayerSpec):
    """Random legal moves."""

    def _create(self, game: "Game", num_games: int, rng: Rng, budget: Budget) -> "Player":
        from alphazero.players.sequential_player import RandomPlayer

        return RandomPlayer(game, num_games, rng)


@dataclass(frozen=True)
class RolloutSpec(PlayerSpec):
    """A search without a network, named by its method; defaults are those of `RolloutConfig`."""

    simulations: int | None = config_field(
        None, "rollouts a move; without limit if only `seconds` is given", at_least=1
    )
    seconds: float | None = _seconds_option()
    exploration: float | None = config_field(None, "C_p of UCB1, for rewards in [0, 1]", at_least=0)

    has_search = True

    @property
    def budget(self) -> Budget:
        """Its own limits, or as in `RolloutConfig`."""
        return budget_of(self.simulations, self.seconds) or Budget(RolloutConfig().simulations)

    def most_games(self, game: "Game") -> int | None:
        from alphazero.mcts.rollout_search import most_slots

        return most_slots(game, self._config(self.budget))

    def _config(self, budget: Budget) -> RolloutConfig:
        config = RolloutConfig(
            self.subject, UNLIMITED if budget.simulations is None else budget.simulations
        )
        if self.exploration is not None:
            config = dataclasses.replace(config, exploration=self.exploration)
        return config

    def _create(self, game: "Game", num_games: int, rng: Rng, budget: Budget) -> "Player":
        from alphazero.mcts.rollout_search import RolloutSearch
        from alphazero.players.search_player import SearchPlayer

        search = RolloutSearch(game, self._config(budget), slots=num_games, rng=rng)
        return SearchPlayer(search, seconds=budget.seconds)


@dataclass(frozen=True)
class MinimaxSpec(PlayerSpec):
    """An alpha-beta search to a depth or time limit."""

    depth: int | None = config_field(None, "plies", at_least=1, at_most=1000)
    seconds: float | None = _seconds_option()

    @property
    def budget(self) -> Budget:
        return Budget(seconds=self.seconds)

    def check(self) -> None:
        if self.depth is None and self.seconds is None:
            raise PlayerError("minimax needs a depth in plies or seconds, as in minimax:depth=5")

    def _create(self, game: "Game", num_games: int, rng: Rng, budget: Budget) -> "Player":
        from alphazero.players.solver_players import MinimaxPlayer

        return MinimaxPlayer(game, num_games, rng, depth=self.depth, seconds=budget.seconds)


class SolverSpec(PlayerSpec):
    """Exact play."""

    def _create(self, game: "Game", num_games: int, rng: Rng, budget: Budget) -> "Player":
        from alphazero.players.solver_players import SolverPlayer

        return SolverPlayer(game, num_games, rng)


class ProgramSpec(PlayerSpec):
    """An external program; `subject` is its command line, with limits and options if it has any."""

    protocol: ClassVar[ProgramProtocol]

    @property
    def needs_core(self) -> bool:
        return True

    @property
    def is_timed(self) -> bool:
        return self.protocol.time_limit in read_command(self.subject, self.protocol).limits

    def check(self) -> None:
        command = read_command(self.subject, self.protocol).command
        program = split_command(command, self.protocol)[0]
        if shutil.which(program) is None:
            raise PlayerError(
                f"{self.prefix}{printable(self.subject[:80])}: there is no program "
                f"{printable(program[:80])!r}; install it, or give its path"
            )


class GtpSpec(ProgramSpec):
    """A program that speaks the Go Text Protocol."""

    prefix = "gtp:"
    protocol = GTP

    def _create(self, game: "Game", num_games: int, rng: Rng, budget: Budget) -> "Player":
        from alphazero.players.gtp_player import GtpPlayer

        return GtpPlayer(game, num_games, self.subject)


class UciSpec(ProgramSpec):
    """A program that speaks UCI."""

    prefix = "uci:"
    protocol = UCI

    def _create(self, game: "Game", num_games: int, rng: Rng, budget: Budget) -> "Player":
        from alphazero.players.uci_player import UciPlayer

        return UciPlayer(game, num_games, self.subject)


class GomocupSpec(ProgramSpec):
    """A program of the Gomocup tournament."""

    prefix = "gomocup:"
    protocol = GOMOCUP

    def _create(self, game: "Game", num_games: int, rng: Rng, budget: Budget) -> "Player":
        from alphazero.players.gomocup_player import GomocupPlayer

        return GomocupPlayer(game, num_games, self.subject)


class Agent(Protocol):
    """A player written in Python."""

    def choose(self, game: "Game", state: "State", /) -> int | np.integer[Any]:
        """Return a legal action in an unfinished position `int64 [S]`, which it may change."""


AgentFunction = Callable[["Game", "State"], int | np.integer[Any]]
"""`Agent.choose` alone."""


@dataclass(frozen=True)
class AgentSpec(PlayerSpec):
    """An agent; one thread at a time asks it, about one position after the other."""

    agent: Any = None
    """an `Agent` or an `AgentFunction`"""
    lock: Any = field(default_factory=threading.Lock, compare=False, repr=False)

    @classmethod
    def of(cls, agent: Agent | AgentFunction, name: str = "") -> "AgentSpec":
        """Return the spec of an agent; it is called by its `name`, else by that of its class.

        Raises PlayerError for anything else.
        """
        from alphazero.players.base import Player

        if isinstance(agent, Player):
            raise PlayerError("a loaded player is named by its path, as connect_four:simulations=9")
        if not callable(getattr(agent, "choose", agent)):
            raise PlayerError(
                f"expected a player's name, a function or an agent, got {agent!r:.80}"
            )
        own = getattr(agent, "name", None) or getattr(agent, "__name__", type(agent).__name__)
        return cls(name or str(own), agent)

    def _create(self, game: "Game", num_games: int, rng: Rng, budget: Budget) -> "Player":
        from alphazero.players.sequential_player import AgentPlayer

        choose: Any = getattr(self.agent, "choose", self.agent)

        def choose_alone(game: "Game", state: "State") -> Any:
            with self.lock:
                return choose(game, state)

        return AgentPlayer(game, num_games, self.subject, choose_alone)


SEARCH_KEYS = ("selection", "transpositions", "mcts_solver", "leaf_symmetry")
"""Search settings that a spec may override."""


@dataclass(frozen=True)
class CheckpointSpec(PlayerSpec):
    """A checkpoint, or a run's folder for its best player; `subject` is its path.

    The default budget and the default search settings are those of training.
    """

    simulations: int | None = config_field(
        None, "simulations a move; 0 is the network alone", at_least=0, at_most=10**9
    )
    seconds: float | None = _seconds_option()
    selection: str | None = config_field(None, "how the tree chooses", choices=SELECTIONS)
    transpositions: bool | None = config_field(None, "whether a position has one node")
    mcts_solver: bool | None = config_field(None, "whether wins and losses are proven")
    leaf_symmetry: str | None = config_field(
        None, "symmetries under which the network evaluates leaves", choices=LEAF_SYMMETRIES
    )
    level: int | None = config_field(
        None, "a level for people, from the weakest to the strongest", at_least=1, at_most=10
    )
    loaded: Any = field(default=None, compare=False, repr=False)
    """`saved`, if it is loaded already"""

    has_search = True

    @functools.cached_property
    def saved(self) -> "CheckpointPlayer":
        if self.loaded is not None:
            return self.loaded  # type: ignore[no-any-return]
        self.check()
        from alphazero.players.checkpoint_player import load_checkpoint_player

        saved = load_checkpoint_player(self.subject)
        settings = dataclasses.replace(saved.settings, **self.changes)
        return dataclasses.replace(saved, settings=settings)

    @property
    def changes(self) -> dict[str, Any]:
        """The search settings that differ from training."""
        values = {name: getattr(self, name) for name in SEARCH_KEYS}
        if self.transpositions is not None:
            values["transpositions"] = "always" if self.transpositions else "never"
        return {name: value for name, value in values.items() if value is not None}

    @property
    def level_settings(self) -> "LevelSettings | None":
        """How its level plays; None at full strength.

        Raises PlayerError for a file of levels that cannot be read.
        """
        return None if self.level is None else self.saved.levels.level(self.level).settings

    @property
    def budget(self) -> Budget:
        """Its own limits, or those of its level, or as in training."""
        if level := self.level_settings:
            return Budget(level.simulations)
        own = budget_of(self.simulations, self.seconds)
        return own or Budget(self.saved.settings.simulations)

    def most_games(self, game: "Game") -> int | None:
        from alphazero.players.checkpoint_player import most_trees

        simulations = self.budget.simulations
        return None if simulations is None else most_trees(game, simulations)

    @property
    def transfer_note(self) -> str | None:
        from alphazero.games.registry import write_game

        game, trained = write_game(self.saved.game), write_game(self.saved.checkpoint.game)
        return None if game == trained else f"{self.name} was trained on {trained}, not on {game}"

    def check(self) -> None:
        path = Path(self.subject)
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
        load_description(find_checkpoint(path))  # so that a wrong file is refused early

    def for_game(self, game: "Game") -> "CheckpointSpec":
        from alphazero.games.registry import write_game

        own, reason = self.saved.game, "players need one game"
        options = own.marginal_options
        if self.plays(game) and all(getattr(own, o) == getattr(game, o) for o in options):
            return self
        if type(own) is type(game):
            try:
                return dataclasses.replace(self, loaded=self.saved.for_game(game))
            except CheckpointError:
                reason = "its weights fit no other; with network.heads: convolutional they would"
        raise PlayerError(
            f"{self.name} plays {write_game(own)}, but the game asked for is {write_game(game)}: "
            f"{reason}"
        )

    def _create(self, game: "Game", num_games: int, rng: Rng, budget: Budget) -> "Player":
        level, player = self.level_settings, self.for_game(game).saved
        # A level searches one leaf at a time, as it was measured.
        leaves = 1 if level and num_games == 1 else None
        return player.create(num_games, budget, leaves=leaves, level=level, rng=rng)
