"""Bugs made by rule: small changes of a module's syntax tree, inside of functions.

A comparison, a sign, an operator, `and`, a constant, a condition, `min` or a statement becomes its
neighbour. Text for people is left alone: docstrings, annotations, decorators, and what raises,
asserts or prints. Mutants that compile to the same program, as of `x * 1`, are not made; others
that no test could notice are, such as an earlier end of a loop that finds nothing more.
"""

import ast
import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

OPPOSITES = [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)]
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    one: other for pair in [*OPPOSITES, (ast.In, ast.NotIn)] for one, other in (pair, pair[::-1])
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
NAMES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "any": "all"}
NAMES |= {"all": "any", "maximum": "minimum", "minimum": "maximum", "zeros": "ones"}
SPOKEN = (ast.Raise, ast.Assert)
DROPPED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Continue)
"""Statements that may be dropped; an assignment only where the name has a value already."""


class Mutant(NamedTuple):
    """A module with one change."""

    file: str
    """its path within the package"""
    line: int
    change: str
    source: str

    @property
    def name(self) -> str:
        """The place and the change."""
        return f"{self.file}:{self.line} {self.change}"


def _is_spoken(node: ast.AST) -> bool:
    """Whether a statement is text for people, or what stops the program."""
    if isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Constant):
            return True
        called = node.value.func if isinstance(node.value, ast.Call) else None
        return isinstance(called, ast.Name) and called.id in ("print", "compile_aside")
    return isinstance(node, SPOKEN)


def _nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all that may change, always in the same order: what stands in bodies of functions."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, inside = waiting.pop()
        if inside:
            yield node
        if isinstance(node, ast.FunctionDef):
            parts, inside = node.body, True
        elif isinstance(node, ast.AnnAssign):
            parts = [node.value] if node.value else []
        else:
            parts = list(ast.iter_child_nodes(node))
        waiting += [(part, inside) for part in reversed(parts) if not _is_spoken(part)]


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each change of a node, in words, with what takes its place."""
    new = copy.copy(node)
    match new:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            new.ops = [COMPARISONS[type(operator)]()]
        case ast.BinOp() | ast.AugAssign() if type(new.op) in OPERATORS:
            new.op = OPERATORS[type(new.op)]()
        case ast.BoolOp():
            new.op = ast.Or() if isinstance(new.op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            new = new.operand
        case ast.Constant(value=bool()):
            new.value = not new.value
        case ast.Constant(value=int() | float()):
            new.value += 1
        case ast.Name(id=name) if name in NAMES:
            new.id = NAMES[name]
        case ast.Attribute(attr=name) if name in NAMES:
            new.attr = NAMES[name]
        case _:
            new = node
    if new is not node:
        yield f"`{ast.unparse(node)}` -> `{ast.unparse(new)}`", new
    if isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(
        node.test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant
    ):
        new = copy.copy(node)
        new.test = ast.UnaryOp(ast.Not(), new.test)
        yield f"`if {ast.unparse(node.test)}` -> `if not`", new
    if isinstance(node, DROPPED) and not (
        isinstance(node, ast.Assign) and any(isinstance(each, ast.Name) for each in node.targets)
    ):
        yield f"`{ast.unparse(node)}` dropped", ast.Pass()


def changes(source: str) -> list[tuple[int, str]]:
    """Return the line and the words of each change of a module, always in the same order."""
    return [
        (node.lineno, words)  # type: ignore[attr-defined]
        for node in _nodes(ast.parse(source))
        for words, _ in _changes(node)
    ]


def changed(source: str, number: int) -> str:
    """Return a module with the change of this number in the order of `changes`."""
    tree = ast.parse(source)
    pairs = [(node, new) for node in _nodes(tree) for _, new in _changes(node)]
    old, new = pairs[number]

    class Replacement(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is old else self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Replacement().visit(tree)))


def sample(package: Path, patterns: tuple[str, ...], count: int, seed: int) -> list[Mutant]:
    """Draw mutants of the package's modules that match `patterns`, without repetition."""
    paths = sorted({path for pattern in patterns for path in package.glob(pattern)})
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    every = [
        (path, number, line, words)
        for path, source in sources.items()
        for number, (line, words) in enumerate(changes(source))
    ]
    return [
        Mutant(path.relative_to(package).as_posix(), line, words, changed(sources[path], number))
        for path, number, line, words in random.Random(seed).sample(every, count)
    ]
