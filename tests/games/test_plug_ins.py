"""Games of other packages: one that is broken costs its own games and nothing else.

Each test starts Python on two installed packages: a sound one, and one whose module is broken.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import alphazero

SOUND = """
from alphazero.games import register
from alphazero.games.mnk import Mnk

@register("sound", rows=4, columns=4, length=3)
class Sound(Mnk):
    pass
"""

TYPING = """
from alphazero.games import register
from alphazero.games.mnk import Mnk
from alphazero.games.game import OUTCOME_RULE
from alphazero.utils.jit import kernel

register("half")(type("Half", (Mnk,), {"__module__": __name__}))

@kernel(OUTCOME_RULE)
def outcome(state):
    return state.no_such_thing

class Broken(Mnk):
    rule_functions = (*Mnk.rule_functions[:2], outcome, Mnk.rule_functions[3])
register("broken")(Broken)
"""

AT_FIRST_USE = """
import numba
from alphazero.games import register
from alphazero.games.mnk import Mnk

@numba.njit
def outcome(state):
    return state.no_such_thing

@register("broken")
class Broken(Mnk):
    rule_functions = (*Mnk.rule_functions[:2], outcome, Mnk.rule_functions[3])
"""

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
    told = folder / f"{package}-1.5.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
    (told / "entry_points.txt").write_text(f"[alphazero.games]\n{name} = {package}{attribute}\n")


def ask(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command where the packages of `folder` are installed."""
    home = Path(alphazero.__file__).parents[1]
    paths = [str(folder), str(home), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "alphazero", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("source", "attribute", "line", "reason"),
    [
        ("import no_such_module\n", "", ":1", "ModuleNotFoundError: No module named 'no_such_mod"),
        ("x = 1\ndef broken(:\n", "", ":2", "SyntaxError: invalid syntax"),
        ("\n\nraise RuntimeError('two\\nlines')\n", "", ":3", "RuntimeError: two lines"),
        ("import sys\nsys.exit(7)\n", "", ":2", "SystemExit: 7"),
        (TYPING, "", ":9", "TypingError: Failed in nopython mode"),
        ("thing = 3\n", ":thing", "", "GameError: broken_games:thing registers no game"),
        (
            "from alphazero.games import register\nregister('broken')(3)\n",
            "",
            ":2",
            "GameError: register('broken'): expected a subclass of Game, got 3",
        ),
        (TAKEN, "", ":9", "GameError: the name 'connect_four' is taken by alphazero.games.connect"),
    ],
    ids=["import", "syntax", "exception", "exit", "typing", "object", "register", "taken"],
)
def test_a_broken_plug_in_costs_its_own_games_alone(
    source: str, attribute: str, line: str, reason: str, tmp_path: Path
) -> None:
    install(tmp_path, "broken_games", "broken", source, attribute)
    install(tmp_path, "sound_games", "sound", SOUND)
    done = ask(tmp_path, "games")
    assert done.returncode == 0, done.stderr
    (said,) = done.stderr.splitlines()
    where = f"{tmp_path}/broken_games.py{line}" if line else "broken_games:thing"
    assert said.startswith("skipped game 'broken' of package broken_games 1.5, ")
    assert where in said
    assert reason in said
    listed = [row.split()[0] for row in done.stdout.splitlines()]
    assert {"sound", "connect_four", "mnk", "go"} <= set(listed)
    assert not {"broken", "half"} & set(listed)
    done = ask(tmp_path, "solve", "broken")
    assert done.returncode == 2
    _, error = done.stderr.splitlines()
    assert error.startswith("error: game 'broken' cannot be loaded: package broken_games 1.5, ")
    assert reason in error


@pytest.mark.parametrize(
    ("source", "line", "reason"),
    [
        (b"x = 1\ndef broken(:\n", ":2: ", "SyntaxError: invalid syntax"),
        (b"x = 1\n'\xff'\n", ":", "SyntaxError: (unicode error) 'utf-8' codec can't decode"),
        (
            b"from alphazero.games import register\n\nregister('nim')(3)\n",
            ":3: ",
            "GameError: register",
        ),
        (
            b"import no_such_module\n",
            ":1: ",
            "ModuleNotFoundError: No module named 'no_such_module'",
        ),
    ],
    ids=["syntax", "encoding", "register", "import"],
)
def test_a_broken_file_among_our_games_is_told_in_one_line(
    source: bytes, line: str, reason: str, tmp_path: Path
) -> None:
    games = tmp_path / "alphazero" / "games"
    shutil.copytree(Path(alphazero.__file__).parent, tmp_path / "alphazero")
    (games / "mine.py").write_bytes(source + b'@register("mine")\nclass Mine: pass\n')
    for words in (["check", "mine"], ["solve", "mine"], ["games"]):
        done = ask(tmp_path, *words)
        assert done.returncode == 2
        (error,) = done.stderr.splitlines()
        assert error.startswith(f"error: game 'mine' cannot be loaded: {games}/mine.py{line}")
        assert reason in error
    assert ask(tmp_path, "games", "nim").returncode == 0


def test_rules_that_do_not_compile_at_first_use_are_told_in_one_line(tmp_path: Path) -> None:
    install(tmp_path, "broken_games", "broken", AT_FIRST_USE)
    done = ask(tmp_path, "games")
    assert (done.returncode, done.stderr) == (0, "")
    done = ask(tmp_path, "solve", "broken")
    assert done.returncode == 2
    (error,) = done.stderr.splitlines()
    assert error.startswith("error: the rules of broken cannot be compiled: ")
    assert f"{tmp_path}/broken_games.py" in error
    assert ask(tmp_path, "solve", "nim").returncode == 0
