"""Runs a demo: `python -m alphazero.foundations NAME`; `--help` lists the demos and settings."""

import argparse
import inspect
import sys
from collections.abc import Sequence
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
        self.exit(2, f"error: {message}; see: {self.prog} --help\n")


def main(words: Sequence[str] | None = None) -> None:
    """Run a demo and print its text."""
    parser = _Parser(prog="python -m alphazero.foundations", description=__doc__)
    names = parser.add_subparsers(metavar="NAME", dest="name", required=True)
    for name, demo in DEMOS.items():
        demo_parser = names.add_parser(name, help=demo.__doc__, description=demo.__doc__)
        for setting, parameter in inspect.signature(demo).parameters.items():
            default = parameter.default
            text = f"{MEANINGS[setting]} (default: {default:,})"
            demo_parser.add_argument(f"--{setting}", type=type(default), default=default, help=text)
    settings = vars(parser.parse_args(words))
    try:
        print(DEMOS[settings.pop("name")](**settings))
    except FoundationsError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
