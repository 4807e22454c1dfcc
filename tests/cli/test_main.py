"""Every command writes something readable, whatever signs the output's encoding knows."""

import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest
from helpers.paths import CHECKPOINTS
from helpers.runs.tiny_run import YAML

from alphazero.cli.main import main, run_and_report

INTERRUPTED_IN_EXEC = """
import alphazero.cli.main

def main():
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return 130

alphazero.cli.main.main = main
"""
CHECKPOINT = CHECKPOINTS / "tic_tac_toe.safetensors"


def written_by(*runs: Callable[[], int | None], encoding: str = "ascii") -> str:
    """Return what functions write, which succeed, where standard output has this encoding."""
    data = io.BytesIO()
    with io.TextIOWrapper(data, encoding, errors="strict") as stream:
        with contextlib.redirect_stdout(stream):
            for run in runs:
                assert run() == 0
        stream.flush()
        return data.getvalue().decode(encoding)


def command(*words: object) -> Callable[[], int]:
    return lambda: main([str(word) for word in words])


def test_ctrl_c_in_generated_code_ends_with_the_exit_code_and_not_by_the_signal(tmp_path):
    """Python runs `exec` for each dataclass; only a few tries in a hundred of Ctrl-C come then."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED_IN_EXEC)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    assert subprocess.call([sys.executable, "-m", "alphazero"], env=environment) == 130


@pytest.mark.parametrize(("encoding", "text"), [("utf-8", "Zoë ♟ ² ?"), ("cp1252", "Zoë ? ² ?")])
def test_what_can_be_written_stays_as_it_is(encoding: str, text: str):
    print_all = functools.partial(print, "Zoë ♟ ² \udcff")
    run = functools.partial(run_and_report, print_all)
    assert written_by(run, encoding=encoding) == f"{text}\n"


def test_an_output_without_an_encoding_or_none_at_all_is_left_alone():
    text = io.StringIO()  # as a notebook's output
    with contextlib.redirect_stdout(text):
        assert run_and_report(lambda: print("²")) == 0
    assert text.getvalue() == "²\n"
    with contextlib.redirect_stdout(None):
        assert run_and_report(lambda: print("²")) == 0


def test_control_characters_of_a_path_never_reach_the_terminal(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "a\x1b[31m"
    folder.mkdir()
    monkeypatch.chdir(folder)
    player, config = shutil.copy(CHECKPOINT, folder), folder / "tiny.yaml"
    config.write_text(YAML)
    (folder / "wrong.yaml").write_text("search: {simulatons: 3}")
    network, name = f"{player}:simulations=0", json.dumps(str(folder))
    commands: list[list[object]] = [
        ["info", player],
        ["match", network, "random", "--games", 2, "--save", folder / "games.sgf"],
        ["rate", network, "random", "--games", 2],
        ["grade", player, "--simulations", 0],
        ["play", network, "--side", "none"],
        ["replay", folder / "games.sgf"],
        ["check", player],
        ["train", config, f"run.folder={name}", "budget.iterations=1"],
        ["train", "--resume", folder / "tiny"],
        ["train", "--resume", folder / "tiny", config],
        ["train", folder / "wrong.yaml"],
        ["config", folder / "none.yaml"],
        ["info", folder],
        ["export", player, f"--nox={folder}"],
    ]
    for words in commands:
        with contextlib.suppress(SystemExit):
            main([str(word) for word in words])
        printed = "".join(capsys.readouterr())
        assert printed.replace("\n", "").isprintable(), words


@pytest.mark.integration
def test_a_run_is_trained_and_examined_in_a_folder_of_any_name(tmp_path):
    folder = tmp_path / "Zoë ♟ köln"
    folder.mkdir()
    (folder / "tiny.yaml").write_text(YAML)
    run = folder / "tiny"
    written = written_by(
        command("train", folder / "tiny.yaml", "budget.iterations=1", f"run.folder={folder}"),
        *(command(name, run) for name in ("doctor", "check", "info")),
        command("match", f"{run}:simulations=0", "random", "--games", "2"),
    )
    assert "iteration 1: " in written
    assert "Zo? ? k?ln/tiny" in written
