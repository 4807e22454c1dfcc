"""Runs a demo: `python -m alphazero.foundations NAME`; `--help` lists the demos and settings."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from tqdm import tqdm

from alphazero.foundations.common import FoundationsError
from alphazero.foundations.demos import DEMOS

EPISODES: Final = (10_000_000, "hands to play")
SEED: Final = (0, "random seed")
SETTINGS: Final[dict[str, tuple[str, dict[str, tuple[int | float, str]]]]] = {
    "blackjack-prediction": (
        "the value of a Blackjack policy, by Monte Carlo prediction and exactly",
        {"episodes": (500_000, "hands to play"), "seed": SEED},
    ),
    "blackjack-exploring-starts": (
        "Blackjack learned by Monte Carlo control with exploring starts",
        {"episodes": EPISODES, "seed": SEED},
    ),
    "blackjack-epsilon-soft": (
        "Blackjack learned by on-policy Monte Carlo control",
        {
            "episodes": EPISODES,
            "epsilon": (0.1, "share of random actions, from 0 to 1"),
            "seed": SEED,
        },
    ),
    "boarding-pass": (
        "the lost boarding pass, simulated in three ways and calculated in two",
        {
            "passengers": (100_000, "maximum number of passengers"),
            "flights": (10_000, "flights to simulate for each number of passengers"),
            "seed": SEED,
        },
    ),
    "queens": (
        "queens that do not attack each other, by a pruned search",
        {"queens": (8, "number of queens, and of the rows and columns of the board")},
    ),
}
"""What each demo of `demos.py` is, and its settings: default and meaning."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Report a mistake in one line."""
        self.exit(2, f"error: {message}; see: {self.prog} --help\n")


def main(words: Sequence[str] | None = None) -> None:
    """Run a demo: print its text and write its picture."""
    parser = _Parser(prog="python -m alphazero.foundations", description=__doc__)
    names = parser.add_subparsers(metavar="NAME", dest="name", required=True)
    for name, (text, settings) in SETTINGS.items():
        demo_parser = names.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        for setting, (default, meaning) in settings.items():
            help_text = f"{meaning} (default: {default:,})"
            demo_parser.add_argument(
                f"--{setting}", type=type(default), default=default, help=help_text
            )
        demo_parser.add_argument("--plot", type=Path, metavar="FILE", help="default: NAME.png")
    options = parser.parse_args(words)
    plot = options.plot or Path(f"{options.name}.png")
    if plot.suffix.lower() != ".png":
        parser.error(f"--plot {plot}: expected a name that ends in .png")
    try:
        settings = SETTINGS[options.name][1]
        demo = DEMOS[options.name](**{name: getattr(options, name) for name in settings})
        with tqdm(total=demo.total, unit=demo.unit, unit_scale=True, disable=None) as bar:
            result = demo.run(bar.update)
        plot.write_bytes(result.picture)
    except (FoundationsError, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    print(f"{result.text}\ndrawn in {plot}")


if __name__ == "__main__":
    main()
