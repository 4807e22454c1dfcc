"""Lets `python -m alphazero` be the command `alphazero`."""

import sys
from collections import namedtuple

from alphazero.cli.main import main

code = main()
# Python remembers if Ctrl-C came while it ran generated code, as that of a named tuple, and ends by
# that signal, not with the exit code, although it was handled. Other such code lets it forget.
namedtuple("Uninterrupted", ())
sys.exit(code)
