"""Players by name: what is understood, how it is written, and the message for a mistake."""

from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.games import TIC_TAC_TOE
from helpers.players import ANY_SIZE, saved_player
from helpers.searches import statistics

from alphazero.arena.match import play_schedule
from alphazero.errors import CheckpointError, PlayerError
from alphazero.games import ONGOING, make_game
from alphazero.games.registry import read_game
from alphazero.mcts.evaluator import FixedBatches, SymmetricEvaluator
from alphazero.players import registry
from alphazero.players.base import Player
from alphazero.players.checkpoint_player import LEAVES_PER_BATCH
from alphazero.players.registry import common_game, parse_player
from alphazero.players.search_player import SearchPlayer
from alphazero.players.sequential_player import RandomPlayer
from alphazero.records.game_record import Pairing

SHIPPED = "tic_tac_toe"
"""A checkpoint by its name."""


@pytest.mark.parametrize(
    ("text", "options", "written"),
    [
        ("random", {}, "random"),
        ("random:", {}, "random"),
        ("uct", {"simulations": None}, "uct"),
        ("minimax:depth=5", {"depth": 5}, "minimax:depth=5"),
        ("minimax:7", {"depth": 7}, "minimax:depth=7"),
        ("minimax:7,seconds=2", {"depth": 7, "seconds": 2.0}, "minimax:depth=7,seconds=2"),
        ("minimax:seconds=.25", {"seconds": 0.25}, "minimax:seconds=0.25"),
        (f"{SHIPPED}:mcts_solver=false", {"mcts_solver": False}, f"{SHIPPED}:mcts_solver=false"),
        (f"{SHIPPED}:level=3", {"level": 3, "mcts_solver": None}, f"{SHIPPED}:level=3"),
        (
            f"{SHIPPED}:selection=puct,transpositions=true,simulations=9",
            {"selection": "puct", "transpositions": True},
            f"{SHIPPED}:simulations=9,selection=puct,transpositions=true",
        ),
        ("gtp:sh a b, c=d:e", {"subject": "sh a b, c=d:e"}, "gtp:sh a b, c=d:e"),
    ],
)
def test_a_word_and_its_options_are_read_and_written_in_one_way(
    text: str, options: dict[str, object], written: str
):
    spec = parse_player(text)
    assert {name: getattr(spec, name) for name in options} == options
    assert spec.name == written
    assert parse_player(written) == spec
    assert spec.game == (TIC_TAC_TOE if SHIPPED in text else None)
    assert spec.is_timed == ("seconds" in options)
    assert spec.needs_core == ("seconds" in options or "gtp" in text)


def test_a_depth_is_a_limit_and_a_level_is_not_dropped_in_silence():
    assert parse_player("minimax:depth=3", seconds=0.1).name == "minimax:depth=3"
    assert parse_player("minimax", seconds=0.1).name == "minimax:seconds=0.1"
    with pytest.raises(PlayerError, match="sets simulations itself: leave that out, or the level"):
        parse_player(f"{SHIPPED}:simulations=9", level=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown player ''"),
        ("rndom", "unknown player 'rndom'; did you mean 'random'?"),
        ("go", "'go' is a game; name a player of it, as go_9x9, go_9x9_large, uct --game go"),
        ("nim:heap=9", "'nim' is a game; name a player of it, as uct --game nim"),
        ("minimx:depth=3", "did you mean 'minimax'? (trained players: breakthrough_5x5, "),
        ("minimax:dept=3", "no option 'dept'; did you mean 'depth'? (options: depth, seconds)"),
        ("minimax:depth=many", "depth: expected a whole number, got 'many'"),
        ("minimax:depth=2.5", "depth: expected a whole number, got '2.5'"),
        ("minimax:depth=" + "9" * 5000, "at most 4096 characters"),
        ("minimax:seconds=nan", "seconds: expected a number, got 'nan'"),
        ("uct:exploration=9e999", "must be a finite number"),
        (f"{SHIPPED}:selection=gumble", "did you mean 'gumbel'?"),
        (f"{SHIPPED}:mcts_solver=yes", "mcts_solver: expected true or false, got 'yes'"),
        (f"{SHIPPED}:level=0", "level: must be at least 1 and at most 10, got 0"),
        (f"{SHIPPED}:level=11", "level: must be at least 1 and at most 10, got 11"),
        (f"{SHIPPED}:level=3,simulations=9", "a level sets how long the player thinks"),
        (f"{SHIPPED}:level=3,seconds=1", "a level sets how long the player thinks"),
        ("minimax:depth=1,depth=2", "depth is given twice"),
        ("minimax:depth=1,7", "expected option=value, got '7'"),
        ("random:simulations=3", "no option 'simulations' (options: none)"),
        ("gtp", "gtp: needs a command, as in 'gtp:"),
        ("minimax:0", "depth: must be at least 1 and at most 1000, got 0"),
        ("person", "a person plays by `alphazero play PLAYER`"),
        ("nothere", "others: random, flat_mc, flat_ucb, uct, minimax, solver, gtp:COMMAND, "),
        ("a\nb", "unknown player"),
    ],
)
def test_a_mistyped_name_is_answered_with_what_exists(text: str, message: str):
    with pytest.raises(PlayerError) as caught:
        parse_player(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_default_budget_is_checked_as_one_that_the_name_gives():
    with pytest.raises(PlayerError, match="simulations: must be at least 1"):
        parse_player("uct", simulations=0)
    assert vars(parse_player("uct", seconds=0.0001))["seconds"] == 0.0001
    assert vars(parse_player(SHIPPED, simulations=0))["simulations"] == 0


def test_a_player_is_identified_by_the_file_that_it_was_loaded_from(tmp_path):
    path = saved_player(tmp_path / "some.safetensors")
    spec = parse_player(path)
    before = spec.player_hash
    saved_player(path, version=2)
    assert spec.player_hash == before != parse_player(path).player_hash


@pytest.mark.parametrize(
    "name", ["player.safetensors", "odd:name=1,x.safetensors", "random:7", "C:\\x", "a b"]
)
def test_a_name_that_exists_as_a_path_is_read_as_that_path(name: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved_player(Path(name))
    spec = parse_player(name)
    assert spec.name == name
    assert spec.game == TIC_TAC_TOE
    assert spec.player_hash
    if name.partition(":")[0] not in registry.PLAYER_KINDS:
        for text in (":simulations=3", ":3"):
            assert parse_player(name + text).name == f"{name}:simulations=3"
        assert parse_player(f"{name}:seconds=1").is_timed


@pytest.mark.parametrize(
    "text", ["no.safetensors", "runs/none", "C:\\no.safetensors:simulations=3"]
)
def test_a_path_that_does_not_exist_is_named_without_its_options(text: str):
    with pytest.raises(CheckpointError) as caught:
        parse_player(text)
    path = text.removesuffix(":simulations=3")
    assert f"cannot read {path}: " in str(caught.value)


@pytest.mark.parametrize(
    "typed", ["checkpoints/drop_for.safetensors", "checkpoints/drop_four", "drop_four.safetensors"]
)
def test_a_mistyped_path_is_answered_with_a_similar_checkpoint(typed: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    saved_player(tmp_path / "checkpoints/drop_four.safetensors")
    suggestion = "; did you mean 'checkpoints/drop_four.safetensors'?"
    for text in (typed, f"{typed}:simulations=3"):
        with pytest.raises(CheckpointError) as caught:
            parse_player(text)
        assert str(caught.value) == f"{typed}: no such file{suggestion}"
    with pytest.raises(PlayerError, match=r"^unknown player 'drop_four'; did you mean 'checkp"):
        parse_player("drop_four")


def test_each_spelling_creates_the_player_that_it_names(tmp_path):
    path = saved_player(tmp_path / "player.safetensors")

    def created(text: str, **budget: float) -> SearchPlayer:
        player = parse_player(text, **budget).create(TIC_TAC_TOE, 2)  # type: ignore[arg-type]
        assert isinstance(player, SearchPlayer)
        return player

    assert created(f"{path}").search.settings.simulations == 8
    assert created(f"{path}", simulations=5).search.settings.simulations == 5
    assert created(f"{path}:3", simulations=5).search.settings.simulations == 3
    assert created(f"{path}:seconds=0.5", simulations=5).seconds == 0.5
    assert created(f"{path}").search.settings.selection == "gumbel_root"
    assert created(f"{path}:3,selection=gumbel").search.settings.selection == "gumbel"
    changed = created(f"{path}:3,transpositions=true").search.settings
    assert changed.transpositions == "always"
    assert changed.selection == created(f"{path}").search.settings.selection
    assert created(f"{path}:leaf_symmetry=random").search.settings.leaf_symmetry == "random"
    assert isinstance(parse_player("random", seconds=3).create(TIC_TAC_TOE), RandomPlayer)


def test_one_game_evaluates_all_symmetries_of_its_leaves_in_one_batch(tmp_path):
    path = saved_player(tmp_path / "player.safetensors")
    spec = parse_player(f"{path}:simulations=64,leaf_symmetry=average")
    player = spec.create(TIC_TAC_TOE)
    assert isinstance(player, SearchPlayer)
    averaged = player.search.evaluator
    assert isinstance(averaged, SymmetricEvaluator)
    assert isinstance(averaged.evaluator, FixedBatches)
    assert averaged.evaluator.size == LEAVES_PER_BATCH * 8
    assert 0 <= player.choose(TIC_TAC_TOE.initial_state()) < 9


def test_players_agree_on_the_one_game_that_any_of_them_plays(tmp_path):
    four = parse_player(str(saved_player(tmp_path / "four.safetensors", "connect_four")))
    three = parse_player(str(saved_player(tmp_path / "three.safetensors")))
    any_game = parse_player("random")
    assert common_game([any_game, four]) == four.game
    assert common_game([any_game, four], four.game) == four.game
    assert common_game([any_game], TIC_TAC_TOE) == TIC_TAC_TOE
    for players, game, message in (
        ([three, any_game, four], None, "four.safetensors plays connect_four, but "),
        ([any_game, four], TIC_TAC_TOE, "but the game asked for is tic_tac_toe"),
    ):
        with pytest.raises(PlayerError, match=message):
            common_game(players, game)


LARGER = make_game("mnk", rows=4, columns=5, length=3)


def test_convolutional_heads_play_other_sizes_of_their_game(tmp_path):
    path = saved_player(tmp_path / "three.safetensors", network=ANY_SIZE)
    own = parse_player(str(path), simulations=20)
    assert own.for_game(TIC_TAC_TOE) is own
    assert own.transfer_note is None
    spec = own.for_game(LARGER)
    assert common_game([spec], LARGER) == spec.game == LARGER
    assert (spec.name, spec.player_hash) == (own.name, own.player_hash)
    saved = spec.saved
    assert saved is not None
    observations = LARGER.observe(LARGER.from_moves("a1 b2"))[None]
    logits, values = saved.evaluator.evaluate(observations)
    with torch.no_grad():
        expected = saved.checkpoint.network(LARGER)(torch.from_numpy(observations))
    np.testing.assert_allclose(logits, expected[0], atol=0.02)
    np.testing.assert_allclose(values, expected[1], atol=0.02)
    assert spec.transfer_note
    assert spec.for_game(TIC_TAC_TOE).transfer_note is None
    assert parse_player("random").for_game(LARGER).transfer_note is None


def test_players_of_other_planes_and_other_komi_share_a_game(tmp_path):
    """Each sees the positions by its own planes, with the komi of the game that is played."""
    plain = parse_player(str(saved_player(tmp_path / "plain.safetensors", "go:rows=3,columns=3")))
    text = "go:rows=3,columns=3,komi_half_points=3,features=1"
    komi = parse_player(str(saved_player(tmp_path / "komi.safetensors", text)))
    assert common_game([komi, plain]) == common_game([plain, komi]) == plain.game
    assert common_game([komi], read_game("go:rows=3,columns=3,komi_half_points=5")).komi == 2.5
    for players, game in (
        ([plain], "go:rows=3,columns=3,komi_half_points=5"),
        ([komi], "go:rows=4,columns=3,features=1"),
    ):
        with pytest.raises(PlayerError, match="players need one game"):
            common_game(players, read_game(game))

    other_rules = read_game("go:rows=3,columns=3,superko=2,suicide=1,moves=40")
    assert common_game([komi, plain], other_rules) == other_rules
    for spec in komi, plain:
        for each in spec, spec.for_game(other_rules):
            each.create(other_rules).choose(other_rules.initial_state())
    game = read_game("go:rows=3,columns=3,komi_half_points=9")
    state = game.play(game.initial_state(), 4)
    player = komi.create(game)
    assert isinstance(player, SearchPlayer)
    player.choose(state)
    assert komi.saved is not None
    logits, _ = komi.saved.evaluator.evaluate(komi.saved.game.observe(state)[None])
    shares = np.where(game.legal_action_mask(state), np.exp(logits[0]), 0)
    assert np.allclose(statistics(player.search).priors, shares / shares.sum(), atol=1e-5)

    def both(num_games: int) -> list[Player]:
        return [spec.create(plain.game, num_games) for spec in (plain, komi)]

    records = play_schedule(plain.game, both, [Pairing((0, 1)), Pairing((1, 0))] * 2, 4)
    assert all(record.outcome != ONGOING for record in records)


@pytest.mark.parametrize(
    "name",
    [
        "random",
        "flat_mc:simulations=40",
        "flat_ucb:simulations=40,exploration=1",
        "uct:simulations=40,exploration=0.5",
        "uct:seconds=0.01",
        "minimax:depth=3",
        "minimax:seconds=0.01",
        "solver",
    ],
)
def test_every_kind_that_needs_no_checkpoint_plays_any_game(name: str):
    spec = parse_player(name)
    assert spec.name == name
    for game in (TIC_TAC_TOE, make_game("nim", heap=5)):
        player = spec.create(game, 1, np.random.default_rng(1))
        state = game.initial_state()
        while game.outcome(state) == ONGOING:
            state = game.play(state, player.choose(state))
