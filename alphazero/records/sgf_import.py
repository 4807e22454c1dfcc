"""Conversion of SGF records to games and actions.

Turns alternate strictly here, but not in SGF, with setup stones, handicaps and omitted forced
passes. So before a move out of turn the other side passes, if it can.
"""

from typing import Final

import numpy as np

from alphazero.errors import GameError
from alphazero.games.game import ONGOING, Game, State
from alphazero.games.grid import stones_by_player
from alphazero.games.registry import make_game, read_game, write_game
from alphazero.records.gtp_notation import COLOURS, pass_before
from alphazero.records.sgf import GO, HEX, LINES, OTHELLO, RULES, SWAP, SgfGame, number_of

BOARDS: Final = {GO: "Go", OTHELLO: "Othello", LINES: "gomoku", HEX: "Hex"}
"""Names of games by the property GM."""


def game_of(record: SgfGame) -> Game:
    """Return the game of a record: the one named by AZ if we wrote it, else by GM and board size.

    Go gets the file's komi, and its rules if `RULES` has them; gomoku is won by five in a line; Hex
    has the swap if one was played. Raise GameError for an unknown game, or a board that it cannot
    have.
    """
    sizes = {"rows": record.rows, "columns": record.columns}
    if record.spelling:
        game = read_game(ascii(record.spelling)[1:-1])
        if number_of(game) != record.number or game.observation_shape[1:] != tuple(sizes.values()):
            raise GameError(
                f"SGF: AZ[{write_game(game)}] contradicts GM[{record.number}] and the board of "
                f"{record.columns} x {record.rows}; remove AZ"
            )
        return game
    if record.number not in BOARDS:
        games = ", ".join(f"{number} {name}" for number, name in BOARDS.items())
        raise GameError(f"SGF: unknown game {record.number} (GM); known: {games}")
    if record.number == GO:
        komi = 2 * (record.komi or 0)
        if komi != int(komi):
            raise GameError(f"SGF: the komi (KM) must be a multiple of 0.5, got {record.komi:g}")
        rules = next((key for key, name in RULES.items() if name == record.rules), (1, 0))
        superko, suicide = rules
        return make_game(
            "go", **sizes, komi_half_points=int(komi), superko=superko, suicide=suicide
        )
    if record.number not in (OTHELLO, HEX):
        return make_game("gomoku", **sizes, length=min(5, max(sizes.values())))
    if record.rows != record.columns:
        raise GameError(
            f"SGF: {BOARDS[record.number]} has a square board, not {record.columns} x {record.rows}"
        )
    if record.number == OTHELLO:
        return make_game("othello", size=record.rows)
    swap = int(any(move == SWAP for _, move in record.moves))
    return make_game("hex", size=record.rows, swap=swap)


def steps_of(game: Game, record: SgfGame, last: int | None = None) -> list[tuple[int, ...]]:
    """Return the actions of a record in `game`, step by step.

    The first step sets up stones, if any; every other step is a move, after a pass if needed.
    `last` limits the number of moves. Raise GameError for a record of another game, stones that
    cannot be set up, or an illegal move, with its number.
    """
    if number_of(game) != record.number:
        other = BOARDS.get(record.number, "another game")
        raise GameError(f"SGF: this is {other} (GM[{record.number}]), not {write_game(game)}")
    state = game.initial_state()
    try:
        setup, state = _set_up(game, state, record)
    except GameError as error:
        raise GameError(f"the stones cannot be set up (AB, AW): {error}") from None
    steps = [setup]
    for number, (player, move) in enumerate(record.moves[:last], 1):
        try:
            step, state = _step(game, state, player, move)
        except GameError as error:
            where = move if isinstance(move, str) else game.action_name(state, move)
            raise GameError(f"move {number}, {COLOURS[player]} {where}: {error}") from None
        steps.append(step)
    return steps


def _set_up(game: Game, state: State, record: SgfGame) -> tuple[tuple[int, ...], State]:
    """Return the actions that set up a record's stones, and the position after them."""
    stones = np.zeros((2, record.rows * record.columns), np.bool_)
    for player, cells in enumerate((record.black, record.white)):
        stones[player, cells] = True
    # Othello's first four discs are there already.
    if not stones.any() or (stones_by_player(game, state) == stones).all():
        return (), state
    setup: list[int] = []
    for turn in range(max(len(record.black), len(record.white))):
        for player, cells in enumerate((record.black, record.white)):
            if turn < len(cells):
                step, state = _step(game, state, player, cells[turn])
                setup += step
    if game.outcome(state) != ONGOING:
        raise GameError("the moves that set them up end the game")
    if not (stones_by_player(game, state) == stones).all():
        raise GameError("they capture each other")
    return tuple(setup), state


def _step(game: Game, state: State, player: int, move: int | str) -> tuple[tuple[int, ...], State]:
    """Return the actions of a player's move, and the position after them."""
    actions = pass_before(game, state, player)
    state = game.play(state, *actions)
    action = _action(game, state, move)
    if action is None:
        raise GameError(f"{write_game(game)} has no such move")
    # `parse_action` explains an illegal move.
    action = game.parse_action(state, game.action_name(state, action))
    return (*actions, action), game.play(state, action)


def _action(game: Game, state: State, move: int | str) -> int | None:
    """Return the action of a cell or of a named move; None if the game lacks it."""
    if isinstance(move, int):
        return move
    last = game.num_actions - 1
    return last if game.action_name(state, last) == move else None
