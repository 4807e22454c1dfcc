"""What comes with the repository: configurations that train, and the players they have trained."""

import json
import math
import re
import shlex
from pathlib import Path

import pytest
from helpers.paths import ROOT
from helpers.searches import statistics

from alphazero.config.loader import load_config
from alphazero.games import ONGOING, game_options, make_game
from alphazero.players.budget import Budget
from alphazero.players.checkpoint_player import describe, load_checkpoint_player
from alphazero.training.loop import train

CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))
SHIPPED = sorted((ROOT / "checkpoints").glob("*.safetensors"))

SMALL = [
    *("network.blocks=1", "network.filters=8", "search.simulations=2", "gate.games=2"),
    *("selfplay.games_per_iteration=2", "selfplay.parallel_games=2", "selfplay.fast_simulations=1"),
    *("gate.interval=1", "learner.batch_size=4", "replay.window_minimum=1", "budget.samples=1"),
    "run.threads=1",
]
"""Sizes alone: every choice of method stays as the file has it."""

LARGER = ("breakthrough_8x8", "gomoku_15x15", "hex_11x11")
"""Go on from a player of a smaller board, as `go_9x9_large` does, with its whole network."""


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow if path.stem in LARGER else ()) for path in CONFIGS],
    ids=lambda path: path.stem,
)
def test_a_shipped_configuration_trains_a_few_steps(path: Path, tmp_path):
    config, small = load_config(path), [*SMALL, f"run.folder={json.dumps(str(tmp_path))}"]
    if make_game(config.game.name, **config.game.options).max_moves > 100:
        small.append("learner.batch_size=16")
    if config.network.initial:  # the first weights are of this size
        small = [each for each in small if not each.startswith("network.")]
        small += ["selfplay.games_per_iteration=1", "selfplay.parallel_games=1"]
        small.append("learner.batch_size=32")
    elif config.network.global_pooling:
        small.append("network.global_pooling=4")
    if "moves" in game_options(config.game.name):
        small.append("game.moves=20")
    folder = train(load_config(path, small))
    manifest = json.loads((folder / "state/manifest.json").read_text())
    assert manifest["iteration"] == 1
    assert manifest["step"] >= 1


@pytest.mark.parametrize(
    ("stem", "blocks"), [("breakthrough_8x8", 1), ("go_9x9", 2), ("hex_11x11", 1)]
)
def test_the_overrides_in_the_head_of_a_configuration_can_be_given(stem: str, blocks: int):
    path = ROOT / f"configs/{stem}.yaml"
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"^#.* overrides:\n((?:#   .*\n)+)", text, re.MULTILINE)
    assert len(found) == blocks
    for block in found:
        overrides = shlex.split(block.replace("#", " "))
        assert len(overrides) == block.count("=")
        load_config(path, overrides)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_player_is_that_of_the_configuration_of_its_name_and_plays(path: Path):
    saved, config = load_checkpoint_player(path), load_config(ROOT / f"configs/{path.stem}.yaml")
    assert saved.game == make_game(config.game.name, **config.game.options)
    cells = math.prod(saved.game.observation_shape[1:])
    assert saved.checkpoint.network_settings == config.network.for_board(cells)
    assert saved.settings == config.search
    assert saved.checkpoint.details["seed"] == config.run.seed
    assert "\ngraded " in describe(path, saved.checkpoint)
    assert path.stat().st_size < 6 << 20, "a clone stays small"
    player, game = saved.create(budget=Budget(4)), saved.game
    state = game.initial_state()
    while game.outcome(state) == ONGOING:
        state = game.play(state, player.choose(state))


def test_the_connect_four_player_knows_the_first_move():
    """The first player wins from the middle column, and from no other: Allis, 1988."""
    saved = load_checkpoint_player(ROOT / "checkpoints/connect_four.safetensors")
    player = saved.create(budget=Budget(200))
    assert player.choose(saved.game.initial_state()) == 3
    assert statistics(player.search).values[0] > 0
