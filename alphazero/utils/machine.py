"""The machine, and the resources that this process may use."""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

CPU_INFO: Final = Path("/proc/cpuinfo")
"""Linux's description of the processor."""

INSTRUCTION_SETS: Final[Mapping[str, tuple[str, ...]]] = {
    "AVX2": ("avx2",),
    "AVX-512": ("avx512f",),
    "VNNI": ("avx512_vnni", "avx_vnni"),
    "AVX-512 bf16": ("avx512_bf16",),
    "AMX": ("amx_tile",),
    "AMX int8": ("amx_int8",),
    "AMX bf16": ("amx_bf16",),
    "NEON": ("asimd", "neon"),
    "SVE": ("sve",),
    "Arm bf16": ("bf16",),
    "Arm int8": ("i8mm",),
}
"""Sets of instructions that speed up a network, and how Linux names them."""


def total_memory() -> int:
    """Return the memory of this machine in bytes; 0 if it is unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return 0


def processor() -> str:
    """Return the name of the processor, as the system tells it."""
    name = _cpu_info("model name")
    if not name and sys.platform == "darwin":
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        name = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return name or platform.processor() or "unknown"


def instruction_sets() -> list[str]:
    """Return the names in `INSTRUCTION_SETS` that the processor has; empty if it is unknown."""
    flags = set((_cpu_info("flags") or _cpu_info("Features")).split())
    if not flags and platform.machine() in ("arm64", "aarch64"):
        flags = {"asimd"}  # each of them has it
    return [name for name, words in INSTRUCTION_SETS.items() if flags.intersection(words)]


def _cpu_info(key: str) -> str:
    """Return the first value of a key in `CPU_INFO`; empty if there is none."""
    try:
        text = CPU_INFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = re.search(rf"^{key}\s*: (.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


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
