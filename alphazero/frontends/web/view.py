"""The view of a session as JSON: the board, the line of moves, search results."""

from typing import Any, Final

import numpy as np

from alphazero.drawing.board import empty_board
from alphazero.drawing.palette import looks_of
from alphazero.frontends.game_tree import GameNode
from alphazero.frontends.review.annotation import describe_exact_end
from alphazero.frontends.review.judgement import Evaluation, MoveReview
from alphazero.frontends.web.search_pool import MAX_LINES
from alphazero.frontends.web.session import WebSession
from alphazero.games.game import ONGOING, BoardStyle, Game, State, to_play, value_of
from alphazero.games.registry import write_game
from alphazero.games.results import describe_end, describe_margin, title_of
from alphazero.mcts.tree_reading import Proof
from alphazero.players.end_prediction import EndPrediction, predict_end
from alphazero.players.position_search import SearchResult
from alphazero.records.game_files import record_format
from alphazero.utils.tables import count_of

Json = dict[str, Any]

MAX_CANDIDATES: Final = 32
"""Maximum moves of a search sent to the page."""

MAX_COMMENT: Final = 500
"""Maximum characters of a comment sent to the page: files may hold long ones."""


def view_of(session: WebSession) -> Json:
    """Return the complete view."""
    game_tree = session.game_tree
    game, here, end = game_tree.game, game_tree.current, game_tree.line[-1]
    mask = game.legal_action_mask(here.state)
    source = game_tree.source if game_tree.loaded_players else None  # not a position alone
    legal = [] if game_tree.is_over else np.flatnonzero(mask).tolist()
    return {
        "id": session.id,
        "serial": session.serial,
        "game": write_game(game),
        "start": game_tree.start,
        "title": title_of(game),
        "board": _board_json(game, here, legal, session.is_turned),
        "board_style": game.board_style.name.lower(),
        "material": game.material.name.lower(),
        "looks": list(looks_of(game)),
        "record_format": record_format(game),
        "has_sides": game.is_turned,
        "turned": session.is_turned,
        "rows": game.observation_shape[1],
        "columns": game.observation_shape[2],
        "offboard_moves": [
            {"action": action, "name": game.action_name(here.state, action)}
            for action in legal
            if game.action_cell(here.state, action) is None
        ],
        "to_play": game_tree.to_play,
        "side_names": list(game.side_names),
        "points": _points(game, here.state),
        "value": _value(session, here),
        "status": _status(session),
        "source": source.headline() if source else None,
        "has_territory": game.has_owners,
        "end": _end(game, predict_end(game, here.state)),
        "over": game_tree.is_over,
        "resigned": None if end.forfeit_reason else end.loser,
        "start_value": _value(session, game_tree.root),
        "moves": _moves(session),
        "review": session.review.json(game_tree.line) if session.review else None,
        "children": [game_tree.name(child) for child in here.children],
        "players": [session.person(player) for player in (0, 1)],
        "sides": [side.json() for side in session.sides],
        "available": session.manager.catalog.names_for(game),
        "paused": session.paused or session.is_waiting,
        "thinking": session.goal is not None,
        "analyzing": session.analyzing,
        "analysis_player": session.analysis_player.name,
        **search_json(session),
        "hint": session.hinted is here,
        "message": session.message,
    }


def _board_json(game: Game, node: GameNode, legal: list[int], is_turned: bool) -> Json:
    """Return a position's board, its cells row by row with the `legal` actions.

    `stone` is 1 or 2 for the players' stones, 3 for a chip, 0 for none; `kind` counts a piece's
    kind from 1.
    """
    board = empty_board(game, is_turned)
    actions = _actions(game, node.state, legal, len(board["cells"]))
    pieces = game.pieces(node.state).ravel().tolist()
    for cell, piece, moves in zip(board["cells"], pieces, actions, strict=True):
        stone = 0 if piece == 0 else 1 if piece > 0 else 2
        if piece and game.board_style is BoardStyle.PILE:
            stone = 3
        cell.update(stone=stone, kind=abs(piece) if game.piece_kinds else 0, actions=moves)
    is_over = game.outcome(node.state) != ONGOING
    last = source = None
    if node.parent is not None and node.action is not None:
        last = game.action_cell(node.parent.state, node.action)
        source = game.action_source(node.parent.state, node.action)
    return {
        **board,
        "winning": list(game.winning_cells(node.state)) if is_over else [],
        "last": last,
        "source": source,
        "attacked": list(game.attacked_cells(node.state)),
    }


def _actions(game: Game, state: State, legal: list[int], cells: int) -> list[list[Json]]:
    """Return the legal moves by the cell where they put a stone.

    Where several moves lead from one cell to another, each has the `kind` of the piece there after
    it, as in chess when a pawn becomes another piece.
    """
    actions: list[list[Json]] = [[] for _ in range(cells)]
    for action in legal:
        cell = game.action_cell(state, action)
        if cell is not None:
            move: Json = {"action": action, "name": game.action_name(state, action)}
            source = game.action_source(state, action)
            actions[cell].append(move if source is None else {**move, "source": source})
    for cell, moves in enumerate(actions):
        sources = [move.get("source") for move in moves]
        for move, source in zip(moves, sources, strict=True):
            if source is not None and sources.count(source) > 1:
                after = game.pieces(game.play(state, move["action"]))
                move["kind"] = abs(int(after.flat[cell]))
    return actions


def search_json(session: WebSession) -> Json:
    """Return the search result of the current position as JSON, as fields of the view."""
    game, node = session.game, session.game_tree.current
    result = node.search_result
    return {"ply": node.ply, "search": result and _result(game, node, result, session.per_second)}


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
                "action": candidate.action,
                "name": game.action_name(node.state, candidate.action),
                "cell": game.action_cell(node.state, candidate.action),
                "source": game.action_source(node.state, candidate.action),
                "visits": candidate.visits,
                "share": result.share(candidate),
                "value": candidate.value if candidate.visits else None,
                "prior": candidate.prior,
                "line": _line(game, node.state, candidate.line) if index < MAX_LINES else [],
            }
            for index, candidate in enumerate(result.candidates[:MAX_CANDIDATES])
        ],
    }


def _end(game: Game, end: EndPrediction) -> Json | None:
    """Return a predicted end as JSON; None without margin and ownership.

    `margin` is a text or null, `ownership` a list by cell, for player 0, or null.
    """
    margin, ownership = end.margin, end.ownership
    if margin is None and ownership is None:
        return None
    shares = None if ownership is None else [round(share, 3) for share in ownership.tolist()]
    return {
        "margin": None if margin is None else describe_margin(game, margin),
        "ownership": shares,
    }


def _value(session: WebSession, node: GameNode) -> float | None:
    """Return a position's value for player 0."""
    review = session.review
    if review is not None and node.loser is None and node in review.evaluations:
        return value_of(1, to_play(node.state)) * review.evaluations[node].value
    return session.game_tree.value(node)


def _moves(session: WebSession) -> list[Json]:
    game_tree, review = session.game_tree, session.review
    line = game_tree.line
    reviews = review.of_line(line).moves if review else [None] * (len(line) - 1)
    return [
        {
            "ply": node.ply,
            "name": game_tree.name(node),
            "player": to_play(parent.state),
            "value": _value(session, node),
            "comment": node.comment[:MAX_COMMENT],
            "branches": len(parent.children),
            "review": _judgement(session.game, review.evaluations[parent], parent.state, move)
            if review and move
            else None,
        }
        for parent, node, move in zip(line, line[1:], reviews, strict=False)
    ]


def _judgement(game: Game, before: Evaluation, state: State, move: MoveReview) -> Json:
    """Return the review of a move in `state`; only a bad move has a better one."""
    better = None
    if move.judgement.is_bad:
        better = {
            "name": game.action_name(state, before.best[0]),
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


def _status(session: WebSession) -> str:
    """Describe the player to move or the result."""
    game_tree, names = session.game_tree, session.game.side_names
    loser = game_tree.current.loser
    if loser is not None:
        how = "forfeited" if game_tree.current.forfeit_reason else "resigned"
        return f"{names[loser]} {how}: {names[1 - loser]} wins"
    if not game_tree.is_over:
        check = ", in check" if session.game.attacked_cells(game_tree.state) else ""
        return f"{names[game_tree.to_play]} to move{check}"
    if (told := game_tree.current.told) is not None:
        return f"{names[told < 0]} wins, as its file says" if told else "A draw, as its file says"
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
    return f"{game.side_names[winner]} wins in {count_of(moves, 'move')}"
