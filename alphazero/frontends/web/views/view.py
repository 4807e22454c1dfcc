"""The view of a session as JSON: the board, the line of moves, search results."""

from typing import Final

from alphazero.drawing.palette import looks_of
from alphazero.frontends.analyzer import Reply
from alphazero.frontends.game_tree import GameNode
from alphazero.frontends.review.judgement import Review
from alphazero.frontends.search_pool import MAX_LINES
from alphazero.frontends.terminal.replay_viewer import headline
from alphazero.frontends.web.sessions.session import WebSession
from alphazero.frontends.web.views.board_view import Json, board_json, captures, legal_actions
from alphazero.frontends.web.views.review_view import detour_json, judgement_json, review_json
from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.games.registry import write_game
from alphazero.games.results import describe_end, describe_margin, title_of
from alphazero.mcts.search import Proof
from alphazero.players.end_prediction import EndPrediction, end_now, predict_end
from alphazero.players.position_search import SearchResult
from alphazero.records.sgf_export import has_sgf

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
        "board": board_json(game, here),
        "board_style": game.board_style.name.lower(),
        "material": game.material.name.lower(),
        "looks": list(looks_of(game)),
        "sgf": has_sgf(game),
        "rows": game.observation_shape[1],
        "columns": game.observation_shape[2],
        "offboard_moves": [
            {"action": action, "name": game.action_name(here.state, action)}
            for action in legal_actions(game, here.state)
            if game.action_cell(here.state, action) is None
        ],
        "to_play": game_tree.to_play,
        "side_names": list(game.side_names),
        "points": _points(game, here.state),
        "captures": captures(game, game_tree.path),
        "value": _value(session, here),
        "status": _status(session),
        "source": headline(game_tree.source) if game_tree.source else None,
        "has_territory": game.has_owners,
        "end": _end(game, predict_end(game, here.state)),
        "now": _end(game, end_now(game, here.state)) if game.stones_can_be_dead else None,
        "over": game_tree.is_over,
        "start_value": _value(session, game_tree.root),
        "moves": _moves(session, review),
        "review": review_json(session),
        "detour": detour_json(session),
        "children": [
            {"index": index, "name": game_tree.name(child)}
            for index, child in enumerate(here.children)
        ],
        "players": [session.person(player) for player in (0, 1)],
        "sides": [side.json() for side in session.sides],
        "paused": session.paused or session.is_waiting,
        "thinking": session.search is not None,
        "analyzing": session.analyzing,
        "analysis_player": session.analysis_player.name,
        "second_player": session.second_player.name if session.second_player else None,
        **search_json(session),
        "hint": session.hinted is here,
        "message": session.message,
        "recorded": None if session.hides_search else session.recorded.get(here),
        "archives": session.host.catalog.archives_of(game),
    }


def search_json(session: WebSession) -> Json:
    """Return the search results of the current position as JSON, as fields of the view.

    `search` is the usual one, `second` that of the second player; None without one, or if hidden.
    """
    game, node, second = session.game, session.game_tree.current, session.second_result
    results: dict[str, tuple[SearchResult, float]] = {}
    if node.search_result is not None and not session.hides_search:
        results["search"] = node.search_result, session.speeds[0]
    if second is not None and second[0] is node and not session.hides_search:
        results["second"] = second[1], session.speeds[1]
    found = {name: _result(game, node, *each) for name, each in results.items()}
    return {"ply": node.ply, "search": found.get("search"), "second": found.get("second")}


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
                "replies": _replies_to(game, node.state, each.action, result),
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
    """Return a position's value for player 0; the recorded one if it was not searched here."""
    if session.review is not None and node in session.review.evaluations:
        return value_of(1, to_play(node.state)) * session.review.evaluations[node].value
    recorded = session.recorded.get(node, {}).get("value")
    if recorded is not None and node.search_result is None:
        return float(value_of(1, to_play(node.state)) * recorded)
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
            "review": judgement_json(session, node, review.moves[node.ply - 1]) if review else None,
        }
        for node in game_tree.line[1:]
    ]


def _line(game: Game, state: State, actions: list[int]) -> list[Json]:
    """Return a line of moves as JSON."""
    moves = []
    for action in actions:
        moves.append(
            {
                "name": game.action_name(state, action),
                "cell": game.action_cell(state, action),
                "source": game.action_source(state, action),
                "player": to_play(state),
            }
        )
        state = game.play(state, action)
    return moves


def _replies_to(game: Game, state: State, action: int, result: SearchResult) -> list[Json]:
    replies = result.replies.get(action)
    return _replies(game, game.play(state, action), replies) if replies else []


def _replies(game: Game, state: State, replies: tuple[Reply, ...]) -> list[Json]:
    """Return the searched answers in `state` as JSON, with the answers to them."""
    return [
        {
            "name": game.action_name(state, reply.action),
            "cell": game.action_cell(state, reply.action),
            "source": game.action_source(state, reply.action),
            "player": to_play(state),
            "visits": reply.visits,
            "value": reply.value,
            "replies": _replies(game, game.play(state, reply.action), reply.replies),
        }
        for reply in replies
    ]


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
