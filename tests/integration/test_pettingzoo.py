"""Games as PettingZoo environments: its own tests pass, and OpenSpiel sees the same games."""

import copy
import importlib
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyspiel
import pytest
from pettingzoo.test import api_test, seed_test

from alphazero.errors import AlphaZeroError, GameError
from alphazero.games import game_names, make_game
from alphazero.pettingzoo_env import pettingzoo_env

SMALL = [
    "tic_tac_toe",
    "nim",
    "connect_four",
    "mnk:rows=4,columns=5,length=4",
    "gomoku:rows=7,columns=7",
    "othello:size=6",
    "hex:size=4,swap=1",
    "go:rows=4,columns=4",
]

PAIRS = [
    ("tic_tac_toe", "tic_tac_toe"),
    ("connect_four", "connect_four"),
    ("gomoku:rows=8,columns=8", "gomoku(size=8)"),
    ("othello", "othello"),
    ("hex:size=5,swap=1", "hex(board_size=5,swap=True)"),
]
"""Games of ours, and what OpenSpiel calls them; actions have the same numbers in both."""

# PettingZoo knows by name which environments observe dictionaries, and warns of all others; and
# it expects everybody to have a legal action always, where its own games leave who waits none.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:.*Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:.*Action mask numpy array is all zeros"),
    pytest.mark.filterwarnings("ignore:.*Observation numpy array is all zeros"),  # an empty heap
]


def played(env: Any, rng: np.random.Generator) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Play a random game: yield who moves, what is seen and the action, before it is made."""
    for agent in env.agent_iter():
        seen, _, terminated, truncated, _ = env.last()
        assert not truncated
        if terminated:
            env.step(None)
            continue
        action = int(rng.choice(np.flatnonzero(seen["action_mask"])))
        yield agent, seen, action
        env.step(action)


@pytest.mark.parametrize("game", SMALL)
def test_pettingzoo_s_own_tests_pass(game: str) -> None:
    api_test(pettingzoo_env(game), num_cycles=200)
    seed_test(lambda: pettingzoo_env(game), num_cycles=50)


@pytest.mark.parametrize("name", game_names())
def test_every_registered_game_begins_and_its_first_moves_are_made(name: str) -> None:
    env, rng = pettingzoo_env(name), np.random.default_rng(0)
    env.reset()
    for number, (agent, seen, _) in enumerate(played(env, rng)):
        assert env.observation_space(agent).contains(seen)
        if number == 6:
            break


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_open_spiel_sees_the_same_random_games(ours: str, theirs: str) -> None:
    env, rng = pettingzoo_env(ours), np.random.default_rng(3)
    other, results = pyspiel.load_game(theirs), set()
    for _ in range(25):
        env.reset()
        state, rewards = other.new_initial_state(), {"player_0": 0.0, "player_1": 0.0}
        for agent in env.agent_iter():
            seen, reward, terminated, _, _ = env.last()
            rewards[agent] += reward
            assert terminated == state.is_terminal()
            if terminated:
                assert not seen["action_mask"].any()
                env.step(None)
                continue
            assert agent == f"player_{state.move_number() % 2}"
            assert np.flatnonzero(seen["action_mask"]).tolist() == state.legal_actions()
            action = int(rng.choice(state.legal_actions()))
            env.step(action)
            state.apply_action(action)
        assert list(rewards.values()) == state.returns()
        results.add(rewards["player_0"])
    assert results >= {1.0, -1.0}


@pytest.mark.parametrize("game", SMALL)
def test_both_see_the_board_from_their_own_side_and_only_the_mover_may_move(game: str) -> None:
    env, rng = pettingzoo_env(game), np.random.default_rng(5)
    env.reset()
    for agent, seen, _ in played(env, rng):
        unwrapped = env.unwrapped
        planes = unwrapped.game.observe(unwrapped.position)
        assert np.array_equal(seen["observation"], planes.transpose(1, 2, 0))
        waits = env.observe("player_1" if agent == "player_0" else "player_0")
        assert np.array_equal(waits["observation"][..., 0], planes[1])
        assert np.array_equal(waits["observation"][..., 1], planes[0])
        assert seen["action_mask"].any()
        assert not waits["action_mask"].any()


def test_rewards_come_with_the_last_move_and_are_the_winner_s() -> None:
    env = pettingzoo_env("tic_tac_toe")
    env.reset()
    for action in (0, 3, 1, 4):
        env.step(action)
        assert set(env.rewards.values()) == {0}
    env.step(2)
    assert env.rewards == {"player_0": 1, "player_1": -1}
    assert all(env.terminations.values())
    for wanted in (-1, 1):
        assert env.last()[1] == wanted
        env.step(None)
    assert env.agents == []


def test_an_illegal_move_loses_the_game_for_who_made_it() -> None:
    env = pettingzoo_env("tic_tac_toe")
    env.reset()
    env.step(4)
    env.step(4)
    assert all(env.terminations.values())
    assert env.rewards == {"player_0": 0, "player_1": -1}
    while env.agents:
        env.step(None)
    env.reset()
    with pytest.raises(AssertionError):
        env.step(9)


def test_the_raw_environment_refuses_an_illegal_move() -> None:
    env = pettingzoo_env("tic_tac_toe").unwrapped
    env.reset()
    env.step(4)
    with pytest.raises(GameError, match="action 4 is not legal"):
        env.step(4)


def test_the_board_is_drawn_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    game = make_game("tic_tac_toe")
    env = pettingzoo_env(game, render_mode="ansi")
    env.reset()
    env.step(4)
    board = game.render(game.play(game.initial_state(), 4))
    assert env.render() == board
    assert capsys.readouterr().out == ""
    env = pettingzoo_env(game, render_mode="human")
    env.reset()
    env.step(4)
    assert capsys.readouterr().out == f"{board}\n"
    env.close()


def test_a_copy_plays_on_by_itself() -> None:
    env = pettingzoo_env("connect_four").unwrapped
    env.reset()
    env.step(3)
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        copied.step(3)
        assert copied.agent_selection == "player_0"
        assert copied.position.sum() != env.position.sum()
    assert env.agent_selection == "player_1"


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (("chess",), GameError, "unknown game 'chess'"),
        (("nim:heap=0",), GameError, "heap must be"),
        (("nim", "rgb_array"), AlphaZeroError, "render_mode must be None or one of ansi, human"),
    ],
)
def test_what_does_not_exist_is_reported(
    arguments: tuple[str, ...], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        pettingzoo_env(*arguments)


def test_without_pettingzoo_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("pettingzoo")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "alphazero.pettingzoo_env")
    with pytest.raises(AlphaZeroError, match=r"pip install 'alphazero\[pettingzoo\]'"):
        importlib.import_module("alphazero.pettingzoo_env")
