"""Tournaments: round robins and gauntlets, with stored games.

After an interruption, or with more players or games, only missing games are played.
"""

import functools
import hashlib
import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from alphazero.arena.bradley_terry import fit
from alphazero.arena.contests import check_counts, forfeit_lines, play_specs
from alphazero.arena.elo import Result, count_distinct, elo_difference, pair_scores
from alphazero.arena.openings import random_opening
from alphazero.errors import PlayerError
from alphazero.games.game import ONGOING, Game, value_of, win_rate
from alphazero.players.registry import agree_on_game, parse_player
from alphazero.players.specs import Agent, AgentFunction, PlayerSpec
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.records.jsonl import load_games, to_lines
from alphazero.records.played_game import PlayedGame
from alphazero.utils.files import check_writable, path_errors, printable, write_atomic
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import Progress, no_progress
from alphazero.utils.shared_files import refuse
from alphazero.utils.tables import align

GAMES_FILE = "games.jsonl"
"""Name of the games file in a tournament's folder."""

LOCK = "games.lock"
"""Name of the file there by which a process locks the folder."""

UNSAVED_SHARE = 0.05
"""Games are saved when this share of the file would be new: often, but not the whole file often."""


def results_of(names: Sequence[str], games: Iterable[PlayedGame]) -> list[Result]:
    """Return finished games as results of players numbered as in `names`."""
    indices = {name: index for index, name in enumerate(names)}
    results = []
    for game in games:
        players = indices[game.players[0]], indices[game.players[1]]
        pairing = Pairing(players, game.actions[: game.opening], game.pair)
        results.append(Result(pairing, game.actions[game.opening :], game.outcome))
    return results


@dataclass
class Tournament:
    """The players, the pairings and the games so far.

    Raises PlayerError for too few or duplicate players, or games in the folder that do not fit,
    and RunError when the folder cannot be created or read.
    """

    game: Game
    specs: Sequence[PlayerSpec]
    games: int
    """games per pairing, even: each opening is played twice, colours swapped"""
    opening_moves: int = 4
    """random moves at the start of each pair of games"""
    seed: int = 0
    gauntlet: bool = False
    """The first player plays all others, who do not play each other."""
    folder: Path | None = None
    """where games are stored; None for nowhere"""
    played: list[PlayedGame] = field(default_factory=list)
    """All games so far, also of players outside this tournament; `play` adds to them.

    If none are given, they are read from the folder.
    """

    def __post_init__(self) -> None:
        names = [spec.name for spec in self.specs]
        for name, times in Counter(names).items():
            if times > 1:
                raise PlayerError(f"{name} is named twice; a player meets others, not itself")
        if len(names) < 2:
            raise PlayerError("a rating needs two players at least")
        if self.folder and self._file:
            with path_errors("create", self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
            if not self.played and self._file.exists():
                self.played = load_games(self._file, refuse)
        self._saved = len(self.played)
        for game in self.played:
            self._check(game)

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """Pairs of player indices."""
        everyone = range(len(self.specs))
        if self.gauntlet:
            return [(0, other) for other in everyone[1:]]
        return list(itertools.combinations(everyone, 2))

    @property
    def missing(self) -> int:
        """The number of games still to play."""
        return 2 * sum(len(self._missing_pairs(*pairing)) for pairing in self.pairings)

    def play(self, workers: int = 1, show: Progress = no_progress) -> None:
        """Play the missing games; `show` receives the number of games ended.

        They are saved by and by, both games of a pair together, and also if an error ends it.
        """
        if self._file and self.missing:
            check_writable(self._file)
        for pairing in self.pairings:
            if pairs := self._missing_pairs(*pairing):
                try:
                    self._play_pairs(pairing, pairs, workers, show)
                finally:
                    self._save()

    @property
    def results(self) -> list[Result]:
        """The results of the games between players of this tournament, by their indices."""
        names = [spec.name for spec in self.specs]
        return results_of(names, [game for game in self.played if {*game.players} <= {*names}])

    def _play_pairs(
        self, pairing: tuple[int, int], pairs: Sequence[int], workers: int, show: Progress
    ) -> None:
        players = [self.specs[index] for index in pairing]
        names = players[0].name, players[1].name
        hashes = players[0].player_hash, players[1].player_hash
        halves: dict[int, GameRecord] = {}

        def keep(records: Iterable[GameRecord]) -> None:
            for record in records:
                other = halves.pop(record.pairing.pair_id, None)
                if other is None:
                    halves[record.pairing.pair_id] = record
                    continue
                pair = sorted((record, other), key=lambda each: each.pairing.players)
                self.played += [PlayedGame.of(self.game, each, names, hashes) for each in pair]
            if len(self.played) - self._saved >= UNSAVED_SHARE * len(self.played):
                self._save()

        schedule = []
        for pair in pairs:
            opening = self._opening(names, pair)
            schedule += [Pairing((0, 1), opening, pair), Pairing((1, 0), opening, pair)]
        play_specs(players, self.game, schedule, self._rng(names, *pairs), workers, show, keep)

    def _save(self) -> None:
        """Save the games that are new, if there are any and games are kept."""
        if self._file and len(self.played) > self._saved:
            write_atomic(self._file, to_lines(self.played))
            self._saved = len(self.played)

    def _missing_pairs(self, first: int, second: int) -> list[int]:
        """Return the numbers of the pairs of games that are not complete."""
        names = {self.specs[first].name, self.specs[second].name}
        done = [game.pair for game in self.played if set(game.players) == names]
        return [pair for pair in range(self.games // 2) if done.count(pair) < 2]

    def _opening(self, names: tuple[str, str], pair: int) -> tuple[int, ...]:
        """Return an opening that depends only on the two names, the seed and the pair's number."""
        return random_opening(self.game, self.opening_moves, self._rng(names, pair))

    def _rng(self, names: tuple[str, str], *numbers: int) -> np.random.Generator:
        """Return a generator that depends only on seed, names and `numbers`."""
        digest = hashlib.sha256("\n".join(sorted(names)).encode()).digest()
        return np.random.default_rng([self.seed, int.from_bytes(digest[:8], "big"), *numbers])

    @functools.cached_property
    def _file(self) -> Path | None:
        return self.folder / GAMES_FILE if self.folder else None

    def _check(self, game: PlayedGame) -> None:
        """Raise PlayerError unless a stored game fits this tournament."""
        specs = {spec.name: spec for spec in self.specs}
        where = f"{printable(self._file or '')}: "
        if game.game != self.game:
            raise PlayerError(f"{where}holds games of another game; choose another folder")
        if game.outcome == ONGOING:
            raise PlayerError(f"{where}holds a game that is not over; choose another folder")
        for name, player_hash in zip(game.players, game.player_hashes, strict=True):
            if name in specs and specs[name].player_hash != player_hash:
                raise PlayerError(
                    f"{where}holds games of an earlier {name}, whose file was another one; choose "
                    "another folder"
                )
        if specs.keys() >= set(game.players):
            opening = self._opening(game.players, game.pair)
            if game.actions[: game.opening] != opening:
                raise PlayerError(
                    f"{where}holds games from other openings; give the same seed and number of "
                    "opening moves, or another folder"
                )


@dataclass(frozen=True)
class Standing:
    """A row of the rating table."""

    name: str
    elo: float
    elo_low: float
    """lower end of the 95 % interval of the difference to the first player"""
    elo_high: float
    games: int
    wins: int
    draws: int
    losses: int

    @property
    def score(self) -> float:
        """Wins plus half the draws, as a share of the games."""
        return (self.wins + self.draws / 2) / self.games


def standings(tournament: Tournament) -> list[Standing]:
    """Rate the players, the first of them at 0; return the strongest first."""
    results = tournament.results
    ratings = fit(len(tournament.specs), pair_scores(tournament.game, results))
    rows = []
    for index, spec in enumerate(tournament.specs):
        scores = Counter(
            result.score(index) for result in results if index in result.pairing.players
        )
        rows.append(
            Standing(
                spec.name,
                float(ratings.elo[index]),
                float(ratings.low[index]),
                float(ratings.high[index]),
                games=scores.total(),
                wins=scores[1.0],
                draws=scores[0.5],
                losses=scores[0.0],
            )
        )
    return sorted(rows, key=lambda row: -row.elo)


def rate(
    players: Sequence[Path | str | Agent | AgentFunction],
    *,
    game: Game | str | None = None,
    games: int = 20,
    simulations: int | None = None,
    seconds: float | None = None,
    opening_moves: int = 4,
    seed: int = 0,
) -> list[Standing]:
    """Rate players by a tournament, each against each; return the strongest first.

    The first of `players` has rating 0. The arguments are those of `match`; `games` are those
    of a pairing. Raises PlayerError when the players do not exist, play different games, or
    have the same name.
    """
    check_counts(games, opening_moves, seed)
    if isinstance(players, str) or not isinstance(players, Iterable):
        raise PlayerError(f"expected a list of players, as ['uct', 'random'], got {players!r:.80}")
    specs = [parse_player(name, simulations=simulations, seconds=seconds) for name in players]
    specs, chosen = agree_on_game(specs, game)
    tournament = Tournament(chosen, specs, games, opening_moves, seed)
    tournament.play(usable_cores())
    for line in forfeit_lines(forfeits(tournament)):
        print(line, file=sys.stderr)
    return standings(tournament)


def first_move_advantage(results: Sequence[Result]) -> float:
    """Return the Elo difference of the players who move first, by their score in all games."""
    wins = sum(win_rate(result.outcome) for result in results)
    return elo_difference((wins + 0.5) / (len(results) + 1))


def draw_share(results: Sequence[Result]) -> float:
    """Return the share of drawn games."""
    return sum(result.outcome == 0 for result in results) / len(results)


def forfeits(tournament: Tournament) -> list[tuple[str, str]]:
    """Return the loser and the reason of each game that ended by an error, as of a program."""
    names = {spec.name for spec in tournament.specs}
    return [
        (game.players[value_of(game.outcome, 0) > 0], game.forfeit_reason)
        for game in tournament.played
        if game.forfeit_reason and names.issuperset(game.players)
    ]


def table(rows: Sequence[Standing], tournament: Tournament) -> str:
    """Format standings as an aligned table, with a summary of the games."""
    lines = [["player", "Elo", "95 % interval", "games", "score", "won", "drawn", "lost"]]
    for row in rows:
        interval = "anchor"
        if row.elo_low < row.elo_high:
            interval = f"{row.elo_low:+z.0f} to {row.elo_high:+z.0f}"
        counts = (f"{count:,}" for count in (row.wins, row.draws, row.losses))
        figures = f"{row.elo:+z.0f}", interval, f"{row.games:,}", f"{row.score:.1%}"
        lines.append([row.name, *figures, *counts])
    results = tournament.results
    return (
        f"{align(lines)}\n"
        f"moving first is worth {first_move_advantage(results):+z.0f} Elo; "
        f"{draw_share(results):.0%} of the games are drawn; "
        f"{count_distinct(tournament.game, results):,} of {len(results):,} games distinct"
        + "".join(f"\n{line}" for line in forfeit_lines(forfeits(tournament)))
    )
