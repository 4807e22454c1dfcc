"""Conversion of played games to SGF and back, with comments on the searches."""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from alphazero.games.game import ONGOING, Game, State, value_of, win_rate
from alphazero.games.registry import name_of
from alphazero.records.game_record import GameRecord
from alphazero.records.gtp_notation import COLOURS
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf import NO_NOTES, NUMBERS, MoveNote, SgfGame, write_sgf
from alphazero.records.sgf_import import game_of, steps_of

REMARK: Final = (
    "A comment gives the result of the mover's search: win rate = (1 + value) / 2, where a draw "
    "counts half; policy = the search policy, which is the share of the visits except with Gumbel "
    "search."
)

_OPENING: Final = "Moves drawn at random to open it: {}."
_FORFEIT: Final = "Ended by adjudication: {}."
"""Comments on the whole game."""

_LONGEST_RESULT: Final = 40
_VALUE = re.compile(r"win rate [0-9]{1,3}% \(value ([+-](?:0\.[0-9]{2}|1\.00))\)")


# --- comments ------------------------------------------------------------------------------------


def search_comment(
    game: Game, state: State, action: int, value: float, policy: Any, visits: Any = None
) -> str:
    """Return a comment on the search before a move.

    `value` is for the player who moves; `policy` [A] is the search policy, zeros if there is none;
    `visits` [A] are the root visits, if there are any.
    """
    comment = value_comment(value)
    total = 0 if visits is None else int(visits.sum())
    if total:
        comment += f", {int(visits[action]):,} of {total:,} visits"
    elif policy.any():
        comment += f", policy {policy[action]:.0%}"
    else:
        return comment
    shares = visits / total if total else policy
    order = [int(other) for other in np.argsort(-shares, kind="stable")[:3] if other != action]
    others = [
        f"{game.action_name(state, other)} {shares[other]:.0%}"
        for other in order[:2]
        if shares[other] >= 0.01
    ]
    return comment + (f"; else {', '.join(others)}" if others else "")


def value_comment(value: float) -> str:
    """Return the beginning of a comment on the mover's value before a move."""
    return f"win rate {win_rate(value):.0%} (value {value:+z.2f})"


def value_in(comment: str) -> float | None:
    """Return the mover's value in a comment of `search_comment`, to two digits, or None."""
    match = _VALUE.match(comment)
    return float(match[1]) if match else None


def commented(
    played: PlayedGame, record: GameRecord, searched: tuple[bool, bool] = (True, True)
) -> PlayedGame:
    """Return the game of a record with comments on the moves of the players that search.

    `searched` is by the match's players; the opening's moves were not searched.
    """
    comments = []
    for ply, (state, action) in enumerate(zip(played.states(), played.actions, strict=False)):
        value, policy, comment = float(record.values[ply]), record.policies[ply], ""
        if ply >= played.opening and searched[record.pairing.players[ply % 2]]:
            comment = search_comment(played.game, state, action, value, policy)
        comments.append(comment)
    return dataclasses.replace(played, comments=tuple(comments))


# --- writing -------------------------------------------------------------------------------------


def to_sgf(played: PlayedGame, notes: Mapping[int, MoveNote] = NO_NOTES) -> str:
    """Return a game as SGF; raise GameError for a game that cannot be written as SGF.

    `notes` are by the index of a move.
    """
    state = played.states()[-1]
    ending = "F" if played.forfeit_reason else "R" if played.resigned else ""
    remarks = [_FORFEIT.format(_printable(played.forfeit_reason))] if played.forfeit_reason else []
    remarks += [_OPENING.format(played.opening)] if played.opening else []
    remarks += [REMARK] if any(played.comments) else []
    return write_sgf(
        played.game,
        played.actions,
        result=played.sgf_result or result_of(played.game, state, played.outcome, ending),
        players=played.players,
        comments=played.comments,
        remark="\n".join(remarks),
        notes=notes,
    )


def result_of(game: Game, state: State, outcome: int, ending: str = "") -> str:
    """Return SGF's result: B+3.5 or W+12 with points, else B+ or W+; 0 for a draw.

    `ending` is R for a resignation, F for a forfeit. The result of an unfinished game is empty.
    """
    if outcome == ONGOING:
        return ""
    if outcome == 0:
        return margin_text(0)
    if not ending and outcome == game.outcome(state):
        points = point_difference(game, state)
        if points is not None:
            return margin_text(points)
    return f"{'B' if value_of(outcome, 0) > 0 else 'W'}+{ending}"


def margin_text(margin: float) -> str:
    """Return the result of a game that Black won by `margin` points, as B+3.5; 0 for a draw."""
    return f"{'B' if margin > 0 else 'W'}+{abs(margin):g}" if margin else "0"


def point_difference(game: Game, state: State) -> float | None:
    """Return Black's lead in points; None if the game has no points."""
    points = game.points(state)
    return None if points is None else points[0] - points[1]


# --- reading -------------------------------------------------------------------------------------


def from_sgf(record: SgfGame) -> PlayedGame:
    """Convert a record to a played game, inverting `to_sgf`; raise GameError if it is invalid."""
    game = game_of(record)
    steps = steps_of(game, record)
    actions, comments = list(steps[0]), [""] * len(steps[0])
    for step, comment in zip(steps[1:], record.comments, strict=True):
        actions += step
        comments += [""] * (len(step) - 1) + [_printable(comment)]
    state = game.play(game.initial_state(), *actions)
    outcome = ends = game.outcome(state)
    result = _printable(record.result)[:_LONGEST_RESULT]
    winner, plus, how = result.partition("+")
    if plus and winner in ("B", "W"):
        outcome = 1 if winner == "B" else -1
    elif result in ("0", "Draw"):
        outcome = 0
    ending = {"R": "R", "Resign": "R", "F": "F", "Forfeit": "F"}.get(how, "") if plus else ""
    # A player resigns or forfeits only before the rules have ended the game.
    is_ours = result == result_of(game, state, outcome, ending) and outcome in (
        {1, -1} if ending and ends == ONGOING else {ends}
    )
    reasons = {"T": "out of time", "Time": "out of time", "F": "forfeit", "Forfeit": "forfeit"}
    reason = reasons.get(how, "") if plus else ""
    return PlayedGame(
        game,
        (record.players[0] or COLOURS[0], record.players[1] or COLOURS[1]),
        tuple(actions),
        outcome,
        resigned=ending == "R",
        opening=min(int(_match(_OPENING, record.remark, "[0-9]{1,6}") or 0), len(actions)),
        forfeit_reason=reason and (_printable(_match(_FORFEIT, record.remark)) or reason),
        comments=tuple(comments) if any(comments) else (),
        sgf_result="" if is_ours else result,
    )


def _match(template: str, text: str, pattern: str = ".+") -> str:
    """Return what a line of `text` has for the `{}` of a template, or an empty text."""
    before, after = map(re.escape, template.split("{}"))
    match = re.search(f"^{before}({pattern}){after}$", text, re.MULTILINE)
    return match[1] if match else ""


def _printable(text: str) -> str:
    """Return a comment on one line without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


# --- support -------------------------------------------------------------------------------------


def has_sgf(game: Game) -> bool:
    """Whether the game can be written as SGF."""
    return name_of(game) in NUMBERS
