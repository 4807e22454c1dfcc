"""Conversion of played games to SGF, with comments on the searches."""

import dataclasses
import re
from collections import defaultdict
from itertools import zip_longest
from typing import Any, Final

import numpy as np

from alphazero.errors import GameError
from alphazero.games.game import ONGOING, Game, State, value_of, win_rate
from alphazero.games.registry import name_of, write_game
from alphazero.records.game_record import GameRecord
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf import GO, NUMBERS, number_of, write_move

REMARK: Final = (
    "A comment gives the result of the mover's search: win rate = (1 + value) / 2, where a draw "
    "counts half; policy = the search policy, which is the share of the visits except with Gumbel "
    "search."
)

RULES: Final = {(1, 0): "Chinese", (1, 1): "Tromp-Taylor", (2, 0): "AGA", (2, 1): "NZ"}
"""The property RU of Go with the same ko and suicide rules, by our `superko` and `suicide`."""

OPENING: Final = "Moves drawn at random to open it: {}."
FORFEIT: Final = "Ended by adjudication: {}."
"""Comments on the whole game."""

TAGS: Final = re.compile("AN|BR|BT|CP|DT|EV|GC|GN|ON|OT|PC|RO|RU|SO|TM|US|WR|WT")
"""Properties of FF[4] that say something about the game, but none of the players and the result."""

_MARKED = re.compile(r"(\?!|\?\??) (?=win rate )")
_MARKS: Final = {"?!": "DO[]", "?": "BM[1]", "??": "BM[2]"}
"""Properties of FF[4] by the annotations of a review: a doubtful, a bad and a very bad move."""
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
        value, comment = float(record.values[ply]), ""
        if ply >= played.opening and searched[record.pairing.players[ply % 2]]:
            policy = record.policies.part(ply, ply + 1).dense(played.game.num_actions)[0]
            comment = search_comment(played.game, state, action, value, policy)
        comments.append(comment)
    return dataclasses.replace(played, comments=tuple(comments))


# --- writing -------------------------------------------------------------------------------------


def check_start(start: str) -> None:
    """Raise GameError for a game that begins in a position that was set up."""
    if start:
        raise GameError("a game from a set-up position is not written as SGF")


def to_sgf(played: PlayedGame) -> str:
    """Return a game as SGF; raise GameError for a game that cannot be written as SGF."""
    check_start(played.start)
    game, state = played.game, played.states()[-1]
    ending = "F" if played.forfeit_reason else "R" if played.resigned else ""
    has_values = any(map(_VALUE.search, played.comments))
    remarks = remarks_of(played) + ([REMARK] if has_values else [])
    number, (_, rows, columns) = number_of(game), game.observation_shape
    size = str(columns) if rows == columns else f"{columns}:{rows}"
    root = f";GM[{number}]FF[4]CA[UTF-8]SZ[{size}]AZ[{write_game(game)}]"
    setup = min([played.setup, *(variation.ply for variation in played.variations)])
    root += _set_up(played, setup)
    if number == GO:
        root += f"KM[{game.options['komi_half_points'] / 2:g}]"
    header = {
        "RU": rules_of(game),
        "PB": played.players[0],
        "PW": played.players[1],
        "RE": played.sgf_result or result_of(game, state, played.outcome, ending),
        "C": "\n".join(remarks),
        **dict(played.tags),
    }
    root += "".join(f"{name}[{_escaped(value)}]" for name, value in header.items() if value)

    def line(first: int, actions: tuple[int, ...], comments: tuple[str, ...]) -> list[str]:
        nodes = []
        for ply, (action, comment) in enumerate(
            zip_longest(actions, comments, fillvalue=""), first
        ):
            mark = _MARKED.match(comment)
            node = f";{'BW'[ply % 2]}[{write_move(int(action), rows, columns, number)}]"
            node += _MARKS[mark[1]] if mark else ""
            text = comment[mark.end() :] if mark else comment
            nodes.append(node + (f"C[{_escaped(text)}]\n" if text else ""))
        return nodes

    nodes, ends = line(setup, played.actions[setup:], played.comments[setup:]), ""
    branches = defaultdict(list)
    for variation in played.variations:
        branches[variation.ply].append(f"\n({''.join(line(*variation))})")
    for ply in sorted(branches):
        # The main line is the first branch; the others follow where it ends.
        nodes[ply - setup] = f"({nodes[ply - setup]}"
        ends = f"){''.join(branches[ply])}{ends}"
    return f"({root}\n{''.join(nodes)}{ends})\n"


def _set_up(played: PlayedGame, setup: int) -> str:
    """Return the properties of stones that the first `setup` moves set up, and whose turn it is."""
    if not setup:
        return ""
    (_, rows, columns), number = played.game.observation_shape, number_of(played.game)
    points: tuple[list[str], list[str]] = [], []
    for ply, action in enumerate(played.actions[:setup]):
        if action < rows * columns:
            points[ply % 2].append(f"[{write_move(action, rows, columns, number)}]")
    black, white = points
    text = f"HA[{len(black)}]" if number == GO and len(black) > 1 and not white else ""
    for name, values in ("AB", black), ("AW", white):
        text += name + "".join(values) if values else ""
    return f"{text}PL[{'BW'[setup % 2]}]"


def rules_of(game: Game) -> str:
    """Return the property RU of Go; empty for other games, and for rules without a usual name."""
    if name_of(game) != "go":
        return ""
    return RULES.get((game.options["superko"], game.options["suicide"]), "")


def remarks_of(played: PlayedGame) -> list[str]:
    """Return the lines of the comment on the whole game."""
    remarks = [FORFEIT.format(one_line(played.forfeit_reason))] if played.forfeit_reason else []
    remarks += [OPENING.format(played.opening)] if played.opening else []
    return remarks + played.remark.splitlines()


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


def has_sgf(game: Game) -> bool:
    """Whether the game can be written as SGF."""
    return name_of(game) in NUMBERS


def _escaped(text: str) -> str:
    return re.sub(r"([\\\]])", r"\\\1", text)


def one_line(text: str) -> str:
    """Return a comment on one line without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def in_lines(text: str) -> str:
    """Return a comment without control characters and empty lines."""
    return "\n".join(filter(None, map(one_line, text.splitlines())))
