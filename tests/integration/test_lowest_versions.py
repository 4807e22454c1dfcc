"""The lowest versions that `pyproject.toml` allows pass a good part of the tests.

torch alone stays as installed: its older wheels bring gigabytes of CUDA.
"""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest
from helpers.paths import ROOT

PLACES = (
    *("config", "network", "mcts", "utils/test_jit.py", "diagnostics/test_run_history.py"),
    *("training/monitoring/test_metrics.py", "diagnostics/test_verify.py"),
    *("drawing/test_position.py", "training/data"),
    *("training/learning/test_learner.py", "training/test_resume.py", "foundations/test_demos.py"),
    "frontends/web/test_server.py",
    *("games/test_against_open_spiel.py", "integration/test_pettingzoo.py"),
    *("frontends/terminal/test_commands.py", "frontends/terminal/test_pty.py"),
)
"""Tests that use every library at least once; the browser's and ray's tests need more than it."""


def lowest() -> list[str]:
    """Return the direct dependencies, at their lowest versions."""
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [each for group in metadata["optional-dependencies"].values() for each in group]
    pinned = []
    for each in dict.fromkeys([*metadata["dependencies"], *extras]):
        name, _, floor = each.partition(">=")
        if name == "torch":
            floor = version("torch").partition("+")[0]
        if not name.startswith(metadata["name"]):  # an extra that takes in another
            pinned.append(f"{name}=={floor.partition(',')[0]}" if floor else name)
    return pinned


def test_every_dependency_that_runs_has_a_floor():
    loose = [each for each in lowest() if "==" not in each]
    assert all(each.startswith("types-") for each in loose), loose


@pytest.mark.slow
def test_the_lowest_versions_pass(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    environment = {**os.environ, "ALPHAZERO_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("PYTHONPATH", None)
    pip = [str(python), "-m", "pip", "install", "-q"]
    subprocess.run([*pip, *lowest()], check=True, env=environment)
    subprocess.run([*pip, "--no-deps", "-e", str(ROOT)], check=True, env=environment)
    # Old libraries beside new ones that nobody pins warn of what will go: that is no failure.
    options = ["-o", "filterwarnings=default", "-p", "no:cacheprovider"]
    places = [f"tests/{place}" for place in PLACES]
    done = subprocess.run(
        [str(python), "-m", "pytest", *options, *places],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    print(re.sub(r"(?s).*\n(?=.*\n\Z)", "", done.stdout))
    assert done.returncode == 0, done.stdout[-4000:]
