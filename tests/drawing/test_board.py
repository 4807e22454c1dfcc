"""The SVG of a board shows what the game's own text drawing shows, at places that make sense."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers.games import random_line
from PIL import Image, ImageDraw

import alphazero
from alphazero.drawing.board import (
    CELL,
    BoardDrawing,
    field_svg,
    geometry_of,
    labels_of,
    position_title,
)
from alphazero.drawing.canvas import Canvas
from alphazero.drawing.palette import LETTERS, looks_of, palette_of, shapes_of
from alphazero.errors import GameError, PlayerError
from alphazero.games import game_names, make_game
from alphazero.games.breakthrough import Breakthrough
from alphazero.games.game import BoardStyle, Game, State
from alphazero.games.grid import read_drawing
from alphazero.games.mnk import Mnk
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import read_game
from alphazero.players.registry import parse_player
from alphazero.players.search_player import SearchPlayer

SVG = "{http://www.w3.org/2000/svg}"

BOARDS = [
    *game_names(),
    "go:rows=19,columns=19",
    "go:rows=5,columns=7",
    "hex:size=4",
    "nim:heap=80",
]
every_board = pytest.mark.parametrize("game", [read_game(text) for text in BOARDS], ids=BOARDS)


def positions(game: Game) -> Iterator[tuple[State, tuple[int, ...]]]:
    """Yield positions of a random game with the cells of the last move: begin, middle and end."""
    line = random_line(game, np.random.default_rng(5))
    last_cells = [(), *(game.move_cells(state, action) for state, action in line[:-1])]
    for share in range(5):
        ply = (len(line) - 1) * share // 4
        yield line[ply][0], last_cells[ply]


def board_svg(
    game: Game, state: State, last_cells: Sequence[int] = (), frame: int | None = None
) -> str:
    """Return a position as the page shows it, with its last cells and a frame marked."""
    board = geometry_of(game)
    canvas = Canvas((board.width, board.height))
    board.draw(canvas, state, last_cells)
    if frame is not None:
        board.frame(canvas, frame)
    return canvas.svg(position_title(game, state))


def shapes(svg: str, tag: str) -> list[dict[str, str]]:
    """Return the attributes of the elements of one tag."""
    return [shape.attrib for shape in ElementTree.fromstring(svg).iter(f"{SVG}{tag}")]


def texts(svg: str) -> list[tuple[str, float, float]]:
    """Return the texts of a picture with their places."""
    elements = ElementTree.fromstring(svg).iter(f"{SVG}text")
    return [
        (text.text or "", float(text.get("x", 0)), float(text.get("y", 0))) for text in elements
    ]


def cell_of(board: BoardDrawing, shape: dict[str, str]) -> int:
    """Return the cell in whose centre the middle of a shape lies."""
    if "transform" in shape:
        x, y = map(float, re.findall(r"[0-9.]+", shape["transform"])[:2])
    elif "points" in shape:
        points = [[*map(float, point.split(","))] for point in shape["points"].split()]
        x, y = np.mean(points, axis=0)
    elif "cx" in shape:
        x, y = float(shape["cx"]), float(shape["cy"])
    else:
        x, y = (float(shape[i]) + float(shape[j]) / 2 for i, j in (("x", "width"), ("y", "height")))
    distances = [math.dist(centre, (x, y)) for centre in board.centres]
    assert min(distances) < 0.02
    return distances.index(min(distances))


def cells_with(board: BoardDrawing, svg: str, tag: str, name: str, use: str = "fill") -> list[int]:
    """Return the cells with shapes whose colour is a CSS custom property."""
    painted = [s for s in shapes(svg, tag) if s.get(use, "").startswith(f"var(--{name}, #")]
    return sorted(cell_of(board, shape) for shape in painted)


def drawn_pieces(game: Game, svg: str) -> list[int]:
    """Return the pieces that the paths of a picture show, as `Game.pieces`."""
    board = geometry_of(game)
    pieces, paths = [0] * len(board.centres), [shape.path for shape in shapes_of(game)]
    for path in shapes(svg, "path"):
        kind = 1 + paths.index(path["d"])
        pieces[cell_of(board, path)] = kind if "board-first" in path["fill"] else -kind
    return pieces


@every_board
def test_stones_lie_where_the_text_has_them(game: Game):
    board, (_, rows, columns) = geometry_of(game), game.observation_shape
    for state, last in positions(game):
        svg, diagram = board_svg(game, state, last), game.render(state)
        if game.board_style is BoardStyle.PILE:
            left = diagram.splitlines()[0].count("o")
            assert cells_with(board, svg, "circle", "board-edge", "stroke") == [*range(left)]
            continue
        if game.piece_kinds:
            assert drawn_pieces(game, svg) == game.pieces(state).ravel().tolist()
            # The page and the picture mark the cells of the move, not the piece.
            assert cells_with(board, svg, "rect", "board-last") == sorted(last)
            assert cells_with(board, svg, "rect", "board-mark") == [*game.attacked_cells(state)]
            continue
        stones = read_drawing(diagram, rows, columns)
        first, second = (np.flatnonzero(stones == stone).tolist() for stone in (1, 2))
        if looks_of(game) == LETTERS:
            assert cells_with(board, svg, "circle", "board-letter", "stroke") == second
            crosses = cells_with(board, svg, "polyline", "board-letter", "stroke")
            assert crosses == sorted(2 * first), "two strokes each"
            continue
        assert cells_with(board, svg, "circle", "board-first") == first
        assert cells_with(board, svg, "circle", "board-second") == second
        assert cells_with(board, svg, "circle", "board-mark", "stroke") == [*last]


@every_board
def test_a_picture_says_what_it_shows_and_is_as_large_as_its_geometry(game: Game):
    for state, _ in positions(game):
        root = ElementTree.fromstring(board_svg(game, state))
        assert root.attrib["role"] == "img"
        title = root.findtext(f"{SVG}title") or ""
        assert f"after {state[0]} move" in title
        over = not game.legal_action_mask(state).any()
        won = {1: "the first player won", -1: "the second player won", 0: "a draw"}
        turn = ("first", "second")[int(state[0]) % 2] + " player to move"
        assert title.endswith(won[game.outcome(state)] if over else turn)
        geometry = geometry_of(game)
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        assert (width, height) == pytest.approx((geometry.width, geometry.height), abs=0.01)
        for x, y in geometry.centres:
            assert geometry.radius <= x <= width - geometry.radius
            assert geometry.radius <= y <= height - geometry.radius


@every_board
def test_stones_never_overlap(game: Game):
    geometry = geometry_of(game)
    assert len(geometry.centres) == math.prod(game.observation_shape[1:])
    centres = np.array(geometry.centres)
    distances = np.hypot(*(centres[:, None] - centres[None]).transpose(2, 0, 1))
    assert distances[~np.eye(len(centres), dtype=bool)].min() >= 2 * geometry.radius


@every_board
def test_a_move_is_named_by_its_column_and_its_row(game: Game):
    state = game.initial_state()
    captions = texts(board_svg(game, state))
    labels = labels_of(game)
    if game.board_style is BoardStyle.PILE:
        assert captions == []
        return
    assert len(captions) == len(labels.columns) + len(labels.rows)
    if game.board_style is BoardStyle.HEXAGONS:
        return  # whose rows and columns are not upright: the next test's
    rows, columns = captions[: len(labels.rows)], captions[len(labels.rows) :]
    for action in np.flatnonzero(game.legal_action_mask(state)).tolist():
        names = []
        for cell in game.move_cells(state, action):
            x, y = geometry_of(game).centres[cell]
            column = min(columns, key=lambda label: abs(label[1] - x))
            row = min(rows, key=lambda label: abs(label[2] - y)) if rows else ("", 0, 0)
            names.append(column[0] + row[0])
        is_move = isinstance(game, PieceGame)
        name = game.move_name(state, action) if is_move else game.action_name(state, action)
        assert not names or "".join(names) == name


@pytest.mark.parametrize("name", ["chess", "breakthrough:rows=5,columns=4"])
def test_a_board_is_turned_with_its_labels(name: str):
    game = read_game(name)
    straight, turned = field_svg(game), field_svg(game, turned=True)
    assert [text for text, _, _ in texts(straight)] == [text for text, _, _ in texts(turned)]
    (_, x, _), *_ = (text for text in texts(turned) if text[0] == "a")
    assert all(x >= other for text, other, _ in texts(turned) if text.isalpha())
    for svg, is_turned in ((straight, False), (turned, True)):
        dark = cells_with(geometry_of(game, is_turned), svg, "rect", "chequered-hole")
        corner = math.prod(game.observation_shape[1:]) - game.observation_shape[2]
        assert corner in dark, "the corner at White's left is dark"


@dataclass(frozen=True)
class Lettered(Breakthrough):
    piece_kinds = "Z"


def test_a_kind_without_a_shape_of_ours_is_a_disc_with_its_letter():
    game = Lettered(rows=4, columns=3)
    svg = board_svg(game, game.initial_state())
    assert shapes(svg, "path") == []
    assert [text for text, _, _ in texts(svg)].count("Z") == 12


@pytest.mark.parametrize("size", [2, 3, 7, 11])
def test_the_coloured_sides_of_a_rhombus_are_closed_all_around(size: int):
    # What is poured over the paper gets in by any gap.
    board = BoardDrawing(make_game("hex", size=size), 20, 20)
    canvas = Canvas()
    board.draw_field(canvas)
    width, height = map(round, canvas.size)
    picture = Image.new("RGB", (width, height), (255, 255, 255))
    for shape in ElementTree.fromstring(canvas.svg("t")).iter():
        points = [tuple(map(float, point.split(","))) for point in shape.get("points", "").split()]
        if shape.tag == f"{SVG}polygon":
            ImageDraw.Draw(picture).polygon(points, shape.get("fill"), shape.get("stroke"))
        elif points:
            width = round(float(shape.get("stroke-width", 1)))
            ImageDraw.Draw(picture).line(points, shape.get("stroke"), width, "curve")
    flood = (255, 0, 255)
    ImageDraw.floodfill(picture, (0, 0), flood)
    right, down = picture.size
    ImageDraw.floodfill(picture, (right - 1, down - 1), flood)  # the other paper's corner

    def colour_at(cell: int, angle: float, length: float) -> tuple[int, ...]:
        """Return the colour at some cells' length from the middle of a cell, 0 degrees right."""
        x, y = board.centres[cell]
        turn = math.radians(angle)
        place = x + length * CELL * math.cos(turn), y - length * CELL * math.sin(turn)
        return picture.getpixel((round(place[0]), round(place[1])))

    first, second = (paint.colour for paint in board.palette.stones)
    last, corner, middle_of_side = size * size - 1, 1 / math.sqrt(3) + 0.09, 0.5 + 0.1
    for row in range(size):
        assert colour_at(row * size, 180, middle_of_side) == second
        assert colour_at(row * size + size - 1, 0, middle_of_side) == second
        assert colour_at(row, 120, middle_of_side) == first
        assert colour_at(last - row, -60, middle_of_side) == first
    # Both colours meet in each corner: outside a blunt one, amid the shared edge of a sharp one.
    for cell, angle in ((0, 150), (last, -30)):
        assert colour_at(cell, angle - 9, corner) == first
        assert colour_at(cell, angle + 9, corner) == second
        assert colour_at(cell, angle, 1 / math.sqrt(3) + 0.3) == flood
    for cell, angle in ((size - 1, 60), (last - size + 1, -120)):
        assert colour_at(cell, angle + 9, middle_of_side) == first
        assert colour_at(cell, angle - 9, middle_of_side) == second


class Unnamed(Mnk):
    """A game whose names follow no known way."""

    def action_name(self, state: State, action: int) -> str:
        return f"cell {action}"


def test_a_game_of_one_file_is_drawn_without_further_settings():
    game = Unnamed(rows=2, columns=4, length=3)
    assert game.board_style is BoardStyle.SQUARES
    svg = board_svg(game, game.initial_state(), frame=1)
    assert texts(svg) == []
    assert sum("board-mark" in frame.get("stroke", "") for frame in shapes(svg, "rect")) == 1


def test_a_position_shows_itself_with_the_search_of_a_player():
    position = alphazero.Position("connect_four", "44").play("3", "3")
    assert repr(position).splitlines()[-2:] == [". . X X . . .", "1 2 3 4 5 6 7"]
    fills = [circle.get("fill") for circle in shapes(position._repr_svg_(), "circle")]
    assert [fills.count(stone.code) for stone in palette_of(position.game).stones] == [2, 2]
    player = parse_player("uct:simulations=40").create(position.game)
    assert isinstance(player, SearchPlayer)
    searched = position.think(player)
    search_result = searched.search_result
    assert search_result is not None
    assert position.search_result is None
    assert search_result.visits.sum() == 40
    captions = [text for text, _, _ in texts(searched._repr_svg_())]
    shares = 100 * search_result.visits / 40
    assert {f"{share:.0f}" for share in shares[shares > 0]} <= set(captions)
    assert f"{search_result.value:+.2f}" in captions
    assert "40 visits, %" in captions
    assert f"best move: {search_result.action + 1}" in captions
    assert searched.play("1").search_result is None


def test_a_position_says_what_is_wrong():
    with pytest.raises(GameError, match="no column"):
        alphazero.Position("connect_four", "49")
    over = alphazero.Position("tic_tac_toe", "a1 a2 b1 b2 c1")
    player = parse_player("uct:simulations=4").create(over.game)
    assert isinstance(player, SearchPlayer)
    with pytest.raises(GameError, match="the game is over"):
        over.think(player)
    with pytest.raises(PlayerError, match="tic_tac_toe, but this is a position of connect_four"):
        alphazero.Position("connect_four").think(player)
