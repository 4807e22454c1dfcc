"""The players that come with the repository: whole, and trained by the configuration they name."""

from pathlib import Path

import numpy as np
import pytest

from alphazero.configfile import load_config
from alphazero.games import ONGOING, make_game
from alphazero.players.saved import describe, load_saved

ROOT = Path(__file__).parent.parent
SHIPPED = sorted((ROOT / "checkpoints").glob("*.safetensors"))


def test_players_are_shipped() -> None:
    assert "connect_four" in [path.stem for path in SHIPPED]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_player_is_that_of_the_configuration_of_its_name(path: Path) -> None:
    saved, config = load_saved(path), load_config(ROOT / f"configs/{path.stem}.yaml")
    assert saved.game == make_game(config.game.name, **config.game.options)
    assert saved.checkpoint.network_settings == config.network
    assert saved.settings == config.search
    assert saved.checkpoint.details["seed"] == config.run.seed
    assert "\ngraded " in describe(path, saved.checkpoint)
    assert path.stat().st_size < 5 << 20, "a clone stays small"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_player_plays_a_whole_game(path: Path) -> None:
    saved = load_saved(path)
    player, game = saved.seat(simulations=16), saved.game
    state = game.initial_state()
    while game.outcome(state) == ONGOING:
        state = game.play(state, player.choose(state))


def test_the_connect_four_player_knows_the_first_move() -> None:
    """The first player wins from the middle column, and from no other: Allis, 1988."""
    saved = load_saved(ROOT / "checkpoints/connect_four.safetensors")
    player = saved.seat(simulations=200)
    assert player.choose(saved.game.initial_state()) == 3
    assert player.search.roots(np.array([0])).values[0] > 0
