"""Rate the searches that led to AlphaGo Zero, at equal simulations and at equal time.

python scripts/search_lineage.py [checkpoints/connect_four.safetensors] [--simulations 1000]
    [--seconds 0.05] [--games 40] [--plot FILE]

Prints the table of alphazero/foundations/README.md, "From Monte Carlo to AlphaGo Zero".
"""

import argparse
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from readme_images import LINES, figure_style, plot_intervals

from alphazero.arena.tournament import Standing, Tournament, standings
from alphazero.cli.argument_types import even_number, positive_number, seconds, whole_number
from alphazero.cli.main import run_and_report
from alphazero.network.checkpoint import find_checkpoint, load_checkpoint
from alphazero.players.registry import common_game, parse_player
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import Progress, no_progress, progress_bar
from alphazero.utils.tables import markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIMULATIONS, SECONDS = "simulations", "seconds"
"""Budgets, equal for all methods, by the players' option."""

BASELINE = "UCT"
"""The method with 0 Elo. All others win and lose some games against it, for narrow intervals."""


class Row(NamedTuple):
    """A method, as a row of the table."""

    title: str
    selection: str
    evaluation: str
    player: str
    """the player's name, without a budget"""
    budgets: tuple[str, ...] = (SIMULATIONS, SECONDS)
    """supported budgets: sequential halving needs a number of simulations; a player without budgets
    plays under each"""


def historical_methods(checkpoint: Path) -> list[Row]:
    """Return the methods, oldest first, with the checkpoint's network."""
    rollouts = [
        Row("flat Monte Carlo", "uniform", "random rollout", "flat_mc"),
        Row("flat UCB", "UCB1", "random rollout", "flat_ucb"),
        Row("UCT", "UCB1", "random rollout", "uct"),
    ]
    # Plain trees, as in all other methods.
    plain = f"{checkpoint}:transpositions=false"
    return [
        Row("random play", "none", "none", "random", ()),
        Row("minimax", "alpha-beta", "heuristic", "minimax", (SECONDS,)),
        *rollouts,
        Row("the network alone", "its policy", "none", f"{checkpoint}:simulations=0", ()),
        Row("AlphaGo Zero", "PUCT", "network", f"{plain},selection=puct"),
        Row(
            "Gumbel AlphaZero",
            "sequential halving",
            "network",
            f"{plain},selection=gumbel",
            (SIMULATIONS,),
        ),
    ]


def compare(
    rows: Sequence[Row],
    budget: str,
    amount: float,
    games: int,
    seed: int = 0,
    workers: int = 1,
    show: Progress = no_progress,
) -> dict[str, Standing]:
    """Play `games` games between every two methods under a budget; return standings by title."""
    rows = sorted(rows, key=lambda row: row.title != BASELINE)  # the first has rating 0
    names = {row.title: player_name(row, budget, amount) for row in rows}
    names = {title: name for title, name in names.items() if name}
    specs = [parse_player(name) for name in names.values()]
    tournament = Tournament(common_game(specs), specs, games, seed=seed)
    tournament.play(workers, show)
    by_name = {standing.name: standing for standing in standings(tournament)}
    return {title: by_name[spec.name] for title, spec in zip(names, specs, strict=True)}


def player_name(row: Row, budget: str, amount: float) -> str:
    """Return the player of a method under a budget; empty if unsupported."""
    if not row.budgets:
        return row.player
    joint = "," if ":" in row.player else ":"
    return f"{row.player}{joint}{budget}={amount}" if budget in row.budgets else ""


def games_to_play(rows: Sequence[Row], budget: str, games: int) -> int:
    """Return the number of games that `compare` plays."""
    players = sum(bool(player_name(row, budget, 1)) for row in rows)
    return games * players * (players - 1) // 2


def table(rows: Sequence[Row], results: Mapping[str, Mapping[str, Standing]]) -> str:
    """Return the methods and their ratings under each budget as a Markdown table."""
    cells = [
        (
            *(row.title, row.selection, row.evaluation),
            *(_rating(result.get(row.title)) for result in results.values()),
        )
        for row in rows
    ]
    return markdown_table(("method", "selection", "leaf evaluation", *results), cells)


def _rating(standing: Standing | None) -> str:
    if standing is None:
        return ""
    elo, low, high = (f"{x:+z.0f}" for x in (standing.elo, standing.elo_low, standing.elo_high))
    return elo if low == high else f"{elo} ({low} to {high})"


def draw(
    rows: Sequence[Row], results: Mapping[str, Mapping[str, Standing]], title: str
) -> "Figure":
    """Draw the ratings of the methods side by side, a series for each budget."""
    with figure_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        axes = figure.add_subplot()
        for number, (heading, standings) in enumerate(results.items()):
            color, _, mark = LINES[number]
            found = {
                x: standings[row.title] for x, row in enumerate(rows) if row.title in standings
            }
            beside = [x + (2 * number + 1 - len(results)) / 6 for x in found]
            points = [(item.elo_low, item.elo, item.elo_high) for item in found.values()]
            plot_intervals(axes, beside, points, color)
            axes.plot(
                beside, [item.elo for item in found.values()], mark, color=color, label=heading
            )
        axes.set_title(title)
        axes.set_ylabel("Elo, with 95 % interval")
        axes.set_xticks(range(len(rows)), [textwrap.fill(row.title, 11) for row in rows])
        axes.set_xlim(-0.5, len(rows) - 0.5)
        axes.grid(visible=False, axis="x")
        axes.yaxis.set_major_formatter("{x:,.0f}")
        figure.legend(loc="outside lower center", ncols=len(results))
    return figure


SHIPPED = Path(__file__).parent.parent / "checkpoints/connect_four.safetensors"


def main() -> None:
    """Play two tournaments, print the table, write the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkpoint", nargs="?", type=Path, default=SHIPPED, metavar="CHECKPOINT")
    parser.add_argument("--simulations", type=positive_number, default=1000, help="a move")
    parser.add_argument("--seconds", type=seconds, default=0.05, help="a move")
    parser.add_argument("--games", type=even_number, default=40, help="of every two players")
    parser.add_argument("--seed", type=whole_number, default=0, help="of all chance")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="the picture, as PNG or SVG by its suffix"
    )
    options = parser.parse_args()

    game = load_checkpoint(find_checkpoint(options.checkpoint)).game_name
    rows = historical_methods(options.checkpoint)
    budgets = {
        f"Elo, {options.simulations:,} simulations a move": (SIMULATIONS, options.simulations),
        f"Elo, {options.seconds:g} s a move": (SECONDS, options.seconds),
    }
    total = sum(games_to_play(rows, budget, options.games) for budget, _ in budgets.values())
    with progress_bar(total, "game") as bar:
        results = {
            heading: compare(rows, *budget, options.games, options.seed, usable_cores(), bar.update)
            for heading, budget in budgets.items()
        }
    print(table(rows, results))
    if options.plot:
        with figure_style():
            figure = draw(rows, results, f"From Monte Carlo to AlphaGo Zero: {game}")
            figure.savefig(options.plot, dpi=200)


if __name__ == "__main__":
    sys.exit(run_and_report(main))
