"""The numbers of an analysis under KataGo's names, for GTP and for the JSON engine.

KataGo, docs/GTP_Extensions.md and docs/Analysis_Engine.md. Each function takes the player whose
win rates, scores and ownership are reported. Scores and ownership are the network's for the
position, without a search and so the same for each move; without such heads they are left out.
"""

import hashlib
import math
from typing import Any, Final

import numpy as np

from alphazero.frontends.game_tree import SearchResult
from alphazero.games.game import Game, State, to_play, value_of, win_rate
from alphazero.games.grid import stones_by_player
from alphazero.players.candidates import Candidate
from alphazero.players.end_prediction import EndPrediction
from alphazero.records.gtp_notation import GtpNotation
from alphazero.utils.arrays import Float32Array, Float64Array

CONFIDENCE: Final = 1.96
"""Standard deviations of the lower confidence bound."""

COLOURS: Final = "BW"
"""Colours of players 0 and 1."""


def move_info(
    notation: GtpNotation,
    state: State,
    result: SearchResult,
    candidate: Candidate,
    order: int,
    player: int,
) -> dict[str, Any]:
    """Return the result of one move in `state`; `pvVisits` only if the candidate has them."""
    line = notation.names(state, candidate.line)
    rate = win_rate(candidate.value)
    bound = lower_bound(rate, candidate.visits)
    if player != to_play(state):
        rate, bound = 1 - rate, 1 - bound
    info = {
        "move": line[0],
        "visits": candidate.visits,
        "utility": 2 * rate - 1,
        "winrate": rate,
        "prior": candidate.prior,
        "lcb": bound,
        **score(result.end, player),
        "order": order,
        "pv": line,
    }
    return info | ({"pvVisits": list(candidate.line_visits)} if candidate.line_visits else {})


def root_info(game: Game, state: State, result: SearchResult, player: int) -> dict[str, Any]:
    """Return the result of the position itself."""
    sign = 1 if player == to_play(state) else -1
    this_hash, symmetric_hash = position_hashes(game, state)
    return {
        "currentPlayer": COLOURS[to_play(state)],
        "visits": result.simulations,
        "utility": sign * result.value,
        "winrate": win_rate(sign * result.value),
        "rawWinrate": win_rate(sign * result.network_value),
        **score(result.end, player),
        "thisHash": this_hash,
        "symHash": symmetric_hash,
    }


def score(end: EndPrediction, player: int) -> dict[str, float]:
    """Return the margin; empty if it is unknown. It is the mean of finished self-play games."""
    if end.margin is None or end.margin_spread is None:
        return {}
    lead = value_of(1, player) * end.margin
    # KataGo keeps scoreMean for older programs.
    return {
        "scoreMean": lead,
        "scoreStdev": end.margin_spread,
        "scoreLead": lead,
        "scoreSelfplay": lead,
    }


def ownership(end: EndPrediction, player: int) -> list[float] | None:
    """Return who will own each cell, row by row from the top, 1 for `player`; None if unknown."""
    return None if end.ownership is None else (value_of(1, player) * end.ownership).tolist()


def policy(notation: GtpNotation, state: State, priors: Float64Array) -> tuple[Float32Array, float]:
    """Return the priors [A] of each cell [H * W] and of the pass; NaN for illegal ones."""
    game, passing = notation.game, np.nan
    cells = np.full(notation.rows * notation.columns, np.nan, np.float32)
    for action in np.flatnonzero(game.legal_action_mask(state)).tolist():
        cell = game.action_cell(state, action)
        if cell is not None:
            cells[cell] = priors[action]
        elif action == notation.passing(state):
            passing = float(priors[action])
    return cells, passing


def lower_bound(rate: float, visits: int) -> float:
    """Return the lower confidence bound of a win rate, with each visit counted as a game.

    The bound is rough: a simulation is weaker evidence than a game, but its values vary less.
    """
    return max(0.0, rate - CONFIDENCE * math.sqrt(rate * (1 - rate) / max(visits, 1)))


def position_hashes(game: Game, state: State) -> tuple[str, str]:
    """Return a hash of stones, player to move and legal moves; and one equal under symmetries."""
    stones, legal = stones_by_player(game, state), game.legal_action_mask(state)
    turn = bytes([to_play(state)])
    written = []
    for actions, cells in zip(*game.symmetries(), strict=True):
        moved_stones, moved_legal = np.empty_like(stones), np.empty_like(legal)
        moved_stones[:, cells], moved_legal[actions] = stones, legal
        written.append(turn + moved_stones.tobytes() + moved_legal.tobytes())
    this, symmetric = (
        hashlib.blake2b(text, digest_size=16).hexdigest().upper()
        for text in (written[0], min(written))
    )
    return this, symmetric
