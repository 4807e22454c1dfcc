"""What this machine has."""

import os


def total_memory() -> int:
    """Return the bytes of memory of this machine; 0 where that is not told."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # another system than POSIX
        return 0
