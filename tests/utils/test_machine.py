"""A process counts the cores that it may use, not those of the machine."""

import os

import pytest
from helpers.commands import exit_code
from helpers.paths import CONFIGS

from alphazero.utils import machine
from alphazero.utils.machine import total_memory, usable_cores


def test_without_a_mask_all_cores_count_and_python_knows_better(monkeypatch):
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 3, 5}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert usable_cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert usable_cores() == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1
    monkeypatch.setattr(machine.os, "process_cpu_count", lambda: 2, raising=False)
    assert usable_cores() == 2


V1 = "4:memory:/host/abc\n3:cpu,cpuacct:/host/abc\n0::/\n"
GIB = 1 << 30


@pytest.mark.parametrize(
    ("groups", "files", "cores", "memory"),
    [
        ("0::/\n", {"cpu.max": "max 100000", "memory.max": "max"}, 8, None),
        ("0::/\n", {"cpu.max": "150000 100000", "memory.max": f"{GIB}"}, 2, GIB),
        ("0::/a/b\n", {"a/cpu.max": "300000 100000", "a/b/memory.max": f"{GIB}"}, 3, GIB),
        ("0::/../x\n", {"cpu.max": "20000 100000"}, 1, None),
        (
            V1,  # the path is the host's: in the container its group is the topmost
            {
                "cpu,cpuacct/cpu.cfs_quota_us": "250000",
                "cpu,cpuacct/cpu.cfs_period_us": "100000",
                "memory/memory.limit_in_bytes": f"{GIB}",
            },
            3,
            GIB,
        ),
        (
            V1,
            {
                "cpu/host/abc/cpu.cfs_quota_us": "-1",
                "cpu/host/abc/cpu.cfs_period_us": "100000",
                "memory/host/abc/memory.limit_in_bytes": f"{2**63 - 4096}",
            },
            8,
            None,
        ),
        ("", {}, 8, None),
    ],
)
def test_the_limits_of_a_container_count(
    tmp_path, monkeypatch, groups: str, files: dict[str, str], cores: int, memory: int | None
):
    """The files are as Linux writes them, by Documentation/admin-guide/cgroup-v1 and cgroup-v2."""
    monkeypatch.setattr(machine, "CGROUPS", tmp_path / "mount")
    monkeypatch.setattr(machine, "OWN_CGROUPS", tmp_path / "own")
    whole = total_memory()
    (tmp_path / "own").write_text(groups)
    for name, text in files.items():
        path = tmp_path / "mount" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert usable_cores() == cores
    assert total_memory() == (memory or whole)


@pytest.mark.integration
def test_commands_play_on_the_cores_that_they_may_use(monkeypatch, capsys):
    """The workers of a benchmark are a line of its output, and on a CPU one for each core."""
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    words = ["inference.device=cpu", "--seconds", "0.2", "selfplay.parallel_games=8"]
    assert exit_code("bench", CONFIGS / "tic_tac_toe.yaml", *words) == 0
    assert "workers             1" in capsys.readouterr().out.splitlines()
