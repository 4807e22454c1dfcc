"""The resources that this process may use."""

import os
import sys


def total_memory() -> int:
    """Return the memory of this machine in bytes; 0 if it is unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return 0


def usable_cores() -> int:
    """Return the number of cores that this process may use, such as fewer under `taskset`.

    The source is `os.process_cpu_count` (Python 3.13), else the affinity mask, else all cores.
    """
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def peak_megabytes() -> float:
    """Return the peak memory of this process in MiB; NaN if no system call reports it."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)
