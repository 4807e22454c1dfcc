"""Lets `python -m alphazero` be the command `alphazero`."""

import sys

from alphazero.cli import main

sys.exit(main())
