"""The search for ten levels, with players whose strengths are known; and the games it keeps."""

import argparse
import itertools
from typing import Any

import measure_levels
import pytest
from helpers.players import saved_player
from measure_levels import ANCHOR, Measurement, find_levels, name_of

from alphazero.arena.tournament import GAMES_FILE, Tournament
from alphazero.errors import PlayerError, RunError
from alphazero.players.checkpoint_player import load_checkpoint_player
from alphazero.players.levels import STRONGEST, LevelSettings

OPTIONS = argparse.Namespace(target=0.68, probe=60, games=200)


class Known:
    """Scores by the logistic curve: strength 1 is worth `elo` points, the anchor has `anchor`."""

    def __init__(self, elo: float, anchor: float) -> None:
        self.elo, self.anchor = elo, anchor

    def score(self, first: Any, second: Any, games: int) -> float:
        return 1 / (1 + 10 ** ((self._rating(second) - self._rating(first)) / 400))

    def _rating(self, who: Any) -> float:
        return self.anchor if who == ANCHOR else self.elo * who.temperature


@pytest.fixture(autouse=True)
def strengths(monkeypatch) -> None:
    """Let the settings hold their strength as their temperature."""
    monkeypatch.setattr(
        measure_levels, "settings_at", lambda strength, _: LevelSettings(0, strength)
    )


def scores_of(known: Known, levels: list[LevelSettings]) -> list[float]:
    return [known.score(above, below, 0) for below, above in itertools.pairwise(levels)]


def test_each_level_scores_as_wanted_against_the_one_below():
    known = Known(elo=600, anchor=1000)
    levels = find_levels(known, OPTIONS, 100)  # type: ignore[arg-type]
    assert len(levels) == 10
    assert levels[-1].temperature == STRONGEST
    assert all(abs(score - 0.68) <= 0.04 for score in scores_of(known, levels))
    assert known.score(levels[0], ANCHOR, 0) < 0.3


def test_the_steps_grow_until_the_first_level_loses_to_the_anchor():
    known = Known(elo=600, anchor=550)
    levels = find_levels(known, OPTIONS, 100)  # type: ignore[arg-type]
    scores = scores_of(known, levels)
    assert sum(scores) / 9 > 0.7
    assert max(scores) < 0.75
    assert known.score(levels[0], ANCHOR, 0) < 0.3


def test_steps_that_grow_too_large_for_ten_levels_leave_the_levels_before():
    known = Known(elo=450, anchor=-5000)
    levels = find_levels(known, OPTIONS, 100)  # type: ignore[arg-type]
    assert len(levels) == 10
    assert all(abs(score - 0.68) <= 0.04 for score in scores_of(known, levels))


def test_a_scale_without_room_for_ten_levels_is_refused():
    with pytest.raises(RunError, match="no room for ten levels"):
        find_levels(Known(elo=1, anchor=0), OPTIONS, 100)  # type: ignore[arg-type]


def test_all_cores_play(tmp_path, monkeypatch):
    saved = load_checkpoint_player(saved_player(tmp_path / "some.safetensors"))
    given: list[int] = []
    play = Tournament.play
    monkeypatch.setattr(measure_levels, "usable_cores", lambda: 3)
    monkeypatch.setattr(
        Tournament, "play", lambda self, *workers: (given.extend(workers), play(self, *workers))
    )
    Measurement(saved, 0, 0, None).score(LevelSettings(0, random_moves=1.0), LevelSettings(0), 6)
    assert given == [3]


def test_games_are_kept_and_counted_from_either_side(tmp_path):
    saved = load_checkpoint_player(saved_player(tmp_path / "some.safetensors"))
    random, network = LevelSettings(0, random_moves=1.0), LevelSettings(0)
    measured = Measurement(saved, 0, 0, tmp_path)
    first = measured.score(random, network, 4)
    assert len(measured.games) == 4
    assert measured.score(network, random, 4) == 1 - first
    assert len(measured.games) == 4
    (tmp_path / "some" / GAMES_FILE).write_text("rubbish")  # a score does not read it again
    measured.score(network, random, 6)
    assert {each.pair for each in measured.games} == {0, 1, 2}
    again = Measurement(saved, 0, 0, tmp_path)
    assert again.score(network, random, 6) == measured.score(network, random, 6)
    assert again.games == measured.games
    assert {*again.games[0].players} == {name_of(random), name_of(network)}
    other = load_checkpoint_player(saved_player(tmp_path / "some.safetensors", version=2))
    with pytest.raises(PlayerError, match="holds games of an earlier"):
        Measurement(other, 0, 0, tmp_path).score(random, network, 4)
