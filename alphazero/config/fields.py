"""Configuration keys as dataclass fields with unit, range and source, and their checks."""

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

from alphazero.config.strict_yaml import (
    MAXIMUM_PROBLEMS_SHOWN,
    NO_LINE,
    Document,
    KeyPath,
    Problem,
    describe_value,
    quote,
    yaml_scalar,
)
from alphazero.errors import ConfigError, did_you_mean

Section = TypeVar("Section")
COMPARISONS = {"at_least": ge, "above": gt, "at_most": le, "below": lt}
Field = tuple[dataclasses.Field[Any], Any, "FieldInfo"]


@dataclasses.dataclass(frozen=True)
class FieldInfo:
    """Metadata of a key besides its type and default; `read` replaces `check_value`."""

    meaning: str
    unit: str = ""
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    source: str = ""
    kind: str = ""
    read: "Callable[[Reader, KeyPath, Any], Any] | None" = None

    def _limits(self) -> dict[str, float]:
        return {name: value for name in COMPARISONS if (value := getattr(self, name)) is not None}

    def bounds(self) -> list[str]:
        """Return the limits in words, such as `at least 1`."""
        return [f"{name.replace('_', ' ')} {limit}" for name, limit in self._limits().items()]

    def accepts(self, value: float) -> bool:
        """Whether a number is within the limits."""
        return all(COMPARISONS[name](value, limit) for name, limit in self._limits().items())


REQUIRED: Any = dataclasses.MISSING
GREATEST = {int: 2**63 - 1, float: 1e30}
"""Largest absolute values: of 64-bit integers, and for floats far from overflow."""
KIND_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def config_field(default: Any, meaning: str, **details: Any) -> Any:
    """Return a dataclass field with a `FieldInfo`; the default `REQUIRED` means none."""
    return dataclasses.field(default=default, metadata={"note": FieldInfo(meaning, **details)})


def config_fields(section: type) -> list[Field]:
    """Return the field, type and `FieldInfo` of each key of a section."""
    hints = get_type_hints(section)
    fields = dataclasses.fields(section)
    return [(f, hints[f.name], f.metadata["note"]) for f in fields if "note" in f.metadata]


def type_words(kind: Any, note: FieldInfo) -> str:
    """Return a key's type in words, such as `a whole number or null`."""
    if isinstance(kind, UnionType) and not note.kind:
        return f"{KIND_WORDS[get_args(kind)[0]]} or null"
    return note.kind or KIND_WORDS[kind]


def check_value(kind: Any, note: FieldInfo, value: Any) -> Any:
    """Return the value in its key's type (int to float if needed), or raise WrongValueError."""
    if isinstance(kind, UnionType):  # only `X | None`
        if value is None:
            return None
        kind = next(option for option in get_args(kind) if option is not type(None))
    greatest = GREATEST.get(kind, math.inf)
    if type(value) in (int, float) and greatest < abs(value) < math.inf:
        raise WrongValueError(f"must be at most {greatest} in absolute value")
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise WrongValueError(_wrong_type(kind, value))
    if kind is float and not math.isfinite(value):
        raise WrongValueError(f"must be a finite number, got {value}")
    if note.choices and value not in note.choices:
        hint = did_you_mean(value, note.choices)
        raise WrongValueError(f"must be one of {', '.join(note.choices)}, got {quote(value)}{hint}")
    if kind in (int, float) and not note.accepts(value):
        raise WrongValueError(f"must be {' and '.join(note.bounds())}, got {value}")
    return float(value) if kind is float else value


def _wrong_type(kind: Any, value: Any) -> str:
    """Describe a value of the wrong type, with a hint for numbers that YAML reads as text."""
    if isinstance(value, str) and kind in (int, float):
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isfinite(number) and (kind is float or number.is_integer()):
            decimal = str(int(number)) if kind is int else yaml_scalar(number)
            match = re.fullmatch(r"([-+]?\d+)(\.\d*)?[eE]([-+]?)(\d+)", value)
            if match and kind is float:
                integer, fraction, sign, exponent = match.groups(default="")
                power = f"{integer}{fraction or '.0'}e{sign or '+'}{exponent}"
                decimal = power if power == decimal else f"{power} or {decimal}"
            return f"{quote(value)} is text in YAML; write {quote(decimal)[1:-1]}"
        if kind is float and re.fullmatch(r"[-+]?\d+,\d+", value):
            return f"{quote(value)} has a decimal comma; write {value.replace(',', '.')}"
    hint = "; put it in quotes" if kind is str and isinstance(value, int | float) else ""
    return f"expected {KIND_WORDS[kind]}, got {describe_value(value)}{hint}"


class Reader:
    """Builds sections from a document and collects all problems."""

    def __init__(self, source: str, document: Document) -> None:
        self.source = source
        self.lines = document.lines
        self.overridden: dict[KeyPath, str] = {}  # key path -> override as typed
        self.wrong: set[KeyPath] = set()  # key paths already reported
        self.problems = [Problem(n, f"{source}:{n}: {text}") for n, text in document.problems]

    def report(self, path: KeyPath, message: str) -> None:
        """Add a problem of the value at `path`, with the nearest override or line in the file."""
        self.wrong.add(path)
        line, place = NO_LINE - 1, self.source
        for parent in (path[:length] for length in range(len(path), 0, -1)):
            if parent in self.overridden:
                line, place = NO_LINE, f"override {quote(self.overridden[parent])}"
                break
            if parent in self.lines:
                line = self.lines[parent]
                place = f"{self.source}:{line}"
                break
        self.problems.append(Problem(line, f"{place}: {message}"))

    def mark_parent(self, path: KeyPath) -> None:
        """Mark the value at `path` as wrong if a part of it is."""
        if any(wrong[: len(path)] == path for wrong in self.wrong):
            self.wrong.add(path)

    def finish(self) -> None:
        """Raise one ConfigError for all problems, by line, if there are any."""
        if not self.problems:
            return
        texts = [problem.message for problem in sorted(self.problems, key=lambda p: p.line)]
        if len(texts) > MAXIMUM_PROBLEMS_SHOWN:
            rest = len(texts) - MAXIMUM_PROBLEMS_SHOWN
            texts = [*texts[:MAXIMUM_PROBLEMS_SHOWN], f"{self.source}: and {rest} more problems"]
        raise ConfigError("\n".join(texts))

    def read(self, section: type[Section], path: KeyPath, values: Mapping[str, Any]) -> Section:
        """Build a section from a mapping; a key with a problem gets its default, or None."""
        fields = config_fields(section)
        names = [field.name for field, _, _ in fields]
        for name in [name for name in values if name not in names]:
            hint = did_you_mean(name, names)
            if name.isdecimal() and values[name] is None:
                hint = "; a comma begins another key: write decimals with a point, such as 1.4"
            place = quote(".".join(map(str, path)))
            self.report((*path, name), f"unknown key {quote(name)} in {place}{hint}")
        arguments: dict[str, Any] = {}
        for field, kind, note in fields:
            key_path = (*path, field.name)
            if field.name in values:
                arguments[field.name] = self.read_value(key_path, kind, note, values[field.name])
            elif field.default is REQUIRED:
                if path not in self.wrong:
                    self.report(key_path, f"{dotted(key_path)}: this required key is missing")
                arguments[field.name] = None
            if key_path in self.wrong and field.default is not REQUIRED:
                arguments[field.name] = field.default
        return section(**arguments)

    def read_value(self, path: KeyPath, kind: Any, note: FieldInfo, value: Any) -> Any:
        """Return the checked value, or report a problem and return None."""
        try:
            return note.read(self, path, value) if note.read else check_value(kind, note, value)
        except WrongValueError as error:
            self.report(path, f"{dotted(path)}: {error}")
            return None


def dotted(path: KeyPath) -> str:
    """Format a key path: `learner.learning_rate[1].step`."""
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")


class WrongValueError(Exception):
    """An invalid value, with the reason; `Reader` reports it as a problem."""
