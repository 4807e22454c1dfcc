"""What every README says is true: its commands run, its links lead somewhere, its tables fit.

A block of commands may begin with lines `# needs: ...`. A need that is a command of alphazero is
run first. One that begins with `pip install` is met, since the extra `test` contains it. A block
that needs anything else, such as another program, is parsed and not run.
"""

import importlib
import inspect
import itertools
import os
import re
import runpy
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple, get_type_hints

import pytest
import yaml
from helpers.paths import CONFIGS, ROOT
from helpers.processes import run_python

import alphazero
from alphazero.cli import main as cli
from alphazero.config.fields import config_fields
from alphazero.config.schema import Config
from alphazero.frontends.web import server
from alphazero.games import registry
from alphazero.games.game import Game
from alphazero.training.monitoring.metrics import METRICS

MAIN = "README.md"

TINY = [
    *("budget.iterations=1", "selfplay.games_per_iteration=4", "selfplay.parallel_games=4"),
    *("search.simulations=4", "replay.ratio=1", "learner.batch_size=8", "gate.games=2"),
    *("network.blocks=1", "network.filters=24"),
]
"""What makes any configuration end in a moment."""

SHORT = {
    "match": ["--games=2"],
    "rate": ["--games=2"],
    "bench": [*TINY, "--seconds=0.2"],
    "grade": ["--simulations=0"],
    "serve": ["--port=0"],
    "plan": [*TINY, "--seconds=0.1"],
}
"""What makes other commands end soon."""

PROGRAMS = {"gnugo": "gnugo", "gtp-rhino": "grhino", "fairy-stockfish": "fairy-stockfish"}
"""Other programs, and the packages that bring them."""

OTHERS = (
    *("pip install -e ", "pytest", "ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2 pytest "),
    *("alphazero ", "python -m alphazero.foundations ", "tensorboard --logdir checkpoints"),
    *("export RAY_", "ray start ", "ray stop", "torchrun "),
)
"""How every line of a block begins."""


def _readmes() -> dict[str, str]:
    """Return the text of every README, by its path; the main one comes first."""
    paths = {str(path.relative_to(ROOT)) for path in ROOT.glob("**/README.md")}
    git = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*README.md"]
    listed = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if listed:  # an archive without git has the same files
        paths &= set(listed.split())
    order = [MAIN, *sorted(path for path in paths - {MAIN} if path[0] != ".")]
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in order}


READMES = _readmes()
each_readme = pytest.mark.parametrize("path", READMES)


class Block(NamedTuple):
    """Commands of a README: its lines, and the arguments of every `alphazero` command in order."""

    path: str
    needs: list[str]
    lines: list[str]
    needed: list[list[str]]
    commands: list[list[str]]

    @property
    def runs_here(self) -> bool:
        """Whether nothing is needed but commands of alphazero and its extras."""
        return all(need.startswith(("alphazero ", "pip install ")) for need in self.needs)


def arguments_of(lines: list[str]) -> list[list[str]]:
    parts = [part for line in lines for part in line.split(" && ")]
    return [shlex.split(part)[1:] for part in parts if part.startswith("alphazero ")]


def _blocks() -> Iterator[Block]:
    for path, text in READMES.items():
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
            needs = re.findall(r"^# needs: (.*)$", block, re.MULTILINE)
            lines = block.splitlines()[len(needs) :]
            assert not any(line.startswith("# needs") for line in lines), (
                f"{path}: needs stand first"
            )
            yield Block(path, needs, lines, arguments_of(needs), arguments_of(lines))


BLOCKS = list(_blocks())
COMMANDS = [command for block in BLOCKS for command in block.commands]
NEEDED = [command for block in BLOCKS for command in block.needed]


def inline(pattern: str, path: str) -> list[str]:
    """Return the code in sentences and tables of a README that begins with `pattern`."""
    outside = re.sub(r"```.*?```", "", READMES[path], flags=re.DOTALL)
    return [" ".join(each.split()) for each in re.findall(rf"`({pattern}[^`]*)`", outside)]


def inline_commands(path: str) -> list[list[str]]:
    """Return the arguments of every `alphazero` command that stands in a table or a sentence."""
    return [shlex.split(each)[1:] for each in inline(r"alphazero\s\w+\s", path)]


def marked(name: str) -> tuple[str, str]:
    """Return the README with a part between `<!-- name -->` and `<!-- end -->`, and this part."""
    pattern = rf"<!-- {name} -->\n(.*?)<!-- end -->"
    found = {path: re.search(pattern, text, re.DOTALL) for path, text in READMES.items()}
    ((path, part),) = [(path, part[1]) for path, part in found.items() if part]
    return path, part


def test_the_main_readme_is_short_and_begins_with_a_picture_and_its_contents():
    text = READMES[MAIN]
    assert len(text.splitlines()) <= 250
    assert re.findall(r"!\[.*?\]\((.*?)\)", text) == [".github/page.png"]
    before, after = text.split("**Contents:**")
    contents, rest = after.split("\n\n", 1)
    titles = re.findall(r"\[(.+?)\]", contents.replace("\n", " "))
    assert titles == re.findall(r"^## (.+)", rest, re.MULTILINE)
    assert ".github/page.png" in before


def test_the_first_command_installs_and_trains():
    path, start = marked("start")
    assert path == BLOCKS[0].path == MAIN
    assert "pip install -e . && alphazero train configs/tic_tac_toe.yaml" in start
    assert BLOCKS[0].lines[0] in start


@each_readme
def test_every_command_is_understood_and_names_files_that_exist(path: str):
    commands = [command for block in BLOCKS if block.path == path for command in block.commands]
    trained = {f"checkpoints/{config.stem}" for config in CONFIGS.glob("*.yaml")}
    trained |= {
        f"checkpoints/{word.removeprefix('run.name=')}"
        for command in [*commands, *NEEDED]
        for word in command
        if word.startswith("run.name=")
    }
    for command in [*commands, *inline_commands(path), *NEEDED]:
        cli.parser().parse_args(command)
        for word in command:
            if word.startswith("configs/"):
                assert (ROOT / word).is_file(), word
            if word.startswith("checkpoints/"):
                file = word.partition(":")[0]
                assert (ROOT / file).is_file() or file in trained, word


def test_every_kind_of_command_is_shown():
    shown = {command[0] for command in COMMANDS}
    shown |= {command[0] for path in READMES for command in inline_commands(path)}
    assert shown >= set(cli.NAMES) - {"config"}


@each_readme
def test_programs_that_a_command_needs_are_named(path: str):
    for block in (each for each in BLOCKS if each.path == path):
        needs = " ".join(block.needs)
        for word in itertools.chain(*block.needed, *block.commands):
            if word.startswith(("gtp:", "uci:", "gomocup:")):
                assert PROGRAMS[re.split("[ ,]", word.partition(":")[2])[0]] in needs, word
            if "{ray: " in word:
                assert "Ray" in needs, word
    for word in itertools.chain(*inline_commands(path)):
        if word.startswith("gtp:"):
            assert PROGRAMS[word[4:].split()[0]] in READMES[path].partition("apt install ")[2]


@each_readme
def test_extras_that_are_needed_exist_and_the_tests_install_them(path: str):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (own,) = re.findall(r"alphazero\[(.*?)\]", " ".join(project["optional-dependencies"]["test"]))
    for extras in re.findall(r"pip install -e '\.\[([\w,]+)\]'", READMES[path]):
        assert set(extras.split(",")) <= {"test", *own.split(",")}, extras


def test_other_commands_are_the_ones_we_know():
    lines = [line for block in BLOCKS for line in block.lines]
    assert [line for line in lines if not line.startswith(OTHERS)] == []


def help_of(script: str, words: list[str], monkeypatch, capsys) -> str:
    """Return what a script prints about itself, or about its subcommand."""
    monkeypatch.setattr("sys.argv", [script, *words, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "scripts" / script), run_name="__main__")
    assert not ended.value.code
    return capsys.readouterr().out


def test_every_script_explains_itself_and_takes_the_options_that_are_named(monkeypatch, capsys):
    texts = {
        path.name: help_of(path.name, [], monkeypatch, capsys)
        for path in (ROOT / "scripts").glob("*.py")
    }
    assert [name for name, text in texts.items() if len(text.splitlines()) <= 2] == []
    for command in itertools.chain(*(inline(r"python\sscripts/", path) for path in READMES)):
        _, script, *words = shlex.split(command)
        help_text, name = texts[Path(script).name], Path(script).name
        if name == "readme_images.py":
            help_text = help_of(name, words[:1], monkeypatch, capsys)
        for word in words:
            if word.startswith("--"):
                assert re.search(rf"{word}\b", help_text), f"{command}: {word}"
            if word.startswith(("configs/", "checkpoints/")):
                assert (ROOT / word).is_file(), word


@each_readme
def test_every_file_that_is_named_exists_and_every_link_leads_somewhere(path: str):
    text, here = READMES[path], (ROOT / path).parent
    folders = {each.name for folder in (ROOT, here) for each in folder.iterdir() if each.is_dir()}
    for name in re.findall(r"(?<![\w./~<])([\w.]+/[\w./]*\w\.(?:py|yaml|toml|md|txt))\b", text):
        if name.split("/")[0] in folders:
            assert (ROOT / name).is_file() or (here / name).is_file(), name
    for target in re.findall(r"\]\(([^)]+)\)", text):
        name, _, heading = target.partition("#")
        file = here / name if name else ROOT / path
        assert file.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            # As GitHub calls a heading in a link.
            anchors = [re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings]
            assert heading in anchors, target


@each_readme
def test_every_setting_shown_exists(path: str):
    for text in re.findall(r"^```yaml\n(.+?)^```", READMES[path], re.MULTILINE | re.DOTALL):
        for section, settings in yaml.safe_load(text).items():
            fields = config_fields(get_type_hints(Config)[section])
            assert set(settings) <= {field.name for field, _, _ in fields}


def test_every_readme_is_found_from_the_main_one():
    reached, waiting = set(), [MAIN]
    while waiting:
        path = waiting.pop()
        reached.add(path)
        for target in re.findall(r"\]\(([^)#]+README\.md)", READMES[path]):
            other = os.path.relpath(((ROOT / path).parent / target).resolve(), ROOT)
            waiting += [other] if other not in reached else []
    assert reached == set(READMES)


def test_the_test_command_is_what_ci_runs():
    path, command = marked("test")
    assert path == MAIN
    assert "pip install -e '.[test]' && pytest" in command
    assert "<!-- test -->" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def short_server(*_: object) -> SimpleNamespace:
    """Return a stand-in for the page's server that ends at once."""
    return SimpleNamespace(run=lambda listeners: [each.close() for each in listeners])


@pytest.fixture
def clone(tmp_path, monkeypatch) -> Path:
    """Work where configurations and shipped players lie as in a fresh clone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").symlink_to(CONFIGS)
    (tmp_path / "checkpoints").mkdir()
    for shipped in (ROOT / "checkpoints").glob("*.safetensors"):
        shutil.copy(shipped, tmp_path / "checkpoints")
    return tmp_path


def run_briefly(command: list[str], again: Sequence[str] = ()) -> None:
    """Run a command in a form that ends soon; `again` is what makes a resumed run go on."""
    command = [re.sub(r"^(uct:\D*)\d+", r"\g<1>50", word) for word in command]
    if command[0] in ("match", "rate"):
        command = [
            re.sub(r"^(checkpoints/\S+\.safetensors)$", r"\1:simulations=8", word)
            for word in command
        ]
    more = SHORT.get(command[0], [])
    if command[0] == "train":
        more = again if "--resume" in command else TINY
    # So little training leaves mistakes: `grade` works, and says that some are left.
    assert cli.main([*command, *more]) in ((0, 1) if command[0] == "grade" else (0,))


@pytest.mark.parametrize("is_main", [True, False], ids=["main", "others"])
def test_the_commands_run_in_a_fresh_clone(is_main: bool, clone, monkeypatch, capsys):
    """In their order, but that runs are resumed at the end.

    Commands of other READMEs that the main one has word for word are not run again.
    """
    monkeypatch.setattr("builtins.input", lambda _: "quit")
    monkeypatch.setattr(server, "make_server", short_server)
    blocks = [block for block in BLOCKS if block.runs_here and (block.path == MAIN) == is_main]
    of_main = [each for block in BLOCKS if block.path == MAIN for each in block.commands]
    done: list[list[str]] = []
    for block in blocks:
        new = [each for each in block.commands if is_main or each not in of_main]
        for command in [*block.needed, *new]:
            if command not in done:
                done.append(command)
                if "--resume" not in command:
                    run_briefly(command)
    for command in done:
        if "--resume" in command:
            run_briefly(command, ["budget.iterations=2"])
    output = capsys.readouterr().out
    if is_main:
        assert "solved positions" in output
        assert "tic_tac_toe" in output


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_matches_with_other_programs_are_played_to_their_end(program: str, monkeypatch, capsys):
    """They lie in /usr/games, where Debian puts them, or elsewhere on the path."""
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}/usr/games")
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    (command,) = [
        each for each in COMMANDS if any(re.search(f":{program}[ ,]", word) for word in each)
    ]
    assert cli.main(command) == 0
    output = capsys.readouterr().out
    assert "of 20 games distinct" in output
    assert "lost by" not in output


@each_readme
def test_the_python_examples_run(path: str, clone, temporary_games, monkeypatch):
    """Those that register a game are what a file in alphazero/games/ holds: the game is sound."""
    monkeypatch.syspath_prepend(clone)
    tiny = ", ".join(f'"{each}"' for each in TINY)
    for code in re.findall(r"```python\n(.*?)```", READMES[path], re.DOTALL):
        short = code.replace('"budget.iterations=2"', tiny)
        assert "alphazero.train(" not in code or short != code
        registered = re.search(r'@register\("(\w+)"\)', code)
        if registered:
            (clone / f"{registered[1]}.py").write_text(short)
            importlib.import_module(registered[1])
            assert not alphazero.check_game(registered[1]).faults
        else:
            exec(compile(short, path, "exec"), {})


@pytest.mark.slow
def test_the_python_example_has_the_types_that_the_package_says(tmp_path):
    (code,) = re.findall(r"```python\n(import.*?)```", READMES[MAIN], re.DOTALL)
    (tmp_path / "example.py").write_text(code)
    run_python("-m", "mypy", tmp_path / "example.py", cwd=ROOT)


def written(name: str) -> str:
    """Return a public name with its parameters; other defaults than plain values are dots."""
    value, plain = getattr(alphazero, name), (str, int, bool, tuple, type(None))
    if inspect.isabstract(value) or (isinstance(value, type) and issubclass(value, Exception)):
        return name
    parameters = []
    for each in inspect.signature(value).parameters.values():
        has_plain_default = each.default is each.empty or type(each.default) in plain
        shown = each.replace(annotation=each.empty)
        parameters.append(shown if has_plain_default else shown.replace(default=...))
    signature = str(inspect.Signature(parameters)).replace("Ellipsis", "...")
    return f"{name}{signature}"


def test_every_public_name_is_explained_with_its_parameters_and_used():
    text = READMES["alphazero/README.md"]
    assert sorted(re.findall(r"^### (.+)$", text, re.MULTILINE)) == sorted(
        map(written, alphazero.__all__)
    )
    examples = "".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    unused = {name for name in alphazero.__all__ if f"alphazero.{name}" not in examples}
    assert unused <= {"SearchResult"}, "it is what `search` returns"


def test_the_table_of_packages_names_every_package_and_the_top_level_is_as_it_was():
    path, table = marked("packages")
    assert path == MAIN
    named = re.findall(r"^\| \[?`(\w+)/`", table, re.MULTILINE)
    packages = {each.parent.name for each in (ROOT / "alphazero").glob("*/__init__.py")}
    assert sorted(named) == sorted(packages)
    top = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    built = {"build", "dist", *(path.name for path in ROOT.glob("*.egg-info"))}
    folders = {"alphazero", "checkpoints", "configs", "scripts", "tests"}
    assert top - built == folders | {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"}


def test_the_table_of_curves_is_the_table_of_metrics():
    kinds = {"curve": "(?!histogram).{4}", "histogram": "histogram: "}
    rows = marked("metrics")[1].splitlines()[2:]
    for row, (name, metric) in zip(rows, METRICS.items(), strict=True):
        beginning = f"| `{name}` | {metric.unit} | "
        assert row.startswith(beginning)
        assert re.match(kinds[metric.kind], row.removeprefix(beginning)), name


def test_what_a_game_needs_is_what_the_readme_says():
    section = READMES["alphazero/games/README.md"].split("## Add a game")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w+)(?:\([\w, ]*\))?`", section))
    needed = Game.__abstractmethods__ | {"legal", "play", "observe"}
    assert needed <= named, needed - named


def test_every_game_and_every_shipped_player_is_named():
    own = READMES["alphazero/games/README.md"]
    assert [name for name in registry._own_games() if f"`{name}`" not in own] == []
    players = READMES["checkpoints/README.md"]
    for path in (ROOT / "checkpoints").glob("*.safetensors"):
        assert f"`alphazero play {path.stem}" in players
    scripts = READMES["scripts/README.md"]
    for path in (ROOT / "scripts").glob("*.py"):
        assert path.name in scripts


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.name)
def test_every_config_says_what_it_costs_and_how_to_measure_it(path: Path):
    lines = path.read_text(encoding="utf-8").splitlines()
    head = list(itertools.takewhile(lambda line: line.startswith("#"), lines))
    for word in ("Time: ", "Strength: "):
        assert [line for line in head if line.startswith(f"# {word}")], word
    for line in head:
        command = re.search(r"alphazero (\w+ .*)", line)
        if line.startswith("# Measure"):
            assert command
            words = shlex.split(command[1])
            cli.parser().parse_args(words)
            shipped = (ROOT / "checkpoints" / f"{path.stem}.safetensors").exists()
            named = path.stem if shipped else f"checkpoints/{path.stem}"
            assert words[1].split(":")[0] == named
