"""Who plays: the one thing that differs between this process alone and a cluster.

The loop asks a `PlayBackend` for games and for gates. `LocalBackend` plays them at once, here; a
`Crew` (crew.py) has actors that play all the time, so that it need not wait for either.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from alphazero.arena.elo import MatchResult
from alphazero.config.schema import Config
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator
from alphazero.records.game_record import GameRecord
from alphazero.training.gate import run_gate
from alphazero.training.selfplay import SelfPlayResult, play_games

Show: TypeAlias = Callable[[int], object]
"""Is told how many more games have ended."""

GateResult: TypeAlias = tuple[MatchResult, list[GameRecord]]


class NetworkSnapshot(NamedTuple):
    """The network of one moment: by name, as it plays here, and as it travels."""

    name: str
    evaluator: Evaluator
    read: Callable[[], bytes]
    """Returns the bytes of its checkpoint."""
    calibration: npt.NDArray[np.float32] | None = None
    """Observations [B, C, H, W] that set its ranges where it plays in int8; None: it does not."""


class SelfPlayRequest(NamedTuple):
    """What self-play is to do in an iteration."""

    best: NetworkSnapshot
    seed: Sequence[int]
    resign_below: float
    unfinished: Sequence[GameRecord]
    """Games under way in this process when the last iteration ended."""


class PlayBackend(Protocol):
    """Plays games."""

    def play(
        self, orders: SelfPlayRequest, show: Show, meanwhile: Callable[[], bool]
    ) -> SelfPlayResult:
        """Return `selfplay.games_per_iteration` games of self-play, or a few more.

        A producer that overlaps calls `meanwhile` as long as too few have come, and waits once it
        returns False, which says that there is nothing to do.
        """
        ...

    def gate(
        self, challenger: NetworkSnapshot, best: NetworkSnapshot, seed: Sequence[int], show: Show
    ) -> Future[GateResult]:
        """Let two networks play the gate; one that overlaps returns before they have."""
        ...

    def close(self) -> None:
        """Stop playing."""
        ...


class LocalBackend:
    """Plays in this process, when asked to: the same arguments give the same games."""

    def __init__(self, game: Game, config: Config, workers: int) -> None:
        self._game, self._config, self._workers = game, config, workers

    def play(
        self,
        orders: SelfPlayRequest,
        show: Show,
        meanwhile: Callable[[], bool],  # noqa: ARG002
    ) -> SelfPlayResult:
        """Play the games."""
        return play_games(
            self._game,
            self._config,
            orders.best.evaluator,
            orders.seed,
            orders.unfinished,
            self._workers,
            show,
            orders.resign_below,
        )

    def gate(
        self, challenger: NetworkSnapshot, best: NetworkSnapshot, seed: Sequence[int], show: Show
    ) -> Future[GateResult]:
        """Play the gate to its end."""
        future: Future[GateResult] = Future()
        players = challenger.evaluator, best.evaluator
        future.set_result(run_gate(self._game, self._config, *players, seed, self._workers, show))
        return future

    def close(self) -> None:
        """Nothing is left to stop."""
