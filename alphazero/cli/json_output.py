"""Results and events as JSON, one object a line, for programs."""

import dataclasses
import json
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def to_json(content: Mapping[str, Any]) -> str:
    """Return an object in one line of ASCII, its values as by `plain`."""
    return json.dumps(plain(content), allow_nan=False)


def plain(value: Any) -> Any:
    """Return a value as JSON has it.

    A dataclass or named tuple becomes an object of its fields and public properties, and a path a
    text. NaN and infinity become null: JSON has neither.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    names = _field_names(value)
    if names is not None:
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Collection) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def _field_names(value: Any) -> list[str] | None:
    """Return the names of the fields and public properties of a record; None if it is none."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    elif hasattr(value, "_fields"):
        names = list(value._fields)
    else:
        return None
    attributes = vars(type(value)).items()
    names += [name for name, item in attributes if isinstance(item, property)]
    return [name for name in names if not name.startswith("_")]
