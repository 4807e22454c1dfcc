"""The page in a real browser, with every game, at the sizes of a desktop, a tablet and a phone.

What one needs to play is on the screen without scrolling, nothing lies on something else, and a
finger can hit it.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.breakthrough import breakthrough
from helpers.frontends.page import (
    DESKTOP,
    PERSON,
    PHONE,
    PHONE_ON_ITS_SIDE,
    TABLET,
    Page,
    PageVisitor,
    cell,
    expect_ply,
    paste,
)
from helpers.frontends.web_client import Served, serving
from helpers.paths import CHECKPOINTS

from alphazero.games import make_game
from alphazero.players.registry import parse_player

pytest.importorskip("playwright", reason='needs Playwright: pip install "alphazero[browser]"')

SIZES = {
    "desktop": DESKTOP,
    "tablet": TABLET,
    "phone": PHONE,
    "phone on its side": PHONE_ON_ITS_SIDE,
}
GAMES = {
    "tic_tac_toe": "b2 a1 c3",
    "connect_four": "4 4 3",
    "gomoku": "h8 h9 g7",
    "hex:size=7": "d4 c5",
    "othello": "d3 c3",
    "go": "E5 C3 G7",
    "nim": "3 2",
    "breakthrough": "a2-a3 b5-b4",
}
"""Moves of each game."""

FINGER = 44
"""Pixels that a finger needs: WCAG 2.2, 2.5.5."""

NEEDED = ("#status", "#win-bar", "#board", "#undo", "#hint", "#resign", "#new-game", "#offboard")
"""What one needs to play; the last only with moves that have no cell."""

READ_LOOKS = """() => ["material", "first", "second"].map(
    (name) => document.documentElement.dataset[name])"""

Box = dict[str, float]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    player = parse_player(str(CHECKPOINTS / "tic_tac_toe.safetensors"))
    with breakthrough(), serving([player], sessions=1000) as running:
        yield running


def playing(page: Page) -> dict[str, Box]:
    """Return the boxes of what one needs to play."""
    shown = [name for name in NEEDED if page.locator(name).is_visible()]
    return {name: page.locator(name).bounding_box() for name in shown}


def overlap(one: Box, other: Box) -> bool:
    across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
    down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
    return across > 1 and down > 1


@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
def test_every_game_is_played_without_scrolling(visit: PageVisitor, touch: bool) -> None:
    """In colours of its own: the board's material is one of ours, and the sides differ."""
    sizes = [size for name, size in SIZES.items() if ("phone" in name) is touch]
    theme = "dark" if touch else "light"
    for game, moves in GAMES.items():
        page = visit(game, viewport=sizes[0], has_touch=touch, color_scheme=theme)
        paste(page, moves)
        expect_ply(page, len(moves.split()))
        material, first, second = page.evaluate(READ_LOOKS)
        assert material in ("wood", "felt", "plastic", "paper")
        assert first != second
        fills = page.locator(".piece circle[fill^=url]").evaluate_all(
            "all => all.map((one) => document.querySelector(one.getAttribute('fill').slice(4, -1))"
            "?.localName)"
        )
        assert {*fills} <= {"radialGradient"}, game
        for viewport in sizes:
            page.set_viewport_size(viewport)
            page.evaluate("scrollTo(0, 0)")  # "Load or paste" is further down
            boxes = playing(page)
            assert {*NEEDED[:-1]} <= {*boxes}
            for name, box in boxes.items():
                where = (game, viewport, name, box)
                assert box["x"] >= 0, where
                assert box["y"] >= 0, where
                assert box["x"] + box["width"] <= viewport["width"], where
                assert box["y"] + box["height"] <= viewport["height"], where
            for (name, one), (other_name, other) in itertools.combinations(boxes.items(), 2):
                assert not overlap(one, other), (game, viewport, name, other_name)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width == viewport["width"], game
            if make_sizes(game)[0] > 1:
                shorter, board = min(viewport.values()), boxes["#board"]
                assert max(board["width"], board["height"]) >= 0.55 * shorter, (game, viewport)
        page.context.close()


def make_sizes(game: str) -> tuple[int, int]:
    name = game.partition(":")[0]
    return (6, 6) if name == "breakthrough" else make_game(name).observation_shape[1:]


@pytest.mark.parametrize("size", ["phone", "phone on its side"])
def test_a_finger_hits_every_control(visit: PageVisitor, size: str) -> None:
    player = {"player": "tic_tac_toe", "level": 3}
    page = visit("tic_tac_toe", PERSON, player, viewport=SIZES[size], has_touch=True)
    paste(page, "b2 a1")
    assert page.locator("#sides .levels button:visible").count() == 10
    page.get_by_role("button", name="Hint").click()
    page.locator("#search .move-table tbody tr").first.wait_for()
    small = "button:not(#board button, dialog button), select, #layers label"
    for each in page.locator(small).all():
        if not each.is_visible():
            continue
        box, html = each.bounding_box(), each.evaluate("one => one.outerHTML.slice(0, 80)")
        assert round(box["height"]) >= FINGER, html
        assert round(box["width"]) >= FINGER, html


@pytest.mark.parametrize("by", ["click", "drag", "keyboard"])
def test_a_piece_moves_from_its_cell_to_another(visit: PageVisitor, by: str) -> None:
    page = visit("breakthrough")
    targets = page.locator(".overlay .target")
    if by == "drag":
        start, end = (cell(page, name).bounding_box() for name in ("b2", "c3"))
        middles = [
            (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in (start, end)
        ]
        page.mouse.move(*middles[0])
        page.mouse.down()
        page.mouse.move(*middles[1], steps=5)
        assert targets.count() == 3
        page.mouse.up()
    elif by == "click":
        cell(page, "b1").click(force=True)  # its own pieces are in the way
        assert targets.count() == 0
        cell(page, "b2").click()
        assert targets.count() == 3
        cell(page, "b2").click()
        assert targets.count() == 0
        cell(page, "b2").click()
        cell(page, "e5").click(force=True)  # no target: the piece is put down
        assert targets.count() == 0
        cell(page, "b2").click()
        cell(page, "c3").click()
    else:
        cell(page, "b2").focus()
        page.keyboard.press("Enter")
        assert targets.count() == 3
        page.keyboard.press("Escape")
        assert targets.count() == 0
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
    expect_ply(page, 1)
    assert page.locator("#moves button").all_inner_texts() == ["b2-c3"]
    assert cell(page, "c3").get_attribute("aria-label") == "c3, White"
    assert cell(page, "b2").get_attribute("aria-label") == "b2, empty"
    assert page.locator(".under .last-cell").count() == 2


def test_a_piece_that_is_taken_is_counted_and_a_hint_is_an_arrow(visit: PageVisitor) -> None:
    page = visit("breakthrough")
    paste(page, "b2-b3 a5-a4 b3xa4")
    expect_ply(page, 3)
    assert "1 captured" in page.locator(".side.first").inner_text()
    page.get_by_role("button", name="Hint").click()
    page.locator(".overlay line.hint").wait_for()
    assert page.locator(".overlay .hint-head").count() == 1
    labels = page.locator(".picture text").all_text_contents()
    assert {*labels} == {*"abcdef", *"123456"}


def make_link(game: str, moves: str) -> str:
    return f"#game={game}&moves={moves.replace(' ', '+')}"


def test_a_link_opens_its_position_and_is_read_as_untrusted(
    visit: PageVisitor, served: Served
) -> None:
    page = visit("connect_four")
    paste(page, "4 4 3")
    page.get_by_role("button", name="Share or save").click()
    link = page.locator("#share-link").input_value()
    assert page.locator("#share-moves").input_value() == "4 4 3"
    other = visit("", link=link.removeprefix(visit.address))
    expect_ply(other, 3)
    assert link.endswith(make_link("connect_four", "4 4 3"))
    assert "#" not in other.url
    for wrong in (
        make_link("<img src=x onerror=alert(1)>", "1"),
        "#" + "x" * 9000,
        make_link("connect_four", "4 4 99"),
        make_link("no_such_game", "4"),
    ):
        page = visit("", link=wrong, excused="status of 400")
        page.locator("#message:not(:empty)").wait_for()
        assert page.locator("#message *").count() == 0
        assert page.locator("#board button").count() > 0


def test_digits_drop_discs_and_a_dropped_file_is_loaded(visit: PageVisitor) -> None:
    page = visit("connect_four")
    for number, key in enumerate("449", 1):
        page.keyboard.press(key)
        expect_ply(page, min(number, 2))
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], "game.jsonl"));
            document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true}));
        }""",
        saved_game(page),
    )
    expect_ply(page, 7)
    assert page.locator("#status-text").inner_text() == "Red wins"
    page.get_by_role("button", name="Rematch").click()
    expect_ply(page, 0)


def saved_game(page: Any) -> str:
    """Return a finished game of Connect Four as a line of JSON."""
    from alphazero.records.played_game import PlayedGame

    game = make_game("connect_four")
    moves = tuple(int(name) - 1 for name in "4343434")
    return PlayedGame(game, ("Ann", "Bob"), moves, 1).to_line()


def test_pictures_of_a_position_are_saved(visit: PageVisitor) -> None:
    page = visit("othello")
    page.get_by_role("button", name="Share or save").click()
    for kind, start in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=f"Save {kind}").click()
        assert Path(saved.value.path()).read_bytes().startswith(start)


def test_sound_is_off_until_it_is_turned_on(visit: PageVisitor) -> None:
    page = visit("tic_tac_toe")
    page.evaluate(
        "() => { window.AudioContext = class { constructor() { window.heard = true; } }; }"
    )
    cell(page, "b2").click()
    expect_ply(page, 1)
    assert page.evaluate("window.heard") is None
    assert page.locator("#sound").get_attribute("aria-label") == "Turn sound on"


def test_stones_come_at_once_where_people_want_less_motion(visit: PageVisitor) -> None:
    for motion, expected in (("reduce", 0), ("no-preference", 1)):
        page = visit("connect_four", reduced_motion=motion)
        page.keyboard.press("4")
        page.locator(".pieces .piece").wait_for(state="attached")
        assert (
            page.evaluate(
                "document.getAnimations().filter((one) => "
                "one.effect.target.classList.contains('piece')).length"
            )
            == expected
        )
