"""Conversion of SGF records to games, actions and played games.

Turns alternate strictly here, but not in SGF, with setup stones, handicaps and omitted forced
passes. So before a move out of turn the other side passes, if it can. Two passes end a game of Go
here, but servers record a third one, or moves after a dispute: the former are left out, and of the
latter the passes before them.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from alphazero.errors import GameError
from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.games.registry import make_game, name_of, read_game, write_game
from alphazero.records.gtp_notation import COLOURS, last_passes, pass_before
from alphazero.records.played_game import PlayedGame, Variation
from alphazero.records.sgf import GO, HEX, LINES, OTHELLO, PASS, SgfGame, number_of
from alphazero.records.sgf_export import (
    FORFEIT,
    OPENING,
    REMARK,
    TAGS,
    in_lines,
    one_line,
    result_of,
    rules_of,
)
from alphazero.utils.tables import count_of

BOARDS: Final = {GO: "Go", OTHELLO: "Othello", LINES: "gomoku", HEX: "Hex"}
"""Names of games by the property GM."""

_TERRITORY: Final = "jap|jp|kor|kr|nih|terr|[日韩韓]"
"""Rules that count territory, which this program cannot, by the beginning of the property RU."""

_RULES: Final = {
    rf"chin|cn|area|中|{_TERRITORY}": (1, 0),
    r"tromp|tt": (1, 1),
    r"new ?z|nz": (2, 1),
    r"aga|us|bga|french|ffg": (2, 0),
    r"goe|ing": (1, 1),
}
"""`superko` and `suicide` by the beginning of the property RU."""

_KATAGO_RULES = re.compile(r"ko\W*(simple|positional|situational).*?sui(?:cide)?\W*(1|true)?")
_COUNTS_TERRITORY = re.compile(rf"^(?:{_TERRITORY})|scor(?:e|ing) ?territory")
_KOMI = re.compile(r"([+-]?\d{1,6}(?:[.,]\d{1,6})?)\s*[目子]?(半?)")
_LONGEST_RESULT: Final = 40


# --- games ---------------------------------------------------------------------------------------


def game_of(record: SgfGame) -> Game:
    """Return the game of a record: the one named by AZ if we wrote it, else by GM and board size.

    Go gets the file's komi and rules; gomoku is won by five in a line; Hex has the swap, which no
    file forbids. Raise GameError for an unknown game, or a board that it cannot have.
    """
    sizes = {"rows": record.rows, "columns": record.columns}
    if spelling := record.text("AZ"):
        try:
            game = read_game(ascii(spelling)[1:-1])
            fits = number_of(game) == record.number
            if fits and game.observation_shape[1:] == tuple(sizes.values()):
                return game
            record.warnings.append(
                f"AZ[{write_game(game)}] is left out: it contradicts GM[{record.number}] or the "
                f"board of {record.columns} x {record.rows}"
            )
        except GameError as error:
            record.warnings.append(f"AZ is left out: {error}")
    if record.number not in BOARDS:
        games = ", ".join(f"{number} {name}" for number, name in BOARDS.items())
        raise GameError(f"SGF: unknown game {record.number} (GM); known: {games}")
    if record.number == GO:
        superko, suicide = _rules(record)
        komi = int(2 * _komi(record))
        return make_game("go", **sizes, komi_half_points=komi, superko=superko, suicide=suicide)
    if record.number == LINES:
        return make_game("gomoku", **sizes, length=min(5, max(sizes.values())))
    if record.rows != record.columns:
        raise GameError(
            f"SGF: {BOARDS[record.number]} has a square board, not {record.columns} x {record.rows}"
        )
    if record.number == OTHELLO:
        return make_game("othello", size=record.rows)
    return make_game("hex", size=record.rows, swap=1)


def _komi(record: SgfGame) -> float:
    """Return White's compensation in points.

    Fox writes hundredths, and in Chinese rules stones, of which one counts as two points: 650 is
    6.5, 375 and 3.75 are 7.5. The Nihon Ki-in writes KO[6 moku and a half].
    """
    text = record.text("KM") or record.text("KO")
    match = _KOMI.search(text)
    komi = float(match[1].replace(",", ".")) + (0.5 if match[2] else 0) if match else 0.0
    if abs(komi) >= 100:
        komi /= 100
    if abs(komi) < 5 and 2 * komi != int(2 * komi) and 4 * komi == int(4 * komi):
        komi *= 2
    rounded = round(2 * komi) / 2 if abs(komi) < 100 else 0.0
    is_clear = match and not re.search(r"\d", text[match.end() :]) and rounded == komi
    if text and not is_clear:
        record.warnings.append(f"the komi {text[:20]!r} is read as {rounded:g}")
    return rounded


def _rules(record: SgfGame) -> tuple[int, int]:
    """Return `superko` and `suicide` of Go by the property RU; Chinese rules without it."""
    text = _rules_text(record)
    if match := _KATAGO_RULES.search(text):
        return ("simple", "positional", "situational").index(match[1]), int(bool(match[2]))
    for names, rules in _RULES.items():
        if re.match(names, text):
            return rules
    if text:
        record.warnings.append(f"the rules {record.text('RU')[:20]!r} are read as Chinese ones")
    return 1, 0


def _rules_text(record: SgfGame) -> str:
    return " ".join(re.split(r"[\W_]+", record.text("RU")[:200].lower())).strip()


# --- moves ---------------------------------------------------------------------------------------


class _Replay(NamedTuple):
    """The actions of a record in a game, as far as its rules allow."""

    steps: list[tuple[int, ...]]
    warnings: list[str]
    stop: str
    """the move that the rules forbid, and why; empty if there is none"""


def replay(
    game: Game,
    record: SgfGame,
    last: int | None = None,
    accepts: Callable[[Game], bool] = lambda _: True,
) -> tuple[Game, list[tuple[int, ...]]]:
    """Return the actions of a record step by step, and the game that they are played in.

    The first step sets up stones, if any; every other step is a move, after a pass if needed, or
    empty for a pass that is left out. `last` limits the number of moves. If the rules of Go forbid
    a move, they are replaced by the most lenient, unless `accepts` refuses that game. The steps end
    before a move that is illegal even so. Raise GameError for a record of another game, or stones
    that cannot be set up.
    """
    if number_of(game) != record.number:
        other = BOARDS.get(record.number, "another game")
        raise GameError(f"SGF: this is {other} (GM[{record.number}]), not {write_game(game)}")
    if record.number == GO and _COUNTS_TERRITORY.search(_rules_text(record)):
        text = f"the rules {record.text('RU')[:20]!r} count territory; area is counted here"
        record.warnings.append(text)
    result = _replay(game, record, last)
    if result.stop and name_of(game) == "go":
        from alphazero.games.go.game import MOST_MOVES, Go

        assert isinstance(game, Go)
        lenient = dataclasses.replace(game, superko=0, suicide=1, moves=MOST_MOVES)
        other_result = _replay(lenient, record, last)
        if len(other_result.steps) > len(result.steps) and accepts(lenient):
            record.warnings.append(f"the rules forbid {result.stop}; lenient ones are taken")
            game, result = lenient, other_result
    record.warnings.extend(result.warnings)
    if result.stop:
        record.warnings.append(f"the moves from here on are left out: {result.stop}")
    return game, result.steps


def _replay(game: Game, record: SgfGame, last: int | None) -> _Replay:
    try:
        setup, state = _set_up(game, game.initial_state(), record)
    except GameError as error:
        raise GameError(f"the stones cannot be set up (AB, AW): {error}") from None
    steps, states, warnings = [setup], [state], list[str]()
    passing = _action(game, state, PASS)
    for number, (player, move) in enumerate(record.moves[:last], 1):
        state = states[-1]
        is_over = game.outcome(state) != ONGOING
        passes, mover = last_passes(steps[1:], passing), player
        if move == PASS and is_over:
            warnings.append(f"move {number} is left out: a pass after the end")
            steps.append(())
            states.append(state)
            continue
        if move == PASS and passes:
            mover = to_play(state)
        elif passes and (is_over or player != to_play(state)):
            warnings.append(f"the passes before move {number} are left out, for the game goes on")
            steps[-passes:] = [()] * passes
            states[-passes:] = [states[-passes - 1]] * passes
        try:
            step, state = _step(game, states[-1], mover, move)
        except GameError as error:
            name = move if isinstance(move, str) else game.action_name(state, move)
            return _Replay(steps, warnings, f"move {number}, {COLOURS[player]} {name}: {error}")
        steps.append(step)
        states.append(state)
    return _Replay(steps, warnings, "")


def _set_up(game: Game, state: State, record: SgfGame) -> tuple[tuple[int, ...], State]:
    """Return the actions that set up a record's stones, and the position after them.

    The player of the property PL is to move, if no move follows.
    """
    stones = [[cell for cell, owner in record.stones.items() if owner == side] for side in (0, 1)]
    board = np.zeros(record.rows * record.columns, np.int8)
    for player, cells in enumerate(stones):
        board[cells] = value_of(1, player)
    setup: list[int] = []
    # Othello's first four discs are there already.
    if board.any() and not (game.pieces(state).ravel() == board).all():
        for turn in range(max(map(len, stones))):
            for player, cells in enumerate(stones):
                if turn < len(cells):
                    step, state = _step(game, state, player, cells[turn])
                    setup += step
        if game.outcome(state) != ONGOING:
            raise GameError("the moves that set them up end the game")
        if not (game.pieces(state).ravel() == board).all():
            raise GameError("they capture each other")
    colour = record.text("PL")[:1].upper()
    if colour in ("B", "W") and not record.moves:
        try:
            passes = pass_before(game, state, "BW".index(colour))
            setup, state = [*setup, *passes], game.play(state, *passes)
        except GameError as error:
            record.warnings.append(f"PL is left out: {error}")
    return tuple(setup), state


def _step(game: Game, state: State, player: int, move: int | str) -> tuple[tuple[int, ...], State]:
    """Return the actions of a player's move, and the position after them."""
    actions = pass_before(game, state, player)
    state = game.play(state, *actions)
    action = _action(game, state, move)
    if action is None:
        raise GameError(f"{write_game(game)} has no such move")
    try:
        return (*actions, action), game.play(state, action)
    except GameError:
        game.parse_action(state, game.action_name(state, action))  # explains why it is illegal
        raise


def _action(game: Game, state: State, move: int | str) -> int | None:
    """Return the action of a cell or of a named move; None if the game lacks it."""
    if isinstance(move, int):
        return move
    last = game.num_actions - 1
    return last if game.action_name(state, last) == move else None


# --- played games --------------------------------------------------------------------------------


def from_sgf(record: SgfGame) -> PlayedGame:
    """Convert a record to a played game, inverting `to_sgf`; raise GameError as `replay`."""
    game, steps = replay(game_of(record), record)
    actions, comments = list(steps[0]), [""] * len(steps[0])
    for step, comment in zip(steps[1:], record.comments, strict=False):
        actions += step
        comments += [""] * len(step)
        if comments:
            comments[-1] = in_lines(f"{comments[-1]}\n{comment}")
    variations = list(_variations(game, record, steps))
    state = game.play(game.initial_state(), *actions)
    outcome = ends = game.outcome(state)
    result = one_line(record.result)[:_LONGEST_RESULT]
    winner, plus, how = result.partition("+")
    if winner in ("B", "W"):
        outcome = 1 if winner == "B" else -1
    elif result in ("0", "Draw"):
        outcome = 0
    ending = {"R": "R", "Resign": "R", "F": "F", "Forfeit": "F"}.get(how, "") if plus else ""
    if ends not in (ONGOING, outcome):
        record.warnings.append(
            f"the result {result} is kept; by the rules here the game ended with "
            f"{result_of(game, state, ends)}" + ", all stones alive" * game.stones_can_be_dead
        )
    # A player resigns or forfeits only before the rules have ended the game.
    is_ours = result == result_of(game, state, outcome, ending) and outcome in (
        {1, -1} if ending and ends == ONGOING else {ends}
    )
    reasons = {"T": "out of time", "Time": "out of time", "F": "forfeit", "Forfeit": "forfeit"}
    reason = reasons.get(how, "") if plus else ""
    return PlayedGame(
        game,
        (record.text("PB") or COLOURS[0], record.text("PW") or COLOURS[1]),
        tuple(actions),
        outcome,
        resigned=ending == "R",
        opening=opening_moves(record.remark, len(actions)),
        setup=len(steps[0]),
        variations=tuple(variations),
        forfeit_reason=reason and (one_line(read_template(FORFEIT, record.remark)) or reason),
        comments=tuple(comments) if any(comments) else (),
        sgf_result="" if is_ours else result,
        remark=other_remarks(record.remark),
        tags=tuple(
            (name, record.text(name))
            for name in record.header
            if TAGS.fullmatch(name) and (name, record.text(name)) != ("RU", rules_of(game))
        ),
    )


def _variations(game: Game, record: SgfGame, steps: list[tuple[int, ...]]) -> Iterator[Variation]:
    """Yield the variations that replace a move, as far as the rules allow."""
    states, plies = [game.play(game.initial_state(), *steps[0])], [len(steps[0])]
    for step in steps[1:]:
        states.append(game.play(states[-1], *step))
        plies.append(plies[-1] + len(step))
    actions, alone = tuple(action for step in steps for action in step), 0
    for variation in record.variations:
        if variation.before >= len(steps) or plies[variation.before] == len(actions):
            alone += 1
            continue
        state, ply, line = states[variation.before], plies[variation.before], list[int]()
        comments: list[str] = []
        for (player, move), comment in zip(variation.moves, variation.comments, strict=True):
            try:
                step, state = _step(game, state, player, move)
            except GameError as error:
                record.warnings.append(f"a variation ends early: {error}")
                break
            line += step
            comments += [*[""] * (len(step) - 1), in_lines(comment)]
        if line and tuple(line) != actions[ply : ply + len(line)]:
            yield Variation(ply, tuple(line), tuple(comments) if any(comments) else ())
    if alone:
        left_out = f"{count_of(alone, 'variation')} left out"
        record.warnings.append(f"{left_out}, where the main line has no move")


def other_remarks(text: str) -> str:
    """Return the lines of a comment on the whole game that other programs or people wrote."""
    lines = [line for line in in_lines(text).splitlines() if line != REMARK]
    own = FORFEIT, OPENING
    return "\n".join(line for line in lines if not any(read_template(one, line) for one in own))


def opening_moves(remark: str, most: int) -> int:
    """Return how many moves opened a game at random, by the comment on the whole game."""
    return min(int(read_template(OPENING, remark, "[0-9]{1,6}") or 0), most)


def read_template(template: str, text: str, pattern: str = ".+") -> str:
    """Return what a line of `text` has for the `{}` of a template, or an empty text."""
    before, after = map(re.escape, template.split("{}"))
    match = re.search(f"^{before}({pattern}){after}$", text, re.MULTILINE)
    return match[1] if match else ""
