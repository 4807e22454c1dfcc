"""The configuration reference: descriptions of the keys, and a Markdown table."""

from typing import NamedTuple

from alphazero.config.fields import REQUIRED, config_fields, type_words
from alphazero.config.loader import written
from alphazero.config.schema import SECTIONS, RayConfig
from alphazero.config.strict_yaml import parse_mapping, read_text
from alphazero.errors import ConfigError, did_you_mean
from alphazero.utils.shipped import find_shipped, shipped_configs
from alphazero.utils.tables import markdown_table

SECTION_TYPES = {**SECTIONS, "selfplay.distributed.ray": RayConfig}
"""The dataclass of each section, by the dotted name of the section."""


class KeyDescription(NamedTuple):
    """The description of a key; `source` may be empty."""

    section: str
    key: str
    type: str
    default: str
    range: str
    meaning: str
    source: str

    @property
    def name(self) -> str:
        """The dotted name, as in overrides."""
        return f"{self.section}.{self.key}"

    def __str__(self) -> str:
        parts = [f"{self.name}: {self.meaning}", f"  type: {self.type}", f"  range: {self.range}"]
        parts += [f"  default: {self.default}", f"  source: {self.source}"]
        return "\n".join(part for part in parts if not part.endswith(": "))


def describe_keys() -> list[KeyDescription]:
    """Return the descriptions of all keys, in the order of the schema."""
    rows = []
    for name, section in SECTION_TYPES.items():
        for field, kind, note in config_fields(section):
            default = "required" if field.default is REQUIRED else written(field.default)
            limits = ", ".join(filter(None, [note.unit, *note.bounds(), " or ".join(note.choices)]))
            row = (type_words(kind, note), default, limits, note.meaning, note.source)
            rows.append(KeyDescription(name, field.name, *row))
    return rows


def find_keys(name: str) -> list[KeyDescription]:
    """Return the keys with this name, or of this section; raise ConfigError if none."""
    rows = describe_keys()
    for attribute in ("name", "section", "key"):
        if matches := [row for row in rows if getattr(row, attribute) == name]:
            return matches
    words = [*(row.name for row in rows), *SECTION_TYPES, *(row.key for row in rows)]
    raise ConfigError(f"no key or section {name[:60]!r}{did_you_mean(name, words)}")


PAPER = "go_19x19_alphago_zero"
"""The shipped configuration with the values of AlphaGo Zero."""


def keys_table() -> str:
    """Return the table of all keys in Markdown; "paper" has the values that `PAPER` sets."""
    path = find_shipped(PAPER, shipped_configs())
    paper = parse_mapping(read_text(path), str(path)).value
    rows = []
    for row in describe_keys():
        limits = ", ".join(part for part in (row.type, row.range) if part)
        value = paper.get(row.section, {}).get(row.key)
        text = "" if value is None or row.section in ("run", "game") else f"`{written(value)}`"
        rows.append((f"`{row.name}`", f"`{row.default}`", text, limits, row.meaning, row.source))
    return markdown_table(("key", "default", "paper", "range", "meaning", "source"), rows)
