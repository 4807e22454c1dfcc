"""While rules are not compiled, Python runs their source: what it plays is what they play."""

import inspect
import json
from typing import Any

import numpy as np
from helpers.processes import run_python

from alphazero.games import Game, game_names
from alphazero.games.game import ONGOING, State
from alphazero.games.registry import read_game

PLAY = """
import json, sys
from typing import Any
from alphazero.utils import jit
jit.PATIENCE = 1e9  # before the rules are read
import numpy as np
from alphazero.games import Game
from alphazero.games.game import ONGOING, State
from alphazero.games.registry import read_game

for name in sys.argv[1:]:
    game, rng, moves = read_game(name), np.random.default_rng(5), []
    state = game.initial_state()
    while game.outcome(state) == ONGOING and len(moves) < 70:
        legal = np.flatnonzero(game.legal_action_mask(state))
        moves.append(int(rng.choice(legal)))
        state = game.play(state, moves[-1])
    assert not game.rule_functions.play.overloads, "it was compiled"
    print(json.dumps([moves, *seen(game, state)]))
"""


def seen(game: Game, state: State) -> list[Any]:
    """Return all that a game says of a state."""
    cells = np.zeros(game.observation_shape[1] * game.observation_shape[2], np.int8)
    game.rule_functions.owners.call_at_once(state, cells)
    found = state, game.legal_action_mask(state), game.observe(state).ravel(), cells
    return [*(each.tolist() for each in found), game.margin(state)]


def test_python_plays_every_game_as_the_compiled_rules_do(tmp_path):
    names = [*game_names(), "go:rows=5,columns=5,features=1", "hex:size=4,swap=1"]
    code = PLAY.replace("for name", f"{inspect.getsource(seen)}\nfor name")
    printed = run_python("-c", code, *names, ALPHAZERO_CACHE_DIR=str(tmp_path)).splitlines()
    assert len(printed) == len(names)
    for name, line in zip(names, printed, strict=True):
        moves, *expected = json.loads(line)
        game = read_game(name)
        for rule in game.rule_functions:
            rule.compile()
        state = game.play(game.initial_state(), *moves)
        assert seen(game, state) == expected, name
        assert len(moves) == 70 or game.outcome(state) != ONGOING, name
        assert np.any(state), name
