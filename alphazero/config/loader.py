"""Convert YAML with `section.key=value` overrides to a `Config`, and back."""

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
    path = find_shipped(path, shipped_configs())
    document = parse_mapping(read_text(path), str(path))
    return _read(document, str(path), overrides, default_name=path.stem)


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
        plain = {name: _plain(section) for name, section in source.items()}
        return _read(Document(plain, {}, []), "config", (), default_name="run")
    raise ConfigError(
        f"expected a Config, a dict, or the path of a YAML file, got {type(source).__name__}"
    )


def _plain(value: Any) -> Any:
    """Convert sequences and mappings to lists and dicts, as YAML has them."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _read(document: Document, source: str, overrides: Sequence[str], default_name: str) -> Config:
    """Apply overrides, build and cross-check; raise one ConfigError for all problems."""
    reader = Reader(source, document)
    values: dict[str, dict[str, Any]] = {}
    for name, content in document.value.items():
        if name not in SECTIONS:
            nearest = did_you_mean(name, SECTIONS)
            reader.report((name,), f"unknown section {quote(name)}{nearest}")
        elif content is not None and not isinstance(content, dict):
            is_game = name == "game" and isinstance(content, str) and content.isidentifier()
            hint = f"; write game: {{name: {content}}}" if is_game else ""
            got = describe_value(content)
            reader.report((name,), f"{name}: expected keys and values, got {got}{hint}")
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
    for paths, message in _cross_checks(config):
        if reader.wrong.isdisjoint([*paths, *(path[:1] for path in paths)]):
            reader.report(_given(reader, paths), message)
    # Importing games may compile for a minute: report other mistakes first.
    if not reader.wrong or "alphazero.games" in sys.modules:
        _check_game(reader, config)
    reader.finish()
    return config


def _apply_override(reader: Reader, values: dict[str, dict[str, Any]], override: str) -> None:
    path_text, equals, value_text = override.partition("=")
    section, dot, name = path_text.strip().partition(".")
    path = (section, name)
    reader.overridden[path] = override
    if not (equals and dot and section and name):
        keys = [
            f"{each}.{section}"
            for each, kind in SECTIONS.items()
            if section in [field.name for field in fields(kind)]
        ]
        hint = f"; did you mean {' or '.join(keys)}?" if keys else ""
        reader.report(path, f"expected section.key=value{hint}")
    elif section not in SECTIONS:
        nearest = did_you_mean(section, SECTIONS)
        reader.report(path, f"unknown section {quote(section)}{nearest}")
    else:
        try:
            document = parse_yaml(value_text)
        except ConfigError as error:
            reader.report(path, str(error).split("\n", 1)[0].partition(": ")[2])
            return
        for problem in document.problems:
            reader.report(path, problem.message)
        values.setdefault(section, {})[name] = document.value


def _read_game(reader: Reader, values: dict[str, Any]) -> GameConfig:
    """Read the game section; `_check_game` checks the options."""
    options = {name: value for name, value in values.items() if name != "name"}
    for name, value in options.items():
        path = ("game", name)
        if value is None or isinstance(value, list | dict) or not name.isidentifier():
            expected = "expected an option name and a number, text, true or false"
            reader.report(path, f"game.{name}: {expected}, got {describe_value(value)}")
    named = {"name": values["name"]} if "name" in values else {}
    return replace(reader.read(GameConfig, ("game",), named), options=options)


def _check_game(reader: Reader, config: Config) -> None:
    """Check the game, the auxiliary heads and the varied options, if they were read."""
    game = config.game
    if any(path[:1] == ("game",) for path in reader.wrong):
        return
    from alphazero.games import make_game

    try:
        made = make_game(game.name, **game.options)
    except GameError as error:
        message = _one_line(error)
        words = {("game", each): each for each in game.options} | {("game", "name"): game.name}
        named = [path for path in words if path in reader.overridden and words[path] in message]
        reader.report(named[0] if named else ("game",), message)
        return
    rules = {"ownership": ("owners", made.has_owners), "margin": ("margin", made.has_margin)}
    path = ("network", "auxiliary")
    for head, (rule, exists) in rules.items():
        if head in config.network.auxiliary and not exists and path not in reader.wrong:
            message = f"{quote(head)} needs the rule `{rule}`, which the game {game.name} lacks"
            reader.report(path, f"{dotted(path)}: {message}")
    _check_varied_options(reader, made, config.selfplay.varied_options or {})


def _one_line(error: GameError) -> str:
    return "".join(c if c.isprintable() else " " for c in str(error))[:500]


def _check_varied_options(reader: Reader, game: "Game", varied: VariedOptions) -> None:
    """Check that the network sees each varied option, and that the game has its values."""
    path = ("selfplay", "varied_options")
    for option, limits in varied.items():
        values = dict(zip(game.variable_options, game.variable_values, strict=True))
        if option not in values:
            can = ", ".join(game.variable_options) or "none"
            reader.report(
                path,
                f"{dotted(path)}: {quote(option)} is no option of this game that its network "
                f"sees (those are: {can})",
            )
            return
        try:
            for value in limits:
                game.variant(tuple((values | {option: value}).values()))
        except GameError as error:
            reader.report(path, f"{dotted(path)}: {error}")
            return


def _given(reader: Reader, paths: Sequence[KeyPath]) -> KeyPath:
    """Return the one of conflicting keys to report: an overridden one, else one in the file."""
    for known in (reader.overridden, reader.lines):
        for path in paths:
            if path in known:
                return path
    return paths[0]


def _cross_checks(config: Config) -> Iterator[tuple[list[KeyPath], str]]:
    """Check conditions across keys; yield the keys concerned and a message."""
    run, network, learner = config.run, config.network, config.learner
    replay, gate = config.replay, config.gate
    if run.name and not re.fullmatch(r"(?!\.+$)(?!-)[A-Za-z0-9._-]{1,100}", run.name):
        yield (
            [("run", "name")],
            f"run.name: {quote(run.name)} is not a valid folder name; "
            "use at most 100 letters, digits and . _ - (- not first)",
        )
    smallest: KeyPath = ("replay", "window_minimum")
    largest: KeyPath = ("replay", "window_maximum")
    if replay.window_minimum > replay.window_maximum:
        yield (
            [smallest, largest],
            f"replay.window_minimum ({replay.window_minimum}) must be at most "
            f"replay.window_maximum ({replay.window_maximum})",
        )
    if learner.batch_size > replay.window_maximum:
        yield (
            [("learner", "batch_size"), largest],
            f"learner.batch_size ({learner.batch_size}) must be at most "
            f"replay.window_maximum ({replay.window_maximum})",
        )
    if gate.games % 2:
        yield (
            [("gate", "games")],
            f"gate.games: must be even, because pairs of games swap colours, got {gate.games}",
        )
    optimizer: KeyPath = ("learner", "optimizer")
    if learner.optimizer == "sgd" and learner.weight_decay:
        yield (
            [("learner", "weight_decay"), optimizer],
            "learner.weight_decay: set it to 0 and use learner.l2_penalty; weight_decay is for "
            "adamw and muon",
        )
    if network.global_pooling >= network.filters:
        yield (
            [("network", "global_pooling"), ("network", "filters")],
            f"network.global_pooling ({network.global_pooling}) must be below "
            f"network.filters ({network.filters}): the pooled filters bias the other ones",
        )
    limits = [each.name for each in fields(config.budget)]
    if all(getattr(config.budget, name) is None for name in limits):
        yield (
            [("budget",), *(("budget", name) for name in limits)],
            f"budget: set at least one of {', '.join(limits)}",
        )


def dump_config(config: Config) -> str:
    """Write YAML that loads back to an equal configuration."""
    lines = []
    for name in SECTIONS:
        section = getattr(config, name)
        content = {each.name: getattr(section, each.name) for each in fields(section)}
        content |= content.pop("options", {})
        lines.append(f"{name}:")
        lines += [f"  {yaml_scalar(k)}: {written(value)}" for k, value in content.items()]
    return "\n".join(lines) + "\n"


def written(value: Any) -> str:
    """Write a value of a section, or one that YAML has read, as YAML on one line."""
    if isinstance(value, RayConfig):
        value = {"ray": vars(value)}
    elif isinstance(value, RatePoint):
        value = value._asdict()
    if isinstance(value, dict):
        pairs = (f"{yaml_scalar(key)}: {written(each)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if not isinstance(value, list | tuple):
        return yaml_scalar(value)
    if len(value) == 1 and isinstance(value[0], RatePoint) and value[0].step == 0:
        return yaml_scalar(value[0].rate)
    return f"[{', '.join(map(written, value))}]"
