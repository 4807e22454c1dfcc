"""The searches of the method's history, compared: players, options and the table of results."""

from helpers.paths import ROOT
from search_lineage import (
    SECONDS,
    SIMULATIONS,
    compare,
    games_to_play,
    historical_methods,
    player_name,
)

from alphazero.players.registry import parse_player

SHIPPED = ROOT / "checkpoints/tic_tac_toe.safetensors"
ROWS = historical_methods(SHIPPED)


def test_every_method_is_a_player_with_its_budget():
    for row in ROWS:
        for budget in row.budgets:
            options = vars(parse_player(player_name(row, budget, 2)))
            assert options[budget] == 2
            assert [options.get(name) for name in {SIMULATIONS, SECONDS} - {budget}] in ([None], [])
            assert vars(parse_player(player_name(row, budget, 10**6 - 1)))[budget] == 10**6 - 1
    names = [player_name(row, SIMULATIONS, 50) for row in ROWS]
    assert names[:4] == ["random", "", "flat_mc:simulations=50", "flat_ucb:simulations=50"]
    assert names[-3:] == [
        f"{SHIPPED}:simulations=0",
        f"{SHIPPED}:transpositions=false,selection=puct,simulations=50",
        f"{SHIPPED}:transpositions=false,selection=gumbel,simulations=50",
    ]


def test_all_meet_and_the_one_with_a_network_and_a_search_stands_first():
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


def test_the_readme_shows_the_methods_of_the_code():
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
