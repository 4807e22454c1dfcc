"""Names of moves in chess: as UCI writes them, e7e8q, and in algebraic notation, SAN: e8=Q+.

Edwards, *Portable Game Notation Specification*, 1994, section 8.2.3.
"""

import re
from collections.abc import Callable

from alphazero.errors import GameError
from alphazero.games.chess import rules
from alphazero.games.chess.rules import KINGS, OTHER, PAWNS, SIZE
from alphazero.games.chess.tables import ACTIONS, BISHOP, KINDS, KING, KNIGHT, PAWN, QUEEN, ROOK
from alphazero.games.game import ONGOING, OUTCOME, State, to_play

SHORT, LONG = "O-O", "O-O-O"

_MOVE = re.compile(
    r"(?P<kind>[NBRQK]?)(?P<source>[a-h]?[1-8]?)[-x:]?(?P<target>[a-h][1-8])"
    r"(=?\(?(?P<promotion>[NBRQ])\)?)?"
)
_UCI = re.compile("[a-h][1-8][a-h][1-8][nbrq]?")
_MARKS = re.compile(r"(?:[+#!?]|e\.p\.)*$")
_LONGEST = 40
"""A longer text is no move."""


def kind_on(state: State, square: int) -> int:
    """Return the kind of the piece on a square, 1 to 6, or 0.

    As `kind_on` of the rules, which takes numpy's integers: with it SAN is read 40 % slower.
    """
    pawn, knight, diagonal, straight, king = (
        int(state[index]) >> square & 1 for index in range(PAWNS, KINGS + 1)
    )
    queen = diagonal & straight
    slider = diagonal * BISHOP + straight * ROOK + queen * (QUEEN - BISHOP - ROOK)
    return pawn * PAWN + knight * KNIGHT + slider + king * KING


def square_name(state: State, square: int) -> str:
    """Return the name of a square that the player to move sees."""
    rank, file = divmod(square, 8)
    number = rank + 1 if to_play(state) == 0 else int(state[SIZE]) - rank
    return f"{'abcdefgh'[file]}{number}"


def _seen_square(state: State, name: str) -> int:
    """Return the square of a name, as the player to move sees it; other numbers beyond the board.

    The inverse of `square_name`.
    """
    number = int(name[1])
    rank = number - 1 if to_play(state) == 0 else int(state[SIZE]) - number
    return 8 * rank + "abcdefgh".index(name[0])


def ends_of(state: State, action: int) -> tuple[int, int, str]:
    """Return the squares that an action leaves and reaches, and the letter of a promotion."""
    sources, targets, promotions, _ = ACTIONS[int(state[SIZE])]
    source, target, kind = sources[action], targets[action], promotions[action]
    if not kind and target // 8 == state[SIZE] - 1 and int(state[PAWNS]) >> source & 1:
        kind = QUEEN
    return source, target, KINDS[kind - 1] if kind else ""


def write_uci(state: State, action: int) -> str:
    """Write an action as UCI does: both squares, and the letter of a promotion."""
    source, target, promotion = ends_of(state, action)
    return square_name(state, source) + square_name(state, target) + promotion.lower()


def write_san(state: State, action: int, legal: list[int]) -> str:
    """Write one of the `legal` actions in algebraic notation."""
    after = state.copy()
    rules.play(after, action)
    checks = rules.checks(after) > 0
    mates = checks and after[OUTCOME] not in (ONGOING, 0)
    return _name(state, action, legal) + ("#" if mates else "+" if checks else "")


def _name(state: State, action: int, legal: list[int]) -> str:
    source, target, promotion = ends_of(state, action)
    kind, steps = kind_on(state, source), target % 8 - source % 8
    name, end = square_name(state, source), square_name(state, target)
    if kind == KING and abs(steps) == 2:
        return SHORT if steps > 0 else LONG
    if kind == PAWN:
        return (f"{name[0]}x" if steps else "") + end + (f"={promotion}" if promotion else "")
    # Other pieces of the kind that reach the square are told apart by file, by rank or by both.
    sources, targets, _, _ = ACTIONS[int(state[SIZE])]
    rivals = {sources[other] for other in legal if targets[other] == target} - {source}
    rivals = {square for square in rivals if kind_on(state, square) == kind}
    hint = ""
    if rivals:
        if all(square % 8 != source % 8 for square in rivals):
            hint = name[0]
        else:
            same_rank = any(square // 8 == source // 8 for square in rivals)
            hint = name if same_rank else name[1:]
    takes = "x" if int(state[OTHER]) >> target & 1 else ""
    return KINDS[kind - 1] + hint + takes + end


def read_move(state: State, text: str, legal: list[int]) -> int:
    """Read one of the `legal` actions in SAN or as UCI writes it; raise GameError otherwise.

    Signs of check, of taking and of quality may be missing or wrong; a pawn that promotes to
    nothing becomes a queen.
    """
    shown, name = text.strip()[:20], _MARKS.sub("", text.strip()[: _LONGEST + 1])
    fits = _description(state, name)
    candidates = [action for action in legal if fits and fits(action)]
    if len(candidates) == 1:  # B5a3 is a bishop's move, even where b5a3 is legal
        return candidates[0]
    if _UCI.fullmatch(name.lower()):
        for action in legal:
            if write_uci(state, action) == name.lower():
                return action
    if fits is None:
        example = write_san(state, legal[0], legal)
        raise GameError(f"{shown!r} is no move; type one such as {example}")
    names = [write_san(state, action, legal) for action in candidates or legal[:3]]
    if candidates:
        raise GameError(f"{shown!r} fits {len(names)} moves: {' and '.join(names)}")
    raise GameError(f"{shown!r} is not legal here; type a legal move, such as {' or '.join(names)}")


def _description(state: State, name: str) -> Callable[[int], bool] | None:
    """Return whether an action is the one that `name` describes; None if it describes none."""
    castles = {SHORT: 2, LONG: -2}.get(name.upper().replace("0", "O"))
    match = _MOVE.fullmatch(name)
    if castles is None and match is None:
        return None
    targets = ACTIONS[int(state[SIZE])].targets
    end = None if match is None else _seen_square(state, match["target"])

    def fits(action: int) -> bool:
        if end not in (None, targets[action]):
            return False
        source, target, promotion = ends_of(state, action)
        kind, steps = kind_on(state, source), target % 8 - source % 8
        if match is None:
            return kind == KING and steps == castles
        leaves = square_name(state, source)
        file, rank = match["source"].rstrip("12345678"), match["source"].lstrip("abcdefgh")
        return (
            KINDS[kind - 1] == (match["kind"] or "P")
            and leaves.startswith(file)
            and leaves.endswith(rank)
            and promotion == (match["promotion"] or (promotion and "Q"))
            and not (kind == KING and abs(steps) == 2)
        )

    return fits
