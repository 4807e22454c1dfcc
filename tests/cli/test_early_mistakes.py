"""Mistakes in arguments or files are reported before torch is imported or a kernel compiled."""

import json
from pathlib import Path

import pytest
from helpers.processes import run_python

EACH = """
import contextlib, io, json, sys
from alphazero.cli.main import main
HEAVY = "torch", "numba", "ray", "openvino"
for words in sys.argv[1:]:
    before, out, err = {*sys.modules}, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words.split())
        except SystemExit as error:
            code = error.code
    loaded = [name for name in HEAVY if name in sys.modules and name not in before]
    print(json.dumps([code, out.getvalue(), err.getvalue(), loaded]))
"""
"""Runs commands one after the other; prints how each ended, and what it was first to import."""

PICKLE = b"PK\x03\x04 a pickled file of torch"

MISTAKES = {
    "train nope.yaml": "nope.yaml: no such file",
    "train typo.yaml": "unknown key 'num_simulation' in 'search'",
    "train typo.yaml runn.seed=3": "unknown section",
    "train": "name a YAML file",
    "train --resume empty typo.yaml": "leave out typo.yaml, or write keys as section.key=",
    "train --resume empty": "holds no run",
    "train --resume torn": "is not a run's manifest",
    "play nope.safetensors": "no such file",
    "play pickled.safetensors": "this is a pickled PyTorch file",
    "play uct:5, --game nim": "player 'uct:5,': expected option=value, got nothing (options: simul",
    "play solver": "'solver' is a player, and a file or folder here: write solver: for the player",
    "play ./solver": "holds no best.safetensors",
    "rate solver random": "write solver: for the player, or ./solver for the path",
    "play typo.yaml": "typo.yaml is a configuration, not a player; train one with: alphazero",
    "play uct:simulations=x": "simulations: expected",
    "play random --game nim --from nope.sgf": "cannot read nope.sgf",
    "play random --game nim --after 3": "--after counts",
    "play random --game nim --save nope/x.sgf": "cannot write nope/x.sgf",
    "match random nope.safetensors": "no such file",
    "match random minimax": "minimax needs a depth",
    "match random gtp:no-such-program": "there is no program",
    "match random uci:no-such-program,nodes=1": "there is no program",
    "uci nope.safetensors": "no such file",
    "match random uct:10 --save nope/x": "cannot write nope/x",
    "grade short.safetensors": "it ends too early",
    "grade nope.safetensors": "no such file",
    "rate random nope.safetensors": "no such file",
    "serve nope.safetensors": "no such file",
    "gtp pickled.safetensors": "this is a pickled PyTorch file",
    "bench nope.yaml": "nope.yaml: no such file",
    "plan nope.yaml": "nope.yaml: no such file",
    "check ./nope": "cannot read nope",
    "check empty": "holds no run",
    "replay nope.sgf": "cannot read nope.sgf",
    "info empty": "holds no best.safetensors",
    "info short.safetensors": "it ends too early",
    "export connect_four": "name what to write: --onnx FILE, --page FOLDER or both",
    "export uct:10 --onnx x.onnx": "uct:simulations=10 has no network; export a checkpoint",
    "export connect_four:5 --onnx x.onnx": "not its search: leave out simulations",
    "export connect_four --onnx typo.yaml": "a model needs a name that ends in .onnx",
    "export connect_four --onnx nope/x.onnx": "cannot write nope/x.onnx",
    "export connect_four --onnx x.onnx --runtime empty": "--runtime belongs to --page",
    "": "COMMAND",
    "trian": "there is no command 'trian'; did you mean 'train'?",
    "x" * 5000: "there is no command 'xxx",
    "match random random --game nim --gmes 4": "did you mean '--games'?",
    "train --resume": "--resume",
    "play": "PLAYER",
    "match random random --games 3": "expected an even number",
    "match random random --games 0": "an even number from 2 on, for each opening",
    "plan some.yaml --seconds 61": "at most 60",
    "bench": "required: CONFIG; see: alphazero bench --help",
    "train empty": "empty is a folder, not a YAML file; a run has empty/config.",
    "train --resume empty network.initial=x.safetensors": "empty holds no run",
    f"plan {'x' * 300}.yaml": "file name too long; choose a shorter name",
    f"play random --from {'x' * 300}.pgn": "file name too long; choose a shorter name",
    "plan x.safetensors": "x.safetensors is a checkpoint, not a YAML file; a run goes on",
    "train x.yaml --set a.b 3": "; write keys as section.key=value, such as",
    "grade uct:100": "expected a checkpoint, as PATH or PATH:selection=puct, got the pl",
    "rate": "PLAYER",
    "rate random --checkpoints 0": "expected a whole number from 1 on, got '0'",
    "play x --side third": "invalid choice: 'third'",
    "play x --simulations -3": "expected a whole number from 0 on, got '-3'",
    f"play x --simulations {'9' * 5000}": "expected a whole number from 0 on",
    "play x --seconds 0": "expected seconds above 0, got '0'",
    "play x --seconds nan": "expected seconds above 0, got 'nan'",
    "play x --seconds 1 --simulations 1": "not allowed with",
    "play x --level 11": "expected a level from 1 to 10, got '11'",
    "serve x --port 65536": "expected a port from 0 to 65535, got '65536'",
    "grade x --min-accuracy nan": "expected a share from 0 to 1, got 'nan'",
    "info x --verbose": "arguments: --verbose; see: alphazero info --help",
    "doctor empty": "holds no run",
    "doctor": "name either the folder of a run, or --machine",
    "doctor empty --machine": "name either the folder of a run, or --machine",
    "doctor torn": "is not a run's manifest",
    "doctor typo.yaml": "typo.yaml is a file; expected the folder of a run",
}
"""Commands in the folder `home`, and words of the error of each."""

MISTAKES_WITH_GAMES = {
    "play nobody": "unknown player 'nobody' (trained players: breakthrough_5x5, ",
    "train nim.yaml game.name=nimm": "unknown game 'nimm'; did you mean 'nim'?",
    "play random --game nimm": "unknown game 'nimm'; did you mean 'nim'?",
    "match random random --game nimm": "unknown game 'nimm'; did you mean 'nim'?",
    "rate random uct:10 --game nimm": "unknown game 'nimm'; did you mean 'nim'?",
    "gtp random --game nimm": "unknown game 'nimm'; did you mean 'nim'?",
    "solve nimm 1": "unknown game 'nimm'; did you mean 'nim'?",
    "check nimm": "unknown game 'nimm'; did you mean 'nim'?",
    "train nim.yaml game.heeap=3": "nim has no option",
    "train nim.yaml game.name=go game.rows=99": "rows must be 1 to 19, got 99",
    "play random --game othello:size=7": "size must be one of 4, 6, 8, got 7",
    "match random random --game hex:sise=5": "hex has no option 'sise'; did you mean 'size'?",
    "solve nim:heap=three": "'nim': expected option=number, got 'heap=three'",
    "solve nim:heap=0": "heap must be 1 to 1000, got 0",
    "check connect_four:rows=0": "rows must be 1 to 26, got 0",
}
"""Those for which games are looked up, which imports numba."""


@pytest.fixture
def home(tmp_path) -> Path:
    """A folder with files that are wrong, each in its way."""
    nim = "game: {name: nim}\nbudget: {iterations: 1}\n"
    (tmp_path / "nim.yaml").write_text(nim)
    (tmp_path / "typo.yaml").write_text(f"{nim}search: {{num_simulation: 3}}\n")
    (tmp_path / "pickled.safetensors").write_bytes(PICKLE)
    (tmp_path / "short.safetensors").write_bytes(bytes(5))
    (tmp_path / "empty").mkdir()
    (tmp_path / "solver").mkdir()
    (tmp_path / "torn" / "state").mkdir(parents=True)
    (tmp_path / "torn" / "state" / "manifest.json").write_text("{")
    return tmp_path


@pytest.mark.parametrize(
    ("mistakes", "loadable", "compilable"),
    [(MISTAKES, set(), set()), (MISTAKES_WITH_GAMES, {"numba"}, {"game", "compiled_rules"})],
    ids=["without games", "with games"],
)
def test_a_mistake_is_one_short_line_before_more_than_it_needs_is_loaded_or_compiled(
    home, mistakes: dict[str, str], loadable: set[str], compilable: set[str]
):
    cache = home / "cache"
    printed = run_python("-c", EACH, *mistakes, cwd=home, ALPHAZERO_CACHE_DIR=str(cache))
    for (words, message), line in zip(mistakes.items(), printed.splitlines(), strict=True):
        code, out, err, loaded = json.loads(line)
        assert (code, out) == (2, ""), (words, line)
        assert {*loaded} <= loadable, words
        assert err.startswith("error: "), words
        assert message in err, (words, err)
        lines = err.removesuffix("\n").split("\n")
        assert len(lines) == 1 + ("typo.yaml runn." in words), (words, err)  # has two mistakes
        assert all(line.isprintable() and len(line) < 600 for line in lines), (words, err)
    assert {path.name.split(".")[2] for path in cache.rglob("*.nbi")} <= compilable
    assert cache.exists() <= bool(compilable)
