"""What this process may use of the machine."""

import os
import sys


def total_memory() -> int:
    """Return the bytes of memory of this machine; 0 where that is not told."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # another system than POSIX
        return 0


def usable_cores() -> int:
    """Return how many cores this process may use: fewer than there are under `taskset` and its kin.

    By `os.process_cpu_count`, which Python 3.13 brings, else by the affinity mask where the system
    has one, else all.
    """
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def peak_megabytes() -> float:
    """Return the most memory that this process has held, in MiB; NaN where no system call tells."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)
