"""Lets `python -m alphazero` be the command `alphazero`."""

import sys

from alphazero.cli.main import main

sys.exit(main())
