"""The command `review`."""

import argparse
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alphazero.cli.shared import (
    EXIT_INTERRUPTED,
    PLAYER,
    budget_options,
    check_name,
    command,
    games_arguments,
    thinking_arguments,
)
from alphazero.errors import AlphaZeroError
from alphazero.utils.progress import progress_bar

if TYPE_CHECKING:
    from alphazero.frontends.review.judgement import Evaluation
    from alphazero.frontends.review.reviewer import Reviewer
    from alphazero.games.game import Game
    from alphazero.players.specs import PlayerSpec
    from alphazero.records.played_game import PlayedGame


def review_arguments(parser: argparse.ArgumentParser) -> None:
    games_arguments(parser)
    text = f"who searches the positions: {PLAYER} (default: the shipped player of the game)"
    parser.add_argument("player", nargs="?", metavar="PLAYER", help=text)
    thinking_arguments(parser)
    text = "write the games with comments, marks and better lines, to an .sgf or .pgn file, "
    text += "which is replaced if it exists"
    parser.add_argument("--save", type=Path, metavar="FILE", help=text)


@command("review games.sgf othello_8x8 --save reviewed.sgf", review_arguments)
def review(options: argparse.Namespace) -> int:
    """Find the mistakes in saved games, and the better moves."""
    from alphazero.players.registry import parse_player
    from alphazero.utils.files import check_readable

    budget = budget_options(options)
    player = parse_player(options.player, **budget) if options.player else None
    check_readable(options.games)
    if options.save:
        check_name(options.save, "a review", ".sgf", ".pgn")

    from alphazero.frontends.review.annotation import annotated, report
    from alphazero.frontends.review.judgement import review_moves
    from alphazero.frontends.review.reviewer import Reviewer
    from alphazero.frontends.terminal.screen import Screen
    from alphazero.games.game import to_play
    from alphazero.records.game_files import check_savable, load_played, to_text
    from alphazero.records.played_game import select_games
    from alphazero.utils.files import write_atomic

    games = select_games(load_played(options.games), options.number)
    kinds = {played.game for played in games.values()}
    specs = {game: (player or _shipped_player(game, budget)).for_game(game) for game in kinds}
    for played in games.values():
        if options.save:
            check_savable(options.save, played.game, [options.games], played.start)
    screen, texts = Screen(), list[str]()
    for number, played in games.items():
        reviewer = Reviewer(specs[played.game], played.game)
        screen.print(f"game {number:,}, {played.headline()}")
        evaluations = _evaluate(played, reviewer)
        by_ply = [evaluations.get(ply) for ply in range(len(played.actions) + 1)]
        first = to_play(played.first_state)
        result = review_moves(played.actions, by_ply, played.unchosen, first)
        screen.print("\n".join(report(played, by_ply, result, screen.sparkline)))
        if options.save:
            texts.append(to_text(options.save, annotated(played, by_ply, result)))
            write_atomic(options.save, "".join(texts).encode("utf-8", "replace"))
        if None in by_ply:
            print("stopped", file=sys.stderr)
            return EXIT_INTERRUPTED
    return 0


def _shipped_player(game: "Game", budget: dict[str, Any]) -> "PlayerSpec":
    """Return the shipped player of a game; raise AlphaZeroError if there is none."""
    from alphazero.games.registry import write_game
    from alphazero.network.checkpoint import load_description
    from alphazero.players.registry import parse_player
    from alphazero.utils.shipped import shipped_players

    for name, path in shipped_players().items():
        if load_description(path).game.accepts(game):
            return parse_player(name, **budget)
    raise AlphaZeroError(
        f"no shipped player plays {write_game(game)}; name one, as uct:simulations=1000"
    )


def _evaluate(played: "PlayedGame", reviewer: "Reviewer") -> "dict[int, Evaluation]":
    """Return the evaluations of a game's positions by ply; on Ctrl-C those so far."""
    evaluations: dict[int, Evaluation] = {}
    plies, states = range(len(played.actions), -1, -1), played.states()
    with progress_bar(len(plies), "position") as bar, contextlib.suppress(KeyboardInterrupt):
        for ply in plies:
            told = played.outcome if ply == len(played.actions) else None
            evaluations[ply] = reviewer.evaluate(played.actions[:ply], states[ply], told=told)
            bar.update()
    return evaluations
