"""Python agents: in matches and tournaments, by a name of another package, and at fault."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.commands import exit_code
from helpers.runs.tiny_run import tiny_config

import alphazero
from alphazero.games.game import Game, State
from alphazero.players import registry
from alphazero.training.evaluation import PlayerEvaluation

AGENTS = """
class Restorer:
    name = "mine"

    def choose(self, game, state):
        return max(int(state[5]) % 4 - 1, 0)

def choose(game, state):
    return Restorer().choose(game, state)

def wrong(game, state):
    return state.no_such_thing
"""


def restore(_: Game, state: State) -> int:
    """Play Nim perfectly: leave a multiple of 4, or take one."""
    return max(int(state[5]) % 4 - 1, 0)


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch) -> Iterator[None]:
    """Install a package that brings agents."""
    (tmp_path / "my_agents.py").write_text(AGENTS)
    metadata = tmp_path / "my_agents-1.5.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-agents\nVersion: 1.5\n")
    objects = {"restorer": ":Restorer", "restore": ":choose", "none": ":nothing", "wrong": ":wrong"}
    lines = [f"{name} = my_agents{attribute}" for name, attribute in objects.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[alphazero.players]", *lines]) + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    for cached in (registry.agent_entries, registry._load_agent):
        cached.cache_clear()
    yield
    for cached in (registry.agent_entries, registry._load_agent):
        cached.cache_clear()
    sys.modules.pop("my_agents", None)


def test_an_agent_plays_matches_from_paired_openings_and_is_rated():
    result = alphazero.match(restore, "random", game="nim", games=40)
    assert result == alphazero.match("restore", "random", game="nim", games=40)
    assert result.score >= 0.9
    assert result.elo_low > 0
    rows = alphazero.rate(["random", restore, "restorer"], game="nim", games=20)
    assert {row.name for row in rows} == {"random", "restore", "restorer"}
    assert rows[-1].name == "random"
    assert all(row.elo_low < row.elo < row.elo_high for row in rows[:2])


def test_an_agent_of_a_package_plays_in_commands_and_as_an_anchor(tmp_path, capsys):
    assert exit_code("match", "restorer", "random", "--game", "nim", "--games", "4") == 0
    assert capsys.readouterr().out.startswith("restorer against random: ")
    assert exit_code("play", "restorer", "--game", "nim", "--level", "3") == 2
    assert "restorer has no levels: only checkpoints have them" in capsys.readouterr().err
    anchors = "evaluation.anchors=[restorer, random]"
    matches = PlayerEvaluation(alphazero.make_game("nim"), tiny_config(tmp_path, anchors))
    assert [anchor.name for anchor in matches.anchors] == ["restorer", "random"]


class Wrong:
    def choose(self, _: Game, state: State) -> int:
        return int(state[5]) + 5


def all_moves(game: Game, state: State) -> Any:
    return np.argwhere(game.legal_action_mask(state))


def broken(_: Game, state: State) -> Any:
    return state.lucky  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (Wrong(), "agent Wrong chose 20 after 0 moves; expected one of the legal actions 0, 1, 2"),
        (all_moves, "agent all_moves chose 'array([[0],\\n       [1],\\n       [2]])' after 0 "),
        (broken, "test_sequential_player.py:"),
        ("wrong", "my_agents.py:12: AttributeError: 'numpy.ndarray' object has no attribute 'no_s"),
        ("none", "player 'none' cannot be loaded: package my-agents 1.5, my_agents:nothing: Attr"),
        ("restor", "did you mean 'restore'? (trained players: "),
        (3, "expected a player's name, a function or an agent, got 3"),
    ],
    ids=["illegal", "an array", "error", "error of a package", "missing", "mistyped", "no agent"],
)
def test_an_agent_at_fault_is_reported_in_one_line(agent: Any, message: str):
    with pytest.raises(alphazero.AlphaZeroError) as caught:
        alphazero.match(agent, "random", game="nim", games=2, opening_moves=0)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_loaded_player_is_asked_for_by_its_path():
    _, player = alphazero.load_player("tic_tac_toe")
    with pytest.raises(alphazero.AlphaZeroError, match="is named by its path"):
        alphazero.match(player, "random", games=2)  # type: ignore[arg-type]
