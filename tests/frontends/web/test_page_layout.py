"""The page in a real browser, with every game, at the sizes of a desktop, a tablet and a phone.

What one needs to play is on the screen without scrolling, nothing lies on something else, and a
finger can hit it.
"""

import itertools
from collections.abc import Iterator

import pytest
from helpers.frontends.page import DESKTOP, PHONE, TABLET, Page, cell, expect_ply, paste
from helpers.frontends.web_client import PERSON, Served, serving
from helpers.paths import CHECKPOINTS

from alphazero.games.registry import read_game
from alphazero.players.registry import parse_player

GAMES = {
    "tic_tac_toe": "b2 a1 c3",
    "connect_four": "4 4 3",
    "gomoku": "h8 h9 g7",
    "hex:size=7": "d4 c5",
    "othello": "d3 c3",
    "go": "E5 C3 G7",
    "nim": "3 2",
    "breakthrough": "a2a3 b7b6",
    "gardner": "Nc3 bxc3",
    "los_alamos": "c3 d4",
    "chess": "e4 c5 Nf3 Qa5",
}
"""Moves of each game."""

FEW = ["connect_four", "nim", "chess"]
"""Stones, moves without a cell, and pieces that are taken; on a board of few columns and many."""

FINGER = 44
"""Pixels that a finger needs: WCAG 2.2, 2.5.5."""

NEEDED = ("#status", "#win-bar", "#board", "#undo", "#hint", "#resign", "#new-game", "#offboard")
"""What one needs to play; the last only with moves that have no cell."""

Box = dict[str, float]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    player = parse_player(str(CHECKPOINTS / "tic_tac_toe.safetensors"))
    with serving([player], sessions=1000) as running:
        yield running


def overlap(one: Box, other: Box) -> bool:
    across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
    down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
    return across > 1 and down > 1


@pytest.mark.parametrize(
    "games",
    [FEW, pytest.param(sorted({*GAMES} - {*FEW}), marks=pytest.mark.slow)],
    ids=["few", "others"],
)
@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
def test_every_game_is_played_without_scrolling(visit, touch: bool, games: list[str]):
    """In colours of its own: the board's material is one of ours, and the sides differ."""
    sizes = [PHONE] if touch else [DESKTOP, TABLET]
    theme = "dark" if touch else "light"
    for game in games:
        moves = GAMES[game]
        page = visit(game, viewport=sizes[0], has_touch=touch, color_scheme=theme)
        paste(page, moves)
        expect_ply(page, len(moves.split()))
        looks = page.evaluate("({ ...document.documentElement.dataset })")
        assert looks["material"] in ("wood", "felt", "plastic", "paper")
        assert looks["first"] != looks["second"]
        for viewport in sizes:
            page.set_viewport_size(viewport)
            page.evaluate("scrollTo(0, 0)")  # "Load or paste" is further down
            visible = [name for name in NEEDED if page.locator(name).is_visible()]
            boxes = {name: page.locator(name).bounding_box() for name in visible}
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
            if read_game(game).observation_shape[1] > 1:
                shorter, board = min(viewport.values()), boxes["#board"]
                assert max(board["width"], board["height"]) >= 0.55 * shorter, (game, viewport)
        page.context.close()


def test_the_board_stays_in_view_while_a_card_is_used(visit):
    page = visit("tic_tac_toe")
    paste(page, "b2 a1 c3")
    for viewport in (DESKTOP, TABLET, PHONE):
        page.set_viewport_size(viewport)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        box = page.locator("#board").bounding_box()
        assert box["y"] >= 0, viewport
        assert box["y"] + box["height"] <= viewport["height"], viewport


def test_a_win_in_one_is_proven_by_one_simulation(visit):
    page = visit("tic_tac_toe")
    paste(page, "a3 a2 b3 b2")
    page.get_by_role("button", name="Hint").click()
    expected = "X wins 100 %. Proven: X wins in 1 move. 1 simulation."
    page.get_by_text(expected, exact=True).wait_for()


def test_a_finger_hits_every_control(visit):
    player = {"player": "tic_tac_toe", "level": 3}
    page = visit("tic_tac_toe", PERSON, player, viewport=PHONE, has_touch=True)
    paste(page, "b2 a1")
    assert page.locator("#sides .levels button:visible").count() == 10
    page.get_by_role("button", name="Hint").click()
    page.locator("#search .move-table tbody tr").first.wait_for()
    small = "button:not(#board button, dialog button):visible, select:visible"
    for control in page.locator(small).all():
        box, html = control.bounding_box(), control.evaluate("one => one.outerHTML.slice(0, 80)")
        assert round(box["height"]) >= FINGER, html
        assert round(box["width"]) >= FINGER, html


def test_no_word_of_a_button_is_cut_off_on_a_narrow_phone(visit):
    page = visit("gardner", viewport={"width": 360, "height": 740})
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Rematch").wait_for()
    is_cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.id)"
    assert page.locator("#actions button:visible").evaluate_all(is_cut) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def middle(page: Page, label: str) -> tuple[float, float]:
    box = cell(page, label).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, source: str, target: str) -> None:
    page.mouse.move(*middle(page, source))
    page.mouse.down()
    page.mouse.move(*middle(page, target), steps=4)
    page.mouse.up()


@pytest.mark.parametrize("by", ["click", "drag", "keyboard"])
def test_a_piece_moves_from_its_cell_to_another(visit, by: str):
    page = visit("breakthrough:rows=6,columns=6")
    targets = page.locator(".overlay .target")
    if by == "drag":
        drag(page, "b2", "e5")  # no target: the piece goes back
        assert targets.count() == 0
        home = page.locator(".pieces .piece").all()
        assert all(one.bounding_box()["y"] > 0 for one in home)
        drag(page, "b2", "c3")
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
        for key in ("Enter", "ArrowUp", "ArrowRight", "Enter"):
            page.keyboard.press(key)
    expect_ply(page, 1)
    assert page.locator("#moves button").all_inner_texts() == ["b2c3"]
    assert cell(page, "c3").get_attribute("aria-label") == "c3, white pawn"
    assert cell(page, "b2").get_attribute("aria-label") == "b2, empty"
    assert page.locator(".under .last-cell").count() == 2


TO_PROMOTION = "a4 b5 axb5 a6 bxa6 h5 a7 h4 h3 d6"
IS_AT = """(x) => {
    const pawn = [...document.querySelectorAll(".pieces .piece.first")].at(-1);
    const { left, right } = pawn.getBoundingClientRect();
    return left < x && x < right;
}"""


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_a_pawn_that_arrives_is_replaced_by_a_piece_of_choice(visit, by: str):
    page = visit("chess", viewport=PHONE)
    paste(page, TO_PROMOTION)
    choices = page.locator("#choice button.choice-piece")
    drag(page, "a7", "b8")
    names = [choice.get_attribute("aria-label") for choice in choices.all()]
    assert names == ["queen, axb8=Q", "rook, axb8=R", "bishop, axb8=B", "knight, axb8=N"]
    page.keyboard.press("Escape")
    expect_ply(page, 10)
    page.locator('[aria-label="a7, white pawn"]').wait_for()
    # It glides back to its cell.
    page.wait_for_function(IS_AT, arg=middle(page, "a7")[0])
    if by == "mouse":
        cell(page, "a7").click()
        cell(page, "b8").click()
        choices.last.click()
    else:
        cell(page, "a7").focus()
        for key in ("Enter", "ArrowUp", "ArrowRight", "Enter", "Tab", "Tab", "Tab", "Enter"):
            page.keyboard.press(key)
    expect_ply(page, 11)
    assert cell(page, "b8").get_attribute("aria-label") == "b8, white knight"


def test_a_board_of_pieces_is_seen_from_the_side_of_its_only_person(visit):
    page = visit("gardner", {"player": "random"}, PERSON)
    expect_ply(page, 1)

    def is_turned() -> bool:
        return middle(page, "a1")[1] < middle(page, "a5")[1]

    assert is_turned()
    cell(page, "c3").focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.ariaLabel").startswith("c2,")
    page.get_by_role("button", name="Turn the board").click()
    page.locator("#turn[aria-pressed=false]").wait_for()
    assert not is_turned()
    page = visit("othello")
    assert not page.get_by_role("button", name="Turn the board").is_visible()


def test_a_king_in_check_is_marked_and_said(visit):
    page = visit("chess")
    paste(page, "e4 f5 Qh5+")
    assert cell(page, "e8").get_attribute("aria-label") == "e8, black king, in check"
    assert page.locator(".under .attacked-cell").count() == 1
    assert page.locator(".under .last-cell").count() == 2
    assert page.locator("#status-text").inner_text() == "Black to move, in check"


def test_the_hint_of_a_piece_is_an_arrow(visit):
    page = visit("breakthrough:rows=6,columns=6")
    page.get_by_role("button", name="Hint").click()
    arrow = page.locator(".overlay .arrow.hint")
    arrow.wait_for(state="attached")  # an upright line has no width
    assert arrow.count() == 1
    page.get_by_label("Shown on the board").select_option("visits")
    page.locator(".overlay .arrow.tint-visits").first.wait_for(state="attached")
    page.locator("#search .move-table tbody tr").first.hover()
    page.locator(".overlay .arrow.first").first.wait_for(state="attached")
    labels = page.locator(".picture text").all_text_contents()
    assert {*labels} == {*"abcdef", *"123456"}


def make_link(game: str, moves: str) -> str:
    return f"#game={game}&moves={moves.replace(' ', '+')}"


def open_link(visit, page: Page) -> tuple[str, Page]:
    """Return the link to the position of a page, and another page where it was opened."""
    page.get_by_role("button", name="Share or save").click()
    link = page.locator("#share-link").input_value()
    return link, visit("", link=link.removeprefix(visit.address))


def test_a_link_opens_its_position_and_is_read_as_untrusted(visit):
    page = visit("connect_four")
    paste(page, "4 4 3")
    link, other = open_link(visit, page)
    expect_ply(other, 3)
    assert link.endswith(make_link("connect_four", "4 4 3"))
    assert "#" not in other.url
    page = visit("", link="#" + "x" * 9000, excused="status of 400")
    for game, moves in (
        ("", ""),
        ("<img src=x onerror=alert(1)>", "1"),
        ("connect_four", "4 4 99"),
        ("no_such_game", "4"),
    ):
        if game:
            page.goto("about:blank")  # else only what follows "#" would change
            page.goto(visit.address + make_link(game, moves))
        page.locator("#message:not(:empty)").wait_for()
        assert page.locator("#message *").count() == 0
        page.locator("#board button").first.wait_for()


def test_a_link_keeps_the_position_in_which_a_game_began(visit):
    page = visit("connect_four")
    paste(page, "4k3/7p/8/8/8/8/P7/4K3 b - - 3 20")
    paste(page, "h5 a4")
    expect_ply(page, 2)
    _, other = open_link(visit, page)
    expect_ply(other, 2)
    assert cell(other, "h5").get_attribute("aria-label") == "h5, black pawn"
    assert other.locator("#status-text").inner_text() == "Black to move"


def test_stones_come_at_once_where_people_want_less_motion(visit):
    for motion, expected in (("reduce", 0), ("no-preference", 1)):
        page = visit("connect_four", reduced_motion=motion)
        cell(page, "column 4, row 1").click()
        page.locator(".pieces .piece").wait_for(state="attached")
        animated = "document.getAnimations().map((one) => one.effect.target.classList[0])"
        assert page.evaluate(animated).count("piece") == expected
