"""Levels for people: their settings, how they choose moves, and the file of measured levels."""

import dataclasses
import json
from collections import Counter

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE
from helpers.players import ANY_SIZE, saved_player

from alphazero.arena.contests import play_specs
from alphazero.arena.elo import match_result
from alphazero.arena.openings import paired_openings
from alphazero.errors import PlayerError
from alphazero.mcts.kernels.root import RootStatistics
from alphazero.players.checkpoint_player import load_checkpoint_player, save_grades
from alphazero.players.levels import (
    NAMES,
    SEARCH,
    STRONGEST,
    Level,
    LevelSettings,
    LevelTable,
    default_levels,
    describe_levels,
    levels_file,
    load_levels,
    save_levels,
    settings_at,
)
from alphazero.players.registry import parse_player
from alphazero.utils.shipped import shipped_players

LEVELS = tuple(
    Level(number, settings_at(number * 0.3, 100), -50.0 + number, -80.0, None, 0.625)
    for number in range(1, 11)
)
LEVELS_TABLE = LevelTable(LEVELS, "uct:simulations=100", 2)


@pytest.mark.parametrize(
    ("settings", "ply", "shares"),
    [
        (LevelSettings(100), 0, {8: 1.0}),
        (LevelSettings(0, random_moves=1.0), 3, dict.fromkeys(range(3, 9), 1 / 6)),
        (LevelSettings(0, random_moves=0.45), 4, dict.fromkeys(range(4, 8), 0.09) | {8: 0.64}),
        # 0.5^2 : 0.3^2 : 0.2^2 = 25 : 9 : 4
        (LevelSettings(0, 0.5, None), 5, {6: 25 / 38, 7: 9 / 38, 8: 4 / 38}),
        (LevelSettings(10, 1.0, 4), 3, {6: 0.5, 7: 0.3, 8: 0.2}),
        (LevelSettings(10, 1.0, 4), 4, {8: 1.0}),
    ],
)
def test_a_level_chooses_its_share_of_moves_at_random_or_by_the_policy(
    settings: LevelSettings, ply: int, shares: dict[int, float]
):
    """The search plays 8, the policy has 0.5, 0.3 and 0.2 on the last three cells."""
    legal = np.arange(ply, 9)[None]
    priors = np.array([[0.0] * (6 - ply) + [0.5, 0.3, 0.2]])
    none, rng = np.zeros_like(priors), np.random.default_rng(3)
    roots = RootStatistics(
        np.array([9 - ply]), legal, np.zeros_like(legal), priors, none, none, none, none[0]
    )
    counts = Counter(settings.choose(ply, 8, roots, 0, rng) for _ in range(2000))
    assert counts.keys() == shares.keys()
    # At most four standard deviations.
    assert all(abs(counts[action] / 2000 - share) < 0.04 for action, share in shares.items())


def test_the_scale_goes_from_random_moves_to_the_most_simulations():
    assert settings_at(0.0, 400) == LevelSettings(0, 1.0, None, 1.0)
    assert settings_at(1.0, 400) == LevelSettings(0, 1.0, None, 0.0)
    assert settings_at(1.75, 400) == LevelSettings(0, 0.25, None, 0.0)
    assert settings_at(SEARCH, 400).simulations == 1
    assert settings_at(2.5, 400).simulations == 20
    assert settings_at(STRONGEST, 400) == LevelSettings(400)
    assert len(default_levels(8).levels) == len(NAMES) == 10
    assert default_levels(8).level(10).settings == LevelSettings(32)


def test_measured_levels_are_read_back_for_their_checkpoint_alone(tmp_path):
    path = saved_player(tmp_path / "some.safetensors")
    player = parse_player(str(path))
    save_levels(levels_file(path), LEVELS_TABLE, TIC_TAC_TOE, player.player_hash, "200 games")
    assert load_checkpoint_player(path).levels == LEVELS_TABLE
    assert LEVELS_TABLE.level(3).strength == "Elo -47 (-80 to open)"
    assert describe_levels(LEVELS_TABLE)[-1] == "Elo 0 is uct:simulations=100"
    # They go with a copy that has another header, also if it takes the place of the checkpoint.
    for copy in (tmp_path / "copy.safetensors", path):
        save_grades(load_checkpoint_player(path), ["100 games"], copy)
        assert load_checkpoint_player(copy).levels == LEVELS_TABLE
    # Another checkpoint of the same name has no measured levels.
    saved_player(path, games=5)
    assert load_checkpoint_player(path).levels == default_levels(8)


def test_another_size_of_the_game_has_the_settings_without_the_ratings(tmp_path):
    path = saved_player(tmp_path / "some.safetensors", "go:rows=5,columns=5", ANY_SIZE)
    saved = load_checkpoint_player(path)
    digest = parse_player(str(path)).player_hash
    save_levels(levels_file(path), LEVELS_TABLE, saved.game, digest, "")
    saved = load_checkpoint_player(path)
    assert saved.levels == LEVELS_TABLE
    other = saved.for_game(dataclasses.replace(saved.game, rows=6, columns=6))  # type: ignore[call-arg]
    assert [level.settings for level in other.levels.levels] == [level.settings for level in LEVELS]
    assert {level.elo for level in other.levels.levels} == {None}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "other", "format: expected alphazero-levels"),
        ("levels", [], "levels: expected 10, got 0"),
        ("levels", [7] * 10, "unexpected int"),
        ("levels", [{}] * 10, "level 1: expected elo, elo_high"),
        ("anchor", 5, "anchor: expected str, got '5'"),
        ("simulations", -1, "level 1: must be at least 0 and at most"),
        ("simulations", True, "level 1: expected a whole number, got true"),
        ("random_moves", 1.5, "level 1: must be at least 0 and at most"),
        ("sampled_moves", "all", "level 1: expected a whole number"),
        ("elo", "high", "level 1: expected a number"),
    ],
)
def test_a_damaged_file_of_levels_is_refused_in_one_line(
    tmp_path, key: str, value: object, message: str
):
    path = tmp_path / "some.levels.json"
    save_levels(path, LEVELS_TABLE, TIC_TAC_TOE, "0123", "")
    content = json.loads(path.read_text())
    (content if key in content else content["levels"][0])[key] = value
    path.write_text(json.dumps(content))
    with pytest.raises(PlayerError) as caught:
        load_levels(path, TIC_TAC_TOE, "0123")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[]", b"null"])
def test_what_holds_no_levels_is_refused_in_one_line(tmp_path, data: bytes):
    path = tmp_path / "some.levels.json"
    path.write_bytes(data)
    with pytest.raises(PlayerError, match=r"no levels: .*; remove the file"):
        load_levels(path, TIC_TAC_TOE, "0123")


def test_the_shipped_levels_begin_below_uct_and_grow():
    measured = 0
    for path in shipped_players().values():
        table = load_checkpoint_player(path).levels
        assert levels_file(path).exists() == bool(table.anchor), f"{path}: measured for another"
        if not table.anchor:
            continue
        measured += 1
        elos = [level.elo for level in table.levels]
        assert all(elo is not None for elo in elos)
        assert elos == sorted(elos)  # type: ignore[type-var]
        assert table.anchor == "uct:simulations=100"
        assert (table.level(1).elo_high or 0) < 0, f"{path}: level 1 may beat {table.anchor}"
        scores = [level.score for level in table.levels[1:]]
        assert all(score is not None and 0.5 < score < 0.8 for score in scores), path
    assert measured


def test_a_beginner_loses_to_uct_and_the_strongest_level_does_not():
    first, last, uct = map(
        parse_player, ("tic_tac_toe:level=1", "tic_tac_toe:level=10", "uct:simulations=100")
    )
    assert first.budget.simulations == 0
    rng = np.random.default_rng(1)
    schedule = paired_openings(TIC_TAC_TOE, 20, 0, rng)
    for player, low, high in ((first, 0.0, 0.25), (last, 0.5, 1.0)):
        records = play_specs([player, uct], TIC_TAC_TOE, schedule, rng)
        assert low <= match_result(TIC_TAC_TOE, records).score <= high


def test_a_level_from_the_command_line_is_for_players_that_have_levels():
    assert parse_player("tic_tac_toe", level=4).name == "tic_tac_toe:level=4"
    assert parse_player("tic_tac_toe:level=2", level=4).name == "tic_tac_toe:level=2"
    with pytest.raises(PlayerError, match="uct has no levels: only checkpoints have them"):
        parse_player("uct", level=4)
