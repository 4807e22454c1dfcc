"""Games whose pieces move in PGN, the Portable Game Notation, and positions as FEN or EPD.

Edwards, *Portable Game Notation Specification and Implementation Guide*, 1994. A file is read as
far as it goes: what is left out of a game is listed in its `warnings`, and the moves end where the
next one cannot be read. Comments stay with their moves, but for those of clocks; an annotation such
as ?! or $14 begins the comment. A comment before a variation ends that of its first move.

    tag              meaning
    Variant          the game by UCI's name, such as gardner, or by ours; without it chess
    FEN              the position in which the game begins, if it is not the initial one
    Termination      resignation, or adjudication for the reason that a comment gives
    AutomaticDraws   no: repetition and fifty moves do not end this game
"""

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from alphazero.errors import GameError
from alphazero.games.chess.game import Chess
from alphazero.games.game import ONGOING, PLY, Game, State, to_play, value_of
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import make_game, name_of, read_game, write_game
from alphazero.games.results import SCORES
from alphazero.records.played_game import PlayedGame, Variation, first_state
from alphazero.records.sgf_export import FORFEIT, one_line, remarks_of, value_in
from alphazero.records.sgf_import import opening_moves, other_remarks, read_template

MOVE_LIMIT: Final = 20_000
"""Maximum number of moves of a game, those of its variations included."""

COMMENT_LIMIT: Final = 1 << 14
"""A comment of so many characters takes no more."""

POSITION_LIMIT: Final = 1000
"""Maximum number of characters of a FEN or a line of EPD."""

LINE_WIDTH: Final = 80

ROSTER: Final = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?"}
"""Tags that every game has, section 8.1.1, with the values of unknown ones."""
NO_DRAWS: Final = "AutomaticDraws"
"""Our tag of a game without them: `no`."""
_PLAYED: Final = "White", "Black", "Result", "Variant", "SetUp", "FEN", NO_DRAWS
"""Tags that a played game has in fields of its own."""

ANNOTATIONS: Final = {"!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6}
"""Numeric annotation glyphs of moves, section 10."""
_SIGNS: Final = {f"${number}": sign for sign, number in ANNOTATIONS.items()}

GAMES: Final = "chess", "gardner", "los_alamos", "breakthrough"
"""Games that a file may name as other programs do, or whose positions stand alone."""

_CHESS: Final = "", "standard", "chess", "normal", "fromposition", "chess960", "fischerandom"
_OUTCOMES: Final = {score: outcome for outcome, score in SCORES.items()}

_TAG_BEGIN = r"(?:\s*^|(?<=\])[^\S\n]*)"  # several may be in one line
_TAG = re.compile(
    _TAG_BEGIN + r"\[\s*(\w+)\s+\"((?:[^\"\\\n]|\\.)*)\"\s*\](?=[^\S\n]*(?:\[|$))", re.MULTILINE
)
_LOOSE_TAG = re.compile(
    _TAG_BEGIN + r"\[\s*(\w+)\s+\"((?:(?!\"\s*\]\s*\[).)*)\"\s*\](?=[^\S\n]*(?:\[|$))", re.MULTILINE
)
_BAD_TAG = re.compile(_TAG_BEGIN + r"(\[.*)$", re.MULTILINE)
_TAGS: Final = _TAG, _LOOSE_TAG, _BAD_TAG
_TOKEN = re.compile(
    r"\s*(?:(?P<tag>^\[)|\{(?P<braced>[^}]*)(?P<closed>\}?)|;(?P<rest>[^\n]*)|(?P<sign>[()])"
    r"|(?P<glyph>\$[0-9]{1,3})|(?P<result>1-0|0-1|1/2-1/2|\*)"
    r"|(?P<number>[0-9]+(?:\.+|(?=\s|$))|\.+|e\.p\.|[}$])"
    r"|(?P<move>[^\s(){};$!?]+)(?P<marks>[!?]{0,2})|[!?]+)",
    re.MULTILINE,
)
_ESCAPED = re.compile(r"^%.*$", re.MULTILINE)
_CLOCK = re.compile(r"\[%(?:clk|emt|egt|mct|csl|cal)\b[^][]*\]")
_OWN_EVALUATION = re.compile(r"\[%eval [^][]*\] ?(?=win rate )")
_ANNOTATION = re.compile(r"(\$[0-9]{1,3}|[!?]{1,2})(?: |$)")
_FEN = re.compile(
    r"\s*([0-9A-Za-z]+(?:/[0-9A-Za-z]+){3,25}(?=\s+[wb]\b)|[1-9PNBRQKpnbrqk/]+/[1-9PNBRQKpnbrqk/]+)"
    r"(?:\s+(\w)(?:\s+(.*))?)?\s*"
)
_OPERATION = re.compile(r"(\w+)((?:\s+(?:\"[^\"]*\"|[^\s;\"]+))*)\s*;\s*")


@dataclass(slots=True)
class PgnLine:
    """The main line of a game, or a variation."""

    index: int = 0
    """index of the main line's move that a variation replaces"""
    moves: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=lambda: [""])
    """one before the first move, in lines, and one on each move"""

    def add_comment(self, text: str) -> None:
        """Append to the last comment."""
        text = one_line(_OWN_EVALUATION.sub("", _CLOCK.sub("", text)))
        if not text or len(self.comments[-1]) > COMMENT_LIMIT:
            return
        if self.moves and value_in(text) is not None:
            self.comments[-1] = text  # the annotation before it is a part of our own comment
        else:
            space = " " if self.moves else "\n"
            self.comments[-1] = f"{self.comments[-1]}{space}{text}".strip()


@dataclass
class PgnGame:
    """A game as it stands in a file."""

    tags: dict[str, str]
    main: PgnLine = field(default_factory=PgnLine)
    variations: list[PgnLine] = field(default_factory=list)
    result: str = ""
    warnings: list[str] = field(default_factory=list)


# --- reading -------------------------------------------------------------------------------------


def read_pgn(text: str) -> Iterator[PgnGame]:
    """Yield the games of a file; raise GameError if there is none."""
    text = _ESCAPED.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    place = count = 0
    while place < len(text):
        game = PgnGame({})
        while match := next(filter(None, (tag.match(text, place) for tag in _TAGS)), None):
            place = match.end()
            if match.re is not _BAD_TAG:
                game.tags[match[1]] = re.sub(r"\\([\"\\])", r"\1", match[2])
            else:
                game.warnings.append(f"a tag is left out: {match[1][:30]}")
        place = _read_moves(game, text, place)
        if game.tags or game.main.moves:
            count += 1
            yield game
    if not count:
        raise GameError("PGN: no game in it; a game begins with tags, or with its first move")


def _read_moves(game: PgnGame, text: str, place: int) -> int:
    """Read moves up to the result or the next tag; return where they end."""
    line, outer, count = game.main, list[PgnLine](), 0
    while match := _TOKEN.match(text, place):
        if match["tag"]:
            break
        place = match.end()
        if match["sign"] == "(":
            start = line.moves[:-1] if outer and count <= MOVE_LIMIT else []
            count += len(start)
            index = line.index if outer else len(line.moves) - 1
            outer.append(line)
            line = PgnLine(index, start, [""] * (1 + len(start)))
        elif match["sign"] and outer:
            game.variations += [line] if line.moves and line.index >= 0 else []
            line = outer.pop()
        elif match["move"]:
            count += 1
            if count > MOVE_LIMIT:
                continue
            line.moves.append(match["move"])
            line.comments.append(match["marks"])
        elif match["result"] and not outer:
            game.result = match["result"]
            break
        else:
            glyph = match["glyph"] or ""
            line.add_comment(match["braced"] or match["rest"] or _SIGNS.get(glyph, glyph))
        if match["closed"] == "":
            game.warnings.append("the end of a comment is missing")
    if outer:
        game.warnings.append("the end of a variation is missing")
        game.variations += [line, *outer[:0:-1]]
    if count > MOVE_LIMIT:
        game.warnings.append(f"what follows is left out: more than {MOVE_LIMIT:,} moves")
    return place


def from_pgn(record: PgnGame, game: PieceGame | None = None) -> PlayedGame:
    """Convert a record to a played game, inverting `to_pgn`; by default of the game of its tags.
    Raise GameError for an unknown game, for a position that is none, and for text without tags
    whose first word is no legal move.
    """
    game = game or _game_of(record)
    if isinstance(game, Chess) and record.tags.get(NO_DRAWS) == "no":
        game = dataclasses.replace(game, automatic_draws=0)
    start = record.tags.get("FEN", "").strip()
    states, actions, fault = _replay(game, start, record.main.moves)
    if fault and isinstance(game, Chess) and game.outcome(states[-1]) == 0:
        lenient, number = dataclasses.replace(game, automatic_draws=0), len(actions)
        longer = _replay(lenient, start, record.main.moves)
        if len(longer[1]) > number:
            game, (states, actions, fault) = lenient, longer
            place = f"after move {number}" if number else "at its start"
            drawn = f"the rules draw the game {place}"
            record.warnings.append(f"{drawn}; it goes on, without automatic draws")
    if fault and not (actions or record.tags):
        raise fault
    if fault:
        place = f"move {len(actions) + 1}"
        record.warnings.append(f"the moves from here on are left out: {place}: {fault}")
    if (states[0] == game.initial_state()).all():
        start = ""
    variations = list[Variation]()
    for line in record.variations:
        moves, after = list[int](), states[: line.index + 1]
        try:
            for name in line.moves if 0 <= line.index < len(actions) else ():
                _play(game, after, moves, name)
        except GameError as error:
            record.warnings.append(f"a variation ends early: {error}")
        first, *comments = line.comments[: 1 + len(moves)]
        comments[:1] = [one_line(f"{comment} {first}") for comment in comments[:1]]
        if moves:
            texts = tuple(comments) if any(comments) else ()
            variations.append(Variation(line.index, tuple(moves), texts))
    result = record.tags.get("Result", "").strip()
    result = result if result in _OUTCOMES else record.result or "*"
    end, outcome = game.outcome(states[-1]), _OUTCOMES[result]
    outcome = end if outcome == ONGOING else outcome
    ending = record.tags.get("Termination", "").lower()
    remark, comments = record.main.comments[0], record.main.comments[1 : 1 + len(actions)]
    ends_early = end == ONGOING and outcome not in (0, ONGOING)
    is_resigned, reason = ends_early and "resign" in ending, ""
    if ends_early and not is_resigned:
        reason = "out of time" if "time" in ending else read_template(FORFEIT, remark)
    own_tags = ROSTER.items() | {("Termination", _termination(is_resigned, reason))}
    return PlayedGame(
        game,
        (_player(record, "White"), _player(record, "Black")),
        tuple(actions),
        outcome,
        resigned=is_resigned,
        opening=opening_moves(remark, len(actions)),
        forfeit_reason=reason,
        comments=tuple(comments) if any(comments) else (),
        sgf_result="" if outcome == end or is_resigned or reason else result,
        start=start,
        variations=tuple(variations),
        remark=other_remarks(remark),
        tags=tuple(
            tag for tag in record.tags.items() if tag[0] not in _PLAYED and tag not in own_tags
        ),
    )


def _termination(resigned: bool, forfeit_reason: str) -> str:
    return "resignation" if resigned else "adjudication" if forfeit_reason else ""


def _replay(
    game: PieceGame, start: str, names: Sequence[str]
) -> tuple[list[State], list[int], GameError | None]:
    """Play moves as far as it goes; return positions, actions, and what is wrong with the next."""
    states, actions = [first_state(game, start)], list[int]()
    for name in names:
        try:
            _play(game, states, actions, name)
        except GameError as error:
            return states, actions, error
    return states, actions, None


def _play(game: Game, states: list[State], actions: list[int], name: str) -> None:
    actions.append(game.parse_action(states[-1], name))
    states.append(game.play(states[-1], actions[-1]))


def _player(record: PgnGame, side: str) -> str:
    name = record.tags.get(side, "").strip()
    return side.lower() if name in ("", "?") else name


def _game_of(record: PgnGame) -> PieceGame:
    variant = record.tags.get("Variant", "").strip()
    word = re.sub(r"[\W_]+", "", variant.lower())
    if word in _CHESS:
        return _make(GAMES[0])
    for name in GAMES[1:]:
        if word == (game := _make(name)).uci_variant:
            return game
    own = read_game(ascii(variant)[1:-1])
    if not isinstance(own, PieceGame):
        raise GameError(f"PGN: the variant {variant[:30]!r} is no game whose pieces move")
    return own


def _make(name: str) -> PieceGame:
    game = make_game(name)
    assert isinstance(game, PieceGame)
    return game


def is_position(text: str) -> bool:
    """Whether a text looks like a FEN, or a line of EPD."""
    return len(text) <= POSITION_LIMIT and _FEN.fullmatch(text) is not None


def read_position(text: str, game: Game | None = None) -> tuple[PlayedGame, list[str]]:
    """Return a game without moves that begins in a FEN or a line of EPD; and EPD's operations.

    It is a position of `game`, else of the first of `GAMES` that can have it. Raise GameError if
    no game can.
    """
    match = _FEN.fullmatch(text)
    assert match is not None
    fields = (match[3] or "").split()
    operations = list[str]()
    if len(fields) > 2 and not fields[2].isdigit():
        # The operations hmvc and fmvn of EPD are the last two fields of a FEN; section 16.2.
        found = _OPERATION.findall(match[3].split(maxsplit=2)[2] + ";")
        values = {name: value.strip() for name, value in found}
        fields = [*fields[:2], values.pop("hmvc", "0"), values.pop("fmvn", "1")]
        operations = [f"{name} {value}".strip() for name, value in values.items()]
    fen, errors = " ".join([match[1], match[2] or "w", *fields]), list[GameError]()
    rows = match[1].count("/") + 1
    for choice in (*([game] if isinstance(game, PieceGame) else []), *map(_make, GAMES)):
        try:
            start = choice.write_fen(state := choice.read_fen(fen))
        except GameError as error:
            errors += [error] if choice is game or choice.observation_shape[1] == rows else []
            continue
        outcome = choice.outcome(state)
        return PlayedGame(choice, ("white", "black"), (), outcome, start=start), operations
    raise errors[0] if errors else GameError(f"no game has a board of {rows} rows with pieces")


# --- writing -------------------------------------------------------------------------------------


def to_pgn(played: PlayedGame) -> str:
    """Return a game as PGN; raise GameError for a game that cannot be written as PGN."""
    game = played.game
    if not isinstance(game, PieceGame):
        raise GameError(f"PGN is possible for {', '.join(GAMES)}, not for {name_of(game)}")
    own, goes_on = game, False
    if isinstance(game, Chess):
        own, goes_on = dataclasses.replace(game, automatic_draws=1), not game.automatic_draws
    spelling, states = write_game(own), played.states()
    words = list(map(_braced, remarks_of(played)))
    words += _line(game, states[0], played.actions, played.comments, played.variations)
    result = SCORES[played.outcome]
    tags = ROSTER | {
        "White": played.players[0],
        "Black": played.players[1],
        "Result": result,
        "Variant": game.uci_variant if spelling in GAMES[1:] else spelling,
        "SetUp": "1" if played.start else "",
        "FEN": game.write_fen(states[0]) if played.start else "",
        "Termination": _termination(played.resigned, played.forfeit_reason),
        NO_DRAWS: "no" if goes_on else "",
    }
    if spelling == GAMES[0]:
        del tags["Variant"]
    tags = {name: value for name, value in tags.items() if value} | dict(played.tags)
    header = "".join(f'[{name} "{_escaped(value)}"]\n' for name, value in tags.items())
    return f"{header}\n{_wrapped([*words, result])}\n\n"


def _number(state: State, follows: bool) -> str:
    """Return the number before a move: always White's, Black's unless it `follows` a move."""
    number = int(state[PLY]) // 2 + 1
    if to_play(state) == 0:
        return f"{number}. "
    return "" if follows else f"{number}... "


def _line(
    game: Game,
    state: State,
    actions: Sequence[int],
    comments: Sequence[str],
    variations: Iterable[Variation] = (),
) -> list[str]:
    """Return the words of a line that begins in `state`, each variation after the move it replaces.

    `comments` are one per move, or none.
    """
    words, lines = list[str](), dict[int, list[Variation]]()
    for variation in variations:
        lines.setdefault(variation.ply, []).append(variation)
    for index, (action, name) in enumerate(
        zip(actions, game.action_names(state, actions), strict=True)
    ):
        follows = bool(words) and words[-1][-1] not in ")}"
        words.append(_number(state, follows) + name)
        words += _comment_words(comments[index] if comments else "", to_play(state))
        for _, line, texts in lines.get(index, ()):
            words.append(f"({' '.join(_line(game, state, line, texts))})")
        state = game.play(state, action)
    return words


def _comment_words(comment: str, player: int) -> list[str]:
    """Return a comment on a move of `player`, after the annotations that it begins with."""
    words = list[str]()
    while match := _ANNOTATION.match(comment):
        words.append(f"${ANNOTATIONS[match[1]]}" if match[1] in ANNOTATIONS else match[1])
        comment = comment[match.end() :]
    value = value_in(comment)
    if value is not None:
        comment = f"[%eval {pawns(value_of(1, player) * value):z.2f}] {comment}"
    return [*words, _braced(comment)] if comment else words


def _braced(comment: str) -> str:
    return "{" + one_line(comment).replace("{", "(").replace("}", ")") + "}"


def pawns(value: float) -> float:
    """Return a value in pawns: 0 for a draw, 0.89 for 0.5, 127.8 for a win.

    Lc0, src/mcts/search.cc, score type `centipawn`.
    """
    return 0.9 * math.tan(1.5637541897 * value)


def _escaped(text: str) -> str:
    return re.sub(r"([\\\"])", r"\\\1", one_line(text))


def _wrapped(words: list[str]) -> str:
    """Return words in lines of up to `LINE_WIDTH`; comments are not broken."""
    lines, length = [""], 0
    for word in words:
        if length and length + 1 + len(word) > LINE_WIDTH:
            lines.append("")
            length = 0
        lines[-1] += f" {word}" if length else word
        length = len(lines[-1])
    return "\n".join(lines)
