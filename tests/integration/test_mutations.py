"""Bugs that are put into a copy of the package are noticed by the tests: see README.md here."""

import ast
import functools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.bugs.mutations import MUTATIONS, Mutation
from helpers.paths import ROOT

from alphazero.utils.jit import kernel_hash

PARTS = ("arena", "games", "mcts", "network", "players", "records", "solvers", "training", "utils")
LIMIT = 600
"""Seconds after which a run of tests is thought to hang, which notices a bug too."""


class Run(NamedTuple):
    """What became of a run of tests."""

    verdict: str
    """passed, failed, crashed or hung"""
    output: str

    def passed(self) -> set[str]:
        """The tests that passed."""
        lines = self.output.splitlines()
        return {line[len("PASSED ") :] for line in lines if line.startswith("PASSED ")}

    def reason(self) -> str:
        """The first line that says what went wrong, if anything."""
        lines = self.output.splitlines()
        return next((line for line in lines if line.startswith(("FAILED ", "ERROR "))), "")[:150]


class Bench:
    """A copy of the package and its tests, in which one bug after the other is put.

    Compiling is what takes long. What a bug cannot have changed is taken from the kernels that
    the copy without a bug has compiled: those of modules that neither are nor import its file.
    """

    def __init__(self, place: Path) -> None:
        self.root, self.sound, self.cache = place / "copy", place / "sound", place / "cache"
        hidden = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info")
        shutil.copytree(ROOT, self.root, ignore=hidden)
        self.package = self.root / "alphazero"
        self.rows: list[str] = []

    def check(self, tests: Sequence[str]) -> None:
        """Run the tests without a bug: each must be there and pass."""
        run = self._run(self.sound, "-rA", *tests)
        assert run.verdict == "passed", f"the tests fail without a bug:\n{run.output[-3000:]}"
        ran = run.passed()
        for test in tests:
            kin = (f"tests/{test}", f"tests/{test}[", f"tests/{test}::")
            assert any(each == kin[0] or each.startswith(kin[1:]) for each in ran), (
                f"{test} ran no test"
            )

    def attempt(self, mutation: Mutation) -> Run:
        """Run the tests of a bug with the bug in place."""
        path = self.package / mutation.file
        source, stat = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(mutation.applied(source), encoding="utf-8")
        self._take_kernels(path)
        try:
            return self._run(self.cache, "-x", "-rfE", *mutation.tests)
        finally:
            path.write_text(source, encoding="utf-8")
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            shutil.rmtree(self.cache)

    def _run(self, cache: Path, *arguments: str) -> Run:
        """Run pytest on the copy, in a group of processes of its own."""
        places = [f"tests/{each}" if "/test_" in each else each for each in arguments]
        options = ["-n", "0", "-p", "no:cacheprovider", "--tb=short"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ALPHAZERO_CACHE_DIR": str(cache),
        }
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *places],
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

    def _take_kernels(self, path: Path) -> None:
        """Give the copy with a bug in `path` the kernels that the bug cannot have changed."""
        self.cache.mkdir(mode=0o700)
        place = self.cache / f"kernels-{kernel_hash(self.package)}"
        for kernels in self.sound.glob("kernels-*"):  # one, or none where the tests need none
            shutil.copytree(kernels, place, copy_function=os.link)
        for module in changed_by(self.package, path):
            for stale in place.glob(f"{module.parent.name}_*/{module.stem}.*"):
                stale.unlink()


def changed_by(package: Path, path: Path) -> set[Path]:
    """Return the modules that import the one at `path`, through others too, and itself."""
    importers: dict[Path, set[Path]] = {}
    for module in package.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
            elif isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            for name in names:
                imported = package.parent / f"{name.replace('.', '/')}.py"
                importers.setdefault(imported, set()).add(module)
    found, waiting = {path}, [path]
    while waiting:
        new = importers.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


@pytest.fixture(scope="module")
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    """The copy, whose tests pass without a bug; at the end the table of what was noticed."""
    chosen = [
        item.callspec.params["mutation"]
        for item in request.session.items
        if "bench" in item.fixturenames
    ]
    place = tmp_path_factory.mktemp("mutations")
    bench = Bench(place)
    bench.check(sorted({test for mutation in chosen for test in mutation.tests}))
    yield bench
    print("\n".join(bench.rows))
    shutil.rmtree(place, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_bug_is_noticed(
    bench: Bench, mutation: Mutation, capsys: pytest.CaptureFixture[str]
) -> None:
    begin = time.monotonic()
    run = bench.attempt(mutation)
    noticed = run.verdict != "passed"
    seconds, result = time.monotonic() - begin, "noticed" if noticed else "SURVIVED"
    row = f"{result:8} {run.verdict:7} {seconds:4.0f} s  {mutation.name}  {run.reason()}"
    bench.rows.append(row.rstrip())
    with capsys.disabled():
        print(f"\n{bench.rows[-1]}", flush=True)
    assert noticed, f"{', '.join(mutation.tests)} pass with this bug in {mutation.name}"


@functools.cache
def ordinary_tests(file: str) -> set[str]:
    """Return the names of a file's tests that are not marked as slow."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {
        each.name
        for each in functions
        if "pytest.mark.slow" not in map(ast.unparse, each.decorator_list)
    }


def test_every_bug_can_still_be_put_in() -> None:
    wrong = []
    for mutation in MUTATIONS:
        try:
            path = ROOT / "alphazero" / mutation.file
            compile(mutation.applied(path.read_text(encoding="utf-8")), path, "exec")
        except (OSError, ValueError, SyntaxError) as error:
            wrong.append(f"{mutation.name}: {error}")
        for test in mutation.tests:
            file, _, name = test.partition("::")
            if name.partition("[")[0] not in ordinary_tests(file) | {""}:
                wrong.append(f"{mutation.name}: there is no ordinary test {test}")
    assert not wrong, "\n".join(wrong)


def test_the_bugs_are_many_all_different_and_in_every_part() -> None:
    assert len(MUTATIONS) >= 120
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS)
    assert {mutation.file.split("/")[0] for mutation in MUTATIONS} == set(PARTS)


def test_modules_that_import_a_changed_one_are_compiled_anew() -> None:
    package = ROOT / "alphazero"
    changed = {
        path.relative_to(package).as_posix()
        for path in changed_by(package, package / "mcts/kernels/gumbel.py")
    }
    assert {
        "mcts/kernels/gumbel.py",
        "mcts/kernels/simulation.py",
        "mcts/kernels/root.py",
        "mcts/network_search.py",
    } <= changed
    assert not changed & {"games/go/rules.py", "mcts/kernels/equations.py"}
