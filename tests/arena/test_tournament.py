"""A tournament plays what is missing, keeps what was played, and counts it rightly."""

import dataclasses
import itertools
import math
import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from helpers.frontends import fake_engine
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.players import saved_player

from alphazero.arena.elo import count_distinct
from alphazero.arena.tournament import GAMES_FILE, Standing, Tournament, forfeits, standings, table
from alphazero.errors import AlphaZeroError, PlayerError, RunError
from alphazero.games.game import value_of
from alphazero.players.registry import parse_player
from alphazero.players.specs import PlayerSpec
from alphazero.records.jsonl import load_games, to_lines
from alphazero.records.played_game import PlayedGame


def specs(*texts: str) -> list[PlayerSpec]:
    return [parse_player(text) for text in texts]


THREE = ("random", "uct:simulations=12", "uct:simulations=60")


def tournament(texts: Sequence[str] = THREE, games: int = 8, **more: object) -> Tournament:
    return Tournament(TIC_TAC_TOE, specs(*texts), games, 2, **more)  # type: ignore[arg-type]


def play(contest: Tournament, workers: int = 1) -> int:
    """Play what is missing; return how many games that were."""
    shown: list[int] = []
    contest.play(workers, shown.append)
    return sum(shown)


def test_every_two_players_meet_as_often_with_colours_swapped():
    contest = tournament()
    assert contest.missing == 24 == play(contest)
    assert contest.missing == 0
    assert contest.pairings == [(0, 1), (0, 2), (1, 2)]
    meetings = Counter(result.pairing.players for result in contest.results)
    assert meetings == dict.fromkeys(itertools.permutations(range(3), 2), 4)
    openings: dict[object, list[PlayedGame]] = {}
    for game in contest.played:
        openings.setdefault((frozenset(game.players), game.pair), []).append(game)
    assert len(openings) == 12
    for first, second in openings.values():
        assert first.players == second.players[::-1]
        assert first.opening == second.opening == 2
        assert first.actions[:2] == second.actions[:2]


def test_in_a_gauntlet_the_first_meets_all_others():
    contest = tournament(gauntlet=True)
    assert play(contest) == 16
    rows = standings(contest)
    assert {row.name: row.games for row in rows} == dict(zip(THREE, (16, 8, 8), strict=True))


def test_wins_draws_and_losses_are_counted_from_each_players_view():
    contest = tournament(games=20)
    play(contest)
    rows = standings(contest)
    for row in rows:
        values = [
            value_of(game.outcome, game.players.index(row.name))
            for game in contest.played
            if row.name in game.players
        ]
        counted = values.count(1), values.count(0), values.count(-1)
        assert (row.wins, row.draws, row.losses) == counted
        assert row.score == pytest.approx(np.mean([(1 + value) / 2 for value in values]))
    assert [row.name for row in rows] == list(THREE[::-1])
    assert rows[-1].elo == 0


def test_a_second_call_plays_only_what_is_missing(tmp_path):
    folder = tmp_path / "a" / "b"
    first = tournament(THREE[:2], folder=folder)
    assert play(first) == 8
    assert load_games(folder / GAMES_FILE) == first.played
    assert play(tournament(THREE[:2], folder=folder)) == 0
    assert play(tournament(THREE[:2], games=12, folder=folder)) == 4
    # Another order is the same tournament; another player brings its own pairings.
    wider = tournament(THREE[::-1], games=12, folder=folder)
    assert wider.missing == 24 == play(wider)
    assert len(wider.results) == 36
    # Games of who is not here stay in the file.
    assert len(tournament(THREE[1:], games=12, folder=folder).results) == 12
    assert len(load_games(folder / GAMES_FILE)) == 36


class Stop(Exception):
    """A test ends a tournament."""


@pytest.mark.parametrize("games", [1, 7, 8, 19])
def test_an_interrupted_tournament_keeps_the_pairs_that_ended(tmp_path, games: int):
    shown: list[int] = []

    def stop_later(ended: int) -> None:
        shown.append(ended)
        if sum(shown) >= games:
            raise Stop

    broken = tournament(folder=tmp_path)
    with pytest.raises(Stop):
        broken.play(1, stop_later)
    again = tournament(folder=tmp_path)
    assert again.played == broken.played
    pairs = Counter((frozenset(game.players), game.pair) for game in again.played)
    assert {*pairs.values()} <= {2}
    kept = len(again.played)
    assert sum(shown) - 4 <= kept <= sum(shown), "each pair of one pairing loses a game at most"
    assert play(again) == 24 - kept
    whole = tournament()
    play(whole)
    assert {(game.players, game.pair, game.actions[:2]) for game in again.played} == {
        (game.players, game.pair, game.actions[:2]) for game in whole.played
    }


def test_games_are_saved_while_others_are_played(tmp_path):
    contest, kept = tournament(games=40, folder=tmp_path), []

    def look(_: int) -> None:
        if (tmp_path / GAMES_FILE).exists():
            kept.append((len(contest.played), len(load_games(tmp_path / GAMES_FILE))))

    contest.play(1, look)
    assert len({saved for _, saved in kept}) > 10
    assert all(played - saved <= 0.05 * played for played, saved in kept)


def test_half_a_pair_is_played_again(tmp_path):
    contest = tournament(THREE[:2], folder=tmp_path)
    play(contest)
    (tmp_path / GAMES_FILE).write_bytes(to_lines(contest.played[:-1]))
    assert tournament(THREE[:2], folder=tmp_path).missing == 2


@pytest.mark.parametrize(
    ("texts", "more", "message"),
    [
        (THREE, {"seed": 1}, "other openings; give the same seed and number of opening moves"),
        (THREE, {"opening_moves": 3}, "other openings"),
        (THREE, {"game": CONNECT_FOUR}, "games of another game"),
    ],
)
def test_games_of_another_tournament_are_refused(
    tmp_path, texts: Sequence[str], more: dict[str, object], message: str
):
    play(tournament(texts, games=2, folder=tmp_path))
    usual = {"game": TIC_TAC_TOE, "opening_moves": 2, "seed": 0}
    with pytest.raises(PlayerError, match=message) as caught:
        Tournament(specs=specs(*texts), games=2, folder=tmp_path, **(usual | more))  # type: ignore[arg-type]
    assert str(tmp_path / GAMES_FILE) in str(caught.value)


def test_games_of_a_player_that_has_changed_are_refused(tmp_path):
    path = saved_player(tmp_path / "player.safetensors")
    names = "random", f"{path}:simulations=0"
    play(tournament(names, games=2, folder=tmp_path))
    saved_player(path, search={"simulations": 9})
    with pytest.raises(PlayerError, match=r"holds games of an earlier .*player"):
        tournament(names, games=2, folder=tmp_path)


def test_a_folder_that_cannot_hold_games_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot create"):
        tournament(folder=tmp_path / "file")
    (tmp_path / "taken" / GAMES_FILE).mkdir(parents=True)
    with pytest.raises(RunError, match=f"cannot read .*{GAMES_FILE}"):
        tournament(folder=tmp_path / "taken")
    closed = tournament(folder=tmp_path / "closed")
    (tmp_path / "closed").rmdir()
    with pytest.raises(RunError, match=f"cannot write .*{GAMES_FILE}"):
        closed.play(1, no_games)
    (tmp_path / GAMES_FILE).write_text("rubbish")
    with pytest.raises(AlphaZeroError, match=f"{GAMES_FILE}:1: "):
        tournament(folder=tmp_path)


def no_games(_: int) -> None:
    raise AssertionError("a game was played")


ROWS = [
    Standing("a:b=1,c", 312.34, 250.0, 399.9, 120, 80, 20, 20),
    Standing("random", -0.0, 0.0, 0.0, 1200, 0, 0, 1200),
    Standing("uct", -0.04, -0.2, 0.4, 1200, 0, 0, 1200),
]


def test_the_table_is_aligned():
    contest = tournament()
    play(contest)
    lines = table(ROWS, contest).splitlines()
    assert lines[:4] == [
        "player    Elo  95 % interval  games  score  won  drawn   lost",
        "a:b=1,c  +312   +250 to +400    120  75.0%   80     20     20",
        "random     +0         anchor  1,200   0.0%    0      0  1,200",
        "uct        +0       +0 to +0  1,200   0.0%    0      0  1,200",
    ]
    wins, draws = (sum(game.outcome == outcome for game in contest.played) for outcome in (1, 0))
    score = (wins + draws / 2 + 0.5) / 25
    distinct = count_distinct(TIC_TAC_TOE, contest.results)
    assert lines[4:] == [
        f"moving first is worth {400 * math.log10(score / (1 - score)):+.0f} Elo; "
        f"{draws / 24:.0%} of the games are drawn; {distinct} of 24 games distinct"
    ]


def test_games_that_end_by_an_error_are_named():
    """A program that ends at its first move loses each game, and the table says why."""
    crash = f"gtp:{sys.executable} {fake_engine.__file__} gtp crash 1"
    contest = Tournament(TIC_TAC_TOE, specs("random", crash), 4, 0, 1)
    play(contest)
    lost = forfeits(contest)
    assert [name for name, _ in lost] == [contest.specs[1].name] * 4
    *_, line = table(standings(contest), contest).splitlines()
    assert line.startswith(f"{contest.specs[1].name} lost 4 games by an error: the program ended")
    others = dataclasses.replace(contest, specs=specs("random", "uct:2"))
    assert forfeits(others) == [], "games of other players do not count"
