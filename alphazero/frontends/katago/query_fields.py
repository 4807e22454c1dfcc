"""Typed reading of the fields of a JSON query; errors have the field's name."""

import json
import math
from typing import Any, Final

LONGEST_TEXT: Final = 40


class QueryError(Exception):
    """A query that cannot be answered; `field` is at fault, if any. Never leaves the engine."""

    def __init__(self, text: str, field: str = "") -> None:
        super().__init__(text)
        self.field = field


class QueryFields:
    """The fields of a query, each read at most once; `unread` are those left."""

    def __init__(self, fields: dict[str, Any], prefix: str = "") -> None:
        self._fields = fields
        self._prefix = prefix
        self._read: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return self._fields.get(name) is not None

    @property
    def unread(self) -> list[str]:
        return [self._prefix + name for name in self._fields if name not in self._read]

    def take(self, name: str) -> Any:
        """Return the value of a field, whatever it is; None if it is missing."""
        self._read.add(name)
        return self._fields.get(name)

    def text(self, name: str) -> str:
        value = self.take(name)
        if not isinstance(value, str):
            raise self.error(name, "a string", value)
        return value

    def boolean(self, name: str) -> bool:
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            raise self.error(name, "true or false", value)
        return bool(value)

    def integer(self, name: str, least: int, most: int, default: int | None = None) -> int:
        value = self.take(name)
        if value is None and default is not None:
            return default
        if not _is_integer(value) or not least <= value <= most:
            raise self.error(name, f"an integer from {least} to {most}", value)
        return int(value)

    def number(self, name: str, least: float, most: float) -> float:
        value = self.take(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(name, "a number", value)
        if not math.isfinite(value) or not least <= value <= most:
            raise self.error(name, f"a number from {least:g} to {most:g}", value)
        return float(value)

    def integers(self, name: str, least: int, most: int) -> list[int]:
        values = self.take(name)
        if not isinstance(values, list) or not all(map(_is_integer, values)):
            raise self.error(name, "an array of integers", values)
        wrong = next((value for value in values if not least <= value <= most), None)
        if wrong is not None:
            raise self.error(name, f"an array of integers from {least} to {most}", wrong)
        return values

    def pairs(self, name: str) -> list[tuple[int, str]]:
        """Return the player and the location of each move; none if the field is missing."""
        values = self.take(name)
        wanted = 'an array of pairs of a player, "B" or "W", and a location'
        if values is None:
            return []
        if not isinstance(values, list):
            raise self.error(name, wanted, values)
        pairs = []
        for value in values:
            is_pair = isinstance(value, list) and len(value) == 2
            if not is_pair or not all(isinstance(part, str) for part in value):
                raise self.error(name, wanted, value)
            pairs.append((self.colour(name, value[0]), value[1]))
        return pairs

    def colour(self, name: str, value: Any) -> int:
        """Return the player of a colour."""
        player = {"b": 0, "black": 0, "w": 1, "white": 1}.get(str(value).lower())
        if player is None:
            raise self.error(name, 'a player, "B" or "W"', value)
        return player

    def objects(self, name: str) -> list["QueryFields"]:
        """Return the objects of an array; none if the field is missing."""
        values = self.take(name)
        if values is None:
            return []
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise self.error(name, "an array of objects", values)
        return [QueryFields(value, f"{name}.") for value in values]

    def error(self, name: str, wanted: str, value: Any) -> QueryError:
        got = "nothing" if value is None else json.dumps(value)[:LONGEST_TEXT]
        return QueryError(f"Must be {wanted}, got {got}", self._prefix + name)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
