"""Each test file lies as the module that it tests: `tests/X/test_Y.py` tests `alphazero/X/Y.py`.

A file may also test the package `alphazero/X/Y` or, as `tests/cli/test_cli.py`, the package `X`.
`integration/` tests several packages together, `scripts/` the scripts.
"""

from helpers.paths import ROOT, TESTS

OTHERS = {
    "cli/test_early_mistakes.py": "mistakes that commands report before they import torch",
    "frontends/static_page/test_page.py": "the page without a server in a browser",
    "frontends/terminal/test_pty.py": "the program in a pseudo-terminal",
    "frontends/web/test_page.py": "the page in a browser",
    "frontends/web/test_page_layout.py": "the page at several sizes, with every game",
    "games/test_against_go_programs.py": "Go's rules beside other programs",
    "games/test_against_open_spiel.py": "the rules of several games beside OpenSpiel's",
    "games/test_check.py": "contract/check.py and contract/trial.py, each with the other's faults",
    "games/test_plug_ins.py": "games that other packages register",
    "scripts/test_tutorial.py": "scripts/tutorial.ipynb",
    "training/test_resume.py": "runs that are interrupted and resumed, through loop and files",
}
"""Test files named after what they test across modules."""


def test_each_test_file_lies_as_the_module_that_it_tests() -> None:
    astray = set()
    for path in TESTS.rglob("test_*.py"):
        name, folder = path.name.removeprefix("test_"), path.parent.relative_to(TESTS)
        if folder.name == "integration":
            continue
        home = ROOT / folder if folder.name == "scripts" else ROOT / "alphazero" / folder
        package = name.removesuffix(".py")
        if not ((home / name).exists() or (home / package).is_dir() or home.name == package):
            astray.add((folder / path.name).as_posix())
    assert astray == set(OTHERS)
