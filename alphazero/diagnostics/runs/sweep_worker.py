"""The process of one run of a sweep; it stops when the sweep's own process is gone.

python -m alphazero.diagnostics.runs.sweep_worker train BASE section.key=value ...
python -m alphazero.diagnostics.runs.sweep_worker resume RUN
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence

from alphazero.config.loader import load_config
from alphazero.errors import AlphaZeroError
from alphazero.training.loop import resume, train


def main(words: Sequence[str]) -> int:
    """Train or resume a run; return 0, 2 after an error, or 130 when it was stopped."""
    verb, place, *overrides = words
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    try:
        if verb == "resume":
            resume(place)
        else:
            train(load_config(place, overrides))
    except AlphaZeroError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _stop_with_parent() -> None:
    """Wait for the end of standard input, which the sweep's process holds open; then stop."""
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
