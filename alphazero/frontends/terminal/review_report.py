"""The report of a review, as text."""

from collections.abc import Sequence

from alphazero.frontends.review.annotation import better_line
from alphazero.frontends.review.judgement import Evaluation, Judgement, MoveReview, Review
from alphazero.frontends.terminal.screen import PlainConsole
from alphazero.games.grid import SIGNS
from alphazero.records.played_game import PlayedGame
from alphazero.utils.files import printable

_COUNTED = Judgement.BEST, Judgement.INACCURACY, Judgement.MISTAKE, Judgement.BLUNDER
_PLURALS = {
    Judgement.BEST: "best moves",
    Judgement.INACCURACY: "inaccuracies",
    Judgement.MISTAKE: "mistakes",
    Judgement.BLUNDER: "blunders",
}


def report(
    console: PlainConsole,
    played: PlayedGame,
    evaluations: Sequence[Evaluation | None],
    review: Review,
) -> list[str]:
    """Return the report of a game, line by line; the win chances are those of the first player."""
    sign = SIGNS[1]
    first = _percent(review.chances[0])
    lines = [f"       {'move':8} chance of {sign}", f"       {'':8} {first:>6}"]
    states, names = played.states(), played.moves()
    for index, (name, move) in enumerate(zip(names, review.moves, strict=True)):
        chance = _percent(review.chances[index + 1])
        line = f"  {index + 1:3}. {SIGNS[index % 2 + 1]} {name:6} {chance:>6}"
        before = evaluations[index]
        if index < played.opening:
            line += "      opening"
        elif move is not None and before is not None:
            line += _judged(move)
            if move.judgement.is_bad:
                line += f": better was {better_line(played.game, states[index], before)}"
        lines.append(line)
    chances = [None if chance is None else chance / 100 for chance in review.chances]
    return [
        *lines,
        f"  chance of {sign} to win  {console.sparkline(chances)}",
        *_accuracies(played, review),
        *_known(evaluations),
    ]


def _judged(move: MoveReview) -> str:
    if move.is_forced:
        return "      the only move"
    if move.judgement is Judgement.GOOD:
        return ""
    return f"  {move.judgement.sign:2}  {move.judgement.value}"


def _percent(chance: float | None) -> str:
    return "?" if chance is None else f"{chance:.0f} %"


def _accuracies(played: PlayedGame, review: Review) -> list[str]:
    names = [f"{SIGNS[player + 1]} {printable(played.players[player])}" for player in (0, 1)]
    width = max(map(len, names))
    lines = [f"  {'':{width}}  accuracy  {'  '.join(_PLURALS[each] for each in _COUNTED)}"]
    for player, name in enumerate(names):
        counts = (f"{review.count(player, each):{len(_PLURALS[each])}}" for each in _COUNTED)
        accuracy = _percent(review.accuracies[player])
        lines.append(f"  {name:{width}}  {accuracy:>8}  {'  '.join(counts)}")
    return lines


def _known(evaluations: Sequence[Evaluation | None]) -> list[str]:
    known = [each for each in evaluations if each is not None]
    exact = sum(each.is_exact for each in known)
    words = f"  {exact} of {len(evaluations)} positions exact"
    if len(known) < len(evaluations):
        words += f", {len(evaluations) - len(known)} not searched yet"
    return [words]
