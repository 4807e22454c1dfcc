"""Mistakes in arguments or files are reported before torch is imported or a kernel compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

START = """
import sys
from alphazero.cli.main import main
try:
    code = main(sys.argv[1:])
except SystemExit as error:
    code = error.code
print(code, [name for name in ("torch", "numba", "ray", "openvino") if name in sys.modules])
"""

PICKLE = b"PK\x03\x04 a pickled file of torch"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with files that are wrong, each in its way."""
    (tmp_path / "typo.yaml").write_text(
        "game: {name: nim}\nbudget: {iterations: 1}\nsearch: {num_simulation: 3}\n"
    )
    (tmp_path / "pickled.safetensors").write_bytes(PICKLE)
    (tmp_path / "short.safetensors").write_bytes(bytes(5))
    (tmp_path / "notes.csv").write_text("my notes, not a table of ratings\n")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    (tmp_path / "sweep.yaml").write_text("sweep: {base: typo.yaml, maximise: ladder/elo}\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "torn" / "state").mkdir(parents=True)
    (tmp_path / "torn" / "state" / "manifest.json").write_text("{")
    return tmp_path


def start(words: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in `home`, with an empty cache of kernels, and name what it imported."""
    return subprocess.run(
        [sys.executable, "-c", START, *words.split()],
        cwd=home,
        env={**os.environ, "ALPHAZERO_CACHE_DIR": str(home / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("train nope.yaml", "nope.yaml: no such file"),
        ("train typo.yaml", "unknown key 'num_simulation' in 'search'"),
        ("train typo.yaml runn.seed=3", "unknown section"),
        ("train", "name a YAML file"),
        ("train --resume empty typo.yaml", "leave out typo.yaml, or write keys as section.key="),
        ("train --resume empty", "holds no run that could be resumed"),
        ("train --resume torn", "is not a run's manifest"),
        ("play nope.safetensors", "no such file"),
        ("play pickled.safetensors", "this is a pickled PyTorch file"),
        ("play random:simulations=3 --game nim", "no option 'simulations'"),
        ("play random:5 --game nim", "player 'random:5': takes no options, got '5'"),
        (
            "play uct: --game nim",
            "player 'uct:': expected option=value, got nothing (options: simul",
        ),
        ("play typo.yaml", "typo.yaml is a configuration, not a player; train one with: alphazero"),
        ("play uct:simulations=x", "simulations: expected"),
        ("play random --game nim --from nope.sgf", "cannot read nope.sgf"),
        ("play random --game nim --after 3", "--after counts"),
        ("play random --game nim --save nope/x.sgf", "cannot write nope/x.sgf"),
        ("match random nope.safetensors", "no such file"),
        ("match random minimax", "minimax needs a depth"),
        ("match random gtp:no-such-program", "there is no program"),
        ("match random uct:10 --save nope/x", "cannot write nope/x"),
        ("grade short.safetensors", "it ends too early"),
        ("grade nope.safetensors", "no such file"),
        ("rate random nope.safetensors", "no such file"),
        ("rate random uct:10 --csv nope/x.csv", "cannot write nope/x.csv"),
        (
            "rate random uct:10 --csv notes.csv",
            "cannot write notes.csv: the file holds no such table; remove it, or choose another",
        ),
        ("rate random uct:10 --plot photo.png", "photo.png: the file holds no figure"),
        ("compare empty torn --save notes.csv", "cannot write notes.csv: the file holds no such"),
        ("compare empty torn --save all.xls", "let its name end in .png, .svg or .csv"),
        ("compare empty", "name two runs or more; `alphazero plot` shows a single one"),
        ("plot empty torn", "a figure of several runs needs a file: --save FILE.png"),
        ("plot empty --save photo.png", "photo.png: the file holds no figure"),
        ("sweep nope.yaml", "nope.yaml: no such file"),
        ("sweep sweep.yaml", "sweep.yaml:1: unknown key 'maximise' in 'sweep'; did you mean"),
        ("serve nope.safetensors", "no such file"),
        ("serve nope.jsonl", "nope.jsonl: no such file"),
        ("serve random --ratings nope.csv", "cannot read nope.csv"),
        ("gtp pickled.safetensors", "this is a pickled PyTorch file"),
        ("gomocup rando", "did you mean 'random'?"),
        ("bench nope.yaml", "nope.yaml: no such file"),
        ("plan nope.yaml", "nope.yaml: no such file"),
        ("plan --against empty", "holds no run"),
        ("plan", "name either a YAML file"),
        ("verify nope", "cannot read nope"),
        ("verify empty", "holds no run"),
        ("replay nope.sgf", "cannot read nope.sgf"),
        ("info empty", "holds no best.safetensors"),
        ("info short.safetensors", "it ends too early"),
        ("export connect_four", "name what to write: --onnx FILE, --page FOLDER or both"),
        ("export uct:10 --onnx x.onnx", "uct:simulations=10 has no network; export a checkpoint"),
        ("export connect_four:5 --onnx x.onnx", "not its search: leave out simulations"),
        ("export connect_four --onnx typo.yaml", "a model needs a name that ends in .onnx"),
        ("export connect_four --onnx nope/x.onnx", "cannot write nope/x.onnx"),
        ("export connect_four --onnx x.onnx --runtime empty", "--runtime belongs to --page"),
        ("doctor empty", "holds no run"),
        ("doctor", "name either the folder of a run, or --machine"),
        ("doctor empty --machine", "name either the folder of a run, or --machine"),
        ("doctor torn", "is not a run's manifest"),
    ],
)
def test_a_mistake_is_told_before_anything_is_loaded_or_compiled(
    words: str, said: str, home: Path
) -> None:
    done = start(words, home)
    assert done.stdout == "2 []\n", done.stderr[-2000:]
    assert said in done.stderr
    assert done.stderr.startswith("error: ")
    assert not (home / "cache").exists()


@pytest.mark.parametrize(
    "words",
    [
        "train nim.yaml game.name=nimm",
        "play random --game nimm",
        "match random random --game nimm",
        "rate random uct:10 --game nimm",
        "gtp random --game nimm",
        "solve nimm 1",
        "check nimm",
    ],
)
def test_an_unknown_game_is_told_before_the_rules_of_others_are_compiled(
    words: str, home: Path
) -> None:
    (home / "nim.yaml").write_text("game: {name: nim}\nbudget: {iterations: 1}\n")
    done = start(words, home)
    assert done.stdout == "2 ['numba']\n", done.stderr[-2000:]
    assert "unknown game 'nimm'; did you mean 'nim'?" in done.stderr
    compiled = {path.name.split(".")[0] for path in (home / "cache").rglob("*.nbi")}
    assert compiled <= {"game", "compiled_rules"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("train nim.yaml game.heeap=3", "nim has no option"),
        ("train nim.yaml game.name=go game.rows=99", "rows must be 1 to 19, got 99"),
        ("play random --game othello:size=7", "size must be one of 4, 6, 8, got 7"),
        ("match random random --game hex:sise=5", "hex has no option 'sise'; did you mean 'size'?"),
        ("check connect_four:rows=0", "rows must be 1 to 26, got 0"),
    ],
)
def test_a_wrong_option_of_a_game_is_told_before_its_rules_are_compiled(
    words: str, said: str, home: Path
) -> None:
    (home / "nim.yaml").write_text("game: {name: nim}\nbudget: {iterations: 1}\n")
    done = start(words, home)
    assert done.stdout == "2 ['numba']\n", done.stderr[-2000:]
    assert said in done.stderr
    compiled = {path.name.split(".")[0] for path in (home / "cache").rglob("*.nbi")}
    assert compiled <= {"game", "compiled_rules"}
