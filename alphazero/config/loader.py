"""Convert YAML with `section.key=value` overrides to a `Config`, and back."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alphazero.config.fields import Reader, dotted
from alphazero.config.schema import (
    SECTIONS,
    Config,
    GameConfig,
    RatePoint,
    RayConfig,
    VariedOptions,
)
from alphazero.config.strict_yaml import (
    UNREADABLE,
    Document,
    KeyPath,
    describe_value,
    parse_mapping,
    parse_yaml,
    quote,
    read_text,
    yaml_scalar,
)
from alphazero.errors import ConfigError, GameError, did_you_mean
from alphazero.utils.shipped import find_shipped, shipped_configs

if TYPE_CHECKING:
    from alphazero.games.game import Game


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Load a YAML file, or a shipped one by its name, with overrides; raise ConfigError."""
    if not isinstance(path, str | os.PathLike):
        raise ConfigError(f"expected the path of a YAML file, got {type(path).__name__}")
    path = find_shipped(path, shipped_configs())
    document = parse_mapping(read_text(path), str(path))
    return _read(document, str(path), overrides, default_name=_run_name(path.stem))


def _run_name(stem: str) -> str:
    """Return the name of the run of a file: its stem, with `_` for what no run's name may have."""
    name = re.sub("[^A-Za-z0-9._-]+", "_", stem).lstrip("-")[:100]
    return name if name.strip(".") else "run"


def parse_config(text: str, source_name: str = "config", overrides: Sequence[str] = ()) -> Config:
    """Parse YAML text; raise ConfigError. `source_name` is the file name in error messages."""
    return _read(parse_mapping(text, source_name), source_name, overrides, default_name="")


def config_from(source: Config | Mapping[str, Any] | Path | str) -> Config:
    """Convert nested dicts or the path of a YAML file to a Config; raise ConfigError."""
    if isinstance(source, Config):
        return source
    if isinstance(source, Path | str):
        return load_config(source)
    if isinstance(source, Mapping):
        return _read(Document(_plain(source), {}, []), "config", (), default_name="run")
    raise ConfigError(
        f"expected a Config, a dict, or the path of a YAML file, got {type(source).__name__}"
    )


def _plain(value: Any) -> Any:
    """Convert sequences, mappings, numpy's numbers and paths to what YAML has."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if getattr(value, "shape", None) == ():
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _read(document: Document, source: str, overrides: Sequence[str], default_name: str) -> Config:
    """Apply overrides, build and cross-check; raise one ConfigError for all problems."""
    overrides = [overrides] if isinstance(overrides, str) else overrides
    if not (isinstance(overrides, Sequence) and all(isinstance(text, str) for text in overrides)):
        raise ConfigError(
            f"expected overrides of keys, as ['budget.minutes=5'], got {overrides!r:.80}"
        )
    reader = Reader(source, document)
    values: dict[str, dict[str, Any]] = {}
    for name, content in document.value.items():
        if name not in SECTIONS:
            hint = did_you_mean(name, SECTIONS)
            reader.report((name,), f"unknown section {quote(name)}{hint}")
        elif content is not None and not isinstance(content, dict):
            is_game = name == "game" and isinstance(content, str) and content.isidentifier()
            hint = f"; write game: {{name: {content}}}" if is_game else ""
            text = f"{name}: expected keys and values, got {describe_value(content)}{hint}"
            reader.report((name,), text)
        else:
            values[name] = dict(content or {})
    for override in overrides:
        _apply_override(reader, values, override)
    sections: dict[str, Any] = {"game": _read_game(reader, values.pop("game", {}))}
    for name, content in values.items():
        sections[name] = reader.read(SECTIONS[name], (name,), content)
    config = Config(**sections)
    if not config.run.name:
        config = replace(config, run=replace(config.run, name=default_name))
    for names, message in _cross_checks(config):
        paths: list[KeyPath] = [tuple(name.split(".")) for name in names]
        if reader.wrong.isdisjoint([*paths, *(path[:1] for path in paths)]):
            changed = [path for path in paths if path in reader.overridden]
            in_file = [path for path in paths if path in reader.lines]
            reader.report([*changed, *in_file, *paths][0], message)
    # Importing games may compile for a minute: report other mistakes first.
    if not reader.wrong or "alphazero.games" in sys.modules:
        _check_game(reader, config)
    reader.finish()
    return config


def _apply_override(reader: Reader, values: dict[str, dict[str, Any]], override: str) -> None:
    path_text, equals, value_text = override.partition("=")
    section, dot, name = path_text.strip().partition(".")
    path = (section, *name.split("."))
    for length in range(2, len(path) + 1):
        reader.overridden[path[:length]] = override
    if not (equals and dot and section and name):
        names = {owner: [field.name for field in fields(kind)] for owner, kind in SECTIONS.items()}
        keys = " or ".join(f"{owner}.{section}" for owner in names if section in names[owner])
        hint = f"; did you mean {keys}?" if keys else ""
        reader.report(path, f"expected section.key=value{hint}")
    elif section not in SECTIONS:
        reader.report(path, f"unknown section {quote(section)}{did_you_mean(section, SECTIONS)}")
    else:
        document = parse_yaml(value_text)
        is_readable = document.value is not UNREADABLE
        for problem in document.problems if is_readable else document.problems[:1]:
            reader.report(path, problem.message)
        if is_readable:
            parent: dict[str, Any] = values.setdefault(section, {})
            for key in path[1:-1]:
                parent[key] = dict(inner) if isinstance(inner := parent.get(key), dict) else {}
                parent = parent[key]
            parent[path[-1]] = document.value


def _read_game(reader: Reader, values: dict[str, Any]) -> GameConfig:
    """Read the game section; `_check_game` checks the options."""
    options = {name: value for name, value in values.items() if name != "name"}
    for name, value in options.items():
        if value is None or isinstance(value, list | dict) or not name.isidentifier():
            expected = "expected an option name and a number, text, true or false"
            message = f"game.{name}: {expected}, got {describe_value(value)}"
            reader.report(("game", name), message)
    required = {"name": values["name"]} if "name" in values else {}
    return replace(reader.read(GameConfig, ("game",), required), options=options)


def _check_game(reader: Reader, config: Config) -> None:
    """Check the game, the auxiliary heads and the varied options, if they were read."""
    name, options = config.game.name, config.game.options
    if any(path[:1] == ("game",) for path in reader.wrong):
        return
    from alphazero.games import make_game

    try:
        game = make_game(name, **options)
    except GameError as error:
        message = "".join(c if c.isprintable() else " " for c in str(error))[:500]
        words = {option: option for option in options} | {"name": name}
        paths = [("game", key) for key, word in words.items() if word in message]
        changed = [path for path in paths if path in reader.overridden]
        reader.report(changed[0] if changed else ("game",), message)
        return
    rules = {"ownership": ("owners", game.has_owners), "margin": ("margin", game.has_margin)}
    path = ("network", "auxiliary")
    for head, (rule, exists) in rules.items():
        if head in config.network.auxiliary and not exists and path not in reader.wrong:
            message = f"{quote(head)} needs the rule `{rule}`, which the game {name} lacks"
            reader.report(path, f"{dotted(path)}: {message}")
    message = _varied_options_error(game, config.selfplay.varied_options or {})
    if message:
        reader.report(("selfplay", "varied_options"), f"selfplay.varied_options: {message}")


def _varied_options_error(game: "Game", varied_options: VariedOptions) -> str:
    """Return why these options cannot vary: the network does not see them, or a wrong value."""
    for option, limits in varied_options.items():
        values = dict(zip(game.variable_options, game.variable_values, strict=True))
        if option not in values:
            choices = ", ".join(game.variable_options) or "none"
            return (
                f"{quote(option)} is no option of this game that its network sees "
                f"(those are: {choices})"
            )
        try:
            for value in limits:
                game.variant(tuple((values | {option: value}).values()))
        except GameError as error:
            return str(error)
    return ""


def _cross_checks(config: Config) -> Iterator[tuple[list[str], str]]:
    """Check conditions across keys; yield the keys concerned and a message."""
    name, network, learner = config.run.name, config.network, config.learner
    if name and not re.fullmatch(r"(?!\.+$)(?!-)[A-Za-z0-9._-]{1,100}", name):
        advice = "use at most 100 letters, digits and . _ - (- not first)"
        yield ["run.name"], f"run.name: {quote(name)} is not a valid folder name; {advice}"
    minimum, window = config.replay.window_minimum, config.replay.window_maximum
    for key, size in ("replay.window_minimum", minimum), ("learner.batch_size", learner.batch_size):
        if size > window:
            message = f"{key} ({size}) must be at most replay.window_maximum ({window})"
            yield [key, "replay.window_maximum"], message
    if config.gate.games % 2:
        reason = "must be even, because pairs of games swap colours"
        yield ["gate.games"], f"gate.games: {reason}, got {config.gate.games}"
    if learner.optimizer == "sgd" and learner.weight_decay:
        advice = "set it to 0 and use learner.l2_penalty; weight_decay is for adamw and muon"
        yield ["learner.weight_decay", "learner.optimizer"], f"learner.weight_decay: {advice}"
    pooled, filters = network.global_pooling, network.filters
    if pooled >= filters:
        limit = f"must be below network.filters ({filters}): the pooled filters bias the other ones"
        message = f"network.global_pooling ({pooled}) {limit}"
        yield ["network.global_pooling", "network.filters"], message
    limits = vars(config.budget)
    if all(limit is None for limit in limits.values()):
        keys = ["budget", *(f"budget.{key}" for key in limits)]
        yield keys, f"budget: set at least one of {', '.join(limits)}"


def dump_config(config: Config) -> str:
    """Write YAML that loads back to an equal configuration."""
    lines = []
    for name in SECTIONS:
        section = getattr(config, name)
        content = dict(vars(section))
        content |= content.pop("options", {})
        lines.append(f"{name}:")
        lines += [f"  {yaml_scalar(key)}: {written(value)}" for key, value in content.items()]
    return "\n".join(lines) + "\n"


def written(value: Any) -> str:
    """Write a value of a section, or one that YAML has read, as YAML on one line."""
    if isinstance(value, RayConfig):
        value = {"ray": vars(value)}
    elif isinstance(value, RatePoint):
        value = value._asdict()
    if isinstance(value, dict):
        pairs = (f"{yaml_scalar(key)}: {written(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if not isinstance(value, list | tuple):
        return yaml_scalar(value)
    if len(value) == 1 and isinstance(value[0], RatePoint) and value[0].step == 0:
        return yaml_scalar(value[0].rate)
    return f"[{', '.join(map(written, value))}]"
