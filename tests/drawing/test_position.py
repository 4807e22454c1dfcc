"""Pictures show what is so: stones, shares and values at their places, the same every time."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element, fromstring, tostring

import numpy as np
import pytest

from alphazero.drawing.board import BoardDrawing
from alphazero.drawing.canvas import Paint
from alphazero.drawing.palette import palette_of
from alphazero.drawing.position import (
    DOT,
    POLICY_COLOURS,
    TOP,
    VALUE_WIDTH,
    board_at,
    draw_position,
)
from alphazero.games import game_names, make_game
from alphazero.games.connect_four import ConnectFour
from alphazero.games.game import Game, State
from alphazero.games.mnk import Mnk
from alphazero.games.registry import read_game

SVG = "{http://www.w3.org/2000/svg}"

MOVES = {
    "connect_four": "234445",
    "tic_tac_toe": "a3 b2 c1",
    "gomoku:rows=8,columns=8": "b7 c7 c6 h7",
}


def draw(game: Game, state: State, shares: dict[int, float], **more: object) -> Element:
    """Draw a position with one policy on both boards."""
    policy = np.zeros(game.num_actions)
    for action, share in shares.items():
        policy[action] = share
    arguments = {"title": "t", "values": {"network": 0.5, "search": 0.0}, **more}
    policies = {"prior": policy, "visits": policy}
    return fromstring(draw_position(game, state, policies=policies, **arguments).svg("t"))


def shapes(picture: Element, tag: str, paint: Paint, use: str = "fill") -> list[dict[str, str]]:
    """Return the shapes with this colour."""
    found = [shape.attrib for shape in picture.iter(f"{SVG}{tag}")]
    return [shape for shape in found if shape.get(use) == paint.code]


def marks(picture: Element, board: BoardDrawing) -> dict[int, str]:
    """Return the numbers and the dots on a board, by the numbers of their cells."""
    places = [
        (float(text.get("x", 0)), float(text.get("y", 0)), text.text or "")
        for text in picture.iter(f"{SVG}text")
    ]
    places += [(float(s["cx"]), float(s["cy"]), ".") for s in shapes(picture, "circle", DOT)]
    found = {}
    for cell, (x, y) in enumerate(board.centres):
        for u, v, text in places:
            if abs(u - x) < 0.1 and abs(v - y) < 0.3 * board.cell:
                found[cell] = text
    return found


@pytest.mark.parametrize("name", MOVES)
def test_only_legal_moves_are_marked(name: str):
    """A full board of shares, illegal actions included, looks like the legal ones alone."""
    game = read_game(name)
    state = game.from_moves(MOVES[name])
    mask = game.legal_action_mask(state)
    legal = {int(action): 1 / mask.sum() for action in np.flatnonzero(mask)}
    illegal = {int(action): 0.5 for action in np.flatnonzero(~mask)}
    picture = draw(game, state, legal)
    assert tostring(picture) == tostring(draw(game, state, {**legal, **illegal}))
    number = f"{100 / mask.sum():.0f}"
    assert marks(picture, board_at(game, 0)) == {
        game.action_cell(state, action): number for action in legal
    }


def test_a_picture_that_stands_alone_has_its_own_colours_with_dark_twins():
    game, policies = Mnk(), {"prior": np.zeros(9)}
    picture = draw_position(game, game.initial_state(), title="t", policies=policies, values={})
    svg = picture.svg("a <title>")
    assert "var(" not in svg
    assert "prefers-color-scheme: dark" in svg
    assert fromstring(svg).findtext(f"{SVG}title") == "a <title>"


def test_the_share_of_a_column_is_where_its_stone_would_land():
    game = ConnectFour()
    picture = draw(game, game.from_moves(MOVES["connect_four"]), {3: 0.75, 0: 0.25})
    for place in (0, 1):
        found = marks(picture, board_at(game, place))
        numbers = {cell: text for cell, text in found.items() if text != "."}
        assert numbers == {2 * 7 + 3: "75", 5 * 7 + 0: "25"}


def test_a_share_below_half_a_percent_is_a_dot_and_no_number():
    game, tints = Mnk(), {0.006: 1, 0.004: 0, 0.0: 0}
    for share, mark in ((0.006, "1"), (0.004, "."), (0.0, ".")):
        picture = draw(game, game.initial_state(), {4: share})
        assert marks(picture, board_at(game, 0))[4] == mark
        tint = [s for s in shapes(picture, "rect", POLICY_COLOURS[0]) if "fill-opacity" in s]
        assert len(tint) == tints[share]


def test_the_last_move_has_a_ring_and_the_played_one_a_frame():
    game = ConnectFour()
    state, mark = game.from_moves(MOVES["connect_four"]), palette_of(game).mark
    assert not shapes(draw(game, state, {}), "circle", mark, "stroke")
    rings = shapes(draw(game, state, {}, last_cells=[31], played=6), "circle", mark, "stroke")
    middles = [(float(ring["cx"]), float(ring["cy"])) for ring in rings if float(ring["cy"]) > TOP]
    expected = [board_at(game, place).centres[cell] for place in (0, 1) for cell in (31, 41)]
    assert middles == [pytest.approx(middle, abs=0.01) for middle in expected]
    assert all(ring["fill"] == "none" for ring in rings), "the stone is seen through its ring"


@pytest.mark.parametrize(
    ("value", "coloured"), [(1.0, (0, 1)), (-1.0, (-1, 0)), (0.5, (0, 0.5)), (0.0, (0, 0))]
)
def test_a_value_is_a_bar_from_the_middle(value: float, coloured: tuple[float, float]):
    game = Mnk()
    picture = draw(game, game.initial_state(), {}, values={"network": value})
    middle = board_at(game, 2).left + VALUE_WIDTH // 2
    bars = [
        (float(bar["x"]), float(bar["x"]) + float(bar["width"]))
        for bar in shapes(picture, "rect", POLICY_COLOURS[0])
        if float(bar["y"]) > TOP
    ]
    expected = [middle + side * VALUE_WIDTH / 2 for side in coloured]
    assert bars == [pytest.approx(expected, abs=0.01)] * (value != 0)


@dataclass(frozen=True)
class Placeless(Mnk):
    """Tic-tac-toe that does not say where its moves are marked."""

    def action_cell(self, state: State, action: int) -> None:  # type: ignore[override]
        return None


def test_moves_without_a_cell_are_named_below_the_board():
    game = Placeless()
    picture = draw(game, game.initial_state(), {0: 0.7, 4: 0.3}, played=0)  # nothing is framed
    assert not marks(picture, board_at(game, 0))
    assert not shapes(picture, "rect", palette_of(game).mark, "stroke")
    lines = [text.text for text in picture.iter(f"{SVG}text")]
    below = [lines.index(f"{game.action_name(game.initial_state(), 0)}: 70"), lines.index("b2: 30")]
    assert below[1] == below[0] + 1


@pytest.mark.parametrize("name", game_names())
def test_every_registered_game_has_its_picture(name: str):
    game = make_game(name)
    state = game.initial_state()
    for _ in range(3):
        before, action = state, int(np.flatnonzero(game.legal_action_mask(state))[0])
        state = game.play(state, action)
        last = game.move_cells(before, action)
        best = int(np.flatnonzero(game.legal_action_mask(state))[-1])
        picture = draw(game, state, {best: 1.0}, last_cells=last, played=best)
        width = float(picture.attrib["width"])
        assert width > board_at(game, 2).left
        arrows = shapes(picture, "polyline", POLICY_COLOURS[0], "stroke")
        assert len(arrows) == (len(game.move_cells(state, best)) == 2)
        assert all(float(s.get("x", 0)) <= width for s in picture.iter(f"{SVG}rect"))
