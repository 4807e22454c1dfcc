"""The rules of chess as compiled functions.

State after the header: size; whether draws that players may claim end the game; then seven sets of
squares, seen by the player to move: own pieces, the opponent's, pawns, knights, those that move
diagonally (bishops and queens), those that move straight (rooks and queens), kings. A move ends by
turning the board. Then follow the rights to castle, the square where a pawn can be taken en
passant, the moves since the last capture or pawn move, how often the position occurred before (0
where more such moves are than `QUIET_LIMIT`), and the keys of the positions since that move.

Lines of sliding pieces: "hyperbola quintessence" (Gerd Isenberg and Aleks Peczenik): for a line
through a slider r with occupied squares o, o ^ (o - 2r) are the squares up to the first obstacle
above; turned by a byte swap the same gives those below.
"""

import numpy as np

from alphazero.games.chess.tables import (
    BETWEEN,
    BISHOP,
    BOARD,
    FALLING_LINE,
    FILE_LINE,
    FIRST_PROMOTION,
    KING,
    KING_TARGETS,
    KNIGHT,
    KNIGHT_TARGETS,
    LAST_RANK,
    LIGHT,
    LINES,
    NOT_FIRST_FILE,
    NOT_LAST_FILE,
    NUM_ACTIONS,
    NUM_PROMOTIONS,
    PAWN,
    PAWN_TARGETS,
    PLAIN_ACTION,
    PROMOTED,
    QUEEN,
    RANK_TARGETS,
    RISING_LINE,
    ROOK,
    SOURCES,
    TARGETS,
    THIRD_RANK,
    Bits,
)
from alphazero.games.compiled_rules import Signature
from alphazero.games.game import HEADER, LAST, ONGOING, OUTCOME, PLY, Mask, Planes, State, squash
from alphazero.utils.bits import GOLDEN_GAMMA, count_bits, lowest_bit, mix_hash
from alphazero.utils.jit import inline_kernel, kernel, shared_kernel

SIZE, AUTOMATIC = HEADER, HEADER + 1
OWN, OTHER, PAWNS, KNIGHTS, DIAGONAL, STRAIGHT, KINGS = range(HEADER + 2, HEADER + 9)
CASTLING, PASSANT, QUIET, OCCURRED, KEYS = range(HEADER + 9, HEADER + 14)

QUIET_LIMIT = 100
"""Moves of both sides without a capture or a pawn move after which a game is drawn."""
STATE_SIZE = KEYS + QUIET_LIMIT + 1
MAX_MOVES = 512
"""A game is drawn after so many moves, as AlphaZero's were (Silver et al. 2018, supplement)."""
MOST_MOVES = 5000
"""A game without automatic draws is drawn after so many."""

SHORT, LONG, OTHER_SHORT, OTHER_LONG = 1, 2, 4, 8
"""Rights to castle, of the player to move and of the opponent."""
RIGHTS = np.zeros(64, np.int64)
"""The rights that end when a piece leaves a square, or is taken there."""
RIGHTS[[0, 4, 7, 56, 63]] = LONG, SHORT | LONG, SHORT, OTHER_LONG, OTHER_SHORT

ANY, COUNT, MARK, MARK_CHECKS = range(4)
"""What `find_moves` does: stop at the first legal move, count all, mark all, or mark those that may
give check."""

ONE, NONE = Bits(1), Bits(0)
KING_HOME = 4
SHORT_PATH, LONG_PATH = Bits(0b1100000), Bits(0b1100)
"""The squares that a castling king crosses and reaches."""
LONG_GAP = Bits(0b1110)


@inline_kernel
def bit(square: int) -> Bits:
    """Return the set of one square."""
    return ONE << Bits(square)


@inline_kernel
def swap(bits: Bits) -> Bits:
    """Exchange the ranks of 8 x 8: the bytes in the opposite order."""
    low, middle = Bits(0x00FF00FF00FF00FF), Bits(0x0000FFFF0000FFFF)
    bits = (bits >> Bits(8)) & low | (bits & low) << Bits(8)
    bits = (bits >> Bits(16)) & middle | (bits & middle) << Bits(16)
    return bits >> Bits(32) | bits << Bits(32)


@inline_kernel
def _along(line: Bits, slider: Bits, occupied: Bits) -> Bits:
    forth = (occupied & line) - (slider << ONE)
    back = swap(swap(occupied & line) - (swap(slider) << ONE))
    return (forth ^ back) & line


@shared_kernel
def diagonal_targets(square: int, occupied: Bits) -> Bits:
    """Return where a bishop goes, up to and with the first `occupied` squares."""
    slider = bit(square)
    rising = _along(RISING_LINE[square], slider, occupied)
    return rising | _along(FALLING_LINE[square], slider, occupied)


@shared_kernel
def straight_targets(square: int, occupied: Bits) -> Bits:
    """Return where a rook goes, up to and with the first `occupied` squares."""
    rank = Bits(square & 56)
    inner = np.int64(occupied >> rank >> ONE & Bits(63))
    along_rank = Bits(RANK_TARGETS[square & 7, inner]) << rank
    return along_rank | _along(FILE_LINE[square], bit(square), occupied)


@inline_kernel
def _pieces(state: State, index: int) -> Bits:
    return Bits(state[index])


@inline_kernel
def _put(state: State, index: int, pieces: Bits) -> None:
    """Write a set of pieces, as Python can, too: h8 is the sign of the state's integers."""
    state[index] = np.int64(pieces)


@shared_kernel
def attackers_of_king(state: State, occupied: Bits, taken: Bits) -> Bits:
    """Return which opponent's pieces, but for `taken` ones, attack the mover's king."""
    square = lowest_bit(_pieces(state, KINGS) & _pieces(state, OWN))
    attackers = PAWN_TARGETS[square] & _pieces(state, PAWNS)
    attackers |= KNIGHT_TARGETS[square] & _pieces(state, KNIGHTS)
    attackers |= KING_TARGETS[square] & _pieces(state, KINGS)
    attackers |= diagonal_targets(square, occupied) & _pieces(state, DIAGONAL)
    attackers |= straight_targets(square, occupied) & _pieces(state, STRAIGHT)
    return attackers & _pieces(state, OTHER) & ~taken  # type: ignore[no-any-return]


@shared_kernel
def attacked_squares(state: State, occupied: Bits) -> Bits:
    """Return the squares that the opponent's pieces attack."""
    other = _pieces(state, OTHER)
    pawns, knights = _pieces(state, PAWNS) & other, _pieces(state, KNIGHTS) & other
    diagonal, straight = _pieces(state, DIAGONAL) & other, _pieces(state, STRAIGHT) & other
    attacked = (pawns & NOT_FIRST_FILE) >> Bits(9) | (pawns & NOT_LAST_FILE) >> Bits(7)
    attacked |= KING_TARGETS[lowest_bit(_pieces(state, KINGS) & other)]
    while knights:
        attacked |= KNIGHT_TARGETS[lowest_bit(knights)]
        knights &= knights - ONE
    while diagonal:
        attacked |= diagonal_targets(lowest_bit(diagonal), occupied)
        diagonal &= diagonal - ONE
    while straight:
        attacked |= straight_targets(lowest_bit(straight), occupied)
        straight &= straight - ONE
    return attacked  # type: ignore[no-any-return]


@shared_kernel
def checkers_of(state: State) -> Bits:
    """Return the opponent's pieces that attack the king of the player to move."""
    occupied = _pieces(state, OWN) | _pieces(state, OTHER) | ~BOARD[(state[SIZE] - 4) // 2]
    return attackers_of_king(state, occupied, NONE)


@shared_kernel
def can_take_passing(state: State, square: int, passed: int) -> bool:
    """Whether the pawn on `square` can take the one that passed by, without exposing its king.

    Both pawns leave their squares, so no table of pinned pieces decides this.
    """
    own, taken = _pieces(state, OWN), bit(passed - 8)
    if not _pieces(state, PAWNS) & own & bit(square) or not PAWN_TARGETS[square] & bit(passed):
        return False
    occupied = (own | _pieces(state, OTHER)) ^ bit(square) ^ bit(passed) ^ taken
    return not attackers_of_king(state, occupied, taken)


@shared_kernel
def allow_passing(state: State, passed: int) -> None:
    """Keep the square that a pawn passed if a pawn can take it there; else no right arises.

    So positions that differ in nothing else are equal, as in the Laws of Chess, article 9.2.3.
    """
    beside = bit(passed - 8)
    neighbours = (beside & NOT_FIRST_FILE) >> ONE | (beside & NOT_LAST_FILE) << ONE
    neighbours &= _pieces(state, PAWNS) & _pieces(state, OWN)
    state[PASSANT] = -1
    while neighbours:
        if can_take_passing(state, lowest_bit(neighbours), passed):
            state[PASSANT] = passed
        neighbours &= neighbours - ONE


@inline_kernel
def _pins_and_checkers(state: State, king: int, walls: Bits) -> tuple[Bits, Bits]:
    """Return own pieces that are pinned to the `king`, and the pieces that give check.

    What stands between the king and a slider, alone, is pinned to their line.
    """
    own, other = _pieces(state, OWN), _pieces(state, OTHER)
    near = other | walls
    snipers = diagonal_targets(king, near) & _pieces(state, DIAGONAL)
    snipers |= straight_targets(king, near) & _pieces(state, STRAIGHT)
    checkers = PAWN_TARGETS[king] & _pieces(state, PAWNS)
    checkers |= KNIGHT_TARGETS[king] & _pieces(state, KNIGHTS)
    checkers, snipers, pinned = checkers & other, snipers & other, NONE
    while snipers:
        sniper = lowest_bit(snipers)
        between = BETWEEN[king, sniper] & own
        if not between:
            checkers |= bit(sniper)
        elif not between & (between - ONE):
            pinned |= between
        snipers &= snipers - ONE
    return pinned, checkers


@inline_kernel
def _king_targets(state: State, king: int, occupied: Bits, free: Bits, in_check: bool) -> Bits:
    """Return where the king goes, by a step to `free` squares or by castling."""
    steps, castles, rights = KING_TARGETS[king] & free, NONE, state[CASTLING]
    if not in_check and rights & SHORT and not occupied & SHORT_PATH:
        castles = bit(KING_HOME + 2)
    if not in_check and rights & LONG and not occupied & LONG_GAP:
        castles |= bit(KING_HOME - 2)
    if not steps | castles:
        return NONE
    attacked = attacked_squares(state, occupied ^ bit(king))
    if attacked & SHORT_PATH:
        castles &= ~bit(KING_HOME + 2)
    if attacked & LONG_PATH:
        castles &= ~bit(KING_HOME - 2)
    return steps & ~attacked | castles  # type: ignore[no-any-return]


@inline_kernel
def _checking_targets(state: State, square: int, occupied: Bits) -> Bits:
    """Return where own piece on `square` may give check: at once, by opening a line, or perhaps by
    a promotion, by castling, or by taking en passant.
    """
    own, piece, targets = _pieces(state, OWN), bit(square), NONE
    king = lowest_bit(_pieces(state, KINGS) & _pieces(state, OTHER))
    diagonal, straight = _pieces(state, DIAGONAL), _pieces(state, STRAIGHT)
    through = occupied ^ piece
    along_diagonal = diagonal_targets(king, through)
    along_straight = straight_targets(king, through)
    if (along_diagonal & diagonal | along_straight & straight) & own & ~piece:
        return ~NONE
    if piece & _pieces(state, PAWNS):
        home = bit(king)
        targets = (home & NOT_FIRST_FILE) >> Bits(9) | (home & NOT_LAST_FILE) >> Bits(7)
        targets |= LAST_RANK[(state[SIZE] - 4) // 2]
        if state[PASSANT] >= 0:
            targets |= bit(state[PASSANT])
    elif piece & _pieces(state, KNIGHTS):
        targets = KNIGHT_TARGETS[king]
    elif piece & _pieces(state, KINGS) and state[CASTLING]:
        targets = SHORT_PATH | LONG_PATH
    if piece & diagonal:
        targets |= along_diagonal
    if piece & straight:
        targets |= along_straight
    return targets


@inline_kernel
def _targets(kind: int, square: int, occupied: Bits) -> Bits:
    """Return where a knight goes, or another piece that moves as `kind` says; also own squares."""
    if kind == KNIGHTS:
        return KNIGHT_TARGETS[square]  # type: ignore[no-any-return]
    if kind == DIAGONAL:
        return diagonal_targets(square, occupied)
    return straight_targets(square, occupied)


@inline_kernel
def _add_moves(
    state: State, mask: Mask, purpose: int, square: int, targets: Bits, occupied: Bits
) -> int:
    """Count the moves of one own piece, which promote no pawn, and mark them if asked."""
    if purpose == MARK_CHECKS:
        targets &= _checking_targets(state, square, occupied)
    total = count_bits(targets)
    if purpose >= MARK:
        index = (state[SIZE] - 4) // 2
        while targets:
            mask[PLAIN_ACTION[index, square, lowest_bit(targets)]] = True
            targets &= targets - ONE
    return total


@inline_kernel
def _add_steps(
    state: State, mask: Mask, purpose: int, targets: Bits, step: int, occupied: Bits
) -> int:
    """Count the moves of own pawns to `targets`, each `step` squares on, and mark them if asked."""
    index = (state[SIZE] - 4) // 2
    kinds, total = NUM_PROMOTIONS[index], 0
    if purpose < MARK:
        return count_bits(targets) + kinds * count_bits(targets & LAST_RANK[index])  # type: ignore[no-any-return]
    while targets:
        target = lowest_bit(targets)
        square, end = target - step, bit(target)
        targets ^= end
        if purpose == MARK_CHECKS and not end & _checking_targets(state, square, occupied):
            continue
        mask[PLAIN_ACTION[index, square, target]] = True
        total += 1
        if end & LAST_RANK[index]:
            for kind in range(kinds):
                mask[FIRST_PROMOTION[index, square, target] + kind] = True
            total += kinds
    return total


@inline_kernel
def _add_pawn_moves(
    state: State, mask: Mask, purpose: int, pawns: Bits, allowed: Bits, occupied: Bits
) -> int:
    """Count the moves of own pawns to `allowed` squares, without en passant; mark them if asked."""
    ahead, taken = pawns << Bits(8) & ~occupied, _pieces(state, OTHER) & allowed
    total = _add_steps(state, mask, purpose, ahead & allowed, 8, occupied)
    if state[SIZE] == 8:
        twice = (ahead & THIRD_RANK) << Bits(8) & ~occupied
        total += _add_steps(state, mask, purpose, twice & allowed, 16, occupied)
    left, right = (pawns & NOT_FIRST_FILE) << Bits(7), (pawns & NOT_LAST_FILE) << Bits(9)
    total += _add_steps(state, mask, purpose, left & taken, 7, occupied)
    return total + _add_steps(state, mask, purpose, right & taken, 9, occupied)


@shared_kernel
def find_moves(state: State, mask: Mask, purpose: int) -> int:
    """Count the legal moves, mark them in `mask`, or stop at the first, as `purpose` says."""
    board, own, passed = BOARD[(state[SIZE] - 4) // 2], _pieces(state, OWN), state[PASSANT]
    free, occupied = board & ~own, own | _pieces(state, OTHER) | ~board
    king = lowest_bit(_pieces(state, KINGS) & own)
    pinned, checkers = _pins_and_checkers(state, king, ~board)
    allowed = free
    if checkers:
        allowed &= checkers | BETWEEN[king, lowest_bit(checkers)]
        if checkers & (checkers - ONE):  # two: the king must move
            own, passed = NONE, -1
    pawns = _pieces(state, PAWNS) & own
    total = _add_pawn_moves(state, mask, purpose, pawns & ~pinned, allowed, occupied)
    if purpose == ANY and total:
        return total
    pawns &= pinned
    while pawns:
        line, pawn = LINES[king, lowest_bit(pawns)], pawns & (~pawns + ONE)
        total += _add_pawn_moves(state, mask, purpose, pawn, allowed & line, occupied)
        pawns ^= pawn
    for kind in range(KNIGHTS, KINGS):
        pieces = _pieces(state, kind) & own
        while pieces:
            square = lowest_bit(pieces)
            pieces &= pieces - ONE
            targets = _targets(kind, square, occupied) & allowed
            if bit(square) & pinned:
                targets &= LINES[king, square]
            total += _add_moves(state, mask, purpose, square, targets, occupied)
        if purpose == ANY and total:
            return total
    if passed >= 0:
        for square in range(passed - 9, passed - 6, 2):
            if can_take_passing(state, square, passed):
                total += _add_moves(state, mask, purpose, square, bit(passed), occupied)
    targets = _king_targets(state, king, occupied, free, checkers != NONE)
    return total + _add_moves(state, mask, purpose, king, targets, occupied)


@shared_kernel
def is_dead(state: State) -> bool:
    """Whether neither side has the pieces for a mate: at most one minor piece, or bishops alone
    that all stand on squares of one colour.
    """
    if state[PAWNS] or state[STRAIGHT]:
        return False
    knights, bishops = _pieces(state, KNIGHTS), _pieces(state, DIAGONAL)
    if count_bits(knights | bishops) <= 1:
        return True
    return not knights and (not bishops & LIGHT or not bishops & ~LIGHT)


@inline_kernel
def settle(state: State) -> None:
    """Write the position's key, how often it occurred before, and the outcome.

    A mate counts before all draws, as in the Laws of Chess, article 5.1.1 (FIDE 2023).
    """
    key, quiet = GOLDEN_GAMMA, state[QUIET]
    for place in range(OWN, QUIET):
        key = mix_hash(key, state[place])
    word = np.int64(key)
    state[OCCURRED] = 0
    if quiet <= QUIET_LIMIT:
        state[KEYS + quiet] = word
        for earlier in range(quiet - 4, -1, -2):
            state[OCCURRED] += state[KEYS + earlier] == word
    is_drawn = state[PLY] >= MOST_MOVES
    if state[AUTOMATIC]:
        is_drawn = quiet >= QUIET_LIMIT or state[OCCURRED] >= 2 or state[PLY] >= MAX_MOVES
    if find_moves(state, state.view(np.bool_), ANY) == 0:
        state[OUTCOME] = 0
        if checkers_of(state):
            state[OUTCOME] = -1 if state[PLY] % 2 == 0 else 1
    elif is_drawn or is_dead(state):
        state[OUTCOME] = 0


@kernel(Signature.legal)
def legal(state: State, mask: Mask) -> int:
    """Mark the legal moves; none when the game is over."""
    mask[:] = False
    return find_moves(state, mask, MARK) if state[OUTCOME] == ONGOING else 0


@shared_kernel
def turn_board(state: State) -> None:
    """Turn the board to the other player, who cannot take en passant."""
    turn, own = Bits(8 * (8 - state[SIZE])), _pieces(state, OWN)
    _put(state, OWN, swap(_pieces(state, OTHER)) >> turn)
    _put(state, OTHER, swap(own) >> turn)
    for kind in range(PAWNS, KINGS + 1):
        _put(state, kind, swap(_pieces(state, kind)) >> turn)
    state[CASTLING] = state[CASTLING] >> 2 | (state[CASTLING] & 3) << 2
    state[PASSANT] = -1


@inline_kernel
def _promote(state: State, end: Bits, promotion: int) -> None:
    """Replace a pawn by the kind `promotion`, or by a queen for 0."""
    _put(state, PAWNS, _pieces(state, PAWNS) ^ end)
    if promotion == KNIGHT:
        _put(state, KNIGHTS, _pieces(state, KNIGHTS) | end)
    if promotion in (0, BISHOP):
        _put(state, DIAGONAL, _pieces(state, DIAGONAL) | end)
    if promotion in (0, ROOK):
        _put(state, STRAIGHT, _pieces(state, STRAIGHT) | end)


@shared_kernel
def make_move(state: State, action: int) -> None:
    """Make a move and turn the board, without the outcome."""
    index = (state[SIZE] - 4) // 2
    source, target = int(SOURCES[index, action]), int(TARGETS[index, action])
    start, end = bit(source), bit(target)
    taken = end & _pieces(state, OTHER)
    is_pawn = start & _pieces(state, PAWNS) != NONE
    is_king = start & _pieces(state, KINGS) != NONE
    state[QUIET] = 0 if is_pawn or taken else state[QUIET] + 1
    if is_pawn and target == state[PASSANT]:
        taken = end >> Bits(8)
    step = start ^ end
    for kind in range(PAWNS, KINGS + 1):
        pieces = _pieces(state, kind) & ~taken
        _put(state, kind, pieces ^ (step if pieces & start else NONE))
    _put(state, OTHER, _pieces(state, OTHER) & ~taken)
    _put(state, OWN, _pieces(state, OWN) ^ step)
    if is_pawn and end & LAST_RANK[index]:
        _promote(state, end, PROMOTED[index, action])
    if is_king and abs(target - source) == 2:
        rook = bit(7) ^ bit(5) if target > source else bit(0) ^ bit(3)
        _put(state, OWN, _pieces(state, OWN) ^ rook)
        _put(state, STRAIGHT, _pieces(state, STRAIGHT) ^ rook)
    state[CASTLING] &= ~(RIGHTS[source] | RIGHTS[target])
    turn_board(state)
    if is_pawn and target - source == 16:
        allow_passing(state, source + 8 ^ 56)
    state[PLY] += 1
    state[LAST] = action


@kernel(Signature.play)
def play(state: State, action: int) -> None:
    """Make a move, turn the board and write the outcome."""
    make_move(state, action)
    settle(state)


@inline_kernel
def kind_on(state: State, piece: Bits) -> int:
    """Return the kind, 1 to 6, of the piece on a square."""
    if _pieces(state, PAWNS) & piece:
        return PAWN
    if _pieces(state, KNIGHTS) & piece:
        return KNIGHT
    if _pieces(state, KINGS) & piece:
        return KING
    if not _pieces(state, STRAIGHT) & piece:
        return BISHOP
    return QUEEN if _pieces(state, DIAGONAL) & piece else ROOK


@kernel(Signature.observe)
def observe(state: State, planes: Planes) -> None:
    """Write own pieces by kind and the opponent's, whether the position occurred before, the quiet
    moves as a share of the limit, and ones; on 8 x 8 also the rights to castle and en passant.
    """
    size, own = state[SIZE], _pieces(state, OWN)
    planes[:] = 0
    pieces = own | _pieces(state, OTHER)
    while pieces:
        square = lowest_bit(pieces)
        piece = bit(square)
        pieces ^= piece
        kind = kind_on(state, piece)
        plane = kind - 1 if own & piece else kind + 5
        planes[plane, size - 1 - square // 8, square % 8] = 1
    planes[12] = state[OCCURRED] > 0
    planes[13] = min(state[QUIET], QUIET_LIMIT) / QUIET_LIMIT
    planes[14] = 1
    if size == 8:
        for right in range(4):
            planes[15 + right] = state[CASTLING] >> right & 1
        if state[PASSANT] >= 0:
            planes[19, 7 - state[PASSANT] // 8, state[PASSANT] % 8] = 1


@inline_kernel
def _material(state: State, side: Bits) -> int:
    """Return the pieces of a side in hundredths of a pawn."""
    total = 100 * count_bits(_pieces(state, PAWNS) & side)
    total += 320 * count_bits(_pieces(state, KNIGHTS) & side)
    total += 330 * count_bits(_pieces(state, DIAGONAL) & side)
    total += 500 * count_bits(_pieces(state, STRAIGHT) & side)
    return total + 70 * count_bits(_pieces(state, DIAGONAL) & _pieces(state, STRAIGHT) & side)


@kernel(Signature.heuristic)
def material_and_mobility(state: State) -> int:
    """Compare the pieces in hundredths of a pawn, and the moves of both sides, 3 each.

    The numbers are our own choice, near those that chess players use.
    """
    other_side, mask = state.copy(), state.view(np.bool_)
    turn_board(other_side)
    moves = find_moves(state, mask, COUNT) - find_moves(other_side, mask, COUNT)
    difference = _material(state, _pieces(state, OWN)) - _material(state, _pieces(state, OTHER))
    return squash(difference + 3 * moves, 1000)


@kernel(Signature.wins_at_once)
def wins_at_once(state: State) -> int:
    """Return 1 if a move mates, else 0; only moves that can give check are made."""
    index, mask = (state[SIZE] - 4) // 2, np.zeros(len(SOURCES[0]), np.bool_)
    if find_moves(state, mask, MARK_CHECKS) == 0:
        return 0
    after = state.copy()
    for action in range(NUM_ACTIONS[index]):
        if mask[action]:
            for word in range(len(state)):  # faster than after[:] = state
                after[word] = state[word]
            make_move(after, action)
            if checkers_of(after) and find_moves(after, mask, ANY) == 0:
                return 1
    return 0


@kernel(Signature.heuristic)
def begin(state: State) -> int:
    """Write the key and the outcome of a position that was set up; return how many pieces give
    check to the player that is not to move.
    """
    turned = state.copy()
    turn_board(turned)
    if state[PASSANT] >= 0:
        allow_passing(state, state[PASSANT])
    settle(state)
    return count_bits(checkers_of(turned))


@kernel(Signature.heuristic)
def checks(state: State) -> int:
    """Return how many pieces give check to the player to move."""
    return count_bits(checkers_of(state))
