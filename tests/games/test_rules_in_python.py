"""While rules are not compiled, Python runs their source: what it plays is what they play."""

import json

import numpy as np
from helpers.processes import run_python

from alphazero.games import game_names, make_game
from alphazero.games.game import ONGOING

PLAY = """
import json, sys
from alphazero.utils import jit
jit.PATIENCE = 1e9  # before the rules are read
import numpy as np
from alphazero.games import make_game
from alphazero.games.game import ONGOING

for name in sys.argv[1:]:
    game, rng, moves = make_game(name), np.random.default_rng(5), []
    state = game.initial_state()
    while game.outcome(state) == ONGOING and len(moves) < 16:
        legal = np.flatnonzero(game.legal_action_mask(state))
        moves.append(int(rng.choice(legal)))
        state = game.play(state, moves[-1])
    assert not game.rule_functions.play.overloads, "it was compiled"
    mask, planes = game.legal_action_mask(state), game.observe(state)
    print(json.dumps([moves, state.tolist(), mask.tolist(), planes.ravel().tolist()]))
"""


def test_python_plays_every_game_as_the_compiled_rules_do(tmp_path):
    names = game_names()
    printed = run_python("-c", PLAY, *names, ALPHAZERO_CACHE_DIR=str(tmp_path)).splitlines()
    assert len(printed) == len(names)
    for name, line in zip(names, printed, strict=True):
        moves, *expected = json.loads(line)
        game = make_game(name)
        for rule in game.rule_functions[:3]:
            rule.compile()
        state = game.play(game.initial_state(), *moves)
        found = state, game.legal_action_mask(state), game.observe(state).ravel()
        assert [each.tolist() for each in found] == expected, name
        assert len(moves) == 16 or game.outcome(state) != ONGOING, name
        assert np.any(state), name
