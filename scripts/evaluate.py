"""Measure the strength of players: `alphazero match`, `rate` and `grade`.

python scripts/evaluate.py match A B     play a match of two players
python scripts/evaluate.py rate A B C    rate players, or the checkpoints of a run
python scripts/evaluate.py grade A       count how often a checkpoint plays an optimal move
"""

import sys

from alphazero.cli.main import main

if __name__ == "__main__":
    if sys.argv[1:2] not in (["match"], ["rate"], ["grade"]):
        asked = "--help" in sys.argv or "-h" in sys.argv
        print(__doc__, end="", file=sys.stdout if asked else sys.stderr)
        sys.exit(0 if asked else 2)
    sys.exit(main(sys.argv[1:]))
