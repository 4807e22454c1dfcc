"""JSON from files and sockets, checked: an object, finite numbers, types as expected."""

import json
import math
from typing import Any, Final, NoReturn, cast

_WHOLE_LIMIT: Final = 1 << 63


def parse_object(text: str | bytes) -> dict[str, Any]:
    """Return the JSON object in `text`; raise ValueError for invalid JSON, TypeError for others."""
    try:
        content = json.loads(
            text, parse_constant=_no_constant, parse_float=_finite, parse_int=_whole
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return cast(dict[str, Any], typed(content, dict))


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")


def _whole(text: str) -> int:
    if len(text) > 20 or not -_WHOLE_LIMIT <= int(text) < _WHOLE_LIMIT:
        raise ValueError(f"{text[:20]}... is out of range")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number


def typed(value: Any, *types: type) -> Any:
    """Return `value` if its type is exactly one of `types`; else raise TypeError."""
    if type(value) not in types:
        raise TypeError(f"unexpected {type(value).__name__}")
    return value


def field(content: dict[str, Any], name: str, kind: type) -> Any:
    """Return a field; raise KeyError if it is missing, ValueError if its type is not `kind`."""
    if type(content[name]) is not kind:
        raise ValueError(f"{name}: expected {kind.__name__}, got {str(content[name])[:40]!r}")
    return content[name]
