"""The view of a session as JSON: the board, the line of moves, search results."""

import functools
from typing import Any, Final

import numpy as np

from alphazero.drawing.board import Geometry, board_svg, geometry_of, labels_of
from alphazero.frontends.game_tree import GameNode, SearchResult
from alphazero.frontends.terminal.replay_viewer import headline
from alphazero.frontends.web.search_pool import LINES
from alphazero.frontends.web.session import WebSession
from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.games.grid import SIGNS, stones_by_player
from alphazero.games.registry import write_game
from alphazero.records.sgf_export import has_sgf

WHO: Final = SIGNS[1], SIGNS[2]
"""Names of player 0 and player 1."""

COMMENT: Final = 500
"""Maximum characters of a comment sent to the page: files may hold long ones."""

Json = dict[str, Any]


def view_of(session: WebSession) -> Json:
    """Return the complete view."""
    game_tree, task = session.game_tree, session.task
    game, here = game_tree.game, game_tree.here
    return {
        "id": session.name,
        "serial": session.serial,
        "game": write_game(game),
        "board": _board(game, here),
        "look": game.board_style.name.lower(),
        "sgf": has_sgf(game),
        "rows": game.observation_shape[1],
        "columns": game.observation_shape[2],
        "elsewhere": [
            {"action": action, "name": game.action_name(here.state, action)}
            for action in legal_actions(game, here.state)
            if game.action_cell(here.state, action) is None
        ],
        "to_play": game_tree.to_play,
        "signs": list(WHO),
        "status": _status(session),
        "source": headline(game_tree.source) if game_tree.source else None,
        "over": game_tree.is_over,
        "resigned": game_tree.loser,
        "ply": here.ply,
        "start_value": _value(session, game_tree.root),
        "moves": _moves(session),
        "children": [
            {"index": index, "name": game_tree.name(child)}
            for index, child in enumerate(here.children)
        ],
        "seats": [seat.json() for seat in session.seats],
        "paused": session.paused or session.is_waiting,
        "thinking": task is not None,
        "analyzing": session.analyzing,
        "analyst": session.analyst.name,
        "whose": game_tree.to_play if task is not None else None,
        "thought": thought_json(game, here, here.thought, session.per_second),
        "hint": session.hinted is here,
        "message": session.message,
        "recorded": session.recorded.get(here),
    }


def thought_json(
    game: Game, node: GameNode, thought: SearchResult | None, per_second: float
) -> Json | None:
    """Return a search result as JSON."""
    if thought is None:
        return None
    return {
        "ply": node.ply,
        "value": thought.value,
        "first_value": thought.first_value,
        "simulations": thought.simulations,
        "per_second": per_second,
        "candidates": [
            {
                "action": each.action,
                "name": game.action_name(node.state, each.action),
                "cell": game.action_cell(node.state, each.action),
                "visits": each.visits,
                "share": thought.share(each),
                "value": each.value if each.visits else None,
                "prior": each.prior,
                "line": _line(game, node.state, each.line) if place < LINES else [],
            }
            for place, each in enumerate(thought.candidates)
        ],
    }


def legal_actions(game: Game, state: State) -> list[int]:
    """Return the legal actions; none when the game is over."""
    if game.outcome(state) != ONGOING:
        return []
    return [int(action) for action in np.flatnonzero(game.legal_action_mask(state))]


def _value(session: WebSession, node: GameNode) -> float | None:
    """Return a position's value for player 0; the recorded one if it was not searched since."""
    recorded = session.recorded.get(node, {}).get("value")
    if recorded is not None and node.thought is None:
        return float(value_of(1, to_play(node.state)) * recorded)
    return session.game_tree.value(node)


def _moves(session: WebSession) -> list[Json]:
    game_tree = session.game_tree
    return [
        {
            "ply": node.ply,
            "name": game_tree.name(node),
            "player": (node.ply - 1) % 2,
            "value": _value(session, node),
            "comment": node.comment[:COMMENT],
            "branches": len(node.parent.children) if node.parent else 1,
        }
        for node in game_tree.line[1:]
    ]


def _board(game: Game, node: GameNode) -> Json:
    """Return the drawing of a position, and its cells row by row."""
    geometry, labels = _layout(game)
    last = None
    if node.parent is not None and node.action is not None:
        last = game.action_cell(node.parent.state, node.action)
    first, second = stones_by_player(game, node.state)
    actions: list[list[Json]] = [[] for _ in labels]
    for action in legal_actions(game, node.state):
        cell = game.action_cell(node.state, action)
        if cell is not None:
            name = game.action_name(node.state, action)
            actions[cell].append({"action": action, "name": name})
    return {
        "svg": board_svg(game, node.state, last_cell=last),
        "width": geometry.width,
        "height": geometry.height,
        "radius": geometry.radius,
        "cells": [
            {
                "x": x,
                "y": y,
                "stone": 1 if first[cell] else 2 if second[cell] else 0,
                "label": labels[cell],
                "actions": actions[cell],
            }
            for cell, (x, y) in enumerate(geometry.centres)
        ],
    }


@functools.lru_cache(maxsize=64)
def _layout(game: Game) -> tuple[Geometry, tuple[str, ...]]:
    """Return the geometry of a board and the names of its cells."""
    _, rows, columns = game.observation_shape
    named = labels_of(game)
    labels = []
    for row in range(rows):
        for column in range(columns):
            if named.columns and named.rows:
                labels.append(named.columns[column] + named.rows[row])
            else:
                labels.append(f"column {column + 1}, row {rows - row}")
    return geometry_of(game), tuple(labels)


def _line(game: Game, state: State, actions: list[int]) -> list[Json]:
    """Return a line of moves as JSON."""
    told = []
    for action in actions:
        told.append(
            {
                "name": game.action_name(state, action),
                "cell": game.action_cell(state, action),
                "player": to_play(state),
            }
        )
        state = game.play(state, action)
    return told


def _status(session: WebSession) -> str:
    """Describe the player to move or the result."""
    loser = session.game_tree.loser
    if loser is not None:
        how = "gave up" if session.game_tree.fault else "resigned"
        return f"{WHO[loser]} {how}: {WHO[1 - loser]} wins"
    if not session.game_tree.is_over:
        return f"{WHO[session.game_tree.to_play]} to move"
    winner = session.game_tree.winner
    return "A draw" if winner is None else f"{WHO[winner]} wins"
