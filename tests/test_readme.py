"""The README says what is so: its commands run, its paths exist, its tables are the code's."""

import itertools
import os
import re
import runpy
import shlex
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from alphazero.cli import main as cli
from alphazero.frontends.web import server
from alphazero.games.game import Game
from alphazero.training.monitoring.metrics import METRICS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

TINY = [
    "budget.iterations=1",
    "selfplay.games_per_iteration=20",
    "selfplay.parallel_games=10",
    "search.simulations=4",
    "replay.reuse=1",
    "gate.games=2",
    "network.blocks=1",
    "network.filters=24",
]
"""What makes any configuration end in a moment."""


SHORT = {
    "match": ["--games=2"],
    "rate": ["--games=2"],
    "bench": ["--seconds=2"],
    "serve": ["--port=0"],
    "plan": ["--seconds=2"],
    "foundations": ["--episodes=20000"],
}
"""What makes other commands end soon."""


def marked(name: str) -> str:
    """Return what stands between `<!-- name -->` and the next `<!-- end -->`."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", README, re.DOTALL)
    assert found, f"README.md has no part marked '{name}'"
    return found[1]


def shell_lines() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


def inline_commands() -> list[list[str]]:
    """Return the arguments of every `alphazero` command that stands in a table or a sentence."""
    outside = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    return [shlex.split(each)[1:] for each in re.findall(r"`(alphazero \w+ [^`]+)`", outside)]


def alphazero_commands() -> list[list[str]]:
    """Return the arguments of every `alphazero` command of the README, in order."""
    parts = [part for line in shell_lines() for part in line.split(" && ")]
    return [shlex.split(part)[1:] for part in parts if part.startswith("alphazero ")]


def test_every_command_is_understood_and_names_files_that_exist() -> None:
    commands = alphazero_commands()
    assert {command[0] for command in commands} >= {"train", "play", "show", "grade", "games"}
    assert inline_commands()
    for command in [*commands, *inline_commands()]:
        cli.parser().parse_args(command)
        for word in command:
            if word.startswith("configs/"):
                assert (ROOT / word).is_file(), word


def test_other_commands_are_the_ones_we_know() -> None:
    known = ("pip install -e ", "alphazero ", "tensorboard --logdir checkpoints", "export RAY_")
    known += ("ray start ", "ray stop", "torchrun ")
    assert [line for line in shell_lines() if not line.startswith(known)] == []


def test_the_test_command_is_what_ci_runs() -> None:
    assert "pip install -e '.[test]' && pytest" in marked("test")
    assert "<!-- test -->" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def announced(site: Any, host: str, opened: Callable[[], object]) -> SimpleNamespace:
    """Return what says where the page is, as its server does, and ends."""

    def run(listeners: list[socket.socket]) -> None:
        opened()
        for listener in listeners:
            listener.close()

    return SimpleNamespace(run=run)


def test_the_first_commands_train_grade_show_and_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "checkpoints").mkdir()
    for shipped in (ROOT / "checkpoints").glob("*.safetensors"):
        shutil.copy(shipped, tmp_path / "checkpoints")
    monkeypatch.setattr("builtins.input", lambda _: "quit")
    monkeypatch.setattr(server, "make_server", announced)
    commands = [command for command in alphazero_commands() if "--resume" not in command]
    for command in commands:
        if any(word.startswith("gtp:") for word in command):
            continue  # the next test's
        if any("ray: " in word for word in command):
            continue  # as tests/test_cluster.py does
        if command[0] == "train":
            assert cli.main([*command, *TINY]) == 0
        elif command[0] == "grade":
            # So little training leaves mistakes: the command works, and says that some are left.
            assert cli.main(command) in (0, 1)
        else:
            assert cli.main([*command, *SHORT.get(command[0], [])]) == 0
    told = capsys.readouterr().out
    assert "solved positions" in told
    assert "tic_tac_toe" in told
    for command in alphazero_commands():
        if "--resume" in command:
            assert cli.main([*command, "budget.iterations=2"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("program", ["gnugo", "gtp-rhino"])
def test_matches_with_other_programs_are_played_to_their_end(
    program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They lie in /usr/games, where Debian puts them, or elsewhere on the path."""
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}/usr/games")
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    (command,) = [
        each for each in alphazero_commands() if any(f"gtp:{program} " in word for word in each)
    ]
    assert cli.main(command) == 0
    told = capsys.readouterr().out
    assert "of 20 games distinct" in told
    assert "lost by" not in told


def test_the_python_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "checkpoints").mkdir()
    for shipped in (ROOT / "checkpoints").glob("*.safetensors"):
        shutil.copy(shipped, tmp_path / "checkpoints")
    tiny = ", ".join(f'"{each}"' for each in TINY)
    short = [block.replace('"budget.iterations=2"', tiny) for block in blocks]
    assert short != blocks
    for code in short:
        exec(compile(code, "README.md", "exec"), {})


def test_the_table_of_packages_names_every_package() -> None:
    named = re.findall(r"^\| `(\w+)/` \|", marked("packages"), re.MULTILINE)
    packages = {path.parent.name for path in (ROOT / "alphazero").glob("*/__init__.py")}
    assert sorted(named) == sorted(packages)


def test_the_top_level_is_as_it_was_laid_down() -> None:
    top = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    built = {"build", "dist", *(path.name for path in ROOT.glob("*.egg-info"))}
    assert top - built == {"alphazero", "checkpoints", "configs", "scripts", "tests"}


def test_nothing_else_lies_at_the_top() -> None:
    allowed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"}
    files = {path.name for path in ROOT.iterdir() if path.is_file()}
    assert {name for name in files if not name.startswith(".")} == allowed


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_table_of_curves_is_the_table_of_metrics() -> None:
    kinds = {"curve": "", "histogram": "histogram: ", "picture": "picture: "}
    rows = [
        f"| `{name}` | {metric.unit} | {kinds[metric.kind]}{metric.meaning} |"
        for name, metric in METRICS.items()
    ]
    assert marked("metrics").splitlines()[2:] == rows


def test_what_a_game_needs_is_what_the_readme_says() -> None:
    section = README.split("## Add a game")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w+)(?:\([\w, ]*\))?`", section))
    needed = Game.__abstractmethods__ | {"legal", "play", "outcome", "observe"}
    assert needed <= named, needed - named


@pytest.mark.parametrize(
    ("script", "given", "expected"),
    [
        ("train.py", ["--resume", "somewhere"], ["train", "--resume", "somewhere"]),
        ("play.py", ["--side", "second"], ["play", "--side", "second"]),
        ("benchmark.py", ["some.yaml", "--seconds", "3"], ["bench", "some.yaml", "--seconds", "3"]),
        ("evaluate.py", ["match", "A", "B"], ["match", "A", "B"]),
        ("evaluate.py", ["grade", "A"], ["grade", "A"]),
    ],
)
def test_scripts_are_thin_starters_of_the_same_functions(
    script: str, given: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(cli, "main", lambda arguments: called.append(arguments) or 0)
    assert start(script, given, monkeypatch) == 0
    assert called == [expected]


def test_every_script_explains_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scripts = sorted(path.name for path in (ROOT / "scripts").glob("*.py"))
    assert len(scripts) > 4
    for script in scripts:
        assert start(script, ["--help"], monkeypatch) == 0
        assert len(capsys.readouterr().out.splitlines()) > 2, script


@pytest.mark.parametrize("given", [[], ["train", "some.yaml"], ["A", "B"]])
def test_evaluating_needs_to_be_told_how(
    given: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start("evaluate.py", given, monkeypatch) == 2
    assert "evaluate.py match A B" in capsys.readouterr().err


def start(script: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a script as a shell would, within this process; return its exit code."""
    monkeypatch.setattr("sys.argv", [script, *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "scripts" / script), run_name="__main__")
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda path: path.name
)
def test_every_config_says_what_it_costs_and_how_to_measure_it(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    head = list(itertools.takewhile(lambda line: line.startswith("#"), lines))
    for word in ("Time: ", "Strength: "):
        assert [line for line in head if line.startswith(f"# {word}")], word
    for line in head:
        command = re.search(r"alphazero (\w+ .*)", line)
        if line.startswith("# Measure"):
            assert command
            cli.parser().parse_args(shlex.split(command[1]))
