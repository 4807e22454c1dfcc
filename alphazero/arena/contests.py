"""Matches between two players, and matches and grades of players by their names."""

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from alphazero.arena.elo import MatchResult, match_result
from alphazero.arena.grade import Grade, collect_answers, grade_answers
from alphazero.arena.match import DEFAULT_PARALLEL_GAMES, play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.arena.solved_positions import solved_positions
from alphazero.errors import PlayerError
from alphazero.games.game import Game
from alphazero.players.base import Player
from alphazero.players.budget import Budget, budget_of
from alphazero.players.registry import agree_on_game, parse_checkpoint, parse_player
from alphazero.players.specs import Agent, AgentFunction, PlayerSpec
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.solvers.exhaustive import SolvedPositions
from alphazero.utils.files import printable
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import Progress, do_nothing, no_progress
from alphazero.utils.tables import count_of

if TYPE_CHECKING:
    from alphazero.players.checkpoint_player import CheckpointPlayer


def whole_pairs(records: Iterable[GameRecord]) -> tuple[list[GameRecord], list[GameRecord]]:
    """Return a match's games, pair by pair, and apart the games whose pair has not ended.

    These would mislead: while a match goes on, more short games have ended, of one side perhaps.
    """
    pairs: dict[int, list[GameRecord]] = {}
    for record in sorted(records, key=lambda record: record.pairing.players):
        pairs.setdefault(record.pairing.pair_id, []).append(record)
    whole, others = list[GameRecord](), list[GameRecord]()
    for _, pair in sorted(pairs.items()):
        (whole if len(pair) == 2 else others).extend(pair)
    return whole, others


def play_specs(
    players: Sequence[PlayerSpec],
    game: Game,
    schedule: Sequence[Pairing],
    rng: np.random.Generator,
    workers: int = 1,
    show: Progress = no_progress,
    keep: Callable[[list[GameRecord]], object] = do_nothing,
) -> list[GameRecord]:
    """Play a schedule, each player with a spawned generator; see `play_schedule`."""

    def make_players(num_games: int) -> list[Player]:
        return [player.create(game, num_games, rng.spawn(1)[0]) for player in players]

    most = parallel_games_for(players, game, workers)
    return play_schedule(game, make_players, schedule, most, workers, show, keep)


def parallel_games_for(players: Sequence[PlayerSpec], game: Game, workers: int) -> int:
    """Return the number of parallel games: one per core if a player needs one, else the default.

    They are fewer where a player's memory holds fewer trees.
    """
    if any(player.needs_core for player in players):
        return workers
    limits = [player.most_games(game) for player in players]
    return min([DEFAULT_PARALLEL_GAMES, *(workers * limit for limit in limits if limit)])


def play_contest(
    players: Sequence[PlayerSpec],
    game: Game,
    games: int,
    opening_moves: int,
    seed: int,
    show: Progress = no_progress,
    keep: Callable[[list[GameRecord]], object] = do_nothing,
) -> list[GameRecord]:
    """Play a match of two players from random openings, on all cores; see `play_schedule`.

    Return the games, pair by pair.
    """
    rng = np.random.default_rng(seed)
    schedule = paired_openings(game, games, opening_moves, rng)
    records = play_specs(players, game, schedule, rng, usable_cores(), show, keep)
    return whole_pairs(records)[0]


def forfeit_lines(forfeits: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each loser and reason of games that ended by an error."""
    return [
        f"{printable(name)} lost {count_of(games, 'game')} by an error: {printable(reason)}"
        for (name, reason), games in Counter(forfeits).items()
    ]


def check_counts(games: int, opening_moves: int, seed: int) -> None:
    """Raise PlayerError for numbers with which no games can be played."""
    if not (isinstance(games, Integral) and games > 0 and games % 2 == 0):
        raise PlayerError(f"games must be an even number from 2 on, got {games!r}")
    for name, value in {"opening_moves": opening_moves, "seed": seed}.items():
        if not (isinstance(value, Integral) and value >= 0):
            raise PlayerError(f"{name} must be a whole number, at least 0; got {value!r}")


def match(
    first: Path | str | Agent | AgentFunction,
    second: Path | str | Agent | AgentFunction,
    *,
    game: Game | str | None = None,
    games: int = 100,
    simulations: int | None = None,
    seconds: float | None = None,
    opening_moves: int = 4,
    seed: int = 0,
) -> MatchResult:
    """Let two players play each other; return the result of `first`.

    Players are written as on the command line, as `uct:1000`, or are agents: objects with
    `choose(game, state)`, or such functions. Each opening of `opening_moves` random moves is
    played twice, with sides swapped, so `games` is even. `simulations` or `seconds` is the
    budget of players that give none. Lines on stderr count the games that a program lost by an
    error. Raises PlayerError when the players do not exist, or play different games.
    """
    check_counts(games, opening_moves, seed)
    players = [
        parse_player(player, simulations=simulations, seconds=seconds) for player in (first, second)
    ]
    players, chosen = agree_on_game(players, game)
    records = play_contest(players, chosen, games, opening_moves, seed)
    forfeits = (
        (players[record.pairing.players[record.outcome > 0]].name, record.forfeit_reason)
        for record in records
        if record.forfeit_reason
    )
    for line in forfeit_lines(forfeits):
        print(line, file=sys.stderr)
    return match_result(chosen, records)


def grade(checkpoint: Path | str, *, simulations: int | None = None) -> Grade:
    """Count how often a checkpoint plays an optimal move, in the solved positions of its game.

    `simulations` are those of a move, by default as in training; 0 is the network alone. Raises
    CheckpointError for a file that is no checkpoint, GameError for a game without solved positions
    that is too large to solve, and PlayerError for `simulations` that are none.
    """
    budget_of(simulations)
    saved = parse_checkpoint(str(checkpoint)).saved
    return grade_checkpoint(saved, simulations, solved_positions(saved.game))


def grade_checkpoint(
    saved: "CheckpointPlayer",
    simulations: int | None,
    solution: SolvedPositions,
    show: Progress = no_progress,
) -> Grade:
    """Grade a loaded checkpoint in solved positions, on all cores, as `grade`."""
    from alphazero.players.checkpoint_player import most_trees

    number = saved.settings.simulations if simulations is None else int(simulations)
    most = most_trees(saved.game, number)
    make_player = functools.partial(saved.create, budget=Budget(number))
    parallel_games = min(DEFAULT_PARALLEL_GAMES, most)
    answers = collect_answers(make_player, solution, parallel_games, usable_cores(), show)
    return grade_answers(saved.game, solution, answers)
