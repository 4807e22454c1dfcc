"""Imports run downwards only: the plan of the house, read from the sources themselves.

    floor 5   cli.py, __main__.py, play/    commands.py alone knows both play/ and training/
              commands.py, arguments.py, typed.py     what cli.py runs, and what it reads
              output.py                     where it all is written
    floor 4   training/
    floor 3   players/
    floor 2   search/, network/ (which do not know each other), config*.py, schema.py, yamlfile.py
              adapters/                     knows the games alone, and nobody knows it
    floor 1   games/, errors.py, files.py, jit.py, cores.py      the files do not know the games
    (apart)   foundations/                  imports nothing of the above

`alphazero/__init__.py` is the public face: it may import anything, and only floor 5 imports it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import alphazero

FACE = "__init__"

FLOORS = {
    "games": 1,
    "errors": 1,
    "files": 1,
    "jit": 1,
    "interrupt": 1,
    "machine": 1,
    "search": 2,
    "network": 2,
    "adapters": 2,
    "config": 2,
    "configfile": 2,
    "schema": 2,
    "yamlfile": 2,
    "players": 3,
    "training": 4,
    "play": 5,
    "cli": 5,
    "commands": 5,
    "arguments": 5,
    "typed": 5,
    "output": 5,
    "__main__": 5,
    FACE: 5,
}
"""The floor of each file and folder directly below the package, by its name without `.py`."""

STRANGERS = {
    ("search", "network"),
    ("network", "search"),
    ("play", "training"),
    ("play", "cli"),
    ("play", "commands"),
    ("play", "arguments"),
    ("play", "typed"),
    ("training", "play"),
    ("adapters", "search"),
    ("adapters", "network"),
    ("__main__", "play"),
    ("__main__", "training"),
    ("errors", "games"),
    ("files", "games"),
    ("jit", "games"),
    ("interrupt", "games"),
    ("cores", "games"),
}
"""Who does not import whom, though the floors would allow it."""

APART = "foundations"


def part_of(module: tuple[str, ...]) -> str:
    """Return the part of the house that a module below the package belongs to."""
    return module[0] if module else FACE


def imports_of(source: str, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield the line and the part of the house of each import of our own package.

    `package` is the folder that the source lies in, below the package. Imports inside functions
    and under TYPE_CHECKING are seen like any other, and `importlib.import_module("alphazero...")`.
    """
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                above = package[: len(package) - node.level + 1]
                module = ".".join(["alphazero", *above, *module.split(".")]).rstrip(".")
            if module == "alphazero":  # the name may be a part of the house, or be in the face
                known = {*FLOORS, APART}
                names = [
                    f"alphazero.{alias.name}" if alias.name in known else "alphazero"
                    for alias in node.names
                ]
            else:
                names = [module]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else None
            called = node.func.id if isinstance(node.func, ast.Name) else called
            if called in ("import_module", "__import__"):
                names = [str(node.args[0].value)]
        for name in names:
            top, *rest = name.split(".")
            if top == "alphazero":
                yield node.lineno, part_of(tuple(rest))


def violations(path: str, source: str) -> list[str]:
    """Return a line for each import in the file `path`, below the package, that runs upwards."""
    parts = Path(path).with_suffix("").parts
    own = part_of(parts)
    if path == "__init__.py":
        return []
    if own not in FLOORS and own != APART:
        return [f"alphazero/{path}:1: no floor is known for '{own}'; add it to FLOORS"]
    found = []
    for line, other in imports_of(source, parts[:-1]):
        place = f"alphazero/{path}:{line}:"
        if other == own:
            continue
        if own == APART:
            found.append(f"{place} {own} stands apart and imports nothing, but imports {other}")
        elif other == APART:
            if FLOORS[own] < 5:
                found.append(f"{place} {own} imports {other}, which stands apart")
        elif other not in FLOORS:
            found.append(f"{place} no floor is known for '{other}'; add it to FLOORS")
        elif FLOORS[other] > FLOORS[own]:
            found.append(
                f"{place} {own} (floor {FLOORS[own]}) imports {other} (floor {FLOORS[other]})"
            )
        elif (own, other) in STRANGERS:
            found.append(f"{place} {own} must not know {other}")
    return found


def test_imports_run_downwards_only() -> None:
    package = Path(alphazero.__file__).parent
    paths = sorted(package.rglob("*.py"))
    assert package / "games" / "game.py" in paths
    found = [
        line
        for path in paths
        for line in violations(
            path.relative_to(package).as_posix(), path.read_text(encoding="utf-8")
        )
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("path", "source", "complaint"),
    [
        ("games/a.py", "\nfrom alphazero.search import tree", "games (floor 1) imports search"),
        ("games/a.py", "\nimport alphazero.search.tree as t", "games (floor 1) imports search"),
        ("games/a.py", "\nfrom alphazero import play", "games (floor 1) imports play (floor 5)"),
        ("games/a.py", "\nfrom .. import search", "games (floor 1) imports search"),
        ("games/a.py", "\nfrom ..search.tree import Tree", "games (floor 1) imports search"),
        ("games/__init__.py", "\nfrom ..search import tree", "games (floor 1) imports search"),
        (
            "search/a.py",
            "def f():\n    import alphazero.training",
            "(floor 2) imports training",
        ),
        ("config.py", "if TYPE_CHECKING:\n    from alphazero.players import P", "imports players"),
        ("config.py", "\nimport_module('alphazero.players.match')", "config (floor 2) imports"),
        ("players/a.py", "\nimport os, alphazero.training.loop", "players (floor 3) imports"),
        ("players/a.py", "\nfrom alphazero import __version__", "imports __init__ (floor 5)"),
        ("search/a.py", "\nfrom alphazero.network import resnet", "search must not know network"),
        ("network/a.py", "\nfrom alphazero.search import tree", "network must not know search"),
        ("play/web/a.py", "\nfrom ...training import loop", "play must not know training"),
        ("training/a.py", "\nfrom alphazero.play import web", "training (floor 4) imports play"),
        ("jit.py", "\nfrom alphazero.games import Game", "jit must not know games"),
        ("foundations/a.py", "\nfrom alphazero.errors import GameError", "stands apart"),
        ("training/a.py", "\nfrom alphazero.foundations import b", "which stands apart"),
        ("training/a.py", "\nfrom alphazero.attic import b", "no floor is known for 'attic'"),
    ],
)
def test_an_import_that_runs_upwards_is_named(path: str, source: str, complaint: str) -> None:
    (found,) = violations(path, source)
    assert found.startswith(f"alphazero/{path}:2: ")
    assert complaint in found


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("search/a.py", "import numpy\nfrom alphazero.games import Game\nfrom . import tree"),
        ("search/a.py", "from .tree import Tree\nfrom alphazero.search.tree import Tree"),
        ("search/a.py", "import alphazero_zoo.training\nimport search, players.training"),
        ("cli.py", "from alphazero.play import web\nfrom alphazero.training import loop"),
        ("cli.py", "from alphazero import __version__, foundations"),
        ("__main__.py", "from alphazero.cli import main"),
        ("__init__.py", "from alphazero.training import train"),
        ("foundations/a.py", "from .b import c\nimport random"),
    ],
)
def test_an_import_that_runs_downwards_is_allowed(path: str, source: str) -> None:
    assert violations(path, source) == []


def test_a_file_on_no_floor_is_named() -> None:
    (found,) = violations("attic/junk.py", "import os")
    assert found == "alphazero/attic/junk.py:1: no floor is known for 'attic'; add it to FLOORS"
