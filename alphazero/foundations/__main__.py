"""Runs a demo: `python -m alphazero.foundations NAME`; `--help` lists the demos and settings."""

import argparse
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from alphazero.foundations.common import FoundationsError
from alphazero.foundations.demos import DEMOS

MEANINGS: Final = {
    "episodes": "hands to play",
    "epsilon": "share of random actions, from 0 to 1",
    "passengers": "maximum number of passengers",
    "flights": "flights to simulate for each number of passengers",
    "queens": "number of queens, and of the rows and columns of the board",
    "seed": "random seed",
}
"""What the arguments of the demos mean."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Report a mistake in one line."""
        self.exit(2, f"error: {message}; see: {self.prog} --help\n")


def main(words: Sequence[str] | None = None) -> None:
    """Run a demo: print its text and write its picture."""
    parser = _Parser(prog="python -m alphazero.foundations", description=__doc__)
    names = parser.add_subparsers(metavar="NAME", dest="name", required=True)
    for name, demo in DEMOS.items():
        demo_parser = names.add_parser(name, help=demo.__doc__, description=demo.__doc__)
        for setting, parameter in inspect.signature(demo).parameters.items():
            default = parameter.default
            text = f"{MEANINGS[setting]} (default: {default:,})"
            demo_parser.add_argument(f"--{setting}", type=type(default), default=default, help=text)
        demo_parser.add_argument("--plot", type=Path, metavar="FILE", help="default: NAME.png")
    settings = vars(parser.parse_args(words))
    name, plot = settings.pop("name"), settings.pop("plot")
    plot = plot or Path(f"{name}.png")
    if plot.suffix.lower() != ".png":
        parser.error(f"--plot {plot}: expected a name that ends in .png")
    try:
        text, picture = DEMOS[name](**settings)
        plot.write_bytes(picture)
    except (FoundationsError, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    print(f"{text}\ndrawn in {plot}")


if __name__ == "__main__":
    main()
