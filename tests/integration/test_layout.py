"""Each test file has the place of the module that it tests.

`tests/X/test_Y.py` tests `alphazero/X/Y.py`. A file may also test the package `alphazero/X/Y`
or, as `tests/cli/test_cli.py`, the package `X`.
`integration/` tests several packages together, `scripts/` the scripts. No test file imports
another: what several of them use is in `helpers/`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from helpers.paths import ROOT, TESTS
from helpers.processes import run_python

OTHERS = {
    "cli/test_early_mistakes.py": "mistakes that commands report before they import torch",
    "frontends/static_page/test_page.py": "the page without a server in a browser",
    "frontends/terminal/test_pty.py": "the program in a pseudo-terminal",
    "frontends/web/test_page.py": "the page in a browser",
    "frontends/web/test_page_layout.py": "the page at several sizes, with every game",
    "games/test_against_go_programs.py": "Go's rules beside other programs",
    "games/test_against_open_spiel.py": "the rules of several games beside OpenSpiel's",
    "games/test_check.py": "contract/, by games with one fault each",
    "games/test_mistakes.py": "texts, options and diagrams that each game refuses",
    "games/test_plug_ins.py": "games that other packages register",
    "scripts/test_tutorial.py": "scripts/tutorial.ipynb",
    "training/monitoring/test_holdout.py": "what the loop measures before it learns",
    "training/test_resume.py": "runs that are interrupted and resumed, through loop and files",
}
"""Test files named after what they test across modules."""


def test_each_test_file_has_the_place_of_the_module_that_it_tests():
    misplaced = set()
    for path in TESTS.rglob("test_*.py"):
        name, folder = path.name.removeprefix("test_"), path.parent.relative_to(TESTS)
        if folder.name == "integration":
            continue
        home = ROOT / folder if folder.name == "scripts" else ROOT / "alphazero" / folder
        package = name.removesuffix(".py")
        if not ((home / name).exists() or (home / package).is_dir() or home.name == package):
            misplaced.add((folder / path.name).as_posix())
    assert misplaced == set(OTHERS)


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the dotted name of all that a file imports; of `from a import b`: `a.b`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module or ''}.{each.name}" for each in node.names)


def test_no_test_file_imports_another():
    test_modules = {path.stem for path in TESTS.rglob("test_*.py")}
    found = {
        f"{path.relative_to(TESTS).as_posix()} imports {name}"
        for path in TESTS.rglob("*.py")
        for name in imported_modules(path)
        if test_modules & set(name.split("."))
    }
    assert found == set()


APPS = (
    *("drawing", "frontends", "diagnostics", "solvers", "foundations", "training.distributed"),
    *("players.registry", "players.specs", "players.levels", "players.program_player"),
    *("games.contract", "training.evaluation", "training.learning.data_parallel"),
)
"""What a run reaches late, if at all."""


def test_the_training_loop_loads_no_app():
    code = "import sys, alphazero.training.loop; print(*sys.modules)"
    loaded = run_python("-c", code, cwd=ROOT).split()
    assert "alphazero.training.iteration" in loaded
    apps = tuple(f"alphazero.{name}" for name in APPS)
    assert not [name for name in loaded if name.startswith(apps)]
    assert not {"ray", "openvino", "onnxruntime", "tensorboard", "PIL"} & set(loaded)
