"""Measure self-play beside the network alone: the same as `alphazero bench`."""

import sys

from alphazero.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
