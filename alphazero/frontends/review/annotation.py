"""Reviews as text, and in SGF and PGN: comments, marks, and variations with better moves.

The comments begin as those on searches, so whatever reads win rates from them reads these too.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Final

from alphazero.frontends.review.judgement import Evaluation, Judgement, MoveReview, Review
from alphazero.games.game import Game, State, to_play
from alphazero.games.grid import sign_of
from alphazero.records.played_game import PlayedGame, Variation
from alphazero.records.sgf_export import value_comment, value_in
from alphazero.utils.files import printable

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
        # In SGF, the sign before a comment becomes a property.
        comments[index] = " ".join(filter(None, (move.judgement.sign, comment)))
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


# --- the report ----------------------------------------------------------------------------------

PLURALS: Final = {
    Judgement.BEST: "best moves",
    Judgement.INACCURACY: "inaccuracies",
    Judgement.MISTAKE: "mistakes",
    Judgement.BLUNDER: "blunders",
}
"""The names of counted judgements."""


def report(
    played: PlayedGame,
    evaluations: Sequence[Evaluation | None],
    review: Review,
    draw: Callable[[Sequence[float | None]], str],
) -> list[str]:
    """Return the report of a game, line by line; the win chances are those of the first player.

    `draw` draws numbers in [0, 1].
    """
    states, names = played.states(), played.moves()
    signs = [sign_of(played.game, player) for player in (0, 1)]
    side_width, name_width = max(map(len, signs)), max([6, *map(len, names)])
    first, width = f"chance of {signs[0]}", side_width + 1 + name_width
    lines = [f"       {'move':{width}} {first}", f"{_percent(review.chances[0]):>{width + 14}}"]
    for index, name in enumerate(names):
        move, before = review.moves[index], evaluations[index]
        note = ""
        if index < played.unchosen:
            note = "      set up" if index < played.setup else "      opening"
        elif move is not None and before is not None:
            if move.is_forced:
                note = "      the only move"
            elif move.judgement is not Judgement.GOOD:
                note = f"  {move.judgement.sign:2}  {move.judgement.value}"
            if move.judgement.is_bad:
                note += f": better was {better_line(played.game, states[index], before)}"
        chance = _percent(review.chances[index + 1])
        move_of_side = f"{signs[to_play(states[index])]:{side_width}} {name:{name_width}}"
        lines.append(f"  {index + 1:3}. {move_of_side} {chance:>6}{note}")
    chances = [None if chance is None else chance / 100 for chance in review.chances]
    exact = sum(evaluation is not None and evaluation.is_exact for evaluation in evaluations)
    missing = sum(evaluation is None for evaluation in evaluations)
    return [
        *lines,
        f"  {first} to win  {draw(chances)}",
        *_accuracies(played, review),
        f"  {exact} of {len(evaluations)} positions exact"
        + (f", {missing} not searched yet" if missing else ""),
    ]


def _percent(chance: float | None) -> str:
    return "?" if chance is None else f"{chance:.0f} %"


def _accuracies(played: PlayedGame, review: Review) -> list[str]:
    names = [
        f"{sign_of(played.game, player)} {printable(played.players[player])}" for player in (0, 1)
    ]
    width = max(map(len, names))
    lines = [f"  {'':{width}}  accuracy  {'  '.join(PLURALS.values())}"]
    for player, name in enumerate(names):
        accuracy = _percent(review.accuracies[player])
        counts = (
            f"{review.count(player, judgement):{len(plural)}}"
            for judgement, plural in PLURALS.items()
        )
        lines.append(f"  {name:{width}}  {accuracy:>8}  {'  '.join(counts)}")
    return lines
