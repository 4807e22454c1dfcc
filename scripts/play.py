"""Play against a checkpoint in the terminal: the same as `alphazero play`."""

import sys

from alphazero.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["play", *sys.argv[1:]]))
