"""The configuration reference: descriptions of the keys, a Markdown table and a JSON schema."""

from collections.abc import Sequence
from types import UnionType
from typing import Any, NamedTuple, get_args

from alphazero.config.fields import GREATEST, REQUIRED, FieldInfo, config_fields, dotted, type_words
from alphazero.config.loader import written
from alphazero.config.schema import SECTIONS, Config, RayConfig
from alphazero.config.strict_yaml import parse_mapping, read_text
from alphazero.errors import ConfigError, did_you_mean
from alphazero.utils.shipped import find_shipped, shipped_configs
from alphazero.utils.tables import markdown_table

SECTION_TYPES = {**SECTIONS, "selfplay.distributed.ray": RayConfig}
"""The dataclass of each section, by the dotted name of the section."""

JSON_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string", type(None): "null"}

RATE = {"type": "number", "exclusiveMinimum": 0}
RATE_POINT = {
    "type": "object",
    "properties": {"step": {"type": "integer", "minimum": 0}, "rate": RATE},
    "required": ["step", "rate"],
    "additionalProperties": False,
}
PAIR = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
SPECIAL_SCHEMAS: dict[str, dict[str, Any]] = {
    "learner.learning_rate": {
        "anyOf": [RATE, {"type": "array", "minItems": 1, "items": RATE_POINT}]
    },
    "selfplay.varied_options": {"type": ["object", "null"], "additionalProperties": PAIR},
}
"""The JSON schemas of keys that are neither scalars nor lists of text."""


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


def written_values(config: Config) -> dict[str, str]:
    """Return the values of all keys by dotted name, the game's options included, as in YAML."""
    values = {}
    for section in SECTIONS:
        content = dict(vars(getattr(config, section)))
        for key, value in (content | content.pop("options", {})).items():
            values[dotted((section, key))] = written(value)
    return values


def differences(first: Config, second: Config) -> list[str]:
    """Return a line `section.key: FIRST -> SECOND` for each key that differs; `-` for no key."""
    before, after = written_values(first), written_values(second)
    pairs = {name: (before.get(name, "-"), after.get(name, "-")) for name in before | after}
    return [f"{name}: {one} -> {other}" for name, (one, other) in pairs.items() if one != other]


def json_schema() -> dict[str, Any]:
    """Return a JSON schema (draft 7) of the YAML file, for editors."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "alphazero configuration",
        "type": "object",
        "properties": {name: _section_schema(name) for name in SECTIONS},
        "required": ["game", "budget"],
        "additionalProperties": False,
    }


def _section_schema(name: str) -> dict[str, Any]:
    """Return the schema of a section; only `game` takes further keys, its options."""
    keys, required = {}, []
    for field, kind, note in config_fields(SECTION_TYPES[name]):
        hint = note.meaning + (f" [{note.unit}]" if note.unit else "")
        schema_of_key = _key_schema(f"{name}.{field.name}", kind, note)
        keys[field.name] = {"description": hint, **schema_of_key}
        if field.default is REQUIRED:
            required.append(field.name)
    schema: dict[str, Any] = {"type": ["object", "null"], "properties": keys}
    if required:
        schema |= {"type": "object", "required": required}
    return schema | ({} if name == "game" else {"additionalProperties": False})


def _key_schema(path: str, kind: Any, note: FieldInfo) -> dict[str, Any]:
    if path == "selfplay.distributed":
        ray = {
            "type": "object",
            "properties": {"ray": _section_schema("selfplay.distributed.ray")},
            "required": ["ray"],
            "additionalProperties": False,
        }
        return {"anyOf": [{"type": "null"}, ray]}
    if path in SPECIAL_SCHEMAS:
        return SPECIAL_SCHEMAS[path]
    if kind == tuple[str, ...]:
        items = {"type": "string"} | ({"enum": list(note.choices)} if note.choices else {})
        return {"type": "array", "items": items, "uniqueItems": True}
    kinds: Sequence[Any] = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    names = [JSON_TYPES[item] for item in kinds]
    schema: dict[str, Any] = {"type": names if len(names) > 1 else names[0]}
    if note.choices:
        schema["enum"] = list(note.choices)
    limits = {
        "minimum": note.at_least,
        "exclusiveMinimum": note.above,
        "maximum": GREATEST[int] if int in kinds and note.at_most is None else note.at_most,
        "exclusiveMaximum": note.below,
    }
    return schema | {word: limit for word, limit in limits.items() if limit is not None}
