"""Strength, measured while a run goes on: against opponents that never change, and exact answers.

Nothing here feeds back into training.
"""

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from alphazero.arena.bradley_terry import fit
from alphazero.arena.elo import match_result
from alphazero.arena.grade import collect_answers, grade_answers
from alphazero.arena.match import play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.arena.solved_positions import STAGES, solved_positions, stages_of
from alphazero.arena.tournament import Tournament
from alphazero.config.schema import Config
from alphazero.errors import AlphaZeroError, ConfigError
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator
from alphazero.players.base import Player
from alphazero.players.registry import PlayerSpec, common_game, parse_player
from alphazero.training.gate import seat

OPENING_MOVES = 4
"""Random moves that open each pair of the ladder's games."""

Figures = dict[str, float]
"""Values of curves by their names."""

Counts = np.ndarray[tuple[int, int, int], np.dtype[np.int64]]


class Evaluation:
    """All that a configuration asks to be measured.

    Raises:
        ConfigError: as its parts do.
    """

    def __init__(self, game: Game, config: Config) -> None:
        settings = config.evaluation
        self.interval = settings.interval
        self.ladder = AnchorMatches(game, config) if settings.ladder else None
        self.examination = SolvedPositionsCheck(game, config) if settings.positions else None

    def due(self, iteration: int) -> int:
        """Return how many games and positions a measurement takes now; 0 when none is due."""
        if iteration % self.interval:
            return 0
        games = self.ladder.games if self.ladder else 0
        return games + (self.examination.num_positions if self.examination else 0)

    def measure(
        self,
        best: Evaluator,
        seed: Sequence[int],
        workers: int = 1,
        show: Callable[[int], object] = bool,
    ) -> Figures:
        """Measure the best player; `show` is called with the games and positions that are done."""
        figures: Figures = {}
        if self.ladder:
            figures |= self.ladder.run(best, seed, workers, show)
        if self.examination:
            figures |= self.examination.run(best, workers, show)
        return figures


class AnchorMatches:
    """Opponents that never change, and where a player stands among them.

    Raises:
        ConfigError: for a name that is no player's, of another game, or timed by the clock.
    """

    def __init__(self, game: Game, config: Config) -> None:
        self.game, self.config = game, config
        self.anchors = [self._read(name) for name in config.evaluation.ladder]
        self._between: Counts | None = None
        """the anchors' games among themselves, played at the first measurement"""
        if len({each.name for each in self.anchors}) < len(self.anchors):
            raise ConfigError("evaluation.ladder: two of its names mean the same player")

    @property
    def games(self) -> int:
        """Games of one measurement, those between the anchors not counted."""
        return self.config.evaluation.games * len(self.anchors)

    @property
    def games_between(self) -> int:
        """Games between the anchors, which the first measurement adds."""
        return self.config.evaluation.games * math.comb(len(self.anchors), 2)

    def run(
        self,
        evaluator: Evaluator,
        seed: Sequence[int],
        workers: int = 1,
        show: Callable[[int], object] = bool,
    ) -> Figures:
        """Let the best player meet every anchor; return its scores, and its Elo with the ends of
        its 95 % interval, where the first anchor has 0.

        Rated by Bradley-Terry from these games and those between the anchors.
        """
        if self._between is None:
            self._between = self._meet_each_other(workers)
        config, rng = self.config, np.random.default_rng(seed)
        games, thinking = config.evaluation.games, config.evaluation.simulations or None
        schedule = []
        for place in range(1, len(self.anchors) + 1):
            for pairing in paired_openings(self.game, games, OPENING_MOVES, rng):
                first, second = (place * seat for seat in pairing.players)
                schedule.append(dataclasses.replace(pairing, players=(first, second)))

        def seat_players(tables: int) -> list[Player]:
            anchors = [each.create(self.game, tables, rng.spawn(1)[0]) for each in self.anchors]
            return [seat(self.game, evaluator, config.search, thinking, tables), *anchors]

        tables = config.selfplay.parallel_games
        records = play_schedule(self.game, seat_players, schedule, tables, workers, show)
        figures, counts = {}, self._between.copy()
        for place, name in enumerate(config.evaluation.ladder, 1):
            against = [record for record in records if place in record.pairing.players]
            figures[f"ladder/{metric_name(name)}/score"] = match_result(against).score
            for record in against:
                counts[*record.pairing.players, record.outcome + 1] += 1
        ratings = fit(counts, anchor=1)
        return figures | {
            "ladder/elo": float(ratings.elo[0]),
            "ladder/elo_low": float(ratings.low[0]),
            "ladder/elo_high": float(ratings.high[0]),
        }

    def _meet_each_other(self, workers: int) -> Counts:
        """Let the anchors, who take places from 1 on, play each other; return what `fit` takes."""
        counts = np.zeros((len(self.anchors) + 1,) * 2 + (3,), np.int64)
        if len(self.anchors) > 1:
            games, seed = self.config.evaluation.games, self.config.run.seed
            tournament = Tournament(self.game, self.anchors, games, OPENING_MOVES, seed)
            tournament.play(workers)
            counts[1:, 1:] = tournament.counts()
        return counts

    def _read(self, name: str) -> PlayerSpec:
        try:
            anchor = parse_player(name)
            common_game([anchor], self.game)
        except AlphaZeroError as error:
            raise ConfigError(f"evaluation.ladder: {error}") from error
        if anchor.is_timed:
            raise ConfigError(
                f"evaluation.ladder: {anchor.name} is timed by the clock, so its strength would "
                "depend on the machine; give it simulations or a depth"
            )
        return anchor


class SolvedPositionsCheck:
    """Solved positions of every stage of the game, and how a player answers them.

    Raises:
        ConfigError: when the game's exact answers are not known.
    """

    def __init__(self, game: Game, config: Config) -> None:
        self.game, self.config = game, config
        try:
            self.solution = solved_positions(game, config.evaluation.positions, config.run.seed)
        except AlphaZeroError as error:
            raise ConfigError(
                f"evaluation.positions: exact answers are not known here: {error}; set it to 0"
            ) from error
        self.stages = stages_of(game, self.solution.states)

    @property
    def num_positions(self) -> int:
        """Positions asked in one measurement, with search and without."""
        return 2 * len(self.stages)

    def run(
        self, evaluator: Evaluator, workers: int = 1, show: Callable[[int], object] = bool
    ) -> Figures:
        """Ask the bare network and the search; return for each stage of the game how they do."""
        figures: Figures = {}
        search, thinking = self.config.search, self.config.evaluation.simulations or None
        for who, simulations in (("network", 0), ("search", thinking)):
            answers = collect_answers(
                functools.partial(seat, self.game, evaluator, search, simulations),
                self.solution,
                self.config.selfplay.parallel_games,
                workers,
                show,
            )
            for stage in np.unique(self.stages):
                chosen = np.flatnonzero(self.stages == stage)
                grade = grade_answers(self.game, self.solution.take(chosen), answers.take(chosen))
                figures |= {
                    f"solved/{who}_optimal/{STAGES[stage]}": grade.share,
                    f"solved/{who}_blunders/{STAGES[stage]}": grade.blunders / grade.positions,
                    f"solved/{who}_value_error/{STAGES[stage]}": grade.value_error,
                }
        return figures


def metric_name(name: str) -> str:
    """Return a player's name as a part of a curve's name: TensorBoard knows few signs."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", name)
