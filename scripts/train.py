"""Train from a YAML file: the same as `alphazero train`."""

import sys

from alphazero.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
