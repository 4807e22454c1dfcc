"""UCI options: their types, their values, and `setoption`."""

import re
from dataclasses import dataclass
from typing import Final

from alphazero.errors import AlphaZeroError

CHECK: Final = ("false", "true")


class UciError(AlphaZeroError):
    """A line that cannot be followed; the text is written as `info string`."""


@dataclass
class Option:
    """An option: a number from `minimum` to `maximum`, or one of `choices`."""

    name: str
    value: int | str
    minimum: int = 0
    maximum: int = 0
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the line that declares it, with its value as the default."""
        if self.choices == CHECK:
            kind = f"check default {self.value}"
        elif self.choices:
            kind = f"combo default {self.value}" + "".join(f" var {each}" for each in self.choices)
        else:
            kind = f"spin default {self.value} min {self.minimum} max {self.maximum}"
        return f"option name {self.name} type {kind}"

    def set(self, text: str) -> None:
        """Set the value; raise UciError if it is none."""
        if self.choices:
            match = [each for each in self.choices if each.lower() == text.lower()]
            if not match:
                expected = f"one of {', '.join(self.choices)}"
                raise UciError(f"option {self.name}: expected {expected}, got {text[:40]!r}")
            self.value = match[0]
            return
        if not re.fullmatch("-?[0-9]{1,9}", text) or not self.minimum <= int(text) <= self.maximum:
            expected = f"a number from {self.minimum} to {self.maximum}"
            raise UciError(f"option {self.name}: expected {expected}, got {text[:40]!r}")
        self.value = int(text)


class Options:
    """The options of a session, by name in any case."""

    def __init__(self, *options: Option) -> None:
        self._options = {option.name.lower(): option for option in options}
        self.text = "\n".join(map(str, options))
        """the lines that declare them, with their defaults"""

    def set(self, words: list[str]) -> Option:
        """Set `name NAME [value VALUE]`; return the option.

        Raise UciError for an option that there is not, or a wrong value.
        """
        match = re.fullmatch("name (.+?)(?: value(?: (.*))?)?", " ".join(words))
        if not match:
            raise UciError("expected setoption name NAME value VALUE")
        option = self._options.get(match[1].lower())
        if option is None:
            raise UciError(f"option {match[1][:40]!r} is ignored: there is none of this name")
        option.set((match[2] or "").strip())
        return option

    def number(self, name: str) -> int:
        return int(self._options[name.lower()].value) if name.lower() in self._options else 0

    def is_set(self, name: str) -> bool:
        """Whether a check is true; without such an option it is not."""
        option = self._options.get(name.lower())
        return option is not None and option.value == CHECK[True]
