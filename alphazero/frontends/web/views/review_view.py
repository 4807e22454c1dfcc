"""The review of a session's game as JSON for the page."""

from alphazero.frontends.game_tree import GameNode
from alphazero.frontends.review.annotation import describe_exact_end
from alphazero.frontends.review.judgement import MoveReview
from alphazero.frontends.web.sessions.game_review import RETRY
from alphazero.frontends.web.sessions.session import WebSession
from alphazero.frontends.web.views.board_view import Json


def review_json(session: WebSession) -> Json | None:
    """Return the review of the game, which a detour leaves as it is; None without one."""
    if session.review is None:
        return None
    line = session.reviewed_line
    mistakes = [
        {
            "ply": move.ply,
            "name": session.game_tree.name(node),
            "player": move.player,
            "review": judgement_json(session, node, move),
        }
        for node, move in zip(line[1:], session.review.of_line(line).moves, strict=True)
        if move is not None and move.judgement.is_bad
    ]
    return session.review.json(line) | {"mistakes": mistakes}


def judgement_json(session: WebSession, node: GameNode, move: MoveReview | None) -> Json | None:
    """Return the review of the move into `node`; only a bad move has a better one."""
    if move is None or session.review is None or node.parent is None:
        return None
    before = session.review.evaluations[node.parent]
    better = None
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


def detour_json(session: WebSession) -> Json | None:
    """Return the detour that the review has led to; `attempt` is the move made in place of one."""
    detour, here = session.detour, session.game_tree.current
    if detour is None:
        return None
    attempt = None
    if detour.kind == RETRY and here.parent is detour.node and session.review is not None:
        move = session.review.of_move(here)
        attempt = {
            "name": session.game_tree.name(here),
            "judgement": move.judgement.value if move else None,
            "after": move.after if move else None,
        }
    return {
        "kind": detour.kind,
        "ply": detour.move.ply,
        "name": session.game_tree.name(detour.move),
        "attempt": attempt,
    }
