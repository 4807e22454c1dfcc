"""The searches of the method's history, compared: who plays, with what, and how it is told."""

import numpy as np
from helpers.paths import ROOT
from helpers.pictures import heights
from search_lineage import (
    SECONDS,
    SIMULATIONS,
    Row,
    compare,
    draw,
    games_to_play,
    historical_methods,
    player_name,
    table,
)

from alphazero.arena.tournament import Standing
from alphazero.drawing.charts import HEIGHT, LEFT, TOP, WIDTH, Point, draw_ranks
from alphazero.players.registry import parse_player

SHIPPED = ROOT / "checkpoints/tic_tac_toe.safetensors"
ROWS = historical_methods(SHIPPED)


def test_every_method_is_a_player_with_its_budget() -> None:
    for row in ROWS:
        for budget in row.budgets:
            options = vars(parse_player(player_name(row, budget, 2)).options)
            assert options[budget] == 2
            assert [options.get(name) for name in {SIMULATIONS, SECONDS} - {budget}] in ([None], [])
    names = [player_name(row, SIMULATIONS, 50) for row in ROWS]
    assert names[:4] == ["random", "", "flat_mc:simulations=50", "flat_ucb:simulations=50"]
    assert names[-3:] == [
        f"network:{SHIPPED}",
        f"{SHIPPED}:transpositions=false,backup_value_weighting=0,selection=puct,simulations=50",
        f"{SHIPPED}:transpositions=false,backup_value_weighting=0,selection=gumbel,simulations=50",
    ]


def test_all_meet_and_the_one_with_a_network_and_a_search_stands_first() -> None:
    shown: list[int] = []
    found = compare(ROWS, SIMULATIONS, 60, 8, show=shown.append)
    assert sum(shown) == games_to_play(ROWS, SIMULATIONS, 8) == 21 * 8
    assert found.keys() == {row.title for row in ROWS} - {"minimax"}
    assert all(each.games == 6 * 8 for each in found.values())
    assert found["UCT"].elo == 0
    # Openings drawn by lot may be lost, but are played from both sides: perfect play never loses
    # more of them than it wins.
    for best in ("AlphaGo Zero", "Gumbel AlphaZero"):
        assert found[best].wins >= found[best].losses
        assert found[best].elo_low > found["random play"].elo


def standing(elo: float, low: float, high: float) -> Standing:
    return Standing("x", elo, low, high, 2, 1, 0, 1)


def test_the_table_has_a_column_for_each_budget_and_gaps_where_none_applies() -> None:
    rows = [Row("a", "s", "e", "random", ()), Row("b", "t", "f", "uct")]
    results = {"one": {"a": standing(0, 0, 0), "b": standing(120.4, -7, 300)}, "two": {}}
    assert table(rows, results).splitlines() == [
        "| method | selection | leaf evaluation | one | two |",
        "| --- | --- | --- | --- | --- |",
        "| a | s | e | +0 |  |",
        "| b | t | f | +120 (-7 to +300) |  |",
    ]


def test_ranks_stand_side_by_side_at_their_heights() -> None:
    points = {0: Point(0, 100, 50, 200), 1: Point(1, 300, 250, 400)}
    picture = draw_ranks("t", "Elo", ["left", "right"], {"one": points, "two": {1: points[0]}})
    pixels = np.asarray(picture)
    scale = HEIGHT / 400  # the axis goes from 0 to 400
    for place, x in ((0, LEFT + WIDTH / 4), (1, LEFT + 3 * WIDTH / 4)):
        left = heights(picture, 0, round(x - WIDTH / 12))
        point = points[place]
        assert abs(left[0] - (TOP + HEIGHT - scale * point.high)) <= 2
        assert abs(left[-1] - (TOP + HEIGHT - scale * point.low)) <= 2
    right = heights(picture, 1, round(LEFT + 3 * WIDTH / 4 + WIDTH / 12))
    assert abs(right[-1] - (TOP + HEIGHT - scale * 50)) <= 2
    assert not heights(picture, 1, round(LEFT + WIDTH / 4 + WIDTH / 12))
    assert pixels.shape[1] > LEFT + WIDTH
    results = {"one": {ROWS[0].title: standing(0, 0, 0)}}
    assert draw(ROWS, results, "title").size[1] >= picture.size[1]


def test_the_readme_shows_the_methods_of_the_code() -> None:
    chapter = (
        (ROOT / "alphazero/foundations/README.md")
        .read_text()
        .split("## From Monte Carlo to AlphaGo Zero")[1]
    )
    lines = [line for line in chapter.split("\n## ")[0].splitlines() if line.startswith("| ")]
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [cells[:3] for cells in shown] == [[r.title, r.selection, r.evaluation] for r in ROWS]
    for row, cells in zip(ROWS, shown, strict=True):
        for budget, cell in zip((SIMULATIONS, SECONDS), cells[3:], strict=True):
            assert bool(cell) == bool(player_name(row, budget, 1)), row.title
