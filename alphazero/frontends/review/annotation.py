"""Reviews in SGF and PGN: a comment and a mark on each move, a variation where a better one exists.

The comments begin as those on searches, so whatever reads win rates from them reads these too.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final

from alphazero.frontends.review.judgement import Evaluation, Judgement, MoveReview, Review
from alphazero.games.game import Game, State
from alphazero.records.played_game import PlayedGame, Variation
from alphazero.records.sgf_export import value_comment, value_in

MARKS: Final = {Judgement.INACCURACY: "?! ", Judgement.MISTAKE: "? ", Judgement.BLUNDER: "?? "}
"""Annotations before the comments; in SGF they are properties."""

SEPARATOR: Final = " // "
"""Stands between our comment and that of the file."""


def better_line(game: Game, state: State, evaluation: Evaluation) -> str:
    """Return the better move in `state`, with its line and the end that a solver knows."""
    names = game.action_names(state, evaluation.line)
    words = names[0] + (f" ({' '.join(names)})" if len(names) > 1 else "")
    if not evaluation.is_exact:
        return words
    return f"{words}, {describe_exact_end(evaluation)}"


def describe_exact_end(evaluation: Evaluation) -> str:
    """Return how an exactly known position ends: it wins, loses or draws, and when."""
    word = {1: "wins", 0: "draws", -1: "loses"}[round(evaluation.value)]
    return f"{word} with move {evaluation.end}" if evaluation.end else word


def annotated(
    played: PlayedGame, evaluations: Sequence[Evaluation | None], review: Review
) -> PlayedGame:
    """Return a reviewed game with comments, and variations that are better."""
    comments = list(played.comments or [""] * len(played.actions))
    variations, states = list(played.variations), played.states()
    for index, move in enumerate(review.moves):
        before = evaluations[index]
        if move is None or before is None:
            continue
        state = states[index]
        ours = value_comment(before.value) + _describe(played.game, state, before, move)
        comment = SEPARATOR.join(filter(None, (ours, own_comment(comments[index]))))
        comments[index] = MARKS.get(move.judgement, "") + comment
        better = Variation(index, before.line)
        if move.judgement.is_bad and better.actions and better not in variations:
            variations.append(better)
    return dataclasses.replace(played, comments=tuple(comments), variations=tuple(variations))


def own_comment(comment: str) -> str:
    """Return the file's own part of a comment, without that of a search or an earlier review."""
    return comment.partition(SEPARATOR)[2] if value_in(comment) is not None else comment


def _describe(game: Game, state: State, before: Evaluation, move: MoveReview) -> str:
    if move.judgement is Judgement.BEST:
        return ", best"
    words = f", then {move.after:.0f}%"
    if move.judgement.is_bad:
        words += f": {move.judgement.value}, better was {better_line(game, state, before)}"
    return words
