"""The machine, and the resources that this process may use."""

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

CGROUPS: Final = Path("/sys/fs/cgroup")
OWN_CGROUPS: Final = Path("/proc/self/cgroup")
"""Where Linux mounts control groups, by which containers are limited, and names this process's."""


def total_memory() -> int:
    """Return the memory that this process may use in bytes; 0 if it is unknown."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return 0
    limits = [*_cgroup_limits("", "memory.max"), *_cgroup_limits("memory", "memory.limit_in_bytes")]
    return min([total, *(int(limit[0]) for limit in limits)])


def _cgroup_limits(controller: str, *files: str) -> Iterator[tuple[float, ...]]:
    """Yield the numbers in `files` of this process's control group and of those above it.

    `controller` is one of version 1, or empty for version 2. Groups without a limit are left out.
    Inside a container the group's path may be the host's: then only the topmost has the files.
    """
    for line in read_system_file(OWN_CGROUPS).splitlines():
        names, _, path = line.partition(":")[2].partition(":")
        if controller not in names.split(","):
            continue
        mounts = [CGROUPS / names, CGROUPS / controller] if controller else [CGROUPS]
        mount = next((folder for folder in mounts if folder.is_dir()), CGROUPS)
        group = mount / path.strip("/")
        for folder in dict.fromkeys([group, *group.parents]):
            if not folder.is_relative_to(mount):
                break
            words = " ".join(read_system_file(folder / file) for file in files).split()
            if words and all(word.isdigit() for word in words):  # not max, nor -1
                yield tuple(map(float, words))


def read_system_file(path: Path) -> str:
    """Return the text of one of the system's files; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def usable_cores() -> int:
    """Return the number of cores that this process may use, at least 1.

    The source is `os.process_cpu_count` (Python 3.13), else the affinity mask, as of `taskset`,
    else all cores; and the time that a container may use, rounded up to whole cores.
    """
    if hasattr(os, "process_cpu_count"):
        cores = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count()
    limits = [
        *_cgroup_limits("", "cpu.max"),
        *_cgroup_limits("cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us"),
    ]
    quotas = [math.ceil(limit[0] / limit[1]) for limit in limits if len(limit) == 2 and limit[1]]
    return max(1, min([cores or 1, *quotas]))


def peak_megabytes() -> float:
    """Return the peak memory of this process in MiB; NaN if no system call reports it."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)
