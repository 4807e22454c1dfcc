"""Marks the tests that start processes, browsers or whole runs as `integration`."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent

INTEGRATION = (
    *("integration", "cli", "scripts", "diagnostics", "frontends/web", "training/distributed"),
    *("frontends/terminal/test_pty.py", "training/test_evaluation.py", "training/test_growth.py"),
    *("training/test_resume.py", "training/test_int8.py", "training/monitoring/test_surprise.py"),
    *("training/learning/test_data_parallel.py", "training/data/test_game_shard.py"),
    *("network/test_device_check.py", "network/test_checkpoint.py", "utils/test_jit.py"),
    *("players/test_gtp_player.py", "games/test_contract.py", "games/test_plug_ins.py"),
    *("mcts/kernels/test_evaluation_cache.py", "solvers/test_exhaustive.py", "foundations/test_demos.py"),
)
"""Folders and files of tests that take seconds each, or many together."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies in `INTEGRATION`, and every slow test."""
    places = [TESTS / place for place in INTEGRATION]
    for item in items:
        slow = item.get_closest_marker("slow") is not None
        if slow or any(item.path.is_relative_to(place) for place in places):
            item.add_marker(pytest.mark.integration)
