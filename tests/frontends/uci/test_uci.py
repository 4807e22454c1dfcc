"""The Universal Chess Interface, served: each command, each limit, and whatever may come."""

import dataclasses
import random
import re
import subprocess
import sys
import time

import chess
import chess.engine
import pytest
from helpers.frontends.uci_client import UciTalk, best_moves
from helpers.players import saved_player
from helpers.processes import until

from alphazero.cli import main as cli
from alphazero.errors import AlphaZeroError
from alphazero.frontends.line_reader import Lines
from alphazero.frontends.uci.engine import Engine
from alphazero.frontends.uci.protocol import Limits, Line, read_limits, score, win_draw_loss
from alphazero.games.registry import make_game
from alphazero.players.checkpoint_player import load_checkpoint_player
from alphazero.players.levels import LevelTable, default_levels, levels_file, save_levels
from alphazero.players.registry import parse_player

MATE_IN_1 = "position fen 7k/8/5K2/8/6Q1/8/8/8 w - - 0 1"
STALEMATE = "position fen k7/2Q5/2K5/8/8/8/8/8 b - - 0 1"
INFO = (
    r"info depth \d+ seldepth \d+ multipv \d+ score (cp|mate) -?\d+ (wdl \d+ \d+ \d+ )?"
    r"nodes \d+ nps \d+ time \d+ pv( [a-h][1-8][a-h][1-8][nbrq]?)+"
)


def talk(player: str, *lines: str, game: str = "") -> list[str]:
    """Return the output of a session whose lines are sent at once."""
    return UciTalk(player, game, lines).run()


def number_after(word: str, line: str) -> int:
    return int(line.split()[line.split().index(word) + 1])


def test_a_session_begins_with_the_options_and_ends_with_quit():
    output = talk(
        "uct:20", "uci", "isready", "ucinewgame", "position startpos", "go", "quit", "uci"
    )
    declared = output[: output.index("uciok")]
    assert declared[0] == f"id name alphazero {cli.version('alphazero')}, uct:simulations=20"
    names = re.findall("^option name (.*) type", "\n".join(declared), re.MULTILINE)
    own = ["Hash", "Threads", "MultiPV", "Ponder", "Move Overhead", "UCI_ShowWDL", "UCI_Variant"]
    assert names == own
    assert "default chess var breakthrough var chess var gardner var losalamos" in declared[-1]
    ready, info, best = output[output.index("uciok") + 1 :]
    assert ready == "readyok"
    assert re.fullmatch(INFO, info)
    assert re.fullmatch(r"bestmove \w{4}( ponder \w{4})?", best)
    assert number_after("nodes", info) == 20


@pytest.mark.integration
def test_uciok_needs_neither_torch_nor_compiled_rules(tmp_path, monkeypatch):
    path = saved_player(tmp_path / "a.safetensors", "gardner")
    code = (
        "import sys; from alphazero.cli.main import main; main(sys.argv[1:]); "
        "print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, "uci", str(path)]
    for lines, is_imported in (("isready\n", "True"), ("uci\n", "False")):
        result = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        assert result.stdout.splitlines()[-1] == is_imported
        assert not result.stderr
        monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(tmp_path / "cache"))
    assert not [*tmp_path.glob("cache/**/*.nb?")]


@pytest.mark.parametrize(
    ("words", "numbers", "flags", "moves", "complaints"),
    [
        ("wtime -5 btime 7", {"wtime": 0, "btime": 7}, set(), [], 0),
        ("searchmoves e2e4 d2d4 infinite", {}, {"infinite"}, ["e2e4", "d2d4"], 0),
        ("ponder depth x nodes 5 fly", {"nodes": 5}, {"ponder"}, [], 3),
        ("mate", {}, set(), [], 1),
    ],
)
def test_the_limits_of_go_are_read_and_what_is_wrong_is_left_out(
    words, numbers, flags, moves, complaints
):
    heard: list[str] = []
    assert read_limits(words.split(), heard.append) == Limits(numbers, flags, moves)
    assert len(heard) == complaints


@pytest.mark.parametrize(
    ("numbers", "seconds"),
    [
        ({"movetime": 70}, 0.07),
        ({"btime": 60_000}, None),
        ({"wtime": 60_000}, 0.9 * 2 - 0.1),
        ({"wtime": 60_000, "winc": 1000}, 0.9 * 3 - 0.1),
        ({"wtime": 60_000, "movestogo": 2}, 0.9 * 30 - 0.1),
        ({"wtime": 500, "winc": 1000}, 0.9 * 0.5 - 0.1),
        ({"wtime": 0}, 0.01),
    ],
)
def test_the_time_of_a_move_is_a_share_of_what_is_left(numbers, seconds):
    assert Limits(numbers, set(), []).seconds(0, 30, 0.1) == pytest.approx(seconds)


def test_a_value_is_written_as_pawns_and_as_wins_draws_and_losses():
    shares = (0, 0, "250 500 250"), (0.5, 89, "562 376 62"), (1, 12780, "1000 0 0")
    for value, pawns, text in shares:
        assert score(Line(value, None, [])) == f"cp {pawns}"
        assert score(Line(-value, None, [])) == f"cp {-pawns}"
        assert win_draw_loss(Line(value, None, [])) == f"wdl {text}"
    ends = (1, 1, "mate 1"), (1, 3, "mate 2"), (-1, 2, "mate -1"), (0, 5, "cp 0")
    for value, plies, text in ends:
        assert score(Line(value, plies, [])) == text
    assert win_draw_loss(Line(0, 5, [])) == "wdl 0 1000 0"


@pytest.mark.parametrize(
    "go",
    [
        *("", "movetime 30", "wtime 900 btime 900 winc 10 binc 10", "wtime 0 btime 0", "nodes 7"),
        *("wtime 2000 btime 2000 movestogo 40", "depth 2", "nodes 3 searchmoves h2h3 a2a3"),
        *("movetime 0", "depth 1 nodes 5 movetime 50", "depth y", "searchmoves e7e5 nodes 3"),
    ],
)
@pytest.mark.parametrize("player", ["uct:9", "minimax:depth=2", "random"])
def test_every_kind_of_search_ends_with_a_legal_move(player: str, go: str):
    output = talk(player, "position startpos moves e2e4 e7e5", f"go {go}", "quit")
    (best,) = best_moves(output)
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    move = board.parse_uci(best.split()[0])
    if "h2h3" in go:
        assert best.split()[0] in ("h2h3", "a2a3")
    board.push(move)
    if "ponder" in best:
        board.push_uci(best.split()[-1])
    assert all(re.fullmatch(INFO, line) for line in output if line.startswith("info depth"))
    assert (player != "random") == any(line.startswith("info depth") for line in output)


def test_nodes_depth_and_mate_limit_a_search():
    lines = ["position startpos", "go nodes 40", "go depth 3", MATE_IN_1, "go mate 1", "quit"]
    output = talk("uct:7", *lines[:3], "quit")
    nodes, deep = (line for line in output if line.startswith("info depth"))
    assert number_after("nodes", nodes) == 40
    assert number_after("depth", deep) >= 3
    *_, deep, _, mate, best = talk("minimax:depth=1", *lines)
    assert number_after("depth", deep) == 3
    assert "score mate 1 " in mate
    assert best == "bestmove g4g7"
    *_, info, _ = talk(
        "minimax:depth=4", "position fen k7/8/2K5/1Q6/8/8/8/8 b - - 0 1", "go", "quit"
    )
    assert "score mate -1 " in info


def test_a_tree_is_deep_enough_when_its_line_cannot_grow(monkeypatch):
    for module in ("frontends.uci.session", "players.position_search"):
        monkeypatch.setattr(f"alphazero.{module}.LONGEST_LINE", 3)
    for position in ("position startpos", MATE_IN_1):
        assert len(best_moves(talk("uct:7", position, "go depth 99"))) == 1


def test_the_end_that_a_network_has_proven_is_a_mate(tmp_path):
    path = saved_player(tmp_path / "a.safetensors", "gardner")
    position = "position fen 4k/2K2/5/3Q1/5 w - - 0 1"
    output = talk(f"{path}:simulations=3000,mcts_solver=true", position, "go", "quit")
    assert "score mate 1 " in output[-2]
    assert best_moves(output)[0].split()[0] == output[-2].split()[-1]


@pytest.mark.parametrize("player", ["uct:9", "minimax:depth=2"])
def test_an_endless_search_goes_on_until_stop_and_answers_in_the_meantime(player: str):
    wait = lambda: time.sleep(0.3)  # noqa: E731
    lines = ["go infinite", wait, "isready", "quux", wait, "stop"]
    output = UciTalk(player, "gardner", lines).run()
    assert output.index("readyok") < len(output) - 1
    assert "info string unknown command 'quux'" in output
    assert output[-1].startswith("bestmove ")
    assert len(best_moves(output)) == 1


def test_a_search_that_ponders_is_limited_from_ponderhit_on():
    waits = lambda: time.sleep(0.3)  # noqa: E731
    lines = ["position startpos moves a2a3 b4a3", "go ponder nodes 3 movetime 60", waits]
    hit = UciTalk("uct:9", "gardner", [*lines, "isready", "ponderhit"]).run()
    assert hit[0] == "readyok"
    assert number_after("nodes", hit[-2]) > 3
    stopped = UciTalk("uct:9", "gardner", [*lines, "stop", "ponderhit"]).run()
    assert len(best_moves(stopped)) == 1


@pytest.mark.parametrize("player", ["uct:9", "uct:seconds=0.1", "gardner:level=9"])
@pytest.mark.parametrize("clock", ["", " btime 1000"])
def test_without_a_clock_a_search_that_pondered_has_the_own_budget_of_the_player(player, clock):
    talk = UciTalk(player, "gardner")
    waits, ends = (lambda: time.sleep(0.3)), (lambda: until(lambda: best_moves(talk.output)))
    lines = ["position startpos", f"go ponder{clock}", waits, "ponderhit", ends, "stop"]
    talk.session.lines = Lines(talk._script(lines), lambda _: False)
    output = talk.run()
    assert len(best_moves(output)) == 1
    if "level" in player:
        engine = talk.session.engine
        assert engine.nodes() == engine.analyzer.budget.simulations


def test_a_line_that_must_wait_ends_an_endless_search_and_waits_for_others():
    lines = ["position startpos moves e2e4", "go movetime 100", "isready", "go nodes 5"]
    output = talk("uct:9", "go infinite", *lines)
    assert len(best_moves(output)) == 3
    assert "readyok" in output
    assert [number_after("nodes", line) for line in output if line.startswith("info")][-1] == 5
    board = chess.Board()
    board.parse_uci(best_moves(output)[0].split()[0])
    board.push_uci("e2e4")
    for best in best_moves(output)[1:]:
        board.parse_uci(best.split()[0])


@pytest.mark.parametrize("ending", [["quit"], []])
def test_leaving_during_a_search_ends_it_with_a_move(ending):
    lines = ["go movetime 900000", lambda: time.sleep(0.5), *ending]
    begin = time.monotonic()
    assert len(best_moves(UciTalk("uct:9", "gardner", lines).run())) == 1
    assert time.monotonic() - begin < 600


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("position startpos moves e2e4 e7e5 e1e3", "position: move 3: 'e1e3' is not legal here"),
        ("position startpos moves e2e4 0000", "position: move 2: '0000' is no move"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "position: White has 0 kings"),
        ("position fen x", "position: the FEN has 1 rows"),
        ("position fen", "position: expected startpos or fen FEN, got 'fen'"),
        ("position", "position: expected startpos or fen FEN, got ''"),
        ("setoption name Nothing value 3", "option 'Nothing' is ignored: there is none"),
        ("setoption name hash value x", "option Hash: expected a number from 1 to 2048, got 'x'"),
        ("setoption name Threads value 0", "option Threads: expected a number from 1 to 1024"),
        ("setoption name Ponder value maybe", "option Ponder: expected one of false, true"),
        ("setoption name UCI_Variant value atomic", "option UCI_Variant: expected one of breakth"),
        ("setoption value 3", "expected setoption name NAME value VALUE"),
        ("fly", "unknown command 'fly'"),
        ("x" * 70_000, "line too long: at most 65,536 characters"),
        ("go searchmoves e7e3 nodes 2", "go: searchmoves: 'e7e3' is not legal here"),
    ],
)
def test_a_line_that_is_wrong_is_answered_in_one_line_and_changes_nothing(line, message):
    position = "position startpos moves e2e4 a7a6 g1f3"
    output = talk("uct:2", position, line, "go nodes 2", position, "go nodes 2")
    assert output[0].startswith(f"info string {message}"), output[0]
    # A move of the position before would be illegal, or another one than is shown.
    assert (best_moves(output)[0] == "0000") == line.startswith("position")
    board = chess.Board("rnbqkbnr/1ppppppp/p7/8/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2")
    board.parse_uci(best_moves(output)[-1].split()[0])


def test_a_finished_game_has_no_move_but_a_draw_that_must_be_claimed_has():
    for position in (STALEMATE, "position fen k7/8/8/8/8/8/8/K7 w - - 0 1"):
        assert talk("uct:2", position, "go infinite")[-2:] == [
            "info string the game is over",
            "bestmove 0000",
        ]
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"] * 3
    for moves in (shuffle, [*shuffle, "e2e4"], [*shuffle, "e2e4", "e7e5"]):
        board = chess.Board()
        for move in moves:
            board.push_uci(move)
        (best,) = best_moves(talk("uct:2", f"position startpos moves {' '.join(moves)}", "go"))
        board.parse_uci(best.split()[0])
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"] * 129  # beyond the most moves of a game here
    (best,) = best_moves(talk("uct:2", f"position startpos moves {' '.join(moves)}", "go"))
    chess.Board().parse_uci(best.split()[0])
    for quiet in (100, 149):
        board = chess.Board(f"k7/8/8/8/8/8/8/K6R w - - {quiet} 90")
        (best,) = best_moves(talk("uct:2", f"position fen {board.fen()}", "go"))
        board.parse_uci(best.split()[0])


def test_the_tree_follows_the_game_that_is_sent_anew_with_each_move():
    session = UciTalk("uct:400", "gardner").session
    session._answer(["isready"])
    for moves in ("", "moves a2a3", "moves a2a3 b4a3"):
        session._answer(f"position startpos {moves}".split())
        session._answer(["go", "nodes", "300"])
        roots = session.engine.analyzer.roots
        assert roots is not None
        if moves:
            assert roots.visits.sum() > 300 or "b4a3" in moves
    session._answer(["position", "startpos", "moves", "a2a3"])
    session._answer(["go", "nodes", "300"])
    roots = session.engine.analyzer.roots
    assert roots is not None
    assert roots.visits.sum() == 300


def test_several_lines_their_wins_and_draws_and_another_variant_are_options():
    options = "MultiPV value 3", "UCI_ShowWDL value true", "UCI_Variant value losalamos"
    options += ("Threads value 2", "Hash value 1")
    lines = ["position startpos moves a2a3", "go", "go searchmoves b5b4 a5a4"]
    output = talk("uct:300", *(f"setoption name {option}" for option in options), *lines)
    first = [line for line in output[:-1] if line.startswith("info depth")]
    assert [number_after("multipv", line) for line in first] == [1, 2, 3, 1, 2]
    assert all(" wdl " in line for line in first)
    assert {line.partition(" pv ")[2][:4] for line in first[3:]} == {"b5b4", "a5a4"}
    assert best_moves(output)[1].split()[0] in ("b5b4", "a5a4")


def test_a_tree_that_takes_the_memory_of_hash_ends_its_search():
    output = talk("uct", "setoption name Hash value 1", "go movetime 900000", game="gardner")
    assert 500 < number_after("nodes", output[-2]) < 10_000
    assert len(best_moves(output)) == 1


def test_the_strength_is_limited_to_the_level_with_the_nearest_rating(tmp_path):
    path = saved_player(tmp_path / "a.safetensors", "gardner")
    assert "UCI_Elo" not in " ".join(talk(str(path), "uci"))
    saved = load_checkpoint_player(path)
    levels = tuple(
        dataclasses.replace(level, elo=100.0 * level.number, elo_low=0.0, elo_high=0.0)
        for level in default_levels(8).levels
    )
    table, player_hash = LevelTable(levels, "random"), saved.checkpoint.player_hash
    save_levels(levels_file(path), table, saved.game, player_hash, "")
    limit = "setoption name UCI_LimitStrength value"
    session = UciTalk(str(path)).session
    session._answer(["uci"])
    assert (
        "option name UCI_Elo type spin default 1000 min 100 max 1000" in session.engine.options.text
    )
    for line in (f"{limit} true", "setoption name UCI_Elo value 333", "go"):
        session._answer(line.split())
    assert session.engine.analyzer.level == 3
    for line in (f"{limit} false", "go"):
        session._answer(line.split())
    assert session.engine.analyzer.level is None


@pytest.mark.parametrize(
    ("player", "game", "message"),
    [
        ("uct", "connect_four", "games whose pieces move, such as chess, not connect_four"),
        ("tic_tac_toe", "", "not tic_tac_toe; for others try: alphazero gtp"),
        (f"gtp:{sys.executable}", "chess", "is a program already"),
    ],
)
def test_a_player_that_cannot_be_served_is_refused(player: str, game: str, message: str):
    with pytest.raises(AlphaZeroError, match=message):
        Engine(parse_player(player), make_game(game) if game else None)


def test_the_command_line_serves_a_player(monkeypatch, capsys):
    lines = ["position startpos moves a2a3", "go nodes 3", "quit"]
    monkeypatch.setattr("alphazero.frontends.uci.session.lines_of", lambda _: iter(lines))
    assert cli.main(["uci", "uct", "--game", "breakthrough:rows=5,columns=5"]) == 0
    assert re.search(r"\nbestmove [a-e][45][a-e][34]( ponder \w{4})?\n$", capsys.readouterr().out)


COMMANDS = (
    *("uci", "isready", "ucinewgame", "setoption", "position", "go", "stop", "ponderhit"),
    *("debug", "register"),
)
WORDS = (
    *COMMANDS,
    *("startpos", "fen", "moves", "name", "value", "Hash", "Threads", "MultiPV", "UCI_Variant"),
    *("gardner", "chess", "true", "1", "2", "3", "30", "0", "-4", "x", "e2e3", "a2a3", "a4a3"),
    *("wtime", "btime", "winc", "binc", "movestogo", "movetime", "nodes", "depth", "mate"),
    *("infinite", "ponder", "searchmoves", "rnbqk/ppppp/5/PPPPP/RNBQK", "4k/5/5/5/K3R", "w", "-"),
)
SOUND = (
    *("isready", "isready", "uci", "stop", "stop", "ponderhit", "ucinewgame", "go infinite"),
    *("position startpos", "position startpos moves a2a3 a4a3", "go nodes 2", "go movetime 1"),
    *("go ponder movetime 2", "go depth 1", "setoption name MultiPV value 2"),
    *("position fen 4k/5/5/5/K3R b - - 0 1", "position fen 4k/5/5/5/K3R w - - 0 1 moves e1e4"),
)


def fuzzed_lines(count: int, seed: int) -> list[str]:
    """Return lines, sound ones and others, none of which can be `quit`."""
    rng, lines = random.Random(seed), []
    for _ in range(count):
        line = rng.choice(SOUND)
        if rng.random() < 0.5:
            line = " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))
        if rng.random() < 0.2:
            letters = list(line)
            place = rng.randrange(len(letters) + 1)
            letters[place : place + rng.randint(0, 2)] = rng.choice(
                ["", " ", "\t", "9", "\x1b", "\x00", "é", "b", chr(rng.randrange(0x3000))]
            )
            line = "".join(letters).replace("\n", " ")
        lines.append(line)
    return lines


@pytest.mark.parametrize(
    "count", [500, pytest.param(10_000, marks=pytest.mark.slow)], ids=["some", "many"]
)
@pytest.mark.parametrize("player", ["uct:2", "minimax:depth=1"])
def test_every_line_is_answered_in_step_whatever_it_is(player: str, count: int):
    lines = fuzzed_lines(count, seed=count)
    asked = []
    for line in lines:
        words = "".join(c if c.isprintable() else " " for c in line).split()
        asked += [word for word in words if word in COMMANDS][:1]
    end = ["stop", "ucinewgame", "setoption name UCI_Variant value gardner"]
    end += ["position startpos moves e2e3", "go nodes 1", "quit"]
    output = talk(player, *lines, *end, game="gardner")
    assert output.count("readyok") == asked.count("isready") > count / 50
    assert output.count("uciok") == asked.count("uci") > count / 100
    assert len(best_moves(output)) == asked.count("go") + 1
    assert re.match("[a-e][45][a-e][34]", best_moves(output)[-1])
    for line in output:
        assert re.match("(info |bestmove |readyok$|uciok$|id |option name )", line), line


@pytest.mark.parametrize(
    ("player", "games"),
    [
        pytest.param("minimax:depth=1", 1, marks=pytest.mark.integration),
        pytest.param("uct", 20, marks=pytest.mark.slow),
        pytest.param("minimax:depth=3", 20, marks=pytest.mark.slow),
    ],
)
def test_python_chess_plays_games_by_its_clock(player: str, games: int):
    results, increment = [], 0.1
    command = [sys.executable, "-m", "alphazero", "uci", player]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=120) as engine:
        for number in range(games):
            board, clocks = chess.Board(), [1.0, 1.0]
            while not board.is_game_over() and board.ply() < 400:
                white, black = clocks
                limit = chess.engine.Limit(
                    white_clock=white, black_clock=black, white_inc=increment, black_inc=increment
                )
                begin = time.monotonic()
                move = engine.play(board, limit, game=number, info=chess.engine.INFO_ALL).move
                assert move in board.legal_moves
                side = board.ply() % 2
                clocks[side] = max(clocks[side] - time.monotonic() + begin, 0) + increment
                board.push(move)
            results.append(board.result())
        analysis = engine.analyse(chess.Board(), chess.engine.Limit(nodes=100), multipv=2)
        assert analysis[0]["pv"][0] in chess.Board().legal_moves
    print(player, results)
