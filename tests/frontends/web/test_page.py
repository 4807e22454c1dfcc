"""The web page in a real browser, headless: what a person does there, by mouse and by keyboard.

Every message on the browser's console and every request to another host fails the test. Waiting is
for what the page shows, never for the clock.
"""

import io
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from helpers.frontends.page import PHONE, Page, cell, click_again, expect, paste
from helpers.frontends.page import expect_ply as ply
from helpers.frontends.web_client import PERSON, RANDOM, Served, serving
from helpers.games import CONNECT_FOUR
from PIL import Image

from alphazero.frontends.web.security import RefusedError
from alphazero.games import make_game
from alphazero.games.game import Material
from alphazero.players.registry import parse_player
from alphazero.records.jsonl import read_line

WIN_IN_4 = "4 3 4 3 4 3 4"
"""Connect Four: the first player piles up column 4."""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving([parse_player("uct:simulations=500")]) as running:
        yield running


def stones(page: Page) -> list[str]:
    """Return what each cell's name says is on it, row by row."""
    labels = page.locator("#board button").evaluate_all("all => all.map(one => one.ariaLabel)")
    return [re.search(r"(?<=, )(empty|[A-Z]\w*)\b", label)[0] for label in labels]


def test_a_whole_game_of_connect_four_is_clicked_and_stones_fall(visit):
    page, state = visit("connect_four"), CONNECT_FOUR.from_moves(WIN_IN_4)
    for count, column in enumerate(WIN_IN_4.split(), 1):
        # The top cell of a column is far above where the stone will lie.
        cell(page, f"column {column}, row 6").click()
        ply(page, count)
    expect(page.locator("#status")).to_contain_text("Red wins")
    expect(page.locator(".overlay .won")).to_have_count(4)
    stone_names = {0: "empty", 1: "Red", -1: "Yellow"}
    assert stones(page) == [stone_names[stone] for stone in CONNECT_FOUR.pieces(state).flat]
    # A finished game takes no more moves.
    assert page.locator("#board button[aria-disabled=false]").count() == 0


def test_the_ring_of_winning_stones_stands_out_on_yellow_too(visit):
    page = visit("connect_four")
    paste(page, "1 4 1 4 1 4 7 4")
    expect(page.locator(".overlay .won")).to_have_count(4)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        ring_and_disc = page.evaluate("""() => {
            const style = (name) => getComputedStyle(document.querySelector(name));
            const colours = [style(".overlay .won").stroke, style(".piece.second .disc").fill];
            return colours.map((colour) => colour.match(/\\d+/g).slice(0, 3).map(Number));
        }""")
        assert contrast_of(*ring_and_disc) >= 3  # WCAG 2.2, 1.4.11


def test_a_person_plays_a_player_with_a_budget_and_takes_moves_back(visit):
    page = visit("connect_four", PERSON, {"player": "random"}, excused="status of 400")
    sides = page.locator("#sides")
    sides.get_by_label("Player 2", exact=True).select_option("uct")
    level, number = sides.get_by_label("Player 2: strength"), sides.get_by_label("Player 2: budget")
    level.select_option("simulations")
    number.fill("25")
    number.press("Enter")
    cell(page, "column 4, row 1").click()
    ply(page, 2)
    cell(page, "column 4, row 6").click()
    ply(page, 4)
    page.get_by_role("button", name="Undo").click()
    ply(page, 2, 4)
    message = page.locator("#message")
    for refused, text in (("", ""), ("5000000", "simulations: expected a whole number")):
        number.fill(refused)
        number.press("Enter")
        expect(message).to_contain_text(text)
        expect(number).to_have_value("25")
    cell(page, "column 1, row 6").click()
    ply(page, 4)
    expect(message).to_have_text("")
    level.select_option("seconds")
    expect(number).to_have_value("1")


def test_a_hint_shows_layers_candidates_and_a_line_on_the_board(visit):
    page = visit("connect_four")
    paste(page, "4 3 4 3 4 3")
    page.get_by_role("button", name="Hint").click()
    rows = page.locator("#search .move-table tbody tr")
    # It completes the column; nothing else wins.
    expect(rows.first.locator("th button")).to_have_text("4")
    expect(page.locator("#spoken")).to_have_text("Hint: 4")
    # A ring on the cell where the disc would land.
    ring = page.locator(".overlay .hint").bounding_box()
    landing = cell(page, "column 4, row 4").bounding_box()
    assert abs(ring["x"] + ring["width"] / 2 - landing["x"] - landing["width"] / 2) < 2
    assert abs(ring["y"] + ring["height"] / 2 - landing["y"] - landing["height"] / 2) < 2
    assert rows.count() == 7
    shares = [int(text.strip("<> %")) for text in rows.locator("td:nth-child(4)").all_inner_texts()]
    assert 90 <= sum(shares) <= 110
    marks = page.locator(".overlay circle[class^=tint]")
    for layer, tint in (("prior", "tint-prior"), ("visits", "tint-visits"), ("value", "tint-good")):
        page.get_by_label("Shown on the board").select_option(layer)
        expect(marks.first).to_have_class(tint)
    expect(cell(page, "column 4, row 4")).to_have_attribute("aria-label", re.compile("% of visits"))
    page.get_by_label("Shown on the board").select_option("off")
    rows.first.locator("th button").focus()
    expect(page.locator(".overlay text").first).to_have_text("1")
    rows.first.locator("th button").press("Enter")
    expect(page.locator("#status")).to_contain_text("Red wins")


def test_before_its_first_report_a_search_is_said_to_be_running(visit):
    page = visit("go:rows=3,columns=3")
    texts = """async (view) => {
        const { Candidates } = await import("/static/components/candidates.js");
        const { Layers } = await import("/static/components/layers.js");
        const [root, note] = [document.createElement("div"), document.createElement("p")];
        new Candidates(root, {}).show(view);
        new Layers(document.querySelector("#layer"), note, null).show(view);
        return [root.querySelector("#caption").textContent, note.textContent];
    }"""
    view = {"search": None, "end": None, "thinking": True, "moves": [], "side_names": ["", ""]}
    assert page.evaluate(texts, view) == ["Searching.", "Searching."]


def test_the_territory_of_a_finished_game_is_shaded_and_its_margin_shown(visit):
    page = visit("go:rows=3,columns=3,komi_half_points=1")
    page.get_by_label("Shown on the board").select_option("territory")
    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".overlay .hint")).to_have_count(1)
    paste(page, "b1 b2 a2 c2 pass pass")
    squares = page.locator(".overlay rect")
    expect(page.get_by_label("Shown on the board")).to_have_value("territory")
    # A1 is Black's, beside B1 and A2; the other empty cells touch both colours.
    # Stones on their own side's cells need no square.
    expect(squares).to_have_count(1)
    expect(squares).to_have_class("territory first")
    expect(cell(page, "A1")).to_have_attribute("aria-label", "A1, empty, 100 % Black's")
    expect(cell(page, "A3")).to_have_attribute("aria-label", "A3, empty, nobody's")
    expect(page.locator("#status-text")).to_have_text("Black wins by 0.5")
    expect(page.locator(".side.second .points")).to_have_text("2.5")
    page.get_by_label("Shown on the board").select_option("off")
    expect(squares).to_have_count(0)


def colours_of(page: Page, *names: str) -> list[tuple[int, ...]]:
    """Return some of the page's named colours in its theme."""
    read = """names => {
        const probe = document.body.appendChild(document.createElement("i"));
        const colours = names.map((name) => {
            probe.style.color = `var(--${name})`;
            return getComputedStyle(probe).color.match(/[0-9.]+/g).slice(0, 3).map(Number);
        });
        probe.remove();
        return colours;
    }"""
    return [tuple(map(round, colour)) for colour in page.evaluate(read, names)]


def test_a_stone_beside_words_lies_on_the_colour_of_the_board(visit):
    # On the page's own ground, a black stone in the dark and a white one in the light are rings.
    page = visit("gomoku")
    for theme, side in itertools.product(("light", "dark"), ("first", "second")):
        page.emulate_media(color_scheme=theme)
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        stone_colour, ground = colours_of(page, f"board-{side}", "ground")
        for stone in page.locator(f".side .stone.{side}, #sides .stone.{side}").all():
            picture = Image.open(io.BytesIO(stone.screenshot())).convert("RGB")
            width, height = picture.size
            assert picture.getpixel((width // 2, height // 2)) == stone_colour
            assert picture.getpixel((1, height // 2)) == ground
            assert picture.getpixel((width - 2, height // 2)) == ground


def test_the_words_beside_the_graph_are_not_under_its_curve(visit):
    page = visit("connect_four")
    paste(page, "1 1 1 1 1 1 2 2 2 2 2 2 3 3")
    ply(page, 14)
    # In one call: a new view replaces the shapes, and a replaced one has no place.
    cursor, places = page.evaluate("""() => {
        const boxOf = (shape) => shape.getBoundingClientRect().toJSON();
        const sides = [...document.querySelectorAll("#graph .axis-label")];
        return [boxOf(document.querySelector("#graph .cursor")), sides.map((one) => boxOf(one).x)];
    }""")
    assert places
    assert cursor["x"] + 4 < min(places)
    # A click there, and on the curve's end, means the last position.
    page.get_by_role("slider").press("Home")
    ply(page, 0, 14)
    page.mouse.click(cursor["x"], cursor["y"] + 5)
    ply(page, 14)


DRAW_SHARES = """async (layer) => {
    const { drawLayer } = await import("/static/board/overlay.js");
    const cells = [10, 30, 50].map((x) => ({ x, y: 10 }));
    const share = (cell, part) => ({ cell, share: part, prior: part, value: part || null });
    const candidates = [share(0, 0.9), share(1, 0.004), share(2, 0)];
    const shapes = drawLayer({ radius: 10, cells }, { candidates }, layer);
    document.querySelector(".overlay").replaceChildren(...shapes);
    const look = (one) => [one.cx.baseVal.value, getComputedStyle(one).fill];
    return shapes.filter((one) => one.localName === "circle" && one.r.baseVal.value < 5).map(look);
}"""
"""Marks moves of a large share, a tiny one and none; returns place and fill of small marks."""


def test_a_move_of_a_small_share_is_not_taken_for_a_star_point(visit):
    page = visit("go")
    for theme, layer in itertools.product(("light", "dark"), ("visits", "prior")):
        page.emulate_media(color_scheme=theme)
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        field = f"rgb{colours_of(page, 'ground')[0]}"
        # A star point is a filled dot: this is a hollow one, and a move without any share has none.
        assert page.evaluate(DRAW_SHARES, layer) == [[30, field]]
    assert page.evaluate(DRAW_SHARES, "value") == []  # small or not, a value is a number


def test_the_graph_the_moves_and_the_arrow_keys_step_through_the_game(visit):
    page = visit("tic_tac_toe")
    paste(page, "b2 a1 c3 a3")
    slider = page.get_by_role("slider")
    expect(slider).to_have_value("4")
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
    ply(page, 0, 4)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    ply(page, 2, 4)
    expect(slider).to_have_attribute("aria-valuetext", re.compile("move 2, O a1"))
    page.keyboard.press("End")
    ply(page, 4)
    page.get_by_role("button", name="1. X b2").click()
    ply(page, 1, 4)
    page.locator("#status").focus()
    page.keyboard.press("ArrowLeft")
    ply(page, 0, 4)
    page.get_by_role("button", name="Last position").click()
    ply(page, 4)


def test_another_move_begins_a_branch_and_both_can_be_followed(visit):
    page = visit("tic_tac_toe")
    paste(page, "b2 a1 c3")
    page.get_by_role("button", name="1. X b2").click()
    ply(page, 1, 3)
    cell(page, "c1").click()
    ply(page, 2)
    page.get_by_role("button", name="One move back").click()
    page.get_by_role("button", name="Go to variation a1").click()
    ply(page, 2, 3)
    assert page.locator("#moves button").all_inner_texts() == ["b2", "a1", "c3"]


def test_a_game_is_played_with_the_keyboard_alone_and_focus_stays(visit):
    page = visit("tic_tac_toe", PERSON, RANDOM)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the board")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(cell(page, "b2")).to_be_focused()
    page.keyboard.press("Enter")
    ply(page, 2)
    expect(cell(page, "b2")).to_be_focused()
    expect(page.locator("#spoken")).to_have_text(re.compile(r"Move 2: O \w\w\. X to move"))
    steps = ("ArrowUp", "b3"), ("ArrowLeft", "a3"), ("ArrowLeft", "a3"), ("ArrowDown", "a2")
    for key, name in steps:  # there is no cell further left than a3
        page.keyboard.press(key)
        expect(cell(page, name)).to_be_focused()
    while cell(page, name).get_attribute("aria-disabled") == "true":
        page.keyboard.press("ArrowRight")
        name = {"a2": "b2", "b2": "c2"}[name]
        expect(cell(page, name)).to_be_focused()
    page.keyboard.press("Space")
    ply(page, 4)


def test_two_players_are_watched_and_paused(visit):
    slow = {"player": "uct", "seconds": 500}
    page = visit("gomoku:rows=8,columns=8", slow, slow)  # whose board no tree fills in a moment
    pause, sides = page.locator("#pause"), page.locator("#sides")
    expect(pause).to_have_text("Pause")
    pause.click()
    expect(pause).to_have_text("Resume")
    for player in ("Player 1", "Player 2"):
        sides.get_by_label(player, exact=True).select_option("random")
    pause.click()
    expect(page.locator("#status")).to_have_text(re.compile("wins|draw"))


def test_analysis_streams_until_it_is_stopped_and_follows_the_board(visit):
    page = visit("connect_four")
    caption = page.locator("#caption")
    page.get_by_role("button", name="Analyze").click()
    expect(caption).to_contain_text("a second")
    expect(caption).not_to_have_text(caption.inner_text())
    cell(page, "column 4, row 1").click()
    expect(caption).to_contain_text("Yellow wins")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Analyze")).to_be_visible()


def test_games_are_saved_loaded_and_refused_in_one_line(visit):
    page = visit("tic_tac_toe", excused="status of 400")
    paste(page, "b2 a1 c3")
    ply(page, 3)
    page.get_by_role("button", name="Share or save").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save JSON").click()
    page.get_by_role("button", name="Close").click()
    text = Path(saved.value.path()).read_text()
    assert read_line(text.encode()).moves() == ["b2", "a1", "c3"]
    page.get_by_role("button", name="First position").click()
    ply(page, 0, 3)
    paste(page, text)
    ply(page, 3)
    # A refused text stays in the dialog, with the error, and can be changed.
    page.get_by_role("button", name="Load or paste").click()
    dialog = page.locator("#load-dialog")
    large = {"name": "many.sgf", "mimeType": "text/plain", "buffer": b"(;GM[1])" * (1 << 17)}
    page.locator("#load-file").set_input_files(large)
    dialog.get_by_role("button", name="Load", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("the page loads up to 512 KB")
    page.locator("#load-file").set_input_files({**large, "buffer": b" \n"})
    dialog.get_by_role("button", name="Load", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("The file is empty.")
    page.locator("#load-file").set_input_files([])
    dialog.locator("textarea").fill("b2")
    dialog.get_by_role("button", name="Load", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("b2 is taken")
    expect(dialog.locator("textarea")).to_have_value("b2")
    dialog.locator("textarea").fill("c1")
    dialog.get_by_role("button", name="Load", exact=True).click()
    expect(dialog).to_be_hidden()
    ply(page, 4)


def test_a_message_covers_no_cell_and_goes_with_its_position(visit, served):
    page = visit("chess", PERSON, PERSON, viewport=PHONE)
    paste(page, "e4 e5 Zz9")
    message = page.locator("#message")
    expect(message).to_contain_text("the moves from here on are left out: move 3")
    box = message.bounding_box()
    assert box["x"] >= 0
    assert PHONE["width"] * 0.6 < box["width"] <= PHONE["width"] - box["x"]
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    on_top = "([x, y]) => document.elementFromPoint(x, y).id"
    assert page.evaluate(on_top, middle) != "message"
    session = page.evaluate("sessionStorage.getItem('alphazero-session')")
    served.ask("POST", f"/api/sessions/{session}/goto", {"ply": 1})  # from another window
    ply(page, 1, 2)
    expect(message).to_have_text("")


def test_moves_without_a_cell_are_played_with_buttons(visit):
    page, game = visit("nim"), make_game("nim")
    moves = ["3", "3", "3", "3", "2", "1"]
    for taken in moves:
        page.get_by_role("button", name=f"Play {taken}").click()
    ply(page, 6)
    winner = "First" if game.outcome(game.from_moves(moves)) == 1 else "Second"
    expect(page.locator("#status")).to_contain_text(f"{winner} wins")
    expect(page.locator("#offboard")).to_be_hidden()
    expect(page.locator("#status")).to_be_focused()


def test_a_new_game_is_chosen_with_its_options_and_the_players_stay(visit):
    page = visit("tic_tac_toe", PERSON, RANDOM, excused="status of 400")
    page.get_by_role("button", name="New game").click()
    page.locator("#new-name").select_option("hex")
    page.get_by_text("Board and rules").click()
    page.locator("#new-options").get_by_label("swap").select_option("on")
    page.get_by_label("size").fill("99")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#new-dialog").get_by_role("alert")).to_have_text(re.compile("size must"))
    expect(page.get_by_label("size")).to_have_value("99")
    page.get_by_label("size").fill("4")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#board button")).to_have_count(16)
    expect(page.locator("#game")).to_have_text("Hex 4 x 4, swap on")
    cell(page, "a1").click()
    ply(page, 2)
    # This size is not in the list, but its options are those of the game.
    page.get_by_role("button", name="New game").click()
    expect(page.get_by_label("size")).to_have_value("4")
    page.locator("#new-options").get_by_label("swap").select_option("off")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#game")).to_have_text("Hex 4 x 4")


def test_a_new_game_begins_without_the_piece_and_the_line_of_the_last_one(visit):
    page = visit("chess", has_touch=True)

    def begin(game: str) -> None:
        page.get_by_role("button", name="New game").click()
        page.locator("#new-name").select_option(game)
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#new-dialog")).to_be_hidden()

    cell(page, "e2").click()
    expect(page.locator(".picked-cell")).to_have_count(1)
    begin("othello")
    expect(page.locator("#board button")).to_have_count(64)
    expect(page.locator(".picked-cell")).to_have_count(0)
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#spoken")).to_contain_text("Hint: ")
    page.locator("#search .line").first.tap()  # no mouse leaves it
    expect(page.locator(".overlay text").first).to_have_text("1")
    begin("tic_tac_toe")
    expect(page.locator("#board button")).to_have_count(9)
    expect(page.locator(".overlay text")).to_have_count(0)


def test_a_piece_that_is_gone_meanwhile_is_not_dragged(visit, served):
    page = visit("chess")
    box = cell(page, "e2").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    session = page.evaluate("sessionStorage.getItem('alphazero-session')")
    position = {"text": "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"}
    served.ask("POST", f"/api/sessions/{session}/load", position)  # from another window
    expect(cell(page, "e2")).to_have_attribute("aria-label", "e2, empty")
    page.mouse.move(box["x"], box["y"] - box["height"])
    expect(page.locator(".picked-cell")).to_have_count(0)
    page.mouse.up()


def test_a_game_is_over_for_who_takes_a_move_back_and_resigns(visit):
    page = visit("tic_tac_toe")
    paste(page, "b2 a1 c3")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Resign").click()
    expect(page.locator("#status-text")).to_have_text("X resigned: O wins")
    expect(page.locator("#resign")).to_be_hidden()
    page.get_by_role("button", name="Rematch").click()
    ply(page, 0)


def test_several_moves_on_one_cell_are_a_small_choice(visit):
    page = visit("tic_tac_toe")  # no shipped game has such cells: the question is asked alone
    page.evaluate("""() => {
        const moves = [{ action: 3, name: "promote" }, { action: 5, name: "stay" }];
        const dialogs = import("/static/components/dialogs.js");
        window.chosen = dialogs.then((all) => all.chooseAction(moves));
    }""")
    page.get_by_role("button", name="stay").click()
    assert page.evaluate("() => window.chosen") == 5


def test_a_double_click_plays_one_move(visit):
    page = visit("connect_four", PERSON, RANDOM)
    cell(page, "column 1, row 6").dblclick()
    ply(page, 2)
    click_again(page)  # slowly, after the answer
    cell(page, "column 4, row 6").click()
    ply(page, 4)


def test_two_persons_may_click_one_column_fast(visit):
    page = visit("connect_four")
    cell(page, "column 1, row 6").click()
    ply(page, 1)
    click_again(page)
    ply(page, 2)


def test_a_browser_that_keeps_nothing_shows_the_page_too(visit):
    forbid = "for (const kind of ['localStorage', 'sessionStorage'])"
    forbid += " Object.defineProperty(window, kind, { get() { throw new Error('forbidden'); } });"
    page = visit.open("", forbid)
    expect(page.locator("#game")).not_to_be_empty()
    theme = page.locator("html").get_attribute("data-theme")
    page.locator("#theme").click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", theme)


def lose_session(page: Page, served: Served) -> None:
    """End a page's session, and wait until the page has another one."""
    old = page.evaluate("sessionStorage.getItem('alphazero-session')")
    served.close_session(old)
    page.wait_for_function("id => sessionStorage.getItem('alphazero-session') !== id", arg=old)


def test_a_lost_session_is_restored_where_it_was(visit, served):
    page = visit("tic_tac_toe", excused="status of 404")
    paste(page, "b2 a1 c3 a3")
    page.get_by_role("button", name="One move back").click()
    ply(page, 3, 4)
    lose_session(page, served)
    ply(page, 3, 4)
    cell(page, "c1").click()
    ply(page, 4)
    page.get_by_role("button", name="Resign").click()
    lose_session(page, served)
    expect(page.locator("#status-text")).to_have_text("X resigned: O wins")


def test_a_lost_session_is_restored_too_by_a_page_that_was_reloaded(visit, served):
    page = visit("tic_tac_toe", PERSON, RANDOM, excused="status of 404")
    paste(page, "b2 a1 c3 a3")
    page.get_by_role("button", name="One move back").click()
    ply(page, 3, 4)
    session = page.evaluate("sessionStorage.getItem('alphazero-session')")
    page.goto(visit.address + "static/icon.svg")
    served.close_session(session)
    page.goto(visit.address)
    ply(page, 3, 4)
    expect(page.locator(".side.second")).to_contain_text("random")
    assert page.evaluate("sessionStorage.getItem('alphazero-session')") != session


def test_a_lost_game_that_the_server_does_not_know_is_followed_by_one_that_it_does(visit, served):
    page = visit("tic_tac_toe", PERSON, RANDOM, excused="status of 4")
    session = page.evaluate("sessionStorage.getItem('alphazero-session')")
    page.goto(visit.address + "static/icon.svg")
    lost = json.dumps({"game": "shogi", "moves": []})
    page.evaluate("lost => sessionStorage.setItem('alphazero-view', lost)", lost)
    served.close_session(session)
    page.goto(visit.address)
    page.locator("#game:not(:empty)").wait_for()
    assert page.evaluate("sessionStorage.getItem('alphazero-session')") != session


def test_in_a_lost_session_a_player_thinks_on(visit, served):
    slow = {"player": "uct", "seconds": 500}
    page = visit("gomoku:rows=8,columns=8", PERSON, slow, excused="status of 404")
    cell(page, "a1").click()
    expect(page.locator("#wait")).to_have_text("thinking")
    lose_session(page, served)
    ply(page, 1)
    expect(page.locator("#wait")).to_have_text("thinking")


def test_a_lost_game_whose_player_is_gone_goes_on_without_it(visit, served, monkeypatch):
    page = visit("tic_tac_toe", RANDOM, PERSON, excused="status of 40")  # 400 and 404
    ply(page, 1)
    catalog, moves = served.manager.catalog, page.locator("#moves button").all_inner_texts()
    others = {name: player for name, player in catalog.players.items() if name != "random"}
    monkeypatch.setattr(catalog, "players", others)
    lose_session(page, served)
    expect(page.locator("#message")).to_contain_text("unknown player 'random'")
    ply(page, 1)
    assert page.locator("#moves button").all_inner_texts() == moves
    assert page.locator("#sides option[value=random]").count() == 0


def test_a_lost_game_waits_until_the_server_has_room_for_it(visit, served, monkeypatch):
    page = visit("tic_tac_toe", excused="status of 4")  # 404 and 429
    page.clock.install()
    paste(page, "b2 a1")

    def refuse(*_: object) -> None:
        raise RefusedError(429, "close a page")

    monkeypatch.setattr(served.manager, "create_session", refuse)
    served.close_session(page.evaluate("sessionStorage.getItem('alphazero-session')"))
    expect(page.locator("#message")).to_have_text("close a page")
    monkeypatch.undo()
    page.clock.run_for(10_000)
    expect(page.locator("#message")).to_have_text("")
    ply(page, 2)
    cell(page, "c3").click()
    ply(page, 3)


MATERIALS = [material.name.lower() for material in Material]
LOOKS = [("black", "white"), ("white", "black"), ("red", "yellow"), ("yellow", "red"), ("x", "o")]
LOOKS += [("red", "blue"), ("blue", "red"), ("green", "white"), ("white", "green")]


def test_everything_has_a_name_and_text_stands_out_from_its_ground(visit):
    for theme in ("light", "dark"):
        page = visit("tic_tac_toe", color_scheme=theme)
        unnamed = page.locator("button, select, input, textarea").evaluate_all(
            "all => all.filter(one => !(one.ariaLabel || one.textContent.trim()"
            " || one.labels?.length)).map(one => one.outerHTML)"
        )
        assert unnamed == []
        ids = page.locator("[id]").evaluate_all("all => all.map(one => one.id)")
        assert len(ids) == len(set(ids))
        check_contrasts(
            page,
            theme,
            *itertools.product(("ink", "soft", "accent", "alarm"), ("paper", "card")),
            *(("on-accent", "accent"), ("ink", "hover"), ("board-ink", "paper")),
        )
        for material, (first, second) in itertools.product(MATERIALS, LOOKS):
            # Values as the page sets them: this is a look at all games at once.
            page.evaluate(
                "(names) => Object.assign(document.documentElement.dataset, names)",
                {"material": material, "first": first, "second": second},
            )
            pieces = ("on-first", "board-first"), ("on-second", "board-second")
            where = f"{theme} {material} {first} {second}"
            check_contrasts(page, where, ("on-ground", "ground"), *pieces)
        page.locator("#theme").click()
        other = "dark" if theme == "light" else "light"
        expect(page.locator("html")).to_have_attribute("data-theme", other)


def check_contrasts(page: Page, where: str, *pairs: tuple[str, str]) -> None:
    """Check that text in a named colour of the page can be read on another."""
    colours = colours_of(page, *itertools.chain(*pairs))
    for text, ground, names in zip(colours[::2], colours[1::2], pairs, strict=True):
        assert contrast_of(text, ground) >= 4.5, (where, names)


def contrast_of(*colours: Sequence[int]) -> float:
    """Return the contrast of two colours: WCAG 2.2, "contrast ratio"."""
    lights = []
    for colour in colours:
        parts = [part / 255 for part in colour]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_moves_of_pieces_are_counted_as_in_pgn_also_in_the_review(visit):
    page = visit("breakthrough:rows=5,columns=5")
    numbers = "all => all.map(one => getComputedStyle(one, '::before').content)"
    paste(page, "5/P4/2p2/2P1p/5 w")  # either side could win at once
    paste(page, "c2b3 c3d2 a4a5")
    page.get_by_role("button", name="Review the game").click()
    expect(page.locator("#review-button")).to_have_text("Reviewed")
    mistakes = page.locator(".mistakes button")
    assert mistakes.all_inner_texts() == ["1. White c2b3??", "1. Black c3d2??"]
    assert page.locator("#moves li").evaluate_all(numbers) == ['"1."', "none", '"2."']
    paste(page, "5/P4/2p2/2P1p/5 b")
    paste(page, "c3d2 c2b3 e2e1")
    ply(page, 3)
    expect(page.get_by_role("button", name="2. Black e2e1")).to_have_count(1)
    assert page.locator("#moves li").evaluate_all(numbers) == ['"1..."', '"2."', "none"]


def test_a_game_is_reviewed_and_a_mistake_is_played_again(visit):
    page = visit("tic_tac_toe", PERSON, PERSON)
    paste(page, "a1 a2 b1 b3 c1")  # a2 loses, b3 loses at once
    page.get_by_role("button", name="Review the game").click()
    expect(page.locator("#review-button")).to_have_text("Reviewed")
    mistakes = page.locator(".mistakes li")
    expect(mistakes).to_have_count(1)
    expect(mistakes.first).to_contain_text("2. O a2??")
    expect(mistakes.first).to_contain_text("50 % → 0 %; better was b2, which draws")
    expect(page.locator("#moves")).to_contain_text("a2??")
    assert page.locator("#graph .judged.blunder").count() == 1
    rows = page.locator(".accuracies tr")
    expect(rows.nth(1)).to_contain_text("100 %")
    expect(rows.last.locator("td").last).to_have_text("1")
    mistakes.first.get_by_role("button", name="Go before 2. O a2").click()
    ply(page, 1, 5)
    cell(page, "b2").click()
    ply(page, 2)
    expect(mistakes).to_have_count(0)
    page.get_by_role("button", name="Go on with the review").click()
    expect(page.locator("#review-button")).to_have_text("Reviewed")
    expect(mistakes).to_have_count(0)
    page.locator("#analysis-player").select_option("uct")
    page.get_by_role("button", name="Review the game").click()
    expect(page.locator("#review .caption").first).to_have_text(re.compile("^by uct;"))
