"""The command that runs a foundations demo."""

import argparse
from pathlib import Path

from alphazero.cli.argument_types import share, whole_number
from alphazero.errors import AlphaZeroError
from alphazero.utils.progress import progress_bar


def foundations_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the demos and their settings, named as in `foundations/demos.py`, which checks ranges."""
    names = parser.add_subparsers(metavar="NAME", dest="name", required=True)

    def demo(name: str, text: str, **settings: tuple[int | float, str]) -> None:
        added = names.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        for setting, (default, meaning) in settings.items():
            whole = isinstance(default, int)
            added.add_argument(
                f"--{setting}",
                type=whole_number if whole else share,
                default=default,
                metavar="N" if whole else "SHARE",
                help=f"{meaning} (default: {default:,})",
            )
        added.add_argument(
            "--plot",
            type=Path,
            metavar="FILE",
            help=f"the picture (default: {name}.png); an existing figure is replaced",
        )

    seed = (0, "random seed")
    demo(
        "blackjack-prediction",
        "the value of a Blackjack policy, by Monte Carlo prediction and exactly",
        episodes=(500_000, "hands to play"),
        seed=seed,
    )
    demo(
        "blackjack-exploring-starts",
        "Blackjack learned by Monte Carlo control with exploring starts",
        episodes=(10_000_000, "hands to play"),
        seed=seed,
    )
    demo(
        "blackjack-epsilon-soft",
        "Blackjack learned by on-policy Monte Carlo control",
        episodes=(10_000_000, "hands to play"),
        epsilon=(0.1, "share of random actions, from 0 to 1"),
        seed=seed,
    )
    demo(
        "boarding-pass",
        "the lost boarding pass, simulated in three ways and calculated in two",
        passengers=(100_000, "maximum number of passengers"),
        flights=(10_000, "flights to simulate for each number of passengers"),
        seed=seed,
    )
    demo(
        "queens",
        "queens that do not attack each other, by a pruned search",
        queens=(8, "number of queens, and of the rows and columns of the board"),
    )


def foundations(options: argparse.Namespace) -> None:
    from alphazero.drawing.figures import check_replaceable_figure
    from alphazero.foundations.common import FoundationsError
    from alphazero.foundations.demos import make_demo
    from alphazero.utils.files import write_atomic

    try:
        demo = make_demo(options.name, vars(options))
    except FoundationsError as error:
        raise AlphaZeroError(str(error)) from error
    plot = options.plot or Path(f"{options.name}.png")
    check_replaceable_figure(plot)
    with progress_bar(demo.total, demo.unit, unit_scale=True) as bar:
        result = demo.run(bar.update)
    print(result.text)
    write_atomic(plot, result.picture)
    print(f"drawn in {plot}")
