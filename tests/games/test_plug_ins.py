"""Games of other packages: one that is broken costs its own games and nothing else.

Packages lie in a folder that is on Python's path, as installed ones do. A file among our own games
is tried in a copy of the package, by another process.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.commands import exit_code

import alphazero
from alphazero.games import registry

SOUND = """
from alphazero.games import register
from alphazero.games.mnk import Mnk

@register("sound", rows=4, columns=4, length=3)
class Sound(Mnk):
    pass
"""

RULE = """
from alphazero.games import Signature, register
from alphazero.games.mnk import Mnk, play
from alphazero.utils.jit import kernel, shared_kernel
import numpy as np

@shared_kernel
def chips(state):
    return state[5]

@kernel(Signature.play)
def mine(state, action):
    play(state, action)
    if chips(state) > 100:
        state[0] = 1

@register("mine")
class Mine(Mnk):
    rule_functions = Mnk.rule_functions._replace(play=mine)
"""

NO_ANSWER = """@kernel(Signature.legal)
def mine(state, mask):
    mask[:] = chips(state) > 100

@register("mine")
class Mine(Mnk):
    rule_functions = Mnk.rule_functions._replace(legal=mine)
"""

SLIPS = {
    "bare kernel": ("@shared_kernel", "@kernel", 7, "TypeError: @kernel needs a signature, as in"),
    "no kernel": ("@shared_kernel", "", 14, "mark a helper of rules with @shared_kernel or @inl"),
    "f-string": ("state[0] = 1", "raise ValueError(f'{action:>3}')", 15, "no format in an f-stri"),
    "name": ("state[0] = 1", "stat[0] = 1", 15, "name 'stat' is not defined"),
    "name in a helper": ("state[5]", "state[CHIPS]", 9, "name 'CHIPS' is not defined"),
    "attribute": ("state[0] = 1", "state.ply = 1", 15, "Cannot resolve setattr: (array(int64, 1d"),
    "list": (
        "def chips(state):\n    return state[5]",
        "def chips(state):\n    return TABLE[0, 1]\nTABLE = [[1, 2], [3, 4]]",
        15,
        "a table of rules must be a numpy array",
    ),
    "dict": (
        "def chips(state):\n    return state[5]",
        "def chips(state):\n    return TABLE[0]\nTABLE = {0: 1}",
        15,
        "dict'>; a table of rules must be a numpy array",
    ),
    "an answer": ("state[0] = 1", "state[0] = 1\n    return state", 16, "must return nothing"),
    "no answer": (RULE[RULE.index("@kernel") :], NO_ANSWER, 13, "the rule must return a number"),
    "parameters": ("mine(state, action)", "mine(state)", 11, "2 argument types given, but"),
    "with": ("state[0] = 1", "with open('x') as f: pass", 11, "The 'with (context manager) as"),
    "name in numpy": ("state[0] = 1", "np.ply(1)", 15, "module 'numpy' has no attribute 'ply'"),
}
"""Slips in a rule: what stands in place of what, and the line and the reason in the message."""

TAKEN = """
from alphazero.games import register
from alphazero.games.mnk import Mnk

@register("half")
class Half(Mnk):
    pass

@register("connect_four")
class Broken(Mnk):
    pass
"""


def install(folder: Path, package: str, name: str, source: str, attribute: str = "") -> None:
    """Install a package of one module that brings the game `name`."""
    (folder / f"{package}.py").write_text(source)
    metadata = folder / f"{package}-1.5.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
    (metadata / "entry_points.txt").write_text(
        f"[alphazero.games]\n{name} = {package}{attribute}\n"
    )


class Answer(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Ask = Callable[..., Answer]


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys, temporary_games) -> Iterator[Ask]:
    """Run commands where the packages of `tmp_path` are installed."""

    def run(*words: str) -> Answer:
        capsys.readouterr()
        return Answer(exit_code(*words), *capsys.readouterr())

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_broken", {})
    for cached in (registry._import_plug_ins, registry._report_broken):
        cached.cache_clear()
    yield run
    for cached in (registry._import_plug_ins, registry._report_broken):
        cached.cache_clear()
    for package in ("broken_games", "sound_games"):
        sys.modules.pop(package, None)


@pytest.mark.parametrize(
    ("source", "attribute", "line", "reason"),
    [
        ("import no_such_module\n", "", ":1", "ModuleNotFoundError: No module named 'no_such_mod"),
        ("x = 1\ndef broken(:\n", "", ":2", "SyntaxError: invalid syntax"),
        ("\n\nraise RuntimeError('two\\nlines')\n", "", ":3", "RuntimeError: two lines"),
        ("import sys\nsys.exit(7)\n", "", ":2", "SystemExit: 7"),
        ("thing = 3\n", ":thing", "", "GameError: broken_games:thing registers no game"),
        (
            "from alphazero.games import register\nregister('broken')(3)\n",
            "",
            ":2",
            "GameError: register('broken'): expected a subclass of Game, got 3",
        ),
        ("from typing import NamedTuple\nNamedTuple('A', 3)\n", "", ":2", "TypeError: 'int'"),
        (
            "from alphazero.games import register\nfrom alphazero.games.nim import Nim\n"
            "register('broken', heaps=3)(Nim)\n",
            "",
            ":3",
            "GameError: register('broken'): Nim has no option 'heaps'",
        ),
        (TAKEN, "", ":9", "GameError: the name 'connect_four' is taken by alphazero.games.connect"),
    ],
    ids=[
        "import",
        "syntax",
        "exception",
        "exit",
        "object",
        "register",
        "in typing",
        "option",
        "taken",
    ],
)
def test_a_broken_plug_in_costs_its_own_games_alone(
    source: str, attribute: str, line: str, reason: str, tmp_path, ask
):
    install(tmp_path, "broken_games", "broken", source, attribute)
    install(tmp_path, "sound_games", "sound", SOUND)
    done = ask("info")
    assert done.code == 0, done.err
    (message,) = done.err.splitlines()
    where = f"{tmp_path}/broken_games.py{line}" if line else "broken_games:thing"
    assert message.startswith("skipped game 'broken' of package broken_games 1.5, ")
    assert where in message
    assert reason in message
    listed = [row.split()[0] for row in done.out.splitlines()]
    assert {"sound", "connect_four", "mnk", "go"} <= set(listed)
    assert not {"broken", "half"} & set(listed)
    done = ask("solve", "broken")
    assert done.code == 2
    (error,) = done.err.splitlines()
    assert error.startswith("error: game 'broken' cannot be loaded: package broken_games 1.5, ")
    assert reason in error


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_a_rule_is_reported_by_check_with_file_and_line(slip: str, tmp_path, ask):
    right, wrong, line, reason = SLIPS[slip]
    install(tmp_path, "broken_games", "mine", RULE.replace(right, wrong, 1))
    done = ask("check", "mine")
    assert done.code == 2
    (error,) = done.err.splitlines()
    assert f" {tmp_path}/broken_games.py:{line}: " in error
    assert reason in error
    assert len(error.partition("broken_games.py")[2]) < 200


@pytest.mark.parametrize(
    ("command", "source", "line", "reason"),
    [
        ("check mine", b"x = 1\n'\xff'\n", ":", "SyntaxError: "),
        (
            "info",
            b"from alphazero.games import register\n\nregister('nim')(3)\n",
            ":3: ",
            "GameError: register",
        ),
        ("check mine", RULE.replace("state[0] = 1", "np.ply(1)").encode(), ":15: ", "'ply'"),
    ],
    ids=["encoding", "register", "name in numpy"],
)
def test_a_broken_file_among_our_games_is_reported_in_one_line(
    command: str, source: bytes, line: str, reason: str, tmp_path
):
    games = tmp_path / "alphazero" / "games"
    shutil.copytree(Path(alphazero.__file__).parent, tmp_path / "alphazero")
    if b'@register("mine")' not in source:
        source += b'@register("mine")\nclass Mine: pass\n'
    (games / "mine.py").write_bytes(source)
    done = start(tmp_path, *command.split())
    assert done.returncode == 2
    error = done.stderr.splitlines()[-1]  # after one that its kernels are compiled
    what = (
        "game 'mine' cannot be loaded" if line in (":", ":3: ") else "the rules of mine cannot be"
    )
    assert error.startswith(f"error: {what}")
    assert f": {games}/mine.py{line}" in error
    assert reason in error
    if command == "info":
        assert start(tmp_path, "info", "nim").returncode == 0


def start(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of the package that lies in `folder`."""
    return subprocess.run(
        [sys.executable, "-m", "alphazero", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_readmes_entry_point_and_yaml_file_are_all_that_a_game_needs(tmp_path, ask):
    text = Path(registry.__file__).with_name("README.md").read_text("utf-8")
    (entry,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (config,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    ((group, names),) = tomllib.loads(entry)["project"]["entry-points"].items()
    install(tmp_path, "my_package", "my_game", SOUND.replace("sound", "my_game"))
    assert group == "alphazero.games"
    assert [*names] == ["my_game"]
    (tmp_path / "my.yaml").write_text(config)
    done = ask("config", str(tmp_path / "my.yaml"))
    assert done.code == 0, done.err
    assert "minutes: 20" in done.out


@pytest.mark.parametrize("decorator", ["@kernel(Signature.play)", "@numba.njit"])
def test_rules_that_do_not_compile_at_first_use_are_reported_in_one_line(
    decorator: str, tmp_path, ask
):
    source = RULE.replace("@kernel(Signature.play)", decorator).replace("[0] = 1", ".ply = 1")
    install(tmp_path, "broken_games", "mine", f"import numba\n{source}")
    done = ask("info")
    assert (done.code, done.err) == (0, "")
    done = ask("solve", "mine")
    assert done.code == 2
    (error,) = done.err.splitlines()
    assert error.startswith("error: the rules of mine cannot be compiled: ")
    assert f"{tmp_path}/broken_games.py" in error
    assert ask("solve", "nim").code == 0


@pytest.mark.parametrize("decorator", ["", "@numba.njit", "@kernel(Signature.legal)"])
def test_a_rule_without_its_decorator_is_named_before_it_is_used(decorator: str, tmp_path, ask):
    source = RULE.replace("@kernel(Signature.play)", decorator)
    install(tmp_path, "broken_games", "mine", f"import numba\n{source}")
    done = ask("match", "uct:5", "random", "--game", "mine", "--games", "2")
    assert done.code == 2
    (error,) = done.err.splitlines()
    assert error.startswith(f"error: the rules of mine cannot be compiled: {tmp_path}/broken_games")
    assert error.endswith("TypeError: expected @kernel(Signature.play)")
