"""Players by name: what is understood, how it is written, and the message for a mistake."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.games import TIC_TAC_TOE
from helpers.players import ANY_SIZE, saved_player
from helpers.searches import statistics

from alphazero.arena.match import play_schedule
from alphazero.config.fields import config_field
from alphazero.errors import CheckpointError, PlayerError
from alphazero.games import ONGOING, make_game
from alphazero.games.registry import read_game
from alphazero.mcts.evaluator import FixedBatches, SymmetricEvaluator
from alphazero.players import registry
from alphazero.players.base import Player
from alphazero.players.budget import Budget
from alphazero.players.checkpoint_player import LEAVES_PER_BATCH
from alphazero.players.random_player import RandomPlayer
from alphazero.players.registry import common_game, parse_player
from alphazero.players.search_player import SearchPlayer
from alphazero.players.specs import RandomSpec
from alphazero.records.game_record import Pairing


@dataclasses.dataclass(frozen=True)
class SearcherSpec(RandomSpec):
    """A kind with options of every type."""

    depth: int = config_field(5, "moves ahead", at_least=1, at_most=99)
    seconds: float | None = config_field(None, "time", above=0)
    keep: bool = config_field(True, "keep what was found")
    style: str = config_field("plain", "how", choices=("plain", "bold"))

    @property
    def budget(self) -> Budget:
        return Budget(seconds=self.seconds)


class CommandSpec(RandomSpec):
    prefix = "command:"


@pytest.fixture(autouse=True)
def kinds(monkeypatch) -> None:
    """Two more kinds, as other packages would register them."""
    monkeypatch.setitem(registry.PLAYER_KINDS, "searcher", SearcherSpec)
    monkeypatch.setitem(registry.PLAYER_KINDS, "command", CommandSpec)


@pytest.mark.parametrize(
    ("text", "options", "written"),
    [
        ("random", {}, "random"),
        ("random:", {}, "random"),
        ("searcher", {"depth": 5}, "searcher:depth=5"),
        ("searcher:depth=5", {"depth": 5}, "searcher:depth=5"),
        ("searcher:7", {"depth": 7}, "searcher:depth=7"),
        ("searcher:7,seconds=2", {"depth": 7, "seconds": 2.0}, "searcher:depth=7,seconds=2"),
        ("searcher:seconds=.25", {"seconds": 0.25}, "searcher:depth=5,seconds=0.25"),
        (
            "searcher:style=bold,keep=false",
            {"keep": False},
            "searcher:depth=5,keep=false,style=bold",
        ),
        ("searcher:keep=true,style=plain", {"keep": True}, "searcher:depth=5"),
        ("command:a b, c=d:e", {"subject": "a b, c=d:e"}, "command:a b, c=d:e"),
    ],
)
def test_a_word_and_its_options_are_read_and_written_in_one_way(
    text: str, options: dict[str, object], written: str
):
    spec = parse_player(text)
    assert {name: getattr(spec, name) for name in options} == options
    assert spec.name == written
    assert parse_player(written) == spec
    assert spec.game is None
    assert spec.is_timed == ("seconds" in options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown player ''"),
        ("rndom", "unknown player 'rndom'; did you mean 'random'?"),
        ("go", "'go' is a game; name a player of it, as go_9x9, go_9x9_large, uct --game go"),
        ("nim:heap=9", "'nim' is a game; name a player of it, as uct --game nim"),
        ("searchr:depth=3", "did you mean 'searcher'? (trained players: breakthrough_5x5, "),
        ("searcher:dept=3", "no option 'dept'; did you mean 'depth'? (options: depth, seconds"),
        ("searcher:depth=0", "depth: must be at least 1 and at most 99, got 0"),
        ("searcher:depth=many", "depth: expected a whole number, got 'many'"),
        ("searcher:depth=2.5", "depth: expected a whole number, got '2.5'"),
        ("searcher:depth=" + "9" * 5000, "at most 4096 characters"),
        ("searcher:seconds=nan", "seconds: expected a number, got 'nan'"),
        ("searcher:seconds=9e999", "must be a finite number"),
        ("searcher:style=bald", "did you mean 'bold'?"),
        ("searcher:keep=yes", "keep: expected true or false, got 'yes'"),
        ("searcher:depth=1,depth=2", "depth is given twice"),
        ("searcher:depth=1,", "expected option=value, got nothing"),
        ("searcher:depth=1,7", "expected option=value, got '7'"),
        ("random:5", "player 'random:5': takes no options, got '5'"),
        ("random:simulations=3", "no option 'simulations' (options: none)"),
        ("gtp", "needs more: gtp:COMMAND"),
        ("minimax", "needs a depth in plies or seconds, as in minimax:depth=5"),
        ("minimax:0", "depth: must be at least 1 and at most 1000, got 0"),
        ("human", "a person plays by `alphazero play PLAYER`"),
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
        for text, option in ((":simulations=3", 3), (":3", 3)):
            limited = parse_player(name + text)
            assert limited.name == f"{name}:simulations=3"
            assert getattr(limited, "simulations", None) == option
        assert parse_player(f"{name}:seconds=1").is_timed


def test_a_runs_folder_stands_for_its_best_player(tmp_path):
    saved_player(tmp_path / "best.safetensors")
    assert parse_player(f"{tmp_path}:simulations=5").name == f"{tmp_path}:simulations=5"


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
    with pytest.raises(PlayerError, match="leaf_symmetry: must be one of none, random, average"):
        parse_player(f"{path}:leaf_symmetry=all")
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
        ([any_game], None, "name one, as with --game"),
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
    assert spec.transfer_note == (
        f"{path}:simulations=20 was trained on tic_tac_toe, not on tic_tac_toe:rows=4,columns=5"
    )
    saved = spec.saved
    assert saved is not None
    observations = LARGER.observe(LARGER.from_text("a1 b2"))[None]
    logits, values = saved.evaluator.evaluate(observations)
    with torch.no_grad():
        expected = saved.checkpoint.network(LARGER)(torch.from_numpy(observations))
    np.testing.assert_allclose(logits, expected[0], atol=0.02)
    np.testing.assert_allclose(values, expected[1], atol=0.02)
    player = spec.create(LARGER)
    assert LARGER.legal_action_mask(LARGER.initial_state())[player.choose(LARGER.initial_state())]
    assert spec.for_game(TIC_TAC_TOE).transfer_note is None
    assert parse_player("random").for_game(LARGER).transfer_note is None


def test_dense_heads_and_other_games_are_refused_in_one_line(tmp_path):
    dense = parse_player(str(saved_player(tmp_path / "dense.safetensors")))
    sized = parse_player(str(saved_player(tmp_path / "sized.safetensors", network=ANY_SIZE)))
    with pytest.raises(PlayerError, match=r"its weights fit no other; with network.heads: conv"):
        dense.for_game(LARGER)
    with pytest.raises(PlayerError, match=r"plays tic_tac_toe, but .* hex: players need one game"):
        sized.for_game(make_game("hex"))


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
        ([komi], "go:rows=3,columns=3,suicide=1"),
    ):
        with pytest.raises(PlayerError, match="players need one game"):
            common_game(players, read_game(game))

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
