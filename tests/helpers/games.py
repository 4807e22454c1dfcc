"""Games that many tests play."""

import numpy as np

from alphazero.games import ONGOING, Game, State, make_game

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


def random_line(game: Game, rng: np.random.Generator) -> list[tuple[State, int]]:
    """Return the positions of a random game with the action played there, -1 at the end."""
    state, line = game.initial_state(), list[tuple[State, int]]()
    while game.outcome(state) == ONGOING:
        line.append((state, int(rng.choice(np.flatnonzero(game.legal_action_mask(state))))))
        state = game.play(*line[-1])
    return [*line, (state, -1)]


def random_actions(game: Game, rng: np.random.Generator) -> list[int]:
    """Return the actions of a random game to its end."""
    return [action for _, action in random_line(game, rng)[:-1]]


def random_states(game: Game, count: int, least: int = 0) -> list[State]:
    """Return different unfinished positions of random games, after at least `least` moves."""
    rng, found = np.random.default_rng(0), dict[bytes, State]()
    while len(found) < count:
        if unfinished := random_line(game, rng)[least:-1]:
            state, _ = unfinished[rng.integers(len(unfinished))]
            found[state.tobytes()] = state
    return list(found.values())
