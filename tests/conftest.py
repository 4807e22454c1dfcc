"""Fixtures that several packages' tests share, and the mark `integration`.

Fixtures import the package themselves, so that each test compiles no more than it needs.
"""

import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

INTEGRATION = (
    *("integration", "cli", "scripts", "diagnostics", "frontends/web", "training/distributed"),
    "frontends/static_page",
    *("frontends/terminal/test_pty.py", "training/test_evaluation.py"),
    *("training/test_resume.py", "training/test_int8.py", "training/monitoring/test_metrics.py"),
    *("training/learning/test_data_parallel.py", "training/data/test_game_shard.py"),
    *("network/inference/test_device_check.py", "network/test_checkpoint.py", "utils/test_jit.py"),
    *("players/test_program_player.py", "games/test_contract.py", "games/test_plug_ins.py"),
    *("mcts/kernels/test_evaluation_cache.py", "solvers/test_exhaustive.py"),
    *("foundations/test_demos.py", "training/test_loop.py"),
)
"""Folders and files whose tests take seconds each, or many together; single tests have the mark."""


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the search in the second worker of a whole run, while the first needs other kernels.

    Workers run the tests in the same order: where no kernels are cached, they would need the same
    ones, and one would wait for the other. No worker prints on standard error that it compiles,
    and tests of rules test what is compiled.
    """
    jit = importlib.import_module("alphazero.utils.jit")
    jit._KernelCache.compiled, jit.PATIENCE = 1, -1.0
    whole = [Path(each).resolve() for each in session.config.args] == [TESTS]
    if whole and os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
        importlib.import_module("alphazero.mcts.kernels.simulation").next_batch.compile()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies in `INTEGRATION`, and every slow test."""
    places = [TESTS / place for place in INTEGRATION]
    for item in items:
        slow = item.get_closest_marker("slow") is not None
        if slow or any(item.path.is_relative_to(place) for place in places):
            item.add_marker(pytest.mark.integration)


@pytest.fixture(scope="session", autouse=True)
def one_torch_thread_per_worker() -> None:
    """Use one thread of torch in each pytest-xdist worker: more compete for the cores."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        import torch

        torch.set_num_threads(1)


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory) -> Path:
    """The folder of a finished tiny run, which tests only read."""
    from helpers.runs.tiny_run import tiny_config

    from alphazero.training.loop import train

    return train(tiny_config(tmp_path_factory.mktemp("finished")))


@pytest.fixture
def temporary_games(monkeypatch) -> Iterator[None]:
    """Unregister at the end the games that a test registers, but for those of the package."""
    from alphazero.games import registry

    before = registry._registered
    monkeypatch.setattr(registry, "_registered", dict(before))
    yield
    for name in registry._own_games():
        if name in registry._registered:
            before.setdefault(name, registry._registered[name])


@pytest.fixture
def only_line(capsys) -> Callable[..., str]:
    """Run a command that is a mistake; return the one line of error that it prints."""
    from helpers.commands import error_line, exit_code

    def run(*arguments: object) -> str:
        capsys.readouterr()
        assert exit_code(*arguments) == 2
        line = error_line(capsys)
        assert len(line) < 600
        return line

    return run
