"""Games that many tests play."""

from alphazero.games import make_game

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
