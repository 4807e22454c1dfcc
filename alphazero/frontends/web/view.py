"""The view of a session as JSON: the board, the line of moves, search results."""

from typing import Any, Final

import numpy as np

from alphazero.drawing.board import cell_labels, field_svg, geometry_of
from alphazero.drawing.palette import looks_of
from alphazero.frontends.game_tree import GameNode
from alphazero.frontends.review.annotation import describe_exact_end
from alphazero.frontends.review.judgement import MoveReview, Review
from alphazero.frontends.terminal.replay_viewer import headline
from alphazero.frontends.web.search_pool import MAX_LINES
from alphazero.frontends.web.session import WebSession
from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.games.grid import stones_by_cell
from alphazero.games.registry import write_game
from alphazero.games.results import describe_end, describe_margin, title_of
from alphazero.mcts.tree_reading import Proof
from alphazero.players.end_prediction import EndPrediction, predict_end
from alphazero.players.position_search import SearchResult
from alphazero.records.sgf_export import has_sgf

Json = dict[str, Any]

MAX_COMMENT: Final = 500
"""Maximum characters of a comment sent to the page: files may hold long ones."""


def view_of(session: WebSession) -> Json:
    """Return the complete view."""
    game_tree = session.game_tree
    game, here = game_tree.game, game_tree.current
    review = session.review.of_line(game_tree.line) if session.review else None
    return {
        "id": session.id,
        "serial": session.serial,
        "game": write_game(game),
        "title": title_of(game),
        "board": _board_json(game, here),
        "board_style": game.board_style.name.lower(),
        "material": game.material.name.lower(),
        "looks": list(looks_of(game)),
        "sgf": has_sgf(game),
        "rows": game.observation_shape[1],
        "columns": game.observation_shape[2],
        "offboard_moves": [
            {"action": action, "name": game.action_name(here.state, action)}
            for action in _legal_actions(game, here.state)
            if game.action_cell(here.state, action) is None
        ],
        "to_play": game_tree.to_play,
        "side_names": list(game.side_names),
        "points": _points(game, here.state),
        "value": _value(session, here),
        "status": _status(session),
        "source": headline(game_tree.source) if game_tree.source else None,
        "has_territory": game.has_owners,
        "end": _end(game, predict_end(game, here.state)),
        "over": game_tree.is_over,
        "start_value": _value(session, game_tree.root),
        "moves": _moves(session, review),
        "review": _review_json(session),
        "children": [
            {"index": index, "name": game_tree.name(child)}
            for index, child in enumerate(here.children)
        ],
        "players": [session.person(player) for player in (0, 1)],
        "sides": [side.json() for side in session.sides],
        "available": session.manager.catalog.names_for(game),
        "paused": session.paused or session.is_waiting,
        "thinking": session.search.goal is not None,
        "analyzing": session.analyzing,
        "analysis_player": session.analysis_player.name,
        **search_json(session),
        "hint": session.hinted is here,
        "message": session.message,
    }


def _board_json(game: Game, node: GameNode) -> Json:
    """Return a position's board, its cells row by row."""
    geometry, labels = geometry_of(game), cell_labels(game)
    is_over = game.outcome(node.state) != ONGOING
    last = source = None
    if node.parent is not None and node.action is not None:
        last = game.action_cell(node.parent.state, node.action)
        source = game.action_source(node.parent.state, node.action)
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
        "last": last,
        "source": source,
    }


def _legal_actions(game: Game, state: State) -> list[int]:
    """Return the legal actions; none when the game is over."""
    return np.flatnonzero(game.legal_action_mask(state)).tolist()


def _actions(game: Game, state: State, cells: int) -> list[list[Json]]:
    """Return the legal moves by the cell where they put a stone."""
    actions: list[list[Json]] = [[] for _ in range(cells)]
    for action in _legal_actions(game, state):
        cell = game.action_cell(state, action)
        if cell is not None:
            one = {"action": action, "name": game.action_name(state, action)}
            source = game.action_source(state, action)
            actions[cell].append(one if source is None else {**one, "source": source})
    return actions


def search_json(session: WebSession) -> Json:
    """Return the search result of the current position as JSON, as fields of the view."""
    game, node = session.game, session.game_tree.current
    result = node.search_result
    return {
        "ply": node.ply,
        "search": result and _result(game, node, result, session.search.per_second),
    }


def _result(game: Game, node: GameNode, result: SearchResult, per_second: float) -> Json:
    return {
        "value": result.value,
        "network_value": result.network_value,
        "simulations": result.simulations,
        "per_second": per_second,
        "end": _end(game, result.end),
        "proof": _proof(game, node.state, result.proof),
        "candidates": [
            {
                "action": each.action,
                "name": game.action_name(node.state, each.action),
                "cell": game.action_cell(node.state, each.action),
                "source": game.action_source(node.state, each.action),
                "visits": each.visits,
                "share": result.share(each),
                "value": each.value if each.visits else None,
                "prior": each.prior,
                "line": _line(game, node.state, each.line) if index < MAX_LINES else [],
            }
            for index, each in enumerate(result.candidates)
        ],
    }


def _end(game: Game, end: EndPrediction) -> Json | None:
    """Return how a game will end as JSON; None if nothing is known of it.

    `margin` is a text or null, `ownership` a list by cell, for player 0, or null.
    """
    if end.margin is None and end.ownership is None:
        return None
    return {
        "margin": None if end.margin is None else describe_margin(game, end.margin),
        "ownership": None
        if end.ownership is None
        else [round(share, 3) for share in end.ownership.tolist()],
    }


def _value(session: WebSession, node: GameNode) -> float | None:
    """Return a position's value for player 0."""
    if session.review is not None and node in session.review.evaluations:
        return value_of(1, to_play(node.state)) * session.review.evaluations[node].value
    return session.game_tree.value(node)


def _moves(session: WebSession, review: Review | None) -> list[Json]:
    game_tree = session.game_tree
    return [
        {
            "ply": node.ply,
            "name": game_tree.name(node),
            "player": (node.ply - 1) % 2,
            "value": _value(session, node),
            "comment": node.comment[:MAX_COMMENT],
            "branches": len(node.parent.children) if node.parent else 1,
            "review": _judgement_json(session, node, review.moves[node.ply - 1])
            if review
            else None,
        }
        for node in game_tree.line[1:]
    ]


def _review_json(session: WebSession) -> Json | None:
    """Return the review of the game and its mistakes; None without one."""
    if session.review is None:
        return None
    line = session.game_tree.line
    mistakes = [
        {
            "ply": move.ply,
            "name": session.game_tree.name(node),
            "player": move.player,
            "review": _judgement_json(session, node, move),
        }
        for node, move in zip(line[1:], session.review.of_line(line).moves, strict=True)
        if move is not None and move.judgement.is_bad
    ]
    return session.review.json(line) | {"mistakes": mistakes}


def _judgement_json(session: WebSession, node: GameNode, move: MoveReview | None) -> Json | None:
    """Return the review of the move into `node`; only a bad move has a better one."""
    if move is None or session.review is None or node.parent is None:
        return None
    before, better = session.review.evaluations[node.parent], None
    if move.judgement.is_bad:
        better = {
            "name": session.game.action_name(node.parent.state, before.best[0]),
            "end": describe_exact_end(before) if before.is_exact else None,
        }
    return {
        "judgement": move.judgement.value,
        "sign": move.judgement.sign,
        "before": move.before,
        "after": move.after,
        "better": better,
    }


def _line(game: Game, state: State, actions: list[int]) -> list[Json]:
    """Return a line of moves as JSON, with the player of each."""
    moves = []
    for action in actions:
        name, cell = game.action_name(state, action), game.action_cell(state, action)
        moves.append({"name": name, "cell": cell, "player": to_play(state)})
        state = game.play(state, action)
    return moves


def _status(session: WebSession) -> str:
    """Describe the player to move or the result."""
    game_tree, names = session.game_tree, session.game.side_names
    if game_tree.loser is not None:
        how = "forfeited" if game_tree.forfeit_reason else "resigned"
        return f"{names[game_tree.loser]} {how}: {names[1 - game_tree.loser]} wins"
    if not game_tree.is_over:
        return f"{names[game_tree.to_play]} to move"
    return describe_end(game_tree.game, game_tree.state)


def _points(game: Game, state: State) -> list[float] | None:
    """Return the points of both players; not before the end if stones may be dead until then."""
    if game.stones_can_be_dead and game.outcome(state) == ONGOING:
        return None
    points = game.points(state)
    return None if points is None else list(points)


def _proof(game: Game, state: State, proof: Proof | None) -> str | None:
    """Describe the end that a search has proven: `Red wins in 7 moves`."""
    if proof is None:
        return None
    if proof.value == 0:
        return "A draw with best play"
    mover = to_play(state)
    winner = mover if proof.value > 0 else 1 - mover
    moves = (proof.plies + 1) // 2 if winner == mover else proof.plies // 2
    return f"{game.side_names[winner]} wins in {moves} move{'s' * (moves != 1)}"
