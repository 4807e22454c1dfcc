"""The board of a session as JSON: its picture, cells, moves, and what the last move did."""

import io
from typing import Any, Final

import numpy as np

from alphazero.drawing.board import (
    BoardDrawing,
    cell_labels,
    field_svg,
    geometry_of,
    position_title,
)
from alphazero.drawing.canvas import MARGIN, Canvas
from alphazero.frontends.game_tree import GameNode
from alphazero.games.game import ONGOING, Game, State
from alphazero.games.grid import stones_by_cell, stones_by_player

Json = dict[str, Any]

PICTURE_CELL: Final = 64
"""The size of a cell of a saved picture, in pixels."""


def board_json(game: Game, node: GameNode) -> Json:
    """Return a position's board, its cells row by row."""
    geometry, labels = geometry_of(game), cell_labels(game)
    is_over = game.outcome(node.state) != ONGOING
    return {
        "field": field_svg(game),
        "width": geometry.width,
        "height": geometry.height,
        "radius": geometry.radius,
        "cells": [
            {"x": x, "y": y, "stone": stone, "label": label, "actions": actions}
            for (x, y), stone, label, actions in zip(
                geometry.centres,
                stones_by_cell(game, node.state),
                labels,
                _actions(game, node.state, len(labels)),
                strict=True,
            )
        ],
        "winning": list(game.winning_cells(node.state)) if is_over else [],
        **_last_move(game, node),
    }


def picture_of(game: Game, node: GameNode, kind: str) -> bytes:
    """Return a picture of a position, `svg` or `png`, with a margin."""
    board = BoardDrawing(game, MARGIN, MARGIN, PICTURE_CELL)
    canvas = Canvas((board.width + 2 * MARGIN, board.height + 2 * MARGIN))
    board.draw(canvas, node.state, _last_move(game, node)["last"])
    if kind == "svg":
        return canvas.svg(position_title(game, node.state), {}).encode()
    data = io.BytesIO()
    canvas.to_image().save(data, "PNG")
    return data.getvalue()


def legal_actions(game: Game, state: State) -> list[int]:
    """Return the legal actions; none when the game is over."""
    return np.flatnonzero(game.legal_action_mask(state)).tolist()


def captures(game: Game, line: list[GameNode]) -> list[int]:
    """Return how many stones player 0 and player 1 have taken from the other along a line."""
    taken = [0, 0]
    for node in line[1:]:
        taken[(node.ply - 1) % 2] += len(_taken(game, node))
    return taken


def _taken(game: Game, node: GameNode) -> list[int]:
    """Return the cells from which the move into a position took the other side's stones.

    Stones that change their colour, as in Othello, are not taken.
    """
    if node.parent is None or node.action is None:
        return []
    before, mover = node.parent.state, (node.ply - 1) % 2
    target = game.action_cell(before, node.action)
    if target is None:
        return []
    lost = (
        stones_by_player(game, before)[1 - mover] & ~stones_by_player(game, node.state)[1 - mover]
    )
    turned = stones_by_player(game, node.state)[mover]
    if game.action_source(before, node.action) is not None:
        turned[target] = False
    return np.flatnonzero(lost & ~turned).tolist()


def _last_move(game: Game, node: GameNode) -> Json:
    """Return the cells of the move into a position: where it ended and began, what it took."""
    if node.parent is None or node.action is None:
        return {"last": None, "source": None, "taken": []}
    before = node.parent.state
    return {
        "last": game.action_cell(before, node.action),
        "source": game.action_source(before, node.action),
        "taken": _taken(game, node),
    }


def _actions(game: Game, state: State, cells: int) -> list[list[Json]]:
    """Return the legal moves by the cell where they put a stone."""
    actions: list[list[Json]] = [[] for _ in range(cells)]
    for action in legal_actions(game, state):
        cell = game.action_cell(state, action)
        if cell is not None:
            one = {"action": action, "name": game.action_name(state, action)}
            source = game.action_source(state, action)
            actions[cell].append(one if source is None else {**one, "source": source})
    return actions
