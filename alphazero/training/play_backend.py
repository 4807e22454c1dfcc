"""The interface between the training loop and the processes that play.

The loop requests self-play and gate games from a `PlayBackend`. `LocalBackend` plays them in this
process before it returns. The actors of an `ActorPool` (distributed/actor_pool.py) play all the
time: the loop learns while it waits for games, and does not wait for a gate.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple, Protocol, TypeAlias

from alphazero.arena.elo import MatchResult
from alphazero.config.schema import Config
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator
from alphazero.network.inference.backend import num_selfplay_threads
from alphazero.records.game_record import GameRecord
from alphazero.training.gate import run_gate
from alphazero.training.selfplay import SelfPlayResult, play_games, with_simulations
from alphazero.utils.arrays import Float32Array
from alphazero.utils.progress import Progress

GateResult: TypeAlias = tuple[MatchResult, list[GameRecord]]


class NetworkSnapshot(NamedTuple):
    """A network at one step: its name, its evaluator here, and its checkpoint for actors."""

    name: str
    evaluator: Evaluator
    read: Callable[[], bytes]
    calibration: Float32Array | None = None
    """Observations [B, C, H, W] that set its int8 ranges; None: it does not play in int8."""


class SelfPlayRequest(NamedTuple):
    """The loop's request for one iteration of self-play."""

    best: NetworkSnapshot
    seed: Sequence[int]
    resign_below: float
    unfinished: Sequence[GameRecord]
    """Games in this process that the last iteration left unfinished."""
    simulations_fraction: float = 1.0
    """The fraction of a move's simulations that are done."""


class PlayBackend(Protocol):
    """Plays self-play and gate games."""

    def play(
        self, request: SelfPlayRequest, show: Progress, meanwhile: Callable[[], bool]
    ) -> SelfPlayResult:
        """Return `selfplay.games_per_iteration` games of self-play, or a few more.

        A backend that plays beside the loop calls `meanwhile` while games are missing. It only
        waits once `meanwhile` returns False: then there is nothing left to do.
        """

    def gate(
        self,
        challenger: NetworkSnapshot,
        best: NetworkSnapshot,
        seed: Sequence[int],
        show: Progress,
    ) -> Future[GateResult]:
        """Play the gate; a backend that plays beside the loop returns before it has ended."""

    def close(self) -> None:
        """Stop playing."""


class LocalBackend:
    """Plays in this process, when called: the same arguments give the same games."""

    def __init__(self, game: Game, config: Config, cores: int) -> None:
        self._game, self._config, self._cores = game, config, cores

    def play(
        self,
        request: SelfPlayRequest,
        show: Progress,
        meanwhile: Callable[[], bool],  # noqa: ARG002
    ) -> SelfPlayResult:
        return play_games(
            self._game,
            with_simulations(self._config, request.simulations_fraction),
            request.best.evaluator,
            request.seed,
            request.unfinished,
            num_selfplay_threads(self._config, self._cores),
            show,
            request.resign_below,
        )

    def gate(
        self,
        challenger: NetworkSnapshot,
        best: NetworkSnapshot,
        seed: Sequence[int],
        show: Progress,
    ) -> Future[GateResult]:
        future: Future[GateResult] = Future()
        players = challenger.evaluator, best.evaluator
        future.set_result(run_gate(self._game, self._config, *players, seed, self._cores, show))
        return future

    def close(self) -> None:
        """Do nothing: no game is under way."""
