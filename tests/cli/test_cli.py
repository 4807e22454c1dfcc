"""Every command does its work, and every mistake gets one line and exit code 2."""

import dataclasses
import functools
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import exit_code, printed_by
from helpers.players import ANY_SIZE, TINY, saved_player
from helpers.processes import run_python
from helpers.runs.tiny_run import YAML, tiny_config

import alphazero
from alphazero.arena import solved_positions
from alphazero.arena.match import Match
from alphazero.arena.tournament import LOCK
from alphazero.cli.main import NAMES, parser
from alphazero.errors import RunError
from alphazero.games import game_names
from alphazero.games.registry import read_game
from alphazero.network.checkpoint import load_checkpoint, save_checkpoint
from alphazero.players.checkpoint_player import load_checkpoint_player, save_grades, summarize
from alphazero.records.game_files import load_played
from alphazero.solvers import exhaustive
from alphazero.training.loop import train
from alphazero.utils.files import locked


@pytest.fixture
def player(tmp_path) -> Path:
    return saved_player(tmp_path / "player.safetensors")


@pytest.fixture
def four(tmp_path) -> tuple[Path, Path]:
    """A player of Connect Four, and a file with a solved position."""
    solved = tmp_path / "solved.txt"
    solved.write_text("171717 1 +------\n")
    return saved_player(tmp_path / "four.safetensors", "connect_four"), solved


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """The folder of a finished run."""
    return train(tiny_config(tmp_path_factory.mktemp("runs"), "budget.iterations=1"))


def process(
    *arguments: object, shell: str = "", **streams: Any
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process of its own, with redirections of a `shell`."""
    program = [sys.executable, "-m", "alphazero", *map(str, arguments)]
    command = ["sh", "-c", f'exec "$@" {shell}', "sh", *program]
    outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **streams}
    return subprocess.run(command, timeout=120, check=False, **outputs)


# --- what works ----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", NAMES)
def test_the_help_of_every_command_shows_an_example_of_it(command: str, capsys):
    example = " ".join(printed_by(capsys, command, "--help").partition("example: ")[2].split())
    assert example.startswith(f"alphazero {command}")
    assert parser().parse_args(example.split()[1:]).run


def test_info_alone_lists_every_game_with_its_options(capsys, only_line):
    lines = printed_by(capsys, "info").splitlines()
    games = lines[1 : lines.index("players")]
    assert [line.split()[0] for line in games] == game_names()
    assert "rows 6, columns 7, length 4" in next(line for line in games if "connect" in line)
    (nim,) = (line for line in games if " nim " in line)
    assert printed_by(capsys, "info", "nim") == f"{nim}\n"
    for words in ([], ["nim"]):
        assert "--json describes a checkpoint; name one" in only_line("info", *words, "--json")
    assert "checkpoints" in printed_by(capsys, "check", "go_9x9"), "a shipped player"


def test_info_describes_a_checkpoint_or_the_best_player_of_a_run(run, tmp_path, capsys):
    settings = dataclasses.replace(TINY, blocks=2, heads="convolutional", global_pooling=2)
    path = saved_player(tmp_path / "player.safetensors", network=settings)
    out = printed_by(capsys, "info", path)
    network = "2 blocks x 4 filters, global pooling 2, convolutional heads, "
    training = "12 steps, 3 iterations", "8 simulations a move", "Elo +25"
    for words in (str(path), "tic_tac_toe", f"network   {network}", *training):
        assert words in out
    out = printed_by(capsys, "info", run)
    assert str(run / "best.safetensors") in out
    assert "4 simulations a move" in out


def test_the_list_gives_the_last_measurement_of_a_player_as_trained(tmp_path):
    lines = ["as trained, against A: 50.0%, Elo +0", "simulations=0, against A: 40.0%, Elo -70"]
    path = saved_player(tmp_path / "player.safetensors")
    for grades in lines, lines[1:]:
        save_grades(load_checkpoint_player(path), grades, path)
        summary = summarize(path, load_checkpoint(path)).splitlines()
        assert summary[1] == grades[0].partition(", Elo")[0]


def test_train_makes_a_run_under_the_name_of_its_file_and_overrides_win(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(YAML.replace("name: tiny, ", ""))
    assert exit_code("train", "small.yaml", "budget.iterations=1", "learner.batch_size=8") == 0
    captured = capsys.readouterr()
    assert "iteration 1: " in captured.out
    assert "iteration 2: " not in captured.out
    assert captured.out.splitlines()[-1] == "done; play it with: alphazero play runs/small"
    assert "  batch_size: 8\n" in Path("runs/small/config.yaml").read_text()


@pytest.mark.parametrize("budget", [["--simulations", "0"], ["--seconds", "0.01"], []])
def test_play_searches_as_long_as_its_options_say(player, monkeypatch, capsys, budget: list[str]):
    out = printed_by(capsys, "play", player, "--side", "none", *budget)
    plays = [line for line in out.splitlines() if " plays " in line]
    assert len(plays) >= 5
    counts = [int(line.partition("%, ")[2].split()[0].replace(",", "")) for line in plays]
    if budget[:1] == ["--simulations"]:
        assert counts == [0] * len(plays)
    elif not budget:
        assert counts[0] == 8, "as in training"


def test_grade_returns_1_when_the_required_share_is_missed_and_0_when_it_is_met(tmp_path, capsys):
    player = saved_player(tmp_path / "player.safetensors", "nim")
    out = printed_by(capsys, "grade", player, "--simulations", 0)
    assert "solved positions, 0 simulations: " in out
    assert "positions optimal" in out
    assert "the first mistake:" in out
    share = float(out.partition("optimal (")[2].partition("%")[0]) / 100
    assert 0.1 < share < 0.95, "an untrained network makes mistakes"
    assert exit_code("grade", player, "--simulations", 0, "--min-accuracy", share - 0.01) == 0
    assert capsys.readouterr().err == ""
    more = f"{share + 0.01:.4f}"
    assert exit_code("grade", player, "--simulations", 0, "--min-accuracy", more) == 1
    line = f"below --min-accuracy {float(more):g}: solved positions, 0 simulations\n"
    assert capsys.readouterr().err == line


def test_info_and_replay_name_each_other(tmp_path, capsys, only_line):
    player, games = saved_player(tmp_path / "p.safetensors"), tmp_path / "games.jsonl"
    nim = "random", "random", "--game", "nim"
    assert exit_code("match", *nim, "--games", 2, "--save", games) == 0
    assert f"try: alphazero replay {games}" in only_line("info", games)
    for path in (player, tmp_path):
        assert f"try: alphazero info {path}" in only_line("replay", path)


def test_grade_takes_all_files_of_a_folder_in_the_order_of_their_names(
    four, tmp_path, capsys, only_line
):
    (player, solved), folder = four, tmp_path / "sets"
    (folder / "deeper").mkdir(parents=True)
    for name in ("b", "a.txt", "B"):
        shutil.copy(solved, folder / name)
    (folder / ".hidden").write_text("rubbish")
    out = printed_by(capsys, "grade", player, folder, folder / "b", "--simulations", "0,9")
    graded = [line.split(" simulations: ")[0] for line in out.splitlines()]
    assert graded == [f"{name}, {count}" for count in (0, 9) for name in ("B", "a.txt", "b", "b")]
    assert "deeper: no files of positions" in only_line("grade", player, folder / "deeper")
    (folder / "c").write_text("rubbish\n")
    assert f"{folder / 'c'}:1: expected" in only_line("grade", player, folder)


def test_grade_searches_with_the_options_that_are_given(four, tmp_path, capsys, only_line):
    player, solved = four
    spec = f"{player}:transpositions=true,mcts_solver=true"
    out = printed_by(capsys, "grade", spec, solved, "--simulations", 50, "--min-accuracy", 1)
    assert out.startswith("solved.txt, 50 simulations: 1 of 1 positions")
    for words, message in (
        ([spec, "--save", tmp_path / "copy.safetensors"], "without transpositions, mcts_solver"),
        ([f"{player}:simulations=3"], "leave out simulations; --simulations sets a budget"),
        ([f"{player}:level=3"], "leave out level; --simulations sets a budget, or simulations=N"),
        ([f"{player}:selection=best"], "selection: must be one of puct"),
    ):
        assert message in only_line("grade", *words)


def test_grade_saves_a_copy_that_carries_its_figures(four, tmp_path, capsys):
    (player, solved), copy = four, tmp_path / "graded.safetensors"
    before = player.read_bytes()
    out = printed_by(capsys, "grade", player, solved, "--simulations", "0,50", "--save", copy)
    assert player.read_bytes() == before
    graded = printed_by(capsys, "info", copy).splitlines()[-2:]
    assert graded == [f"graded    {line}" for line in out.splitlines()]
    # Other figures stay, and the same ones are replaced.
    match = "match", copy, "random", "--games", 2, "--simulations", 2, "--annotate", copy
    assert exit_code(*match) == 0
    capsys.readouterr()
    again = printed_by(capsys, "grade", copy, solved, "--simulations", 50, "--save", copy)
    lines = printed_by(capsys, "info", copy).splitlines()[-3:]
    assert lines[0] == graded[0]
    assert "against random" in lines[1]
    assert lines[2] == f"graded    {again.strip()}"
    (tmp_path / "more").mkdir()
    other = Path(shutil.copy(solved, tmp_path / "more"))
    both = "grade", copy, solved, other, "--simulations", 50, "--save", copy
    out = printed_by(capsys, *both).splitlines()
    assert printed_by(capsys, "info", copy).splitlines()[-2:] == [f"graded    {x}" for x in out]


@pytest.mark.parametrize(
    ("game", "moves", "value", "best"),
    [
        ("nim", "", "+1, the player to move wins with move 7 at the latest", "3"),
        ("nim:heap=7", "1 2", "-1, the player to move loses with move 4 at the earliest", "1 2 3"),
        ("tic_tac_toe", "b2 a1", "0, a draw", "a3 b3 c3 a2 c2 b1 c1"),
        ("connect_four", "112233", "+1, the player to move wins with move 7 at the latest", "4"),
    ],
)
def test_solve_prints_the_value_and_the_best_moves_below_the_drawing(
    capsys, game: str, moves: str, value: str, best: str
):
    assert exit_code("solve", game, moves) == 0
    rules = read_game(game)
    drawing = rules.render(rules.from_moves(moves))
    assert capsys.readouterr().out == f"{drawing}\nvalue  {value}\nbest   {best}\n"


def counts_in(result: str) -> list[int]:
    """Return the wins, draws and losses in the line of a match."""
    return [int(part.split()[0]) for part in result.split(": ")[1].split(", ")[:3]]


def test_match_lets_any_two_players_play_and_saves_what_replay_shows(player, tmp_path, capsys):
    games = tmp_path / "games.jsonl"
    names = f"{player}:simulations=30", "random"
    out = printed_by(capsys, "match", *names, "--games", 6, "--save", games)
    assert out.startswith(f"{names[0]} against random: ")
    won, drawn, lost = counts_in(out)
    assert won + drawn + lost == 6
    replayed = printed_by(capsys, "replay", games).splitlines()
    heads = [line for line in replayed if line.startswith("game ")]
    assert len(heads) == 6
    assert f"game 2 of 6, random against {names[0]}: " in heads[1]
    results = [head.partition(": ")[2].partition(",")[0] for head in heads]
    firsts = results[::2].count("1-0") + results[1::2].count("0-1")
    assert firsts == won


def test_match_lets_a_checkpoint_play_another_size_of_its_game_and_says_so(tmp_path, capsys):
    path = saved_player(tmp_path / "player.safetensors", network=ANY_SIZE)
    noted = tmp_path / "noted.safetensors"
    game = "tic_tac_toe:rows=4,columns=4"
    command = "match", path, "random", "--game", game, "--games", 2, "--annotate", noted
    assert exit_code(*command) == 0
    captured = capsys.readouterr()
    assert captured.err == f"{path} was trained on tic_tac_toe, not on {game}\n"
    assert captured.out.startswith(f"{path} against random: ")
    assert printed_by(capsys, "info", noted).endswith(f", on {game}\n")


def test_match_notes_its_result_in_a_copy_of_the_first_player(player, tmp_path, capsys):
    before = player.read_bytes()
    first, second = (tmp_path / f"{name}.safetensors" for name in "12")
    names = f"{player}:simulations=3", "random"
    out = printed_by(capsys, "match", *names, "--games", 2, "--annotate", first)
    result = out.strip().partition("random: ")[2]
    network = f"{first}:simulations=0"
    assert exit_code("match", network, "uct:5", "--games", 2, "--annotate", second) == 0
    assert exit_code("match", second, "random", "--games", 2, "--annotate", second) == 0
    graded = re.findall("^graded .*", printed_by(capsys, "info", second), re.MULTILINE)
    assert graded[0] == f"graded    simulations=3, against random: {result}"
    assert graded[1].startswith("graded    simulations=0, against uct:simulations=5: ")
    assert graded[2].startswith("graded    as trained, against random: ")
    assert player.read_bytes() == before


def test_existing_files_of_another_kind_are_kept(player, tmp_path, only_line):
    text, games = tmp_path / "text.md", ["--games", 2]
    text.write_text("# Not a game\n")
    for file in (text, player):
        line = only_line("match", player, "random", *games, "--save", file)
        assert f"cannot write {file}: the file holds no games" in line
    for words in (["match", player, "random", *games, "--annotate"], ["grade", player, "--save"]):
        assert "needs a name that ends in .safetensors" in only_line(*words, text)
    assert text.read_text() == "# Not a game\n"
    for seed in (0, 1):
        command = ["match", "random", "random", "--game", "nim", *games, "--seed", seed]
        assert exit_code(*command, "--save", tmp_path / "games") == 0
    assert (tmp_path / "games").read_text().count("\n") == 2, "only the last match"


@pytest.mark.parametrize("suffix", ["jsonl", "sgf"])
def test_a_match_that_is_stopped_keeps_its_games_and_tells_the_score(
    tmp_path, monkeypatch, capsys, suffix: str
):
    games, step, kept = tmp_path / f"games.{suffix}", Match.step, []

    def stop_later(match: Match) -> list[Any]:
        if len(kept) >= 5:
            raise KeyboardInterrupt
        ended = step(match)
        kept.extend(ended)
        assert not kept[: -len(ended) or None] or games.stat().st_size
        return ended

    monkeypatch.setattr(Match, "step", stop_later)
    monkeypatch.setattr("alphazero.arena.contests.DEFAULT_PARALLEL_GAMES", 2)
    monkeypatch.setattr("alphazero.arena.contests.usable_cores", lambda: 1)
    command = "match", "random", "random", "--game", "tic_tac_toe", "--save", games
    assert exit_code(*command) == 130
    captured = capsys.readouterr()
    # The second of two games at once ended first, so that the last pair is not whole.
    assert len(load_played(games)) == len(kept)
    pairs = Counter(record.pairing.pair_id for record in kept)
    whole = 2 * sum(number == 2 for number in pairs.values())
    assert 0 < whole < len(kept)
    count = f"{whole} of them, in pairs that ended, count"
    assert captured.err == f"\nstopped after {len(kept)} of 100 games; {count}\n"
    assert sum(counts_in(captured.out)) == whole


def test_games_are_never_replaced_by_one_that_continues_them(
    tmp_path, monkeypatch, capsys, only_line
):
    games, other = tmp_path / "games.jsonl", tmp_path / "other.jsonl"
    nim = ["random", "--game", "nim"]
    assert exit_code("match", "random", *nim, "--games", 2, "--save", games) == 0
    before = games.read_bytes()
    (tmp_path / "link").symlink_to(games)
    message = "it would replace the games that are read from it; choose another name"
    for save in (games, tmp_path / "link"):
        assert message in only_line("play", *nim, "--from", games, "--save", save)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"save {games}\nquit\n"))
    out = printed_by(capsys, "play", *nim, "--from", games, "--after", 1, "--save", other)
    assert out.count(message) == 1
    assert games.read_bytes() == before
    assert other.read_text().count("\n") == 1


def test_rate_rates_the_checkpoints_of_a_run_and_anchors(run, tmp_path, capsys):
    command = ["rate", "random", run, f"{run}:simulations=0", "--games", 4, "--simulations", 2]
    command += ["--folder", tmp_path / "kept"]
    out = printed_by(capsys, *command)
    steps = sorted(run.glob("step-*.safetensors"))
    assert len(steps) == 2
    names = [*(f"{path}:simulations=2" for path in steps), "random", f"{run}:simulations=0"]
    lines = {line.split()[0]: line for line in out.splitlines()[1:-1]}
    assert sorted(lines) == sorted(names)
    assert "anchor" in lines["random"]
    assert all(int(line.split()[-5]) == 12 for line in lines.values() if "anchor" in line)
    assert printed_by(capsys, *command) == out, "nothing was missing"


def test_a_tournament_that_is_stopped_says_what_was_kept(tmp_path, monkeypatch, capsys):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("alphazero.arena.tournament.play_specs", interrupt)
    command = ["rate", "random", f"{saved_player(tmp_path / 'a.safetensors')}:simulations=0"]
    for more, message in (
        ([], "nothing was kept; with --folder"),
        (["--folder", tmp_path], "0 games"),
    ):
        assert exit_code(*command, *more) == 130
        assert message in capsys.readouterr().err


def test_two_tournaments_in_one_folder_do_not_replace_each_others_games(tmp_path, only_line):
    rate = ["rate", "random", "uct:2", "--game", "nim", "--games", 2, "--folder", tmp_path]
    with locked(tmp_path, LOCK):
        assert f"{tmp_path} is in use by another process" in only_line(*rate)
    assert exit_code(*rate) == 0


def test_a_match_whose_games_cannot_be_saved_still_tells_its_result(tmp_path, monkeypatch, capsys):
    def fail(path: Path, *_: object) -> None:
        raise RunError(f"cannot write {path}: no space left on device")

    monkeypatch.setattr("alphazero.records.game_files.save_records", fail)
    games = tmp_path / "games.jsonl"
    command = ["match", "random", "random", "--game", "nim", "--games", 4, "--save", games]
    assert exit_code(*command) == 2
    captured = capsys.readouterr()
    assert sum(counts_in(captured.out)) == 4
    assert captured.err == f"error: cannot write {games}: no space left on device\n"


@pytest.mark.parametrize("option", ["--save", "--annotate"])
def test_a_file_that_cannot_be_written_is_reported_before_anything_is_played(
    tmp_path, monkeypatch, only_line, option: str
):
    monkeypatch.setattr("alphazero.arena.contests.play_schedule", None)
    players = [f"{saved_player(tmp_path / 'a.safetensors')}:simulations=0", "random"]
    folder = tmp_path / "a folder.png"
    folder.mkdir()
    for file in (folder, tmp_path / "none" / "file.png", "nul\0.png"):
        assert "cannot write " in only_line("match", *players, option, file)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a folder.png", "a.safetensors"]


# --- mistakes in files ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["open", "stat"])
def test_what_may_not_be_read_is_one_line(player, monkeypatch, only_line, method: str):
    found = getattr(Path, method)

    def refuse(path: Path, *arguments: Any, **keywords: Any) -> Any:
        if path.suffix == ".py" or ".dist-info" in str(path):  # Python's own reading
            return found(path, *arguments, **keywords)
        raise PermissionError(13, os.strerror(13), str(path))

    monkeypatch.setattr(Path, method, refuse)
    for arguments in [("info", player), ("train", "--resume", player)][: 1 + (method == "stat")]:
        assert f"cannot read {player}: permission denied" in only_line(*arguments)


@pytest.mark.parametrize(
    ("search", "fault"),
    [
        (None, "it lacks the search setting 'simulations'"),
        ({"simulations": 8}, "it lacks the search setting 'c_puct'"),
        ({"simulations": -5}, "its search setting simulations: must be at least 1"),
        ({"simulations": 8, "c_puct": "high"}, "its search setting c_puct: expected a number, got"),
    ],
)
def test_a_checkpoint_without_its_search_settings_is_no_player(
    player, search: dict[str, Any] | None, fault: str, only_line
):
    checkpoint = load_checkpoint(player)
    details = {} if search is None else {"search": search}
    save_checkpoint(player, dataclasses.replace(checkpoint, details=details))
    for command in (["info", player], ["match", player, "random", "--games", 2]):
        assert f"cannot read {player}: {fault}" in only_line(*command)


# --- mistakes with options -----------------------------------------------------------------------


@pytest.mark.parametrize("folder", [r"a\0b", r"\uD800", "x" * 300, "a file"])
def test_a_folder_that_no_run_can_have_is_one_line(tmp_path, only_line, monkeypatch, folder: str):
    config = Path("configs/tic_tac_toe.yaml").resolve()
    monkeypatch.chdir(tmp_path)
    Path("a file").write_text("where the folder should be")
    words = ["train", str(config), f'run.folder="{folder}"']
    assert "cannot create " in only_line(*words, "budget.iterations=1")
    assert list(tmp_path.iterdir()) == [tmp_path / "a file"]


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "line\nbreak"])
@pytest.mark.parametrize("command", ["check", "info", "grade", "doctor", "rate", "serve"])
def test_a_name_that_no_folder_can_have_is_one_line(only_line, command: str, name: str):
    more = ["random", "--game", "tic_tac_toe"] if command == "rate" else []
    assert only_line(command, name, *more)


def output_without(modules: set[str], *words: object) -> str:
    """Run a command in a process that must load none of `modules`; return its output."""
    code = (
        "import sys, alphazero, alphazero.cli.main\n"
        "assert {*alphazero.__all__} <= {*dir(alphazero)}\n"
        "try:\n    alphazero.cli.main.main(sys.argv[1:])\n"
        f"finally:\n    print(sorted({modules} & {{*sys.modules}}))"
    )
    output = run_python("-c", code, *words)
    assert output.endswith("\n[]\n"), output
    return output.removesuffix("[]\n")


def test_python_without_docstrings_runs_commands_too():
    code = "from alphazero.cli.main import main; main(['info', 'nim'])"
    assert "nim" in run_python("-OO", "-c", code)


def test_little_is_loaded_for_the_version_and_for_a_replay(tmp_path):
    version = output_without({"torch", "numba"}, "--version")
    assert version == f"alphazero {alphazero.__version__}\n"
    file = tmp_path / "game.sgf"
    file.write_text("(;GM[4]SZ[5];B[aa];W[bb])")
    unused = {"alphazero.mcts", "alphazero.players", "alphazero.config", "torch"}
    assert "game 1 of 1" in output_without(unused, "replay", file)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("solve gomoku --positions 2000", "too large to solve: 2,000 positions were"),
        ("solve connect_four 1212121", "the game is over; there is nothing to solve"),
        ("play random", "name one, as --game"),
        ("gtp random", "name one, as --game"),
        ("replay README.md", "README.md:1: not a game of `alphazero match --save`: expected a"),
        ("match random random", "name one, as --game"),
        ("match random hex_7x7 --annotate x.safetensors", "--annotate copies a checkpoint, and"),
    ],
)
def test_a_mistake_is_one_line(only_line, words: str, message: str):
    """Those that are seen before torch is imported are in `test_early_mistakes.py`."""
    assert message in only_line(*words.split())


def test_grading_a_game_too_large_to_solve_is_one_line(tmp_path, monkeypatch, only_line):
    large = saved_player(tmp_path / "large.safetensors", "gomoku")
    assert "225 moves: too many to solve it whole" in only_line("grade", large)
    player = saved_player(tmp_path / "gomoku.safetensors", "gomoku:rows=8,columns=8")
    monkeypatch.setattr(
        solved_positions,
        "solve_all_positions",
        functools.partial(exhaustive.solve_all_positions, limit=1000),
    )
    assert "more than 1,000 positions" in only_line("grade", player)


def test_ctrl_c_at_the_prompt_leaves_with_130(player, monkeypatch, capsys):
    def interrupt(_: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    assert exit_code("play", player) == 130
    assert capsys.readouterr().err == "\nstopped\n"


@pytest.mark.parametrize("error", [EOFError, OSError, RuntimeError])
def test_play_without_a_terminal_is_one_line(
    player, monkeypatch, only_line, error: type[Exception]
):
    def read(_: str) -> str:
        raise error  # the input is empty, broken or closed

    monkeypatch.setattr("builtins.input", read)
    monkeypatch.setattr("sys.stdin", None if error is RuntimeError else io.StringIO())
    assert only_line("play", player) == (
        "error: no more input: type moves in a terminal, or pipe them in, one per line, with "
        "'quit' at the end"
    )


def test_bytes_that_are_no_text_are_answered_like_any_rubbish(player, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n"), "utf-8"))
    assert exit_code("play", player) == 2
    captured = capsys.readouterr()
    assert "is no cell" in captured.out
    assert len(captured.err.splitlines()) == 1


# --- processes -----------------------------------------------------------------------------------


BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.mark.parametrize("arguments", [["info", "nim"], ["--help"]])
def test_output_that_nobody_reads_ends_the_command_in_silence(arguments: list[str]):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = process(*arguments, stdout=writer, env=BUFFERED)
    finally:
        os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["config", "run"], 0), (["config", "--markdown"], 0), (["config", "no.key"], 2)],
)
def test_streams_that_are_closed_or_full_are_no_tracebacks(arguments: list[str], code: int):
    with Path("/dev/full").open("w") as full:
        for streams, expected in (
            ({"stdout": full}, 2),
            ({"stderr": full}, code),
            ({"stdout": full, "stderr": full}, 2),
            ({"shell": ">&-"}, code),
            ({"shell": "<&- >&- 2>&-"}, code),
        ):
            done = process(*arguments, env=BUFFERED, **streams)
            assert done.returncode == expected, streams
            if done.stderr:
                assert len(done.stderr.splitlines()) == 1, done.stderr
            if expected != code:
                full_disk = "error: cannot write standard output: no space left on device\n"
                assert done.stderr in (full_disk, None)


WITH_HANGUP = """
import os, signal, sys
signal.signal(signal.SIGHUP, getattr(signal, sys.argv[1]))
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Runs a program with a handler of SIGHUP; the tests themselves may run under nohup."""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminals that hang up here")
@pytest.mark.parametrize(("ignored", "code"), [(False, 130), (True, 0)], ids=["heard", "nohup"])
def test_a_terminal_that_is_closed_loses_no_game(tmp_path, ignored: bool, code: int):
    games = tmp_path / "games.jsonl"
    command = [sys.executable, "-m", "alphazero", "play", "random", "--game", "nim"]
    command += ["--side", "both", "--save", str(games)]
    handler = "SIG_IGN" if ignored else "SIG_DFL"
    with subprocess.Popen(
        [sys.executable, "-c", WITH_HANGUP, handler, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as playing:
        assert playing.stdin
        assert playing.stdout
        playing.stdin.write("1\n")
        playing.stdin.flush()
        shown = ""
        while shown.count(" to move: ") < 2:
            shown += playing.stdout.read(1)
        playing.send_signal(signal.SIGHUP)
        if ignored:
            playing.stdin.write("quit\n")
            playing.stdin.flush()
        while playing.poll() is None:  # a closed terminal sends more than one
            playing.send_signal(signal.SIGHUP)
            time.sleep(0.01)
        assert playing.returncode == code
    assert len(load_played(games)[0].actions) == 1
