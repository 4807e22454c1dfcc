"""The report of a review, as text."""

from collections.abc import Callable, Sequence

from alphazero.frontends.review.annotation import better_line
from alphazero.frontends.review.judgement import Evaluation, Judgement, Review
from alphazero.games.game import to_play
from alphazero.games.grid import sign_of
from alphazero.records.played_game import PlayedGame
from alphazero.utils.files import printable

PLURALS = {
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
        if index < played.opening:
            note = "      opening"
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
