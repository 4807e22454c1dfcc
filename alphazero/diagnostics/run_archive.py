"""A run's recorded games, curves and progress, readable while it trains.

Self-play games come from the replay window's shards, each checked against the manifest. For an
iteration outside the window they are its few sample games in `games/`, without policies. Gate games
are only in `games/`, which keeps the newest `KEPT_GAMES` iterations.
"""

import functools
import math
import re
import threading
from collections import OrderedDict
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final, TypeVar

from alphazero.errors import RunError
from alphazero.games.game import Game
from alphazero.records.archive import SELFPLAY, to_played_game
from alphazero.records.game_files import load_played
from alphazero.records.game_record import GameRecord
from alphazero.records.opening_explorer import in_periods
from alphazero.records.played_game import PlayedGame
from alphazero.training.manifest import MANIFEST, check_resumable
from alphazero.training.run_directory import SAMPLE_NAME, RunDirectory
from alphazero.utils.files import path_errors
from alphazero.utils.progress import progress_bar

CACHED_ITERATIONS: Final = 3

PERIODS: Final = 4
"""Periods into which a run's self-play games are divided, to compare their openings."""

MAX_POINTS: Final = 200
"""Points of a curve on the page."""

Point = TypeVar("Point")


class RunArchive:
    """The games of the run in `folder`, thread-safe; raises RunError if there is no run.

    Nothing is locked or written, so the run may continue to train; it may remove listed games.
    """

    def __init__(self, folder: Path) -> None:
        check_resumable(folder)
        self.folder = folder
        self.name = folder.resolve().name
        self._lock = threading.Lock()
        self._read: OrderedDict[tuple[int, str], list[GameRecord | PlayedGame]] = OrderedDict()
        self._openings: tuple[Hashable, dict[str, list[PlayedGame]]] = None, {}

    @functools.cached_property
    def game(self) -> Game:
        return self._run().game

    def stamps(self) -> tuple[Hashable, Hashable]:
        """Return two values, which change with each iteration and with each new best player.

        Neither file is read.
        """
        return _stamp(self.folder / MANIFEST), _stamp(self.folder / "best.safetensors")

    def status(self) -> dict[str, Any]:
        """Return how far the run is; raise RunError if it is unreadable."""
        run = self._run()
        state = run.state
        step = re.search(r"\d+", state.best)
        return {
            "iteration": state.iteration,
            "games": state.games,
            "positions": state.positions,
            "best_step": int(step[0]) if step else 0,
            "budget_spent": run.budget_share(),
        }

    def charts(self) -> list[dict[str, Any]]:
        return []

    def iterations(self) -> list[tuple[int, str]]:
        """Return iterations with games and kinds, newest first; raise RunError if unreadable."""
        found = {(iteration, SELFPLAY) for iteration in self._run().state.shards}
        return sorted(found | set(self._files()), key=lambda each: (-each[0], each[1]))

    def games(self, iteration: int, kind: str) -> list[GameRecord | PlayedGame]:
        """Return the games of an iteration: records with policies while in the window.

        Games on another board than the run's own never have their policies.

        Raises:
            RunError, PlayerError: when they have been removed or are damaged.
        """
        with self._lock:
            key = iteration, kind
            if key not in self._read:
                self._read[key] = self._load(iteration, kind)
                while len(self._read) > CACHED_ITERATIONS:
                    self._read.popitem(last=False)
            self._read.move_to_end(key)
            return self._read[key]

    def opening_games(self) -> dict[str, list[PlayedGame]]:
        """Return the self-play games by period; kept until the run has another iteration."""
        stamp, (known, games) = self.stamps()[0], self._openings
        if stamp != known:
            numbers = sorted(number for number, kind in self.iterations() if kind == SELFPLAY)
            played: dict[int, list[PlayedGame]] = {}
            with progress_bar(len(numbers), "iteration") as bar:
                for number in numbers:
                    records = self.games(number, SELFPLAY)
                    played[number] = [to_played_game(self.game, each) for each in records]
                    bar.update()
            games = in_periods(played, PERIODS)
            self._openings = stamp, games
        return games

    def _load(self, iteration: int, kind: str) -> list[GameRecord | PlayedGame]:
        if kind == SELFPLAY and iteration in (run := self._run()).state.shards:
            try:
                records = run.load_shard(iteration).records()
                return list(records)
            except RunError:
                # It may have left the window since the manifest was read.
                if iteration in self._run().state.shards:
                    raise
        path = self._files().get((iteration, kind))
        if path is None:
            raise RunError(
                f"{self.name} has no {kind} games of iteration {iteration} any more; choose a "
                "newer one"
            )
        return list(load_played(path))

    def _run(self) -> RunDirectory:
        return RunDirectory.open(self.folder)

    def _files(self) -> dict[tuple[int, str], Path]:
        """Return the files of sample games, except texts, by iteration and kind."""
        folder = self.folder / "games"
        with path_errors("read", folder):
            paths = list(folder.iterdir())
        named = [(path, SAMPLE_NAME.fullmatch(path.name)) for path in paths]
        return {
            (int(found[2]), found[1]): path for path, found in named if found and found[3] != "txt"
        }


def _stamp(path: Path) -> Hashable:
    """Return a value that differs once the file has been replaced; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _thinned(points: list[Point]) -> list[Point]:
    """Return at most about `MAX_POINTS` of the points, evenly spaced, the last one included."""
    apart = math.ceil(len(points) / MAX_POINTS) or 1
    return points[::-1][::apart][::-1]
