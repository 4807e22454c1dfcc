"""Games as PettingZoo environments: its own tests pass, and the rules are those of the games."""

import copy
import importlib
import pickle
import sys

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from alphazero.errors import AlphaZeroError, GameError
from alphazero.games import ONGOING, Game, make_game
from alphazero.games.game import PLY, Planes, State
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

# PettingZoo knows by name which environments observe dictionaries, and warns of all others; and
# it expects everybody to have a legal action always, where its own games leave who waits none.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:.*Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:.*Action mask numpy array is all zeros"),
    pytest.mark.filterwarnings("ignore:.*Observation numpy array is all zeros"),  # an empty heap
]


@pytest.mark.parametrize("game", SMALL)
def test_pettingzoo_s_own_tests_pass(game: str):
    api_test(pettingzoo_env(game), num_cycles=200)
    seed_test(lambda: pettingzoo_env(game), num_cycles=50)


@pytest.mark.parametrize("name", SMALL)
def test_the_mover_sees_what_its_game_shows_and_the_other_the_board_alone(name: str):
    """Each side sees its own stones first."""
    env, rng = pettingzoo_env(name), np.random.default_rng(5)
    env.reset()
    for agent in env.agent_iter():
        seen, _, terminated, _, _ = env.last()
        game, state = env.unwrapped.game, env.unwrapped.position
        assert terminated == (game.outcome(state) != ONGOING)
        assert np.array_equal(seen["action_mask"].astype(bool), game.legal_action_mask(state))
        if terminated:
            return
        planes = game.observe(state)
        assert np.array_equal(seen["observation"], planes.transpose(1, 2, 0))
        waits = env.observe("player_1" if agent == "player_0" else "player_0")
        assert np.array_equal(waits["observation"][..., :2], planes[1::-1].transpose(1, 2, 0))
        assert not waits["action_mask"].any()
        env.step(int(rng.choice(np.flatnonzero(seen["action_mask"]))))


def test_no_side_sees_a_position_beyond_the_last_move(monkeypatch):
    """Rules may use the ply as an index, and are compiled."""
    env = pettingzoo_env("tic_tac_toe")
    env.reset()
    kind, plies = type(env.unwrapped.game), list[int]()
    observe = kind.observe

    def watched(game: Game, state: State) -> Planes:
        plies.append(int(state[PLY]))
        return observe(game, state)

    monkeypatch.setattr(kind, "observe", watched)
    for action in (*(4, 0, 2, 6, 3, 5, 1, 7, 8), None):  # a draw
        for agent in env.possible_agents:
            env.observe(agent)
        if action is not None:
            env.step(action)
    assert set(plies) == set(range(10))


def test_rewards_come_with_the_last_move_and_are_the_winner_s():
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


def test_an_illegal_move_loses_the_game_for_who_made_it():
    """The environment without its wrappers refuses it."""
    env = pettingzoo_env("tic_tac_toe")
    env.reset()
    env.step(4)
    with pytest.raises(GameError, match="action 4 is not legal"):
        copy.deepcopy(env.unwrapped).step(4)
    env.step(4)
    assert all(env.terminations.values())
    assert env.rewards == {"player_0": 0, "player_1": -1}
    env.reset()
    with pytest.raises(AssertionError):
        env.step(9)


def test_the_board_is_drawn_as_text(capsys):
    game = make_game("tic_tac_toe")
    board = game.render(game.play(game.initial_state(), 4))
    for mode, returned, printed in (("ansi", board, ""), ("human", None, f"{board}\n")):
        env = pettingzoo_env(game, render_mode=mode)
        env.reset()
        env.step(4)
        assert capsys.readouterr().out == printed
        if returned:
            assert env.render() == returned
        env.close()


def test_a_copy_plays_on_by_itself():
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
        (("shogi",), GameError, "unknown game 'shogi'"),
        (("nim:heap=0",), GameError, "heap must be"),
        ((None,), GameError, "expected a game, or its name such as 'hex', got None"),
        (("nim", "rgb_array"), AlphaZeroError, "render_mode must be None or one of ansi, human"),
    ],
)
def test_what_does_not_exist_is_reported(
    arguments: tuple[str, ...], error: type[Exception], says: str
):
    with pytest.raises(error, match=says):
        pettingzoo_env(*arguments)


def test_without_pettingzoo_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("pettingzoo")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "alphazero.pettingzoo_env")
    with pytest.raises(AlphaZeroError, match=r"pip install 'alphazero\[pettingzoo\]'"):
        importlib.import_module("alphazero.pettingzoo_env")
