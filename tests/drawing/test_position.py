"""Pictures show what is so: stones, shares and values at their places, the same every time."""

from dataclasses import dataclass

import numpy as np
import pytest
from PIL import Image

from alphazero.drawing.board import BoardDrawing
from alphazero.drawing.palette import LETTER, palette_of
from alphazero.drawing.position import POLICY_COLOURS, board_at, draw_position
from alphazero.games import game_names, make_game
from alphazero.games.connect_four import ConnectFour
from alphazero.games.game import Game, State, to_play
from alphazero.games.mnk import Mnk

CONNECT_FOUR = """\
. . . . . . .
. . . . . . .
. . . . . . .
. . . X . . .
. . . O . . .
. X O X O . .
"""
TIC_TAC_TOE = """\
X . .
. O .
. . X
"""
GOMOKU = "\n".join(
    [". . . . . . . .", ". X O . . . . O", ". . X . . . . ."] + [". . . . . . . ."] * 5
)
POSITIONS: list[tuple[Game, str]] = [
    (ConnectFour(), CONNECT_FOUR),
    (Mnk(), TIC_TAC_TOE),
    (make_game("gomoku", rows=8, columns=8), GOMOKU),
]
every_position = pytest.mark.parametrize(
    ("game", "diagram"), POSITIONS, ids=["c4", "ttt", "gomoku"]
)


def draw(game: Game, state: State, shares: dict[int, float], **more: object) -> Image.Image:
    """Draw a position with one policy on both boards."""
    policy = np.zeros(game.num_actions)
    for action, share in shares.items():
        policy[action] = share
    arguments = {"title": "t", "values": {"network": 0.5, "search": 0.0}, **more}
    policies = {"prior": policy, "visits": policy}
    return draw_position(game, state, policies=policies, **arguments).to_image()


def colours_of(game: Game) -> set[tuple[int, int, int]]:
    """Return what the middle of a stone can show: its colour, or what is between two strokes."""
    palette = palette_of(game)
    return {LETTER.colour, palette.field.colour, *(stone.colour for stone in palette.stones)}


def centre_of(board: BoardDrawing, cell: int) -> tuple[int, int]:
    x, y = board.centres[cell]
    return round(x), round(y)


def box_of(board: BoardDrawing, cell: int) -> tuple[int, int, int, int]:
    """Return the pixels that belong to a cell alone, the lines around it left out."""
    (x, y), half = board.centres[cell], board.cell / 2 - 1
    return round(x - half), round(y - half), round(x + half), round(y + half)


def above_number(board: BoardDrawing, cell: int) -> tuple[int, int]:
    """Return a pixel of a cell that has its tint, above what is written in the middle."""
    x, y = board.centres[cell]
    return round(x), round(y - 0.36 * board.cell)


def differs_in(one: Image.Image, other: Image.Image, board: BoardDrawing, cell: int) -> bool:
    box = box_of(board, cell)
    return one.crop(box).tobytes() != other.crop(box).tobytes()


@every_position
def test_only_legal_moves_are_marked(game: Game, diagram: str):
    """A full board of shares, illegal actions included, looks like the legal ones alone."""
    state = game.parse(diagram)
    mask = game.legal_action_mask(state)
    legal = {int(action): 1 / mask.sum() for action in np.flatnonzero(mask)}
    illegal = {int(action): 0.5 for action in np.flatnonzero(~mask)}
    picture = draw(game, state, legal)
    assert picture.tobytes() == draw(game, state, {**legal, **illegal}).tobytes()
    marked_cells = {game.action_cell(state, action) for action in legal}
    empty = draw(game, state, {})
    board = board_at(game, 0)
    for cell, sign in enumerate("".join(diagram.split())):
        place = above_number(board, cell)
        tinted = picture.getpixel(place) != empty.getpixel(place)
        assert tinted == (cell in marked_cells), (cell, sign)


def test_the_share_of_a_column_is_where_its_stone_would_land():
    game = ConnectFour()
    state = game.parse(CONNECT_FOUR)
    board = board_at(game, 0)
    one, other = draw(game, state, {3: 0.75, 0: 0.25}), draw(game, state, {3: 0.25, 0: 0.75})
    changed_cells = {cell for cell in range(42) if differs_in(one, other, board, cell)}
    assert changed_cells == {2 * 7 + 3, 5 * 7 + 0}


def test_a_share_below_half_a_percent_is_a_dot_and_no_number():
    game = Mnk()
    state, board = game.initial_state(), board_at(Mnk(), 0)

    def darkest(shares: dict[int, float]) -> int:
        box = box_of(board, 4)
        return int(np.asarray(draw(game, state, shares).crop(box).convert("L"))[3:-3, 3:-3].min())

    assert darkest({4: 0.006}) < 60, "the ink of a number"
    assert 60 < darkest({4: 0.004}) < 200
    assert 60 < darkest({4: 0.0}) < 200


def test_the_last_move_has_a_ring_and_the_played_one_a_frame():
    game = ConnectFour()
    state = game.parse(CONNECT_FOUR)
    assert to_play(state) == 0
    plain, with_marks = draw(game, state, {}), draw(game, state, {}, last_cell=31, played=6)
    for place in (0, 1):
        board = board_at(game, place)
        changed_cells = {cell for cell in range(42) if differs_in(plain, with_marks, board, cell)}
        assert changed_cells == {31, 41}
        (x, y), around = centre_of(board, 41), round(board.radius)
        assert with_marks.getpixel((x, y - around)) == palette_of(game).mark.colour
        assert with_marks.getpixel(centre_of(board, 31)) == palette_of(game).stones[1].colour, (
            "the stone is seen through its ring"
        )


@pytest.mark.parametrize(
    ("value", "coloured"), [(1.0, (0, 1)), (-1.0, (-1, 0)), (0.5, (0, 0.5)), (0.0, (0, 0))]
)
def test_a_value_is_a_bar_from_the_middle(value: float, coloured: tuple[float, float]):
    game = Mnk()
    picture = draw(game, game.initial_state(), {}, values={"network": value})
    left, width = round(board_at(game, 2).left), 190
    row = [picture.getpixel((left + x, 106 + 30)) == POLICY_COLOURS[0].colour for x in range(width)]
    begin, end = (round(width * (1 + side) / 2) for side in coloured)
    for x, is_coloured in enumerate(row):
        if min(abs(x - edge) for edge in (begin, end, width // 2)) > 2:
            assert is_coloured == (begin < x < end), x


@dataclass(frozen=True)
class Placeless(Mnk):
    """Tic-tac-toe that does not say where its moves are marked."""

    def action_cell(self, state: State, action: int) -> None:  # type: ignore[override]
        return None


def test_moves_without_a_cell_are_named_below_the_board():
    game, usual = Placeless(), Mnk()
    state = game.initial_state()
    picture, other = draw(game, state, {0: 0.7, 4: 0.3}), draw(game, state, {0: 0.3, 4: 0.7})
    board = board_at(game, 0)
    assert not any(differs_in(picture, other, board, cell) for cell in range(9))
    assert picture.tobytes() != other.tobytes()
    assert picture.height > draw(usual, state, {0: 0.7, 4: 0.3}).height
    draw(game, state, {0: 1.0}, played=0)  # and nothing is framed


@pytest.mark.parametrize("name", game_names())
def test_every_registered_game_has_its_picture(name: str):
    game = make_game(name)
    state = game.initial_state()
    for _ in range(3):
        before, action = state, int(np.flatnonzero(game.legal_action_mask(state))[0])
        state = game.play(state, action)
        last = game.action_cell(before, action)
        best = int(np.flatnonzero(game.legal_action_mask(state))[-1])
        picture = draw(game, state, {best: 1.0}, last_cell=last, played=best)
        assert picture.width > board_at(game, 2).left
        if last is not None:
            assert picture.getpixel(centre_of(board_at(game, 1), last)) in colours_of(game)
