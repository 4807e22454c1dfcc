"""The YAML schema: defaults, all errors reported at once, overrides, round trips, hostile files."""

import math
import operator
import random
import sys
from typing import Any

import numpy as np
import pytest
import yaml

import alphazero.games
from alphazero.config.fields import config_fields
from alphazero.config.loader import config_from, dump_config, load_config, parse_config
from alphazero.config.reference import describe_keys, find_keys
from alphazero.config.schema import SECTIONS, RatePoint, RayConfig, SelfplayConfig
from alphazero.config.strict_yaml import MAXIMUM_BYTES, yaml_scalar
from alphazero.errors import ConfigError, GameError
from alphazero.network import checkpoint
from alphazero.training import loop

SMALLEST = "game: {name: connect_four}\nbudget: {iterations: 1}\n"


def errors_of(text: str, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "go.yaml", overrides)
    return str(caught.value).split("\n")


def error_of(text: str, *overrides: str) -> str:
    errors = errors_of(text, *overrides)
    assert len(errors) == 1, errors
    return errors[0]


# --- what a file means -------------------------------------------------------------------------


MEANINGS: list[tuple[str, str, Any]] = [
    ("search: {c_puct: 2}", "search.c_puct", 2.0),
    ("search:\n  # simulations: 5", "search.simulations", 96),
    ("game: {name: connect_four, rows: 5}", "game.options", {"rows": 5}),
    ("run: {name: '7'}", "run.name", "7"),
    ("learner: {optimizer: sgd}", "learner.decay", 0.0),
    ("learner: {optimizer: adamw}", "learner.decay", 0.01),
    ("learner: {optimizer: muon}", "learner.decay", 0.4),
    ("learner: {weight_decay: 0.3}", "learner.decay", 0.3),
    ("network: {auxiliary: [short_term_value]}", "network.auxiliary", ("short_term_value",)),
    (
        "network: {auxiliary: [margin, ownership]}\ngame: {name: othello}",
        "network.auxiliary",
        ("margin", "ownership"),
    ),
    ("selfplay: {distributed: null}", "selfplay.distributed", None),
    ("selfplay: {distributed: {ray: {}}}", "selfplay.distributed", RayConfig()),
    ("selfplay: {distributed: {ray: null}}", "selfplay.distributed", RayConfig()),
    (
        "selfplay: {distributed: {ray: {address: '10.0.0.5:6379', actors: 6, gpus_per_actor: .5}}}",
        "selfplay.distributed",
        RayConfig(address="10.0.0.5:6379", actors=6, gpus_per_actor=0.5),
    ),
    ("selfplay: {varied_options: {}}", "selfplay.varied_options", None),
    (
        "selfplay: {varied_options: {komi_half_points: [-3, 21]}}\ngame: {name: go, features: 1}",
        "selfplay.varied_options",
        {"komi_half_points": (-3, 21)},
    ),
]
"""Sections, a key, and its value, also after the configuration was written and read again."""


@pytest.mark.parametrize(("text", "key", "value"), MEANINGS)
def test_a_value_is_read_and_written_again(text: str, key: str, value: Any):
    game = "" if "game:" in text else "game: {name: connect_four}\n"
    config = parse_config(f"{game}budget: {{iterations: 1}}\n{text}")
    received = operator.attrgetter(key)(config)
    assert received == value
    assert type(received) is type(value)
    assert parse_config(dump_config(config)) == config


def test_the_simulations_of_a_move_grow_evenly_to_all():
    text = SMALLEST + "selfplay: {progressive_samples: 800}"
    growing = parse_config(text).selfplay
    fractions = [growing.simulations_fraction(positions) for positions in (0, 200, 400, 800, 9000)]
    assert fractions == pytest.approx([0.15, 0.3625, 0.575, 1, 1])
    assert SelfplayConfig().simulations_fraction(0) == 1


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *(("evening", "evening"), ("my run", "my_run"), ("-x été", "x_t_"), ("é", "_")),
        *(("x" * 101, "x" * 100), ("..", "run" if sys.version_info < (3, 14) else "...yaml")),
    ],
)
def test_the_run_is_named_after_its_file_as_a_folder_may_be_unless_it_has_a_name(
    file: str, name: str, tmp_path
):
    path = tmp_path / f"{file}.yaml"
    path.write_text(SMALLEST)
    assert load_config(path).run.name == name
    for overrides in (["run.name=night"], "run.name=night"):
        assert load_config(path, overrides).run.name == "night"
    assert parse_config(SMALLEST).run.name == ""


# --- errors ------------------------------------------------------------------------------------


def test_all_errors_are_reported_at_once_with_their_lines():
    text = """\
game: {name: connect_four}
budget: {iterations: 1}
search:
  num_simulations: 5
  simulations: 0
  c_puct: 1e-3
  selection: puctt
  simulations: 3
serach: {}
network: 5
learner:
  batch_size: many
  max_grad_norm: .nan
  search_value_weight: yes
  l2_penalty: -.inf
  weight_decay: 0.1
  optimizer: sgd
gate: {games: 41}
run:
  seed: 1.0
  folder: [a]
"""
    assert errors_of(text, "replay.ratio=0") == [
        "go.yaml:4: unknown key 'num_simulations' in 'search'; did you mean 'simulations'?",
        "go.yaml:5: search.simulations: must be at least 1 and at most 1000000, got 0",
        "go.yaml:6: search.c_puct: '1e-3' is text in YAML; write 1.0e-3 or 0.001",
        "go.yaml:7: search.selection: must be one of puct, gumbel, gumbel_root, got 'puctt'; did "
        "you mean 'puct'?",
        "go.yaml:8: duplicate key 'simulations' in 'search' (first on line 5)",
        "go.yaml:9: unknown section 'serach'; did you mean 'search'?",
        "go.yaml:10: network: expected keys and values, got 5",
        "go.yaml:12: learner.batch_size: expected a whole number, got text 'many'",
        "go.yaml:13: learner.max_grad_norm: must be a finite number, got nan",
        "go.yaml:14: learner.search_value_weight: expected a number, got true",
        "go.yaml:15: learner.l2_penalty: must be a finite number, got -inf",
        "go.yaml:16: learner.weight_decay: set it to 0 and use learner.l2_penalty; weight_decay is "
        "for adamw and muon",
        "go.yaml:18: gate.games: must be even, because pairs of games swap colours, got 41",
        "go.yaml:20: run.seed: expected a whole number, got 1.0",
        "go.yaml:21: run.folder: expected text, got a list",
        "override 'replay.ratio=0': replay.ratio: must be above 0 and at most 10000, got 0",
    ]


WRONG = {
    "learner.batch_size": {
        "1e3": "'1e3' is text in YAML; write 1000",
        "'64'": "'64' is text in YAML; write 64",
        "010": "'010' is text in YAML; write 10",
        "1:30": "expected a whole number, got text '1:30'",
        "1.5e0": "expected a whole number, got text '1.5e0'",
        "": "expected a whole number, got nothing",
        "64.0": "expected a whole number, got 64.0",
    },
    "search.c_puct": {"1,4": "'1,4' has a decimal comma; write 1.4"},
    "network.auxiliary": {
        "[ownership]": "'ownership' needs the rule `owners`, which the game connect_four lacks",
        "[short_term_value, margin]": "'margin' needs the rule `margin`, which the game connect_",
        "[ownership, ownership]": "'ownership' appears twice",
        "[margins]": "must be one of ownership, margin, short_term_value, got 'margins'; did you",
        "[3]": "expected text, got 3; put it in quotes",
        "margin": "expected a list of heads, got text 'margin'",
    },
    "learner.learning_rate": {
        "[]": "the first step must be 0",
        "[{step: 5, rate: 0.1}]": "the first step must be 0",
        "[{step: 0, rate: 1}, {step: 9, rate: 1}, {step: 9, rate: 1}]": "[2].step: must be above 9",
        "[{step: 0, rate: 0}]": "[0].rate: must be above 0, got 0",
        "[{step: 0.5, rate: 1}]": "[0].step: expected a whole number, got 0.5",
        "[{step: 0}]": "[0]: expected {step: ..., rate: ...}",
        "[0.1]": "[0]: expected {step: ..., rate: ...}",
        "-0.1": "must be above 0, got -0.1",
        "1e-2": "'1e-2' is text in YAML; write 1.0e-2 or 0.01",
        "{step: 0}": "expected a number or a list of {step, rate}, got a mapping",
        "": "expected a number or a list of {step, rate}, got nothing",
    },
    "run.name": {"7": "expected text, got 7; put it in quotes"}
    | {name: f"'{name}' is not a valid folder name" for name in ("..", ".", "a/b", "a b", "-x")}
    | {
        "été": r"'\xe9t\xe9' is not a valid folder name",
        "'a\\b'": r"'a\\b' is not a valid folder name",
        "x" * 101: f"'{'x' * 57}...' is not a valid folder name",
    },
    "game.rows": {"[6]": "expected"},
}
"""By key: wrong values, and how the message after its name begins."""


@pytest.mark.parametrize(
    ("key", "value", "error"), [(key, *row) for key, rows in WRONG.items() for row in rows.items()]
)
def test_a_wrong_value_is_explained_in_one_line(key: str, value: str, error: str):
    section, name = key.split(".")
    start = "game:\n  name: connect_four\n" if section == "game" else SMALLEST + f"{section}:\n"
    line = error_of(f"{start}  {name}: {value}\n", "budget.iterations=1")
    colon = "" if error.startswith("[") else ": "
    assert line.startswith(f"go.yaml:{3 if section == 'game' else 4}: {key}{colon}{error}")


WRONG_PLACES = {
    "": "go.yaml: game.name: this required key is missing",
    "game: connect_four": "go.yaml:1: game: expected keys and values, got text 'connect_four'; "
    "write game: {name: connect_four}",
    "game: {rows: 6}": "go.yaml:1: game.name: this required key is missing",
    "[1, 2]": "go.yaml:1: expected sections such as 'game:', got a list",
    "just words": "go.yaml:1: expected sections such as 'game:', got text 'just words'",
    "5": "go.yaml:1: expected sections such as 'game:', got 5",
    "game: {name: connect_four}\nsearch: [1,\n": "go.yaml:3: syntax error: ",
    "game:\n\tname: x": "go.yaml:2: syntax error: ",
    "# one\ngame: {name: conect_four}": "go.yaml:2: unknown game 'conect_four'; did you mean 'conn",
    "game: {name: nim, rows: 1}": "go.yaml:1: nim has no option 'rows'",
    "budget: \ngame: {name: nim}": "go.yaml:1: budget: set at least one of iterations, samples, "
    "evaluations, minutes",
    SMALLEST + "budget: {minutes: 3}": "go.yaml:3: duplicate key 'budget' at the top level (first "
    "on line 2)",
    SMALLEST + "search: {c_puct: 1,4}": "go.yaml:3: unknown key '4' in 'search'; a comma begins "
    "another key: write decimals with a point",
    SMALLEST + "search: {c_puct: 1, simulation: 4}": "go.yaml:3: unknown key 'simulation' in "
    "'search'; did you mean 'simulations'?",
    SMALLEST + "learner:\n  learning_rate:\n  - {step: 0, rate: 1}\n  - {step: 2, rate: x}": (
        "go.yaml:6: learner.learning_rate[1].rate: "
    ),
    SMALLEST + "replay: {window_minimum: 9, window_maximum: 8}\nlearner: {batch_size: 1}": (
        "go.yaml:3: replay.window_minimum (9) must be at most replay.window_maximum (8)"
    ),
    SMALLEST + "replay: {window_minimum: 8, window_maximum: 8}\nlearner: {batch_size: 16}": (
        "go.yaml:4: learner.batch_size (16) must be at most replay.window_maximum (8)"
    ),
    SMALLEST + "replay:\n  window_maximum: 600": "go.yaml:4: replay.window_minimum (30000) must "
    "be at most replay.window_maximum (600)",
    SMALLEST + "network: {filters: 8, global_pooling: 8}": "go.yaml:3: network.global_pooling (8) "
    "must be below network.filters (8): the pooled filters bias the other ones",
    SMALLEST + f"run: {{seed: {'9' * 30}}}": "go.yaml:3: a number of more than 64 bits",
    SMALLEST + f"run: {{seed: {'9' * 10_000}}}": "go.yaml:3: a number of more than 64 bits",
    SMALLEST + f"run: {{seed: 0x{'f' * 10_000}}}": "go.yaml:3: a number of more than 64 bits",
}
"""Faulty texts, and how the line about each begins."""


@pytest.mark.parametrize(("text", "error"), WRONG_PLACES.items(), ids=range(len(WRONG_PLACES)))
def test_a_fault_is_reported_with_its_place(text: str, error: str):
    budget = [] if "budget" in text else ["budget.iterations=1"]
    assert error_of(text, *budget).startswith(error)


GO = "game: {name: go, rows: 5, columns: 5, features: 1}\nbudget: {iterations: 1}\n"
LOW_HIGH = "'komi_half_points' needs [low, high], two whole numbers, the lower one first, got "


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("varied_options: 3", "expected null or {option: [low, high]}, got 3"),
        ("varied_options: {komi_half_points: 3}", f"{LOW_HIGH}3"),
        ("varied_options: {komi_half_points: [3, 1]}", f"{LOW_HIGH}a list"),
        ("varied_options: {komi_half_points: [3, 1.5]}", f"{LOW_HIGH}a list"),
        ("varied_options: {komi_half_points: [0, 2000]}", "must be -1000 to 1000, got 2000"),
        ("varied_options: {rows: [5, 7]}", "'rows' is no option of this game that its netw"),
        ("distributed: {ray: {actor: 3}}", "ributed.ray'; did you mean 'actors'?"),
        ("distributed: {ray: {actors: 0}}", "ributed.ray.actors: must be at least 1, got 0"),
        ("distributed: {ray: {gpus_per_actor: 1.5}}", "per_actor: must be whole above 1"),
        ("distributed: {ray: {gpus_per_actor: 0.33333}}", "have at most 4 decimals, got 0.33333"),
        ("distributed: {ray: 3}", "expected keys in {ray: {...}}, got"),
        ("distributed: {slurm: {}}", "expected null or {ray: {...}}, got"),
        ("distributed: 3", "expected null or {ray: {...}}, got"),
        ("distributed: {}", "expected null or {ray: {...}}, got"),
    ],
)
def test_wrong_options_and_workers_are_reported_with_their_place(setting: str, complaint: str):
    line = error_of(f"{GO}selfplay:\n  {setting}\n")
    assert line.startswith("go.yaml:4: ")
    assert complaint in line
    assert complaint in error_of(GO, f"selfplay.{setting.replace(': ', '=', 1)}")


def test_an_option_that_the_network_does_not_see_cannot_vary():
    text = f"{GO}selfplay: {{varied_options: {{komi_half_points: [1, 3]}}}}"
    assert "sees (those are: none)" in error_of(text, "game.features=0")


def test_a_configuration_may_be_a_path_a_dict_or_a_config(tmp_path):
    (tmp_path / "mine.yaml").write_text(SMALLEST + "learner: {learning_rate: 0.1}")
    from_file = config_from(tmp_path / "mine.yaml")
    assert (from_file, from_file.run.name) == (config_from(str(tmp_path / "mine.yaml")), "mine")
    nested: dict[str, Any] = {"game": {"name": "connect_four"}, "budget": {"iterations": 1}}
    nested |= {"learner": {"learning_rate": 0.1}, "run": {"name": "mine"}}
    assert config_from(nested) == config_from(from_file) == from_file
    wrong = r"^config: learner\.l2_penalty: must be at least 0, got -1"
    with pytest.raises(ConfigError, match=wrong):
        config_from(nested | {"learner": {"l2_penalty": -1}})
    with pytest.raises(ConfigError, match="or the path of a YAML file, got int"):
        config_from(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="expected the path of a YAML file, got dict"):
        load_config(nested)  # type: ignore[arg-type]
    decay = {"weight_decay": np.float32(0.5)}
    typed = nested | {"run": {"folder": tmp_path, "seed": np.int64(3)}, "learner": decay}
    config = config_from(typed)
    assert (config.run.folder, config.run.seed) == (str(tmp_path), 3)
    assert config.learner.weight_decay == 0.5
    with pytest.raises(ConfigError, match="config: unknown section '3'"):
        config_from(nested | {3: {}})
    with pytest.raises(ConfigError, match=r"got \.?inf"):
        config_from(nested | {"run": {"seed": math.inf}})
    with pytest.raises(ConfigError, match="got a value of type object"):
        config_from(nested | {"run": {"seed": object()}})


def test_the_games_own_complaint_joins_the_list(monkeypatch):
    def make_game(name: str, **options: Any) -> None:
        assert (name, options) == ("go", {"size": 99})
        raise GameError("go: size must be at most 19, got 99")

    monkeypatch.setattr(alphazero.games, "make_game", make_game)
    text = "# a comment\ngame: {name: go, size: 99}\nbudget: {minutes: 0}"
    assert errors_of(text) == [
        "go.yaml:2: go: size must be at most 19, got 99",
        "go.yaml:3: budget.minutes: must be above 0, got 0",
    ]
    text = "game: {name: go}\nbudget: {minutes: 1}"
    assert error_of(text, "game.size=99").startswith("override 'game.size=99': go: size must")


# --- overrides ---------------------------------------------------------------------------------


def test_overrides_replace_what_the_file_says():
    overrides = [
        "search.simulations=7",
        "search.simulations=9",
        "game.rows=5",
        "learner.learning_rate=[{step: 0, rate: 0.5}, {step: 3, rate: 0.25}]",
        "budget.iterations=null",
        "budget.minutes=2",
        "run.name=a-b",
        "selfplay.distributed={ray: {actors: 3, gpus_per_actor: 0.5}}",
        "selfplay.distributed.ray.actors=4",
    ]
    config = parse_config(SMALLEST + "search: {simulations: 0}", "x", overrides)
    assert config.search.simulations == 9
    assert config.game.options == {"rows": 5}
    assert config.learner.learning_rate == (RatePoint(0, 0.5), RatePoint(3, 0.25))
    assert (config.budget.iterations, config.budget.minutes) == (None, 2.0)
    assert config.run.name == "a-b"
    assert config.selfplay.distributed == RayConfig(actors=4, gpus_per_actor=0.5)


@pytest.mark.parametrize(
    ("override", "error"),
    [
        ("search.simulations", "expected section.key=value"),
        ("=3", "expected section.key=value"),
        ("blocks=3", "expected section.key=value; did you mean network.blocks?"),
        ("run.name=../up", "run.name: '../up' is not a valid folder name"),
        ("game.columns=900", "columns must be 1 to 26, got 900"),
        ("serach.simulations=3", "unknown section 'serach'; did you mean 'search'?"),
        ("search.simulation=3", "unknown key 'simulation' in 'search'; did you mean 'simulat"),
        ("selfplay.distributed.ray.actor=2", "unknown key 'actor' in 'selfplay.distributed.ray'"),
        ("network.blocks.x=3", "network.blocks: expected a whole number"),
        ("search.c_puct=!!python/name:os.system", "tags are not accepted"),
        ("search.c_puct=[1", "syntax error"),
        ("search.c_puct={a: 1, a: 2}", "duplicate key 'a' at the top level"),
        ("learner.learning_rate=[{step: 1, rate: 1}]", "learner.learning_rate: the first step"),
        ("budget.iterations=null", "budget: set at least one of"),
    ],
)
def test_a_wrong_override_is_quoted_as_it_was_typed(override: str, error: str):
    assert errors_of(SMALLEST, override)[0].startswith(f"override {override!r}: {error}")


@pytest.mark.parametrize("overrides", [{"run.seed": 3}, {"run": {"seed": 3}}, [3], None, print])
def test_what_are_no_overrides_is_refused(overrides: Any):
    with pytest.raises(ConfigError, match=r"overrides of keys, as \['budget.minutes=5'\], got"):
        load_config("tic_tac_toe", overrides)


# --- round trips -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        *(1e-4, 1e-5, 1.5e-7, 1e16, 1e22, 0.1, -3.0, 1e300, 5e-324),
        *("", "on", "~", "1e-3", "0x1f", "a: b", "é\n ", "\ud800", "#x", "<<"),
    ],
)
def test_a_written_value_is_read_as_the_same_value(value: float | str):
    read = yaml.safe_load(yaml_scalar(value))
    assert (type(read), read) == (type(value), value)


# --- hostile and unreadable files --------------------------------------------------------------


BOMB = "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
"""Aliases of aliases: built, 2**60 letters."""


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("game: !!python/object/apply:os.system ['touch {mark}']", "tags are not accepted"),
        ("!!python/object/new:os.system ['touch {mark}']", "tags are not accepted"),
        ("game: !!int 'x'", "tags are not accepted"),
        ("game: " + "[" * 100_000, "nested more than 20 deep"),
        ("game: " + "{a: " * 100_000, "nested more than 20 deep"),
        ("a:\n" + "".join(" " * n + "a:\n" for n in range(1, 900)), "nested more than 20 deep"),
        ("game: {name: x}\n---\ngame: {name: y}", "a second document"),
        ("game: 'a\0b'", "syntax error"),
        ('game: "\\UFFFFFFFF"', "syntax error"),
        ("game: *nobody", "syntax error|aliases"),
        ("a0: &a0 [x, x]\n" + BOMB, "anchors and aliases (& and *) are not accepted"),
        ("#" * (MAXIMUM_BYTES + 1), "larger than"),
    ],
)
def test_a_hostile_file_gets_one_line_and_does_nothing(text: str, complaint: str, tmp_path):
    mark = tmp_path / "executed"
    errors = errors_of(text.replace("{mark}", str(mark)))
    error = errors[0]
    assert len(errors) <= (60 if BOMB in text else 1)
    assert any(part in error for part in complaint.split("|"))
    assert error.startswith("go.yaml:")
    assert len(error) < 300
    assert not mark.exists()


HOSTILE: list[Any] = [
    *(10**18, -(10**18), 10**400, -(10**400), 1_000_000, 0, -1),
    *(1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan, 0.5),
    *("", "nan", "1e999", "x" * 100_000, "\0", "../..", "1,4", True, None),
    *([], [1] * 1000, {}, {"ray": 1}, {"step": -1}, [{"step": 0, "rate": 1e300}]),
]
STRANGE: list[Any] = [
    *("on", "null", "7", "1e-3", "2020-01-01", "a.b_c-d", "x: y # z", "é\n\t'\"✓"),
    *(7, 1 / 3, 1e-9, ["uct:1,b=2", "on", "é\n\t'\"✓"], {"ray": {"address": "10.0.0.1:6379"}}),
    [{"step": 0, "rate": 1 / 3}, {"step": 10**7, "rate": 1e-9}],
]
"""Values that are valid for some key, and easily written in another form."""


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_keeps_a_hostile_or_strange_value_or_refuses_it_in_short_lines(section: str):
    for field, _, _ in config_fields(SECTIONS[section]):
        for value in (*HOSTILE, *STRANGE):
            content: dict[str, Any] = {"game": {"name": "nim"}, "budget": {"iterations": 1}}
            content.setdefault(section, {})[field.name] = value
            try:
                config = config_from(content)
            except ConfigError as error:
                lines = str(error).splitlines()
                assert all(len(line) < 300 for line in lines), (field.name, value)
                assert len(lines) <= 51, (field.name, value)
                continue
            assert parse_config(dump_config(config)) == config, (field.name, value)
            assert config.steps_due(10**15) >= 0
            number = getattr(getattr(config, section), field.name)
            if isinstance(number, int | float):
                limit = 2**63 if isinstance(number, int) else 1e30
                assert abs(number) <= limit, (field.name, value)


def test_a_network_beyond_memory_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    sizes = {"filters": 256, "blocks": 3}
    content = {"game": {"name": "nim"}, "budget": {"iterations": 1}, "network": sizes}
    content |= {"run": {"folder": str(tmp_path), "name": "run"}}
    # Three blocks of two convolutions of 3 x 3 x 256 x 256 numbers of four bytes, and the heads.
    monkeypatch.setattr(checkpoint, "total_memory", lambda: 4 * 3 * 2 * 9 * 256 * 256 * 4)
    with pytest.raises(ConfigError, match=r"its weights take 0\.0 GiB, and learning takes"):
        loop.train(content)
    monkeypatch.setattr(checkpoint, "FILE_LIMIT", 3 * 2 * 9 * 256 * 256 * 4)
    with pytest.raises(ConfigError, match=r"a checkpoint holds .* at most"):
        loop.train(content)
    assert list(tmp_path.iterdir()) == []


def test_odd_keys_are_reported_in_one_line_each():
    text = SMALLEST + 'search: {? [a] : 1, on: 2, "x\\ny\\e[31m": 3, <<: {simulations: 3}}'
    errors = errors_of(text)
    assert len(errors) == 4
    assert all(error.isprintable() for error in errors)


def test_a_file_full_of_errors_shows_only_the_first_fifty():
    errors = errors_of(SMALLEST + "search:\n" + "".join(f"  k{n}: 1\n" for n in range(500)))
    assert len(errors) == 51
    assert errors[-1] == "go.yaml: and 450 more problems"


def test_random_damage_never_escapes_as_another_error():
    source = random.Random(1)
    text = dump_config(parse_config(SMALLEST))
    for _ in range(100):
        place = source.randrange(len(text))
        junk = "".join(source.choices("{}[]:,#&*!|>'\"%@`\t\n\0é -.0e", k=source.randrange(1, 4)))
        damaged = text[:place] + junk + text[place + source.randrange(4) :]
        message = ""
        try:
            parse_config(damaged)
        except ConfigError as error:
            message = str(error)
        assert all(line.isprintable() for line in message.split("\n"))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "no such file"),
        (b"game:\n  name: \xff\n", "2: not UTF-8 text"),
        (b"#" * (MAXIMUM_BYTES + 1), "the limit is 1,048,576"),
        (b"\x80\x04pickle", "1: not UTF-8 text"),
        ("a folder", "is a directory"),
    ],
)
def test_an_unreadable_file_gets_one_line(content: Any, complaint: str, tmp_path):
    path = tmp_path / "run.yaml"
    if content == "a folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(path) in str(caught.value)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_with_windows_line_ends_and_a_byte_order_mark_loads(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALLEST.replace("\n", "\r\n").encode())
    assert load_config(path).game.name == "connect_four"


# --- the schema and the shipped files ----------------------------------------------------------


def test_every_key_is_documented_in_single_lines():
    for row in describe_keys():
        assert all((row.meaning, row.type, row.default)), row
        assert all("\n" not in text for text in row), row


def test_every_default_in_the_documentation_may_be_written_in_a_file():
    apart, ray = ("game", "budget"), "selfplay.distributed.ray"
    rows = [row for row in describe_keys() if row.section not in (*apart, ray)]
    overrides = [f"{row.section}.{row.key}={row.default}" for row in rows]
    assert parse_config(SMALLEST, "x", overrides) == parse_config(SMALLEST)
    overrides = [f"{ray}.{row.key}={row.default}" for row in find_keys(ray)]
    assert parse_config(SMALLEST, "x", overrides).selfplay.distributed == RayConfig()


def test_a_mistyped_path_is_answered_with_a_similar_one_that_exists(tmp_path, monkeypatch):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/drop_four.yaml").write_text("game: {name: connect_four}\n")
    monkeypatch.chdir(tmp_path)
    for typed in ("configs/drop_four.yml", "drop_four.yaml", "drop_four"):
        with pytest.raises(ConfigError, match=r"did you mean 'configs/drop_four.yaml'\?$"):
            load_config(typed)
    for typed in ("else/connect_four.yaml", "configs/else.yaml", "."):
        with pytest.raises(ConfigError) as caught:
            load_config(typed)
        assert "did you mean" not in str(caught.value)
