"""The reference of the configuration agrees with its schema, its table and the shipped files."""

import jsonschema
import pytest
import yaml
from helpers.paths import CONFIGS

from alphazero.cli.main import main
from alphazero.config.loader import dump_config, load_config, parse_config
from alphazero.config.reference import describe_keys, find_keys, json_schema, keys_table
from alphazero.errors import ConfigError

SHIPPED = sorted(CONFIGS.glob("*.yaml"))


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["config", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_the_table_of_keys_is_the_one_of_the_readme():
    text = (CONFIGS / "README.md").read_text(encoding="utf-8")
    assert f"<!-- keys -->\n{keys_table()}\n<!-- end -->" in text


def test_the_shipped_schema_is_the_one_of_the_code(capsys):
    text = (CONFIGS / "schema.json").read_text(encoding="utf-8")
    assert printed(capsys, "--json-schema") == text
    jsonschema.Draft7Validator.check_schema(json_schema())


@pytest.mark.parametrize(
    ("value", "accepted"),
    [("null", True), ("{ray: null}", True), ("{ray: {actors: 3}}", True), ("{}", False)],
)
def test_the_schema_takes_the_actors_that_the_reader_takes(value: str, accepted: bool):
    text = f"game: {{name: nim}}\nbudget: {{iterations: 1}}\nselfplay: {{distributed: {value}}}\n"
    checker = jsonschema.Draft7Validator(json_schema())
    assert checker.is_valid(yaml.safe_load(text)) == accepted
    if accepted:
        parse_config(text)
    else:
        with pytest.raises(ConfigError, match=r"selfplay\.distributed: expected null or \{ray"):
            parse_config(text)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_schema_takes_shipped_files_and_what_they_resolve_to(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=schema.json\n")
    for content in (text, dump_config(load_config(path))):
        jsonschema.validate(yaml.safe_load(content), json_schema())


@pytest.mark.parametrize(
    "wrong",
    [
        "network: {auxiliary: [margins]}",
        "network: {auxiliary: margin}",
        "network: {auxiliary: [margin, margin]}",
        "search: {num_simulation: 3}",
        "search: {simulations: 0}",
        "search: {simulations: 1.5}",
        "search: {selection: puctt}",
        "selfplay: {dirichlet_alpha: 0}",
        "selfplay: {distributed: {ray: {actor: 2}}}",
        "learner: {learning_rate: [{step: 0}]}",
        "evaluation: {anchors: random}",
        "searches: {}",
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(wrong: str):
    text = f"game: {{name: nim}}\nbudget: {{iterations: 1}}\n{wrong}\n"
    with pytest.raises(ConfigError):
        parse_config(text)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), json_schema())


def test_a_key_is_found_by_its_name_and_its_section(capsys):
    for name in ("search.mcts_solver", "mcts_solver"):
        assert [row.name for row in find_keys(name)] == ["search.mcts_solver"]
    assert {row.section for row in find_keys("gate")} == {"gate"}
    text = printed(capsys, "search.c_puct")
    for part in ("exploration constant", "default: 1.4", "range: at least 0", "pb_c_init"):
        assert part in text
    assert printed(capsys).count("default: ") == len(describe_keys())


def test_a_mistyped_key_is_one_line(only_line):
    line = "error: no key or section 'search.cpuct'; did you mean 'search.c_puct'?"
    assert only_line("config", "search.cpuct") == line
    assert only_line("config", "search.c_puct", SHIPPED[0])
    assert only_line("config", "search.c_puct=3")


def test_a_file_is_shown_with_every_default_and_loads_to_the_same(capsys):
    path = CONFIGS / "nim.yaml"
    assert parse_config(printed(capsys, path)) == load_config(path)
    changed = parse_config(printed(capsys, path, "search.c_puct=3"))
    assert changed == load_config(path, ["search.c_puct=3"])


def test_two_files_are_compared_key_by_key(capsys):
    one, two = CONFIGS / "nim.yaml", CONFIGS / "tic_tac_toe.yaml"
    lines = printed(capsys, one, two).splitlines()
    assert "game.name: nim -> tic_tac_toe" in lines
    assert not [line for line in lines if line.startswith("search.c_puct:")]
    assert printed(capsys, one, one) == "no key differs\n"
