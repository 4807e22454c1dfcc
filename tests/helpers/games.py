"""Games that many tests play."""

import numpy as np

from alphazero.games import ONGOING, Game, make_game

TIC_TAC_TOE, CONNECT_FOUR = make_game("tic_tac_toe"), make_game("connect_four")
CONNECT_FOUR_4X5X3 = make_game("connect_four", rows=4, columns=5, length=3)

GAMES = {
    "tic_tac_toe": TIC_TAC_TOE,
    "mnk 4x4x3": make_game("mnk", rows=4, columns=4, length=3),
    "connect_four 4x5x3": CONNECT_FOUR_4X5X3,
    "connect_four": CONNECT_FOUR,
}
"""The same games by name, for parametrized tests."""

WITH_MARGIN = {
    "go 3x3": make_game("go", rows=3, columns=3),
    "othello 4x4": make_game("othello", size=4),
}
"""Small games with the rule `margin`, by name."""


def actions_in(game: Game, moves: str) -> list[int]:
    """Return the actions that moves name, one after the other."""
    state, actions = game.initial_state(), list[int]()
    for move in moves.split():
        actions.append(game.parse_action(state, move))
        state = game.play(state, actions[-1])
    return actions


def random_actions(game: Game, rng: np.random.Generator) -> list[int]:
    """Return the actions of a random game to its end."""
    state, actions = game.initial_state(), list[int]()
    while game.outcome(state) == ONGOING:
        actions.append(int(rng.choice(np.flatnonzero(game.legal_action_mask(state)))))
        state = game.play(state, actions[-1])
    return actions
