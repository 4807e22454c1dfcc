"""Draw the pictures of the README again.

python scripts/pictures.py series RUN [--moves "a1 b2"] [--networks 3] --save series.svg

`series`: one position as early, middle and late networks of a run see it.
"""

import argparse
import sys
from pathlib import Path

from alphazero.arguments import positive_number
from alphazero.cli import told
from alphazero.files import check_writable
from alphazero.players.canvas import save_picture, save_svg
from alphazero.players.picture import DARK, OPINIONS
from alphazero.training.history import draw_series


def series(options: argparse.Namespace) -> None:
    """Draw a position as networks of a run see it."""
    picture = draw_series(options.run, options.moves, options.networks)
    if options.save.suffix == ".svg":
        title = f"A position of {options.run.name} as its networks see it"
        save_svg(options.save, picture.svg(title, DARK))
    else:
        save_picture(options.save, picture.finish())


def main() -> None:
    """Read what is asked for and draw it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts = parser.add_subparsers(required=True, metavar="PICTURE")

    part = parts.add_parser("series", help="a position as networks of a run see it")
    part.add_argument("run", type=Path, metavar="RUN", help="a run's folder with step-* files")
    part.add_argument("--moves", default="", help="that lead to the position")
    part.add_argument("--networks", type=positive_number, default=3, help=f"1 to {len(OPINIONS)}")
    part.set_defaults(draw=series)

    for part in parts.choices.values():
        part.add_argument("--save", type=Path, required=True, metavar="FILE", help=".svg or .png")
    options = parser.parse_args()
    if options.save.suffix not in (".svg", ".png"):
        parser.error(f"--save must end in .svg or .png, got {options.save}")
    if not 1 <= options.networks <= len(OPINIONS):
        parser.error(f"--networks must be 1 to {len(OPINIONS)}, got {options.networks}")
    check_writable(options.save)
    options.draw(options)


if __name__ == "__main__":
    sys.exit(told(main))
