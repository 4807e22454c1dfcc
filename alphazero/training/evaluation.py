"""Strength measurements during a run; nothing here feeds back into training."""

import dataclasses
import functools
import re
from collections.abc import Sequence

import numpy as np

from alphazero.arena.bradley_terry import PairScore, fit
from alphazero.arena.contests import parallel_games_for
from alphazero.arena.elo import Result, pair_scores
from alphazero.arena.grade import collect_answers, grade_answers
from alphazero.arena.match import play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.arena.solved_positions import STAGES, solved_positions, stages_of
from alphazero.arena.tournament import Tournament, results_of
from alphazero.config.schema import Config
from alphazero.errors import AlphaZeroError, ConfigError, PlayerError
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator
from alphazero.players.base import Player
from alphazero.players.registry import common_game, parse_player
from alphazero.players.specs import PlayerSpec, ProgramSpec
from alphazero.records.game_record import GameRecord
from alphazero.training.gate import make_player
from alphazero.utils.files import printable
from alphazero.utils.progress import Progress, no_progress, say

GAMES = 40
"""Games against each anchor and between each two, in pairs that swap colours."""

OPENING_MOVES = 4
"""Random opening moves of each pair of games against an anchor."""


class PlayerEvaluation:
    """The measurements that a configuration asks for.

    Raises ConfigError as `read_anchors`, and for solved positions without exact answers.
    """

    def __init__(self, game: Game, config: Config) -> None:
        self.game, self.config = game, config
        self.anchors = read_anchors(game, config)
        """players that never change"""
        self._between: list[PairScore] | None = None
        self.solution = None
        if per_stage := config.evaluation.solved_positions_per_stage:
            try:
                self.solution = solved_positions(game, per_stage, config.run.seed)
            except AlphaZeroError as error:
                raise ConfigError(
                    "evaluation.solved_positions_per_stage: exact answers are not known here: "
                    f"{error}; set it to 0"
                ) from error

    @property
    def games(self) -> int:
        """Games of one measurement, without those between anchors."""
        return GAMES * len(self.anchors)

    @property
    def answers(self) -> int:
        """Answers of one measurement: each solved position with search and without."""
        return 2 * len(self.solution.states) if self.solution else 0

    def due(self, iteration: int) -> int:
        """Return the number of games and answers that a measurement takes; 0 if none is due."""
        due = iteration % self.config.evaluation.interval == 0
        return self.games + self.answers if due else 0

    def measure(
        self, best: Evaluator, seed: Sequence[int], workers: int = 1, show: Progress = no_progress
    ) -> dict[str, float]:
        """Measure the best player; `show` gets the number of newly finished games and answers."""
        try:
            scores = self._play_anchors(best, seed, workers, show)
        except PlayerError as error:
            say(f"the anchors cannot be measured: {error}")
            scores = {}
        return scores | self._grade(best, workers, show)

    def _play_anchors(
        self, best: Evaluator, seed: Sequence[int], workers: int, show: Progress
    ) -> dict[str, float]:
        """Play the best player against every anchor; return scores, and Elo with 95 % interval.

        Elo is by Bradley-Terry from these games and those between anchors; the first anchor has 0.
        """
        if not self.anchors:
            return {}
        if self._between is None:
            self._between = self._play_between_anchors(workers)
        config, rng = self.config, np.random.default_rng(seed)
        schedule = []
        for index in range(1, len(self.anchors) + 1):
            for pairing in paired_openings(self.game, GAMES, OPENING_MOVES, rng):
                first, second = (index * player for player in pairing.players)
                schedule.append(dataclasses.replace(pairing, players=(first, second)))

        def make_players(num_games: int) -> list[Player]:
            anchors = [
                anchor.create(self.game, num_games, rng.spawn(1)[0]) for anchor in self.anchors
            ]
            return [make_player(self.game, best, config.search, None, num_games), *anchors]

        metrics: dict[str, float] = {}
        records: list[GameRecord] = []
        for needs_core in (False, True):
            anchors = [anchor for anchor in self.anchors if anchor.needs_core == needs_core]
            games = [each for each in schedule if self.anchors[max(each.players) - 1] in anchors]
            most = parallel_games_for(anchors, self.game, workers)
            parallel = min(config.selfplay.parallel_games, most)
            records += play_schedule(self.game, make_players, games, parallel, workers, show)
        results = [Result.of(record) for record in records if not record.forfeit_reason]
        for index, name in enumerate(config.evaluation.anchors, 1):
            against = [record for record in records if index in record.pairing.players]
            _report_forfeits(name, [record.forfeit_reason for record in against])
            scores = [result.score(0) for result in results if index in result.pairing.players]
            if scores:
                word = re.sub(r"[^A-Za-z0-9.-]+", "_", name)  # TensorBoard allows few characters
                metrics[f"anchors/{word}/score"] = sum(scores) / len(scores)
        pairs = [*self._between, *pair_scores(self.game, results)]
        try:
            ratings = fit(len(self.anchors) + 1, pairs, anchor=1)
        except PlayerError:  # an anchor has finished no game
            return metrics
        return metrics | {
            "anchors/elo": float(ratings.elo[0]),
            "anchors/elo_low": float(ratings.low[0]),
            "anchors/elo_high": float(ratings.high[0]),
        }

    def _grade(self, best: Evaluator, workers: int, show: Progress) -> dict[str, float]:
        """Grade the network alone and the search; return the metrics of each stage of the game."""
        metrics: dict[str, float] = {}
        if self.solution is None:
            return metrics
        game, stages = self.game, stages_of(self.game, self.solution.states)
        for who, simulations in (("network", 0), ("search", None)):
            answers = collect_answers(
                functools.partial(make_player, game, best, self.config.search, simulations),
                self.solution,
                self.config.selfplay.parallel_games,
                workers,
                show,
            )
            for stage in np.unique(stages):
                chosen = np.flatnonzero(stages == stage)
                grade = grade_answers(game, self.solution.take(chosen), answers.take(chosen))
                metrics |= {
                    f"solved/{who}_optimal/{STAGES[stage]}": grade.share,
                    f"solved/{who}_blunders/{STAGES[stage]}": grade.blunders / grade.positions,
                    f"solved/{who}_value_error/{STAGES[stage]}": grade.value_error,
                }
        return metrics

    def _play_between_anchors(self, workers: int) -> list[PairScore]:
        """Return the scores between anchors, which count from 1."""
        if len(self.anchors) < 2:
            return []
        seed = self.config.run.seed
        tournament = Tournament(self.game, self.anchors, GAMES, OPENING_MOVES, seed)
        tournament.play(workers)
        names = ["the best player", *(anchor.name for anchor in self.anchors)]
        _report_forfeits("other anchors", [game.forfeit_reason for game in tournament.played])
        finished = [game for game in tournament.played if not game.forfeit_reason]
        return pair_scores(self.game, results_of(names, finished))


def _report_forfeits(opponent: str, reasons: Sequence[str]) -> None:
    """Say how many games were forfeited, by the reason of each game; empty for the others."""
    if given := [reason for reason in reasons if reason]:
        games = f"{len(given)} of {len(reasons)} games against {printable(opponent)}"
        say(f"{games} were forfeited, and do not count: {printable(given[0])}")


def read_anchors(game: Game, config: Config) -> list[PlayerSpec]:
    """Return the players that `evaluation.anchors` names.

    Raises:
        ConfigError: for an anchor that is not a player, is of another game, is timed by the clock,
            or means the same player as another one, and for a program that does not start.
    """
    anchors = [_read_anchor(game, name) for name in config.evaluation.anchors]
    if len({anchor.name for anchor in anchors}) < len(anchors):
        raise ConfigError("evaluation.anchors: two of its names mean the same player")
    return anchors


def _read_anchor(game: Game, name: str) -> PlayerSpec:
    try:
        anchor = parse_player(name)
        common_game([anchor], game)
        if isinstance(anchor, ProgramSpec) and not anchor.is_timed:
            anchor.create(game).close()  # else it fails in the first measurement, after hours
    except AlphaZeroError as error:
        raise ConfigError(f"evaluation.anchors: {error}") from error
    if anchor.is_timed:
        raise ConfigError(
            f"evaluation.anchors: {anchor.name} is timed by the clock, so its strength would "
            "depend on the machine; give it simulations or a depth"
        )
    return anchor
