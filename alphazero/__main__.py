"""Lets `python -m alphazero` be the command `alphazero`."""

import sys

from alphazero.cli.main import main

code = main()
# Python keeps in mind that Ctrl-C came while it ran `exec`, as a dataclass does, even if it was
# handled. It would end by that signal, not with the exit code, unless another `exec` ends well.
exec("")
sys.exit(code)
