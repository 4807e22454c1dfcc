"""Bugs that are put into a copy of the package are noticed by the tests: see README.md here."""

import ast
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.bugs.mutations import MUTATIONS, Mutation
from helpers.bugs.mutator import Mutant, changed, changes, sample
from helpers.paths import ROOT, TESTS

from alphazero.utils.jit import cache_folder

LIMIT = 600
"""Seconds after which a run of tests is thought to hang, which notices a bug too."""

MUTANTS = 40
LEAST_NOTICED = 0.8
"""Share of the mutants by rule. It was 36 of 40, and a sample of 40 varies by two; the four did
what the program did, or showed in no case that is tested."""

MUTATED = {
    "mcts/kernels/*.py": (
        "mcts/kernels",
        "mcts/test_network_search.py",
        "mcts/test_rollout_search.py",
    ),
    "training/learning/losses.py": ("training/learning/test_losses.py", "training/learning"),
    "training/learning/objective.py": ("training/learning",),
    "training/data/replay_buffer.py": ("training/data",),
    "training/data/auxiliary_targets.py": ("training/data",),
    "games/connect_four.py": ("games/test_contract.py",),
    "games/[lmn]*.py": ("games/test_contract.py", "games/test_nim.py"),
    "games/hex.py": ("games/test_hex.py", "games/test_contract.py"),
    "games/othello.py": ("games/test_othello.py", "games/test_contract.py"),
    "games/go/*.py": ("games/go", "games/test_go.py", "games/test_contract.py"),
}
"""The modules that get bugs by rule, and the tests that should notice them."""


class Run(NamedTuple):
    """What became of a run of tests."""

    verdict: str
    """passed, failed, crashed or hung"""
    output: str


class Bench:
    """A copy of the package and its tests, in which one bug after the other is put.

    The kernels that are compiled already are those of the copy too, except for the ones that a
    bug changes.
    """

    def __init__(self, place: Path) -> None:
        self.root, self.cache = place / "copy", place / "cache"
        hidden = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info")
        shutil.copytree(ROOT, self.root, ignore=hidden)
        self.cache.mkdir(mode=0o700)
        kernels = cache_folder()
        shutil.copytree(kernels, self.cache / kernels.name, dirs_exist_ok=True)

    def attempt(self, file: str, source: str, tests: tuple[str, ...]) -> Run:
        """Run tests while a module has another source."""
        path = self.root / "alphazero" / file
        before = path.read_text(encoding="utf-8")
        path.write_text(source, encoding="utf-8")
        try:
            return self.run(tests)
        finally:
            path.write_text(before, encoding="utf-8")

    def run(self, tests: tuple[str, ...]) -> Run:
        """Run pytest on the copy, up to the first failure, in a group of processes of its own."""
        options = ["-n", "0", "-p", "no:cacheprovider", "--tb=line", "-x", "-rfE"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ALPHAZERO_CACHE_DIR": str(self.cache),
        }
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *(f"tests/{test}" for test in tests)],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                return Run("hung", f"ERROR nothing for {LIMIT} seconds")
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        code = process.returncode
        if code in (0, 1):
            return Run("failed" if code else "passed", output)
        # A package that cannot be imported leaves pytest without the tests that were asked for.
        if code < 0 or "Error" in output:
            return Run("crashed", f"{output}\nERROR exit code {code}")
        raise AssertionError(f"pytest ran no test:\n{output[-3000:]}")


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Bench:
    return Bench(tmp_path_factory.mktemp("mutations"))


@pytest.fixture
def notices(bench, capsys) -> Callable[[Mutation | Mutant, str, tuple[str, ...]], bool]:
    """Whether tests notice a bug, by its module's source with it; what became of it is printed."""

    def notices(bug: Mutation | Mutant, source: str, tests: tuple[str, ...]) -> bool:
        begin = time.monotonic()
        run = bench.attempt(bug.file, source, tests)
        verdict, seconds = f"noticed  {run.verdict:7}", time.monotonic() - begin
        if run.verdict == "passed":
            verdict = "SURVIVED passed "
        lines = run.output.splitlines()
        wrong = next((line for line in lines if line.startswith(("FAILED ", "ERROR "))), "")[:150]
        with capsys.disabled():
            print(f"\n{verdict} {seconds:4.0f} s  {bug.name}  {wrong}", flush=True)
        return run.verdict != "passed"

    return notices


@pytest.mark.slow
def test_all_tests_of_bugs_pass_without_one(bench):
    run = bench.run(tuple(sorted({mutation.test for mutation in MUTATIONS})))
    assert run.verdict == "passed", run.output[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_bug_is_noticed(notices, mutation: Mutation):
    source = (ROOT / "alphazero" / mutation.file).read_text(encoding="utf-8")
    assert notices(mutation, mutation.applied(source), (mutation.test,)), mutation.test


@pytest.mark.slow
def test_most_bugs_made_by_rule_are_noticed(notices):
    """`ALPHAZERO_MUTANTS=seed` draws others; 40 take 37 minutes."""
    seed = int(os.environ.get("ALPHAZERO_MUTANTS", "1"))
    noticed = 0
    for mutant in sample(ROOT / "alphazero", tuple(MUTATED), MUTANTS, seed):
        path = Path(mutant.file)
        tests = next(tests for pattern, tests in MUTATED.items() if path.match(pattern))
        noticed += notices(mutant, mutant.source, tests)
    print(f"{noticed} of {MUTANTS} mutants noticed, seed {seed}")
    assert noticed >= LEAST_NOTICED * MUTANTS


def ordinary_tests(file: str) -> set[str]:
    """Return the names of a file's tests that are not marked as slow."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    slow = "pytest.mark.slow"
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and slow not in map(ast.unparse, node.decorator_list)
    }


def test_every_bug_can_still_be_put_in():
    wrong = []
    for mutation in MUTATIONS:
        try:
            path = ROOT / "alphazero" / mutation.file
            compile(mutation.applied(path.read_text(encoding="utf-8")), path, "exec")
        except (OSError, ValueError, SyntaxError) as error:
            wrong.append(f"{mutation.name}: {error}")
        file, _, name = mutation.test.partition("::")
        if name not in ordinary_tests(file):
            wrong.append(f"{mutation.name}: there is no ordinary test {mutation.test}")
    assert not wrong, "\n".join(wrong)
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) >= 30


SOURCE = '''\
LIMIT = 3

@kernel(f(2))
def sign(x: "a < b" = 4) -> int:
    """Return -1 or 1."""
    if x < 0 and flag(x):
        raise ValueError(f"{x - 1}")
    total[x] = -x
    y = min(x, 7)
    return y
'''


def test_the_mutator_changes_code_in_functions_and_no_text_for_people():
    assert changes(SOURCE) == [
        (6, "`x < 0 and flag(x)` -> `x < 0 or flag(x)`"),
        (6, "`x < 0` -> `x <= 0`"),
        (6, "`0` -> `1`"),
        (8, "`total[x] = -x` dropped"),
        (8, "`-x` -> `x`"),
        (9, "`min` -> `max`"),
        (9, "`7` -> `8`"),
    ]
    plain = ast.unparse(ast.parse(SOURCE))
    assert changed(SOURCE, 1) == plain.replace("x < 0", "x <= 0")
    assert changed(SOURCE, 3) == plain.replace("total[x] = -x", "pass")
    assert changed(SOURCE, 6) == plain.replace("min(x, 7)", "min(x, 8)")


def test_every_module_that_is_named_can_be_mutated_and_has_its_tests():
    for pattern, tests in MUTATED.items():
        assert sample(ROOT / "alphazero", (pattern,), 1, 0)
        assert all((TESTS / test).exists() for test in tests), pattern
