"""Strict YAML parser that records the line of each value and rejects tags, anchors and aliases.

A *key path* is the tuple of keys and list indices of a value. All problems are collected.
"""

import math
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from alphazero.errors import ConfigError, RunError
from alphazero.utils.files import exists, read_limited, suggest_file

MAXIMUM_BYTES = 1 << 20
MAXIMUM_DEPTH = 20  # PyYAML's composer is recursive; a config needs a depth of 4
MAXIMUM_PROBLEMS_SHOWN = 50
NO_LINE = sys.maxsize  # sorts behind every line of the file

KeyPath = tuple[str | int, ...]


class Problem(NamedTuple):
    """An error message and its line."""

    line: int
    message: str


UNREADABLE = object()
"""The value of a text that is not YAML, or has what is never read."""


class Document(NamedTuple):
    """A parsed YAML text: its value, the line of each key path, and the problems found."""

    value: Any
    lines: dict[KeyPath, int]
    problems: list[Problem]


def read_text(path: Path) -> str:
    """Read a UTF-8 file of at most MAXIMUM_BYTES; raise ConfigError."""
    data = b""
    try:
        data = read_limited(path, MAXIMUM_BYTES)
        return data.decode("utf-8")
    except RunError as error:
        hint = "" if exists(path) else suggest_file(path, ".yaml", "configs")
        raise ConfigError(f"{error}{hint}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text; save the file as UTF-8") from None


def parse_yaml(text: str) -> Document:
    """Parse YAML text; its value is `UNREADABLE` if its problems prevent that."""
    problems = _forbidden(text)
    if problems:
        return Document(UNREADABLE, {}, problems)
    lines: dict[KeyPath, int] = {}
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    value = None if node is None else _value(node, (), lines, problems)
    return Document(value, lines, problems)


def parse_mapping(text: str, source: str) -> Document:
    """Parse the YAML text of a file that must hold a mapping; raise ConfigError."""
    document = parse_yaml(text)
    if document.value is UNREADABLE:
        lines = [f"{source}:{line}: {message}" for line, message in document.problems]
        raise ConfigError("\n".join(lines))
    if document.value is None:
        return document._replace(value={})
    if not isinstance(document.value, dict):
        message = f"expected sections such as 'game:', got {describe_value(document.value)}"
        raise ConfigError(f"{source}:{document.lines[()]}: {message}")
    return document


def _forbidden(text: str) -> list[Problem]:
    """Return the problems that prevent parsing: syntax, anchors, aliases, tags and limits."""
    if len(text) > MAXIMUM_BYTES:
        return [Problem(1, f"larger than {MAXIMUM_BYTES} characters")]
    problems: list[Problem] = []
    line, depth, documents = 1, 0, 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            line = event.start_mark.line + 1 if event.start_mark else 1
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            documents += isinstance(event, yaml.DocumentStartEvent)
            if len(problems) >= MAXIMUM_PROBLEMS_SHOWN:
                return problems
            if depth > MAXIMUM_DEPTH:
                return [*problems, Problem(line, f"nested more than {MAXIMUM_DEPTH} deep")]
            if documents > 1:
                return [*problems, Problem(line, "a second document; remove the '---'")]
            if getattr(event, "anchor", None) is not None:
                message = "anchors and aliases (& and *) are not accepted; write the value out"
                problems.append(Problem(line, message))
            if (tag := getattr(event, "tag", None)) is not None:
                message = f"tags are not accepted; remove the tag {quote(str(tag))}"
                problems.append(Problem(line, message))
        return problems
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        reason = " ".join(str(error.problem or error.context).split())
    except yaml.reader.ReaderError as error:
        line, reason = text.count("\n", 0, error.position) + 1, error.reason
    except (ValueError, OverflowError):  # PyYAML lets these through, as for "\UFFFFFFFF"
        reason = "a number or escape is out of range"
    return [*problems, Problem(line, f"syntax error: {reason}")]


def _value(
    node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], problems: list[Problem]
) -> Any:
    """Return the Python value of a node; add to `lines` and `problems`."""
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, i), lines, problems) for i, item in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, problems)
    mapping: dict[str, Any] = {}
    place = f"in {quote('.'.join(map(str, path)))}" if path else "at the top level"
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        name = key_node.value
        if not isinstance(key_node, yaml.ScalarNode):
            problems.append(Problem(line, f"expected a word as key {place}, got a collection"))
        elif name in mapping:
            first = lines[(*path, name)]
            message = f"duplicate key {quote(name)} {place} (first on line {first})"
            problems.append(Problem(line, message))
        else:
            lines[(*path, name)] = line
            mapping[name] = _value(value_node, (*path, name), lines, problems)
    return mapping


def _scalar(node: yaml.ScalarNode, problems: list[Problem]) -> Any:
    """Return a scalar; YAML 1.1's numbers 1:30 (90) and 010 (8) stay text."""
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    odd_number = ":" in node.value or re.match(r"[-+]?0[0-9_]", node.value)
    if kind not in {"bool", "int", "float"} or (kind != "bool" and odd_number):
        return node.value
    try:
        value = yaml.constructor.SafeConstructor().construct_object(node)
    except (ValueError, OverflowError):
        value = None
    if value is None or (isinstance(value, int) and abs(value) >= 1 << 63):
        problems.append(Problem(node.start_mark.line + 1, "a number of more than 64 bits"))
        return 0
    return value


def yaml_scalar(value: float | str | bool | None) -> str:
    """Format a scalar so that PyYAML reads back the same: `1.0e-04`, never `1e-04`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        mantissa, e, exponent = repr(value).partition("e")
        return mantissa + ("" if "." in mantissa or not e else ".0") + e + exponent
    if isinstance(value, int):
        return str(value)
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_./-]*", value) and parse_yaml(value).value == value:
        return value
    options: dict[str, Any] = {"default_style": '"', "allow_unicode": True, "width": math.inf}
    return str(yaml.safe_dump(value, **options)).strip()


def describe_value(value: Any) -> str:
    """Describe a value for an error message, such as `text 'many'`."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return f"text {quote(value)}"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    if isinstance(value, int) and abs(value) >= 1 << 64:
        return "a number of more than 64 bits"
    is_number = isinstance(value, int | float)
    return yaml_scalar(value) if is_number else f"a value of type {type(value).__name__}"


def quote(text: str) -> str:
    """Quote text as ASCII on one line, shortened to 60 characters."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")
