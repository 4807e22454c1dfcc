"""PGN, FEN and EPD, with python-chess as another reader and writer."""

import contextlib
import dataclasses
import io
import random
import re
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import numpy as np
import pytest
from helpers.chess_games import CHESS, KIWIPETE, PROMOTING
from helpers.games import actions_in, random_actions
from helpers.matches import played_game

from alphazero.errors import GameError, PlayerError, RunError
from alphazero.frontends.game_tree import GameTree
from alphazero.frontends.review.annotation import annotated
from alphazero.frontends.review.judgement import Evaluation, review_moves
from alphazero.frontends.terminal.replay_viewer import replay
from alphazero.games import ONGOING, make_game
from alphazero.games.registry import read_game
from alphazero.records.game_files import (
    check_savable,
    continued,
    load_first,
    load_played,
    read_played,
    save_played,
)
from alphazero.records.gtp_notation import GtpNotation
from alphazero.records.jsonl import read_line
from alphazero.records.pgn import pawns, read_position, to_pgn
from alphazero.records.played_game import PlayedGame

SCHOLAR = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0"
SCHOLAR_MOVES = "e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7#"
BLACK_FIRST = "4k3/7p/8/8/8/8/P7/4K3 b - - 3 20"


def loaded(text: str | bytes) -> tuple[PlayedGame, list[str]]:
    """Return the first game of a file, and what was left out of the file."""
    warnings: list[str] = []
    data = text.encode() if isinstance(text, str) else text
    return read_played(data, warnings.append)[0], warnings


def their_game(seed: int) -> chess.pgn.Game:
    """Return a random game of python-chess with tags, comments, annotations and variations."""
    dice, game = random.Random(seed), chess.pgn.Game()
    names = "Event", "Site", "Date", "Round", "White", "Black", "WhiteElo", "ECO", "Termination"
    for name in dice.sample(names, dice.randrange(len(names))):
        game.headers[name] = dice.choice(["a (b); {c}", "1999.??.??", "\N{EURO SIGN}"])
    game.headers["White"] = game.headers["Black"] = "A"
    game.comment = dice.choice(["", "the first. The second"])

    def annotate(node: chess.pgn.GameNode) -> None:
        node.comment = dice.choice(["", "", "", "a (good) move; [sic]", "\N{EURO SIGN} 1. e4"])
        node.nags = set(dice.choice([[], [], [1], [14], [6]]))

    board = chess.Board(dice.choice((chess.STARTING_FEN, KIWIPETE, PROMOTING, BLACK_FIRST)))
    if board.fen() != chess.STARTING_FEN:
        game.setup(board)
    node: chess.pgn.GameNode = game
    for _ in range(dice.randrange(1, 50)):
        moves = list(board.legal_moves)
        dice.shuffle(moves)
        if not moves or board.is_insufficient_material() or board.is_repetition(3):
            break
        parent, node = node, node.add_variation(moves[0])
        annotate(node)
        for move in moves[1:] if dice.random() < 0.1 else ():
            annotate(other := parent.add_variation(move))
            if replies := list(other.board().legal_moves):
                annotate(other.add_variation(dice.choice(replies)))
            if dice.random() < 0.5:
                break
        board.push(moves[0])
    game.headers["Result"] = board.result()
    return game


def lines_of(game: chess.pgn.Game) -> list[list[tuple[str, str, set[int]]]]:
    """Return moves with comments and annotations of the main line, then of each variation."""
    lines = [list(game.mainline())]
    for node in [game, *game.mainline()]:
        lines += [[other, *other.mainline()] for other in node.variations[1:]]
    return [[(node.move.uci(), node.comment, node.nags) for node in line] for line in lines]


@pytest.mark.parametrize(
    "games", [range(40), pytest.param(range(40, 200), marks=pytest.mark.slow)], ids=len
)
def test_random_games_are_the_same_for_python_chess_both_ways(games: range):
    notation = GtpNotation(CHESS)  # which names moves as UCI does
    for seed in games:
        theirs = their_game(seed)
        played, warnings = loaded(str(theirs))
        assert not warnings
        states, lines = played.states(), [list(played.actions)]
        lines += [list(line.actions) for line in played.variations]
        firsts = [states[0], *(states[line.ply] for line in played.variations)]
        ours = list(map(notation.names, firsts, lines))
        assert ours == [[move for move, *_ in line] for line in lines_of(theirs)]
        again = chess.pgn.read_game(io.StringIO(to_pgn(played)))
        assert again is not None
        assert not again.errors
        assert lines_of(again) == lines_of(theirs)
        assert again.headers == theirs.headers
        assert again.comment == theirs.comment
        assert GameTree.of(played).played(("a", "b")) == played
        assert loaded(str(again))[0] == played


@pytest.mark.parametrize(
    ("text", "moves", "warning"),
    [
        ("1.e4 e5 2.Bc4 Nc6 3.Qh5 Nf6 4.Qxf7#", SCHOLAR_MOVES, ""),
        ("1. e2e4 e7-e5 2. Bf1c4 b8c6 3. Qh5 Nf6 4. Qf7 1-0", SCHOLAR_MOVES, ""),
        ("1.e4! e5?! 2.Bc4!! Nc6!? 3.Qh5? Nf6?? 4.Qxf7#!!", SCHOLAR_MOVES, ""),
        ('[Event "?"]\r\n\r\n1. e4 e5\r\n2. Bc4\r\n*\r\n', "e4 e5 Bc4", ""),
        ('[Event "?"]\r\r1. e4 e5\r2. Bc4\r*\r', "e4 e5 Bc4", ""),
        ("% escaped [Event\n1. e4\n%e5 is escaped\n1... c5 *", "e4 c5", ""),
        ("1. e4 {a { comment ; (with) [signs] $1} 1... e5 ; and 1. d4\n2. Nf3 *", "e4 e5 Nf3", ""),
        ("1. e4 (1. d4 d5 (1... Nf6 {deep}) 2. c4) (1. c4) 1... e5 *", "e4 e5", ""),
        ("(1. d4) 1. e4 ()) 1... e5 *", "e4 e5", ""),
        ("1. e4 $1 $14 $139 e5 $$ } *", "e4 e5", ""),
        ("1 e4 1 ... e5 2 . Nf3 *", "e4 e5 Nf3", ""),
        ('[White "a ] \\"b\\" \\\\ c"]\n[Black ""]\n1. e4 *', "e4", ""),
        ('[White "a"] [Black "b\\"]"][Round "1"]\n1. e4 *', "e4", ""),
        ('[White "The "Best" of all"]\n1. e4 *', "e4", ""),
        ('[White "A "b" [1]"] [FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n1. e4 Kd7', "e4 Kd7", ""),
        ('[White "a"] [oops]\n1. e4 *', "e4", "a tag is left out: [oops]"),
        ('[Event "a"] [FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n1. e4 Kd7 *', "e4 Kd7", ""),
        ('[White "Kasparov]\n[Black "X"]\n1. e4 *', "e4", 'a tag is left out: [White "Kasparov]'),
        ("1. e4 e5 2. Ke3 Nc6", "e4 e5", "left out: move 3: 'Ke3' is not legal here; type a legal"),
        ("1. e4 -- 2. d4", "e4", "left out: move 2: '--' is no move"),
        ("1. e4 e5 {the end", "e4 e5", "the end of a comment is missing"),
        ("1. e4 e5 (1... c5 2. Nf3", "e4 e5", "the end of a variation is missing"),
        ("1. e4 e5 (1... c5 2. Nf6) 2. Nf3", "e4 e5 Nf3", "a variation ends early: 'Nf6' is not"),
        (f"{SCHOLAR[:-4]} Ke7", SCHOLAR_MOVES, "left out: move 8: the game is over"),
        ("[%clk 0:01] 1. e4", "", ""),
    ],
)
def test_a_game_is_read_as_far_as_it_goes(text: str, moves: str, warning: str):
    if not moves:
        with pytest.raises(PlayerError):
            loaded(text)
        return
    played, warnings = loaded(text)
    assert " ".join(played.moves()) == moves
    assert warning in "\n".join(warnings)
    assert bool(warning) == bool(warnings)
    assert all("\n" not in line for line in warnings)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("1. hello world", "game 1: 'hello' is no move; type one such as"),
        ('[Variant "shogi"]\n1. e4', "game 1: unknown game 'shogi'"),
        ('[Variant "go"]\n1. e4', "game 1: PGN: the variant 'go' is no game whose pieces move"),
        ('[FEN "4k3/8/8/8/8/8/8/4KK2 w - - 0 1"]\n', "game 1: White has 2 kings; expected one"),
        ("4k3/8/8/8/8/8/8/4KK2 w - - 0 1", "position 1: White has 2 kings; expected one"),
        ("4k3/8/8/4KK2 w", "position 1: no game has a board of 4 rows with pieces"),
        ("4P/5/5/5/pp3 w", "position 1: White has 0 kings; expected one"),
    ],
)
def test_a_text_without_a_game_is_refused_in_one_line(text: str, error: str):
    with pytest.raises(PlayerError, match=re.escape(error)) as caught:
        loaded(text)
    assert "\n" not in str(caught.value)


def test_a_position_of_a_named_game_is_refused_by_its_rules():
    with pytest.raises(GameError, match="the FEN has 4 rows; expected 5"):
        read_position("p3/4/4/3P w", make_game("breakthrough", rows=5, columns=4))


def test_comments_and_annotations_stay_with_their_moves_and_clocks_do_not():
    text = "{before} 1. e4 $2 {[%clk 1:00:00] good [%eval 0.3]} e5?! {[%emt 1]} $14 2. Nf3 ;yes\n*"
    played, _ = loaded(text)
    assert played.comments == ("? good [%eval 0.3]", "?! $14", "yes")
    assert played.remark == "before"
    written = to_pgn(played)
    assert "{before} 1. e4 $2 {good [%eval 0.3]} 1... e5 $6 $14 2. Nf3 {yes} *" in written
    assert loaded(written)[0] == played


def test_comments_stay_in_nested_variations_and_in_those_without_an_end():
    text = "1. e4 ({best?} 1. d4! {Queen's} d5 {solid} ({or} 1... Nf6 $1 {sharp} 2. c4) 2. c4 {+}"
    played, warnings = loaded(text)
    assert warnings == ["game 1: the end of a variation is missing"]
    assert [line.comments for line in played.variations] == [
        ("or", "! sharp", ""),
        ("! Queen's best?", "solid", "+"),
    ]
    tree = GameTree.of(played)
    comments = [node.comment for node in (tree.root.children[0], *tree.root.children[0].children)]
    assert comments == ["! Queen's best?", "! sharp", "solid"]
    written = to_pgn(played)
    line = "1. e4 (1. d4 {or} 1... Nf6 $1 {sharp} 2. c4) (1. d4 $1 {Queen's best?}"
    assert line in " ".join(written.split())
    assert loaded(written)[0] == played


def test_a_review_and_a_second_one_keep_what_the_file_says():
    text = (
        '[Event "Cup"]\n[Date "1999.12.31"]\n[WhiteElo "2400"]\n\n'
        "{A short one.} 1. f3 e5 2. g4 {hm} (2. e4 $1 {solid}) 2... Qh4# 0-1\n"
    )
    better = (CHESS.parse_action(CHESS.from_moves(["f3", "e5"]), "h3"),)
    evaluations = [Evaluation(value, best=better, line=better) for value in (0, 0, 0, 1, -1)]
    texts = [text]
    for _ in range(2):
        played, warnings = loaded(texts[-1])
        assert not warnings
        review = review_moves(played.actions, evaluations)
        texts.append(to_pgn(annotated(played, evaluations, review)))
    assert texts[1] == texts[2]
    theirs = chess.pgn.read_game(io.StringIO(texts[1]))
    headers = [theirs.headers[name] for name in ("Event", "Date", "WhiteElo")]
    assert headers == ["Cup", "1999.12.31", "2400"]
    assert theirs.comment == "A short one."
    blunder, solid, best = theirs.next().next().variations
    assert blunder.nags == {chess.pgn.NAG_BLUNDER}
    assert blunder.comment.endswith("better was h3 // hm")
    assert (solid.comment, solid.nags) == ("solid", {chess.pgn.NAG_GOOD_MOVE})
    assert (best.san(), best.comment) == ("h3", "")


@pytest.mark.parametrize(
    ("end", "outcome", "ending"),
    [
        ('[Result "1-0"]\n[Termination "White won by resignation"]\n\n1. e4 1-0', 1, "resigned"),
        ('[Result "0-1"]\n[Termination "Time forfeit"]\n\n1. e4 0-1', -1, "out of time"),
        ('[Result "0-1"]\n[Termination "Normal"]\n\n1. e4 0-1', -1, "0-1"),
        ('[Result "1/2-1/2"]\n\n1. e4 1/2-1/2', 0, "1/2-1/2"),
        ('[Result "*"]\n\n1. e4 *', ONGOING, ""),
        ('[Result "no"]\n\n1. e4 0-1', -1, "0-1"),
        (f'[Result "*"]\n\n{SCHOLAR}', 1, ""),
        (f'[Result "0-1"]\n\n{SCHOLAR}', -1, "0-1"),
    ],
)
def test_the_result_is_the_file_s_unless_it_has_none(end: str, outcome: int, ending: str):
    played, warnings = loaded(end)
    assert played.outcome == outcome
    assert ("resigned" if played.resigned else played.forfeit_reason or played.sgf_result) == ending
    assert not warnings
    assert loaded(to_pgn(played))[0] == played
    assert read_line(played.to_line().encode()) == dataclasses.replace(played, tags=())


@pytest.mark.parametrize(
    "name", ["gardner", "los_alamos", "breakthrough:rows=5,columns=6", "chess"]
)
def test_every_game_whose_pieces_move_is_saved_and_loaded(name: str, tmp_path):
    game, rng, games = read_game(name), np.random.default_rng(3), []
    for opening in range(4):
        actions = random_actions(game, rng)[:30]
        games.append(played_game(game, actions, ("A", 'B "b"'), opening=opening))
    lost = dataclasses.replace(games[0], actions=games[0].actions[:5], outcome=-1)
    games.append(dataclasses.replace(lost, resigned=True))
    games.append(dataclasses.replace(lost, forfeit_reason="illegal (move)"))
    path = tmp_path / "games.PGN"
    check_savable(path, game)
    save_played(path, games)
    assert load_played(path, pytest.fail) == games
    check_savable(path, game)  # it holds games


def test_values_are_written_as_evaluations_for_white_and_read_back_as_they_were():
    comment = "win rate 75% (value +0.50), 30 of 40 visits"
    game = played_game(CHESS, actions_in(CHESS, "e4 e5"), comments=(comment, comment))
    written = to_pgn(game)
    assert f"1. e4 {{[%eval 0.89] {comment}}} 1... e5 {{[%eval -0.89] {comment}}}" in " ".join(
        written.split()
    )
    assert loaded(written)[0] == game
    node = chess.pgn.read_game(io.StringIO(written)).next()
    assert node.eval().white() == chess.engine.Cp(89)
    assert [round(pawns(value)) for value in (-1, 0, 1)] == [-128, 0, 128]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_files_of_usual_encodings_are_read(encoding: str):
    played, _ = loaded(f'[White "M\xfcller"]\n[Black "Ren\xe9"]\n\n{SCHOLAR}\n'.encode(encoding))
    assert played.players == ("M\xfcller", "Ren\xe9")
    assert " ".join(played.moves()) == SCHOLAR_MOVES


def test_a_file_that_ends_anywhere_keeps_what_came_before():
    text = (
        '[Event "?"]\n[White "A"]\n[FEN "4k3/7p/8/8/8/8/P7/4K3 b - - 3 20"]\n\n'
        "20... h5 $1 {a comment} (20... Kd7 21. a4) 21. a4 h4; rest\n22. a5 1/2-1/2\n\n"
        '[Event "two"]\n\n1. e4 e5?! 1-0\n'
    )
    moves = [played.moves() for played in read_played(text.encode(), print)]
    assert moves == [["h5", "a4", "h4", "a5"], ["e4", "e5"]]
    most = 0
    for end in range(len(text)):
        try:
            games = read_played(text[:end].encode(), lambda _: None)
        except PlayerError:
            continue
        for game, whole in zip(games, moves, strict=False):
            assert game.moves() == whole[: len(game.moves())]
        count = sum(len(game.actions) for game in games)
        assert count >= most, "a longer beginning has no fewer moves"
        most = count
    assert most == 6


@pytest.mark.parametrize(
    "text",
    [
        "% " * 100_000,
        "/" * 200_000,
        "8/" * 100_000 + " w",
        "1. e4 {" + "[%clk " * 50_000,
        "{a}" * 100_000 + "\n1. e4",
        "1. e4 e5 (" + "1... e5 " * 15_000 + "(" * 20_000,
        "1. e4 " + "(" * 50_000,
        "[" * 200_000,
        '[A "' + '"' * 100_000,
        "1." * 100_000,
        " \n" * 100_000 + "[",
    ],
)
def test_a_hostile_text_costs_no_more_than_its_length(text: str):
    """Quadratic time would be minutes here."""
    with contextlib.suppress(PlayerError):
        loaded(text)


@pytest.mark.parametrize("times", [3, 140])
def test_a_game_that_goes_on_after_a_draw_that_nobody_claimed_is_whole(times: int):
    moves = ["Nf3", "Nf6", "Ng1", "Ng8"] * times
    moves += ["e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#"]
    text = f'[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n{" ".join(moves)} 1-0\n'
    played, (warning,) = loaded(text)
    assert (played.moves(), played.outcome, played.resigned) == (moves, 1, False)
    drawn = "game 1: the rules draw the game after move 8"
    assert warning == f"{drawn}; it goes on, without automatic draws"
    assert played.game == make_game("chess", automatic_draws=0)
    again = to_pgn(played)
    assert "Variant" not in again
    assert loaded(again) == (played, [])
    theirs = chess.pgn.read_game(io.StringIO(again))
    assert len([*theirs.mainline_moves()]) == len(moves)
    assert theirs.end().board().is_checkmate()


@pytest.mark.parametrize("resigned", [False, True])
def test_a_game_without_automatic_draws_stays_one_wherever_it_ends(resigned: bool):
    game = make_game("gardner", automatic_draws=0)
    actions = tuple(actions_in(game, "Na3 Nc3 Nb1 Nb5 " * 2))
    outcome = 1 if resigned else ONGOING
    for count in (0, 3, 8):
        played = PlayedGame(game, ("a", "b"), actions[:count], outcome, resigned=resigned)
        assert loaded(to_pgn(played)) == (played, [])


def test_fifty_moves_may_have_passed_before_the_game_begins():
    text = '[FEN "4k3/8/8/8/8/8/8/R3K3 w - - 120 150"]\n\n1. Ra8+ Kd7 2. Ra7+ 1-0\n'
    assert loaded(text)[0].moves() == ["Ra8+", "Kd7", "Ra7+"]


def test_a_file_of_many_games_loses_only_the_bad_ones(tmp_path):
    path, warnings = tmp_path / "many.pgn", []
    bad = '[FEN "8/8 w"]\n\n1. e4 *\n'
    path.write_text(f"{SCHOLAR}\n\n{bad}\n1. e4 e5 2. Ke3 *\n\n{SCHOLAR}\n")
    games = load_played(path, warnings.append)
    assert [len(game.actions) for game in games] == [7, 2, 7]
    assert [game.number for game in games] == [1, 3, 4]
    assert warnings == [
        f"{path}: game 3: the moves from here on are left out: move 3: 'Ke3' is not legal here; "
        "type a legal move, such as Na3 or Nc3 or Qe2",
        f"left out: {path}: game 2: the FEN has 2 rows; expected 8",
    ]


def test_pgn_is_refused_for_games_without_pieces_that_move(tmp_path):
    with pytest.raises(GameError, match=r"not for hex; a file that ends in \.jsonl takes any game"):
        check_savable(tmp_path / "a.pgn", make_game("hex"))
    with pytest.raises(RunError, match="it would hold positions, no games"):
        check_savable(tmp_path / "a.epd", CHESS)


# Positions.

TWO_ROWS = "pppppppp/8/8/8/8/8/8/PPPPPPPP w"


@pytest.mark.parametrize(
    ("text", "game", "fen"),
    [
        (BLACK_FIRST, "chess", BLACK_FIRST),
        ("4k3/7p/8/8/8/8/P7/4K3", "chess", "4k3/7p/8/8/8/8/P7/4K3 w - - 0 1"),
        ("4k3/7p/8/8/8/8/P7/4K3 b - - 3", "chess", "4k3/7p/8/8/8/8/P7/4K3 b - - 3 1"),
        ("rnbqk/ppppp/5/PPPPP/RNBQK", "gardner", "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1"),
        ("4k1/P5/6/6/6/K5 w", "los_alamos", "4k1/P5/6/6/6/K5 w - - 0 1"),
        (TWO_ROWS, "breakthrough", f"{TWO_ROWS} - - 0 1"),
    ],
)
def test_a_position_alone_is_a_game_without_moves(text: str, game: str, fen: str):
    played, warnings = loaded(text)
    assert (played.game, played.start, played.actions) == (make_game(game), fen, ())
    assert not warnings


def test_a_file_of_positions_is_read_line_by_line(tmp_path):
    path, warnings = tmp_path / "ends.epd", []
    epd = '4k3/7p/8/8/8/8/P7/4K3 b - - bm h5; id "a; b"; fmvn 20; hmvc 3;'
    path.write_text(f"# two ends\n{epd}\n\nno position\n{KIWIPETE}\n")
    games = load_played(path, warnings.append)
    assert [game.start for game in games] == [BLACK_FIRST, KIWIPETE]
    assert warnings == [
        f"{path}: position 1: the operation bm h5 is left out",
        f'{path}: position 1: the operation id "a; b" is left out',
        f"left out: {path}: position 2: 'no position' is no FEN and no EPD",
    ]


def test_a_game_that_begins_with_black_keeps_its_sides_everywhere(tmp_path):
    played = load_first(Path(BLACK_FIRST), None)
    tree = GameTree.of(played)
    assert tree.to_play == 1
    for name in ("h5", "a4", "h4"):
        tree.make(CHESS.parse_action(tree.state, name))
    assert [node.ply for node in tree.line] == [0, 1, 2, 3]
    saved = dataclasses.replace(tree.played(("white", "black")), comments=())
    assert saved.start == BLACK_FIRST
    for suffix in (".pgn", ".jsonl"):
        path = tmp_path / f"game{suffix}"
        save_played(path, [saved])
        assert load_played(path, pytest.fail) == [saved]
        assert continued(path, load_first(path, None), 2, CHESS).moves() == ["h5", "a4"]
    lines: list[str] = []
    replay([saved], say=lines.append)
    assert [line for line in lines if line[:1].isdigit()] == [
        "1. Black black: h5",
        "2. White white: a4",
        "3. Black black: h4",
    ]
    review = review_moves(saved.actions, [Evaluation(0.5)] * 4, first=1)
    assert [move and move.player for move in review.moves] == [1, 0, 1]
    assert review.chances == (25, 75, 25, 75)
