"""Commands that measure the strength of players."""

import argparse
import contextlib
import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from alphazero.cli.argument_types import positive_number, share, whole_number, whole_numbers
from alphazero.cli.shared import (
    EXIT_INTERRUPTED,
    PLAYER,
    budget_options,
    check_name,
    command,
    contest_arguments,
    game_option,
    json_argument,
    print_result,
)
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import progress_bar

if TYPE_CHECKING:
    from alphazero.games import Game
    from alphazero.players.specs import PlayerSpec
    from alphazero.records.game_record import GameRecord

REPLACED = "an existing file of this kind is replaced"


def grade_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    text = "a .safetensors file, or a run's folder for its best player; with search settings "
    text += "other than in training, as in PATH:selection=puct,transpositions=true"
    add("checkpoint", metavar="CHECKPOINT", help=text)
    text = "files or folders of solved positions (default: the bundled ones, or every reachable "
    text += "position of a small game)"
    add("positions", nargs="*", type=Path, metavar="POSITIONS", help=text)
    text = "simulations a move; several numbers are graded in turn; 0 is the network alone"
    add("--simulations", type=whole_numbers, metavar="N,N", help=text)
    text = "exit with code 1 if any share of optimal moves, from 0 to 1, is lower"
    add("--min-accuracy", type=share, default=0.0, metavar="SHARE", help=text)
    text = f"a copy of the checkpoint with the results, for `alphazero info`; {REPLACED}"
    add("--save", type=Path, metavar="FILE", help=text)
    json_argument(parser)


@command("grade checkpoints/tic_tac_toe --simulations 0,50", grade_arguments)
def grade(options: argparse.Namespace) -> int:
    """Count how often a checkpoint plays an optimal move."""
    from alphazero.errors import PlayerError
    from alphazero.players.registry import parse_checkpoint
    from alphazero.utils.files import check_readable, is_folder

    spec = parse_checkpoint(options.checkpoint)
    if options.save and spec.changes:
        raise PlayerError(
            f"--save keeps the figures of the player as trained, without {', '.join(spec.changes)}"
        )
    for path in options.positions:
        if not is_folder(path):
            check_readable(path)
    if options.save:
        check_name(options.save, "a checkpoint", ".safetensors")

    from alphazero.arena.contests import grade_checkpoint
    from alphazero.arena.solved_positions import position_files, read_positions, solved_positions
    from alphazero.cli.json_output import plain
    from alphazero.players.checkpoint_player import grades_of, save_grades

    saved, game = spec.saved, spec.saved.game
    if options.positions:
        files = position_files(options.positions)
        sets = [(path.name, read_positions(game, path)) for path in files]
    else:
        sets = [("solved positions", solved_positions(game))]
    grades: list[tuple[str, str]] = []
    low: list[str] = []
    for simulations in options.simulations or [saved.settings.simulations]:
        for name, solution in sets:
            total = len(solution.states)
            with progress_bar(total, "position") as bar:
                result = grade_checkpoint(saved, simulations, solution, bar.update)
            heading = f"{name}, {simulations} simulations"
            text = f"{heading}: {result}"
            grades.append((heading, text))
            if result.first_mistake and not options.positions:
                text += f"\nthe first mistake:\n{result.first_mistake}"
            fields = {"checkpoint": saved.path, "set": name, "simulations": simulations}
            print_result(options, text, **fields, **plain(result))
            if result.share < options.min_accuracy:
                low.append(heading)
    if options.save:
        again = tuple(f"{heading}: " for heading, _ in grades)
        kept = [line for line in grades_of(saved.checkpoint) if not line.startswith(again)]
        save_grades(saved, [*kept, *(text for _, text in grades)], options.save)
    if low:
        print(f"below --min-accuracy {options.min_accuracy:g}: {'; '.join(low)}", file=sys.stderr)
    return 1 if low else 0


def match_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("first", metavar="A", help=PLAYER)
    add("second", metavar="B", help="the opponent of A")
    contest_arguments(parser, 100, "games, even (default: 100)")
    text = "the games, for `alphazero replay`: SGF for .sgf, PGN for .pgn, "
    text += f"else a line per game; {REPLACED}"
    add("--save", type=Path, metavar="FILE", help=text)
    text = f"a copy of the checkpoint A that also holds the result; {REPLACED}"
    add("--annotate", type=Path, metavar="FILE", help=text)
    json_argument(parser)


@command("match checkpoints/new checkpoints/old --simulations 200", match_arguments)
def match(options: argparse.Namespace) -> int:
    """Let two players play each other."""
    from alphazero.errors import PlayerError
    from alphazero.players.registry import agree_on_game, parse_player
    from alphazero.utils.files import check_writable, printable

    players = [
        parse_player(text, **budget_options(options)) for text in (options.first, options.second)
    ]
    if options.save:
        check_writable(options.save)
    if options.annotate:
        check_name(options.annotate, "a checkpoint", ".safetensors")
    chosen_game = game_option(options)

    from alphazero.arena.contests import whole_pairs
    from alphazero.arena.elo import match_result
    from alphazero.cli.json_output import plain
    from alphazero.games.registry import write_game
    from alphazero.records.game_files import check_savable, save_records

    players, game = agree_on_game(players, chosen_game)
    if options.annotate and players[0].saved is None:
        raise PlayerError(f"--annotate copies a checkpoint, and {players[0].name} is none")
    if options.save:
        check_savable(options.save, game)
    names = players[0].name, players[1].name
    has_search = players[0].has_search, players[1].has_search

    def save(records: "list[GameRecord]", append: bool = False) -> None:
        if options.save:
            save_records(options.save, game, records, names, has_search, append)

    games, is_stopped = _play_match(options, players, game, save)
    records, others = whole_pairs(games)
    if is_stopped:
        text = f"\nstopped after {len(games):,} of {options.games:,} games"
        text += f"; {len(records):,} of them, in pairs that ended, count"
        if options.annotate:
            text += f"; {printable(options.annotate)} is not written"
        print(text, file=sys.stderr)
        if not records:
            save(others)
            return EXIT_INTERRUPTED
    result = match_result(game, records)
    moves = max(len(record.pairing.opening) for record in records)
    opening = f"openings of {moves} random moves" if moves else "the initial position"
    summary = f"against {names[1]}: {result}, from {opening}"
    forfeits = _forfeits(records, names)
    line = "game {game}: {player} lost by adjudication: {reason}"
    print_result(
        options,
        "\n".join([f"{names[0]} {summary}", *(line.format(**each) for each in forfeits)]),
        game=write_game(game),
        players=names,
        opening_moves=options.opening_moves,
        seed=options.seed,
        **plain(result),
        forfeits=forfeits,
    )
    if options.annotate and not is_stopped:
        _annotate(players[0], game, summary, options.annotate)
    save([*records, *others])
    return EXIT_INTERRUPTED if is_stopped else 0


def _play_match(
    options: argparse.Namespace,
    players: Sequence["PlayerSpec"],
    game: "Game",
    save: Callable[["list[GameRecord]", bool], None],
) -> "tuple[list[GameRecord], bool]":
    """Play the games and save each; return those that ended, and whether Ctrl-C stopped it."""
    from alphazero.arena.contests import play_contest
    from alphazero.errors import RunError

    games: list[GameRecord] = []

    def keep(records: "list[GameRecord]") -> None:
        with contextlib.suppress(RunError):  # the last save reports it, after the result
            save(records, bool(games))
        games.extend(records)

    try:
        with progress_bar(options.games, "game") as bar:
            counts = options.games, options.opening_moves, options.seed
            play_contest(players, game, *counts, bar.update, keep)
    except KeyboardInterrupt:
        if not games:
            raise
        return games, True
    return games, False


def _forfeits(records: "list[GameRecord]", names: tuple[str, str]) -> list[dict[str, object]]:
    """Return the number, the loser and the reason of each game that was forfeited."""
    return [
        {
            "game": number,
            "player": names[record.pairing.players[record.outcome > 0]],
            "reason": record.forfeit_reason,
        }
        for number, record in enumerate(records, 1)
        if record.forfeit_reason
    ]


def _annotate(player: "PlayerSpec", game: "Game", summary: str, path: Path) -> None:
    """Write a copy of a player's checkpoint with the summary of its match."""
    from alphazero.games.registry import write_game
    from alphazero.players.checkpoint_player import AS_TRAINED, grades_of, save_grades

    saved = player.saved
    assert saved is not None, "it is a checkpoint"
    own_options = player.name.removeprefix(player.subject).strip(":")
    line = f"{own_options or AS_TRAINED}, {summary}"
    if game != saved.checkpoint.game:
        line += f", on {write_game(game)}"
    save_grades(saved, [*grades_of(saved.checkpoint), line], path)


def rate_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    text = f"{PLAYER}; a run's folder stands for its checkpoints; the first has rating 0"
    add("players", nargs="+", metavar="PLAYER", help=text)
    contest_arguments(parser, 20, "games per pairing, even (default: 20)")
    text = "number of checkpoints of a run, evenly spaced (default: 8)"
    add("--checkpoints", type=positive_number, default=8, metavar="N", help=text)
    text = "the first player plays all others, who do not play each other"
    add("--gauntlet", action="store_true", help=text)
    text = "keep the games there; later calls play only the missing games"
    add("--folder", type=Path, metavar="FOLDER", help=text)
    json_argument(parser)


@command("rate checkpoints/connect_four random --simulations 64", rate_arguments)
def rate(options: argparse.Namespace) -> int:
    """Rate players, or the checkpoints of a run, by a tournament."""
    from alphazero.players.registry import agree_on_game, check_unambiguous, parse_player
    from alphazero.utils.files import is_folder, locked

    for text in options.players:
        check_unambiguous(text)
        if not is_folder(Path(text)):  # a run may have no best player yet
            parse_player(text, **budget_options(options))
    chosen_game = game_option(options)

    from alphazero.arena.tournament import (
        LOCK,
        Tournament,
        draw_share,
        first_move_advantage,
        forfeits,
        standings,
        table,
    )
    from alphazero.cli.json_output import plain
    from alphazero.diagnostics.run_history import expand_players
    from alphazero.games.registry import write_game

    budget = options.simulations, options.seconds
    specs = expand_players(options.players, options.checkpoints, *budget)
    specs, game = agree_on_game(specs, chosen_game)
    counts = options.games, options.opening_moves, options.seed
    folder = options.folder
    new = functools.partial(Tournament, game, specs, *counts, options.gauntlet, folder)
    tournament = new()
    with contextlib.ExitStack() as stack:
        if folder and tournament.missing:
            stack.enter_context(locked(folder, LOCK))
            tournament = new()  # with the games of a process that had the lock before
        try:
            with progress_bar(tournament.missing, "game") as bar:
                tournament.play(usable_cores(), bar.update)
        except KeyboardInterrupt:
            hint = "nothing was kept; with --folder FOLDER the same command can go on"
            if folder:
                kept = f"{len(tournament.played):,} games are kept"
                hint = f"{kept}; the same command goes on from them"
            print(f"\nstopped; {hint}", file=sys.stderr)
            return EXIT_INTERRUPTED
    rows, results = standings(tournament), tournament.results
    print_result(
        options,
        table(rows, tournament),
        game=write_game(game),
        anchor=specs[0].name,
        games=len(results),
        advantage=first_move_advantage(results),
        draws=draw_share(results),
        forfeits=[{"player": name, "reason": reason} for name, reason in forfeits(tournament)],
        players=[plain(row) for row in rows],
    )
    return 0


def solve_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("game", metavar="GAME", help="its name, as in mnk:rows=4,columns=4,length=3")
    add("moves", nargs="*", metavar="MOVES", help="the moves played so far")
    text = "give up after N positions (default: about ten to thirty seconds)"
    add("--positions", type=whole_number, metavar="N", help=text)


@command('solve connect_four "4444 52 35 17"', solve_arguments)
def solve(options: argparse.Namespace) -> None:
    """Compute the exact value and the best moves of a position."""
    from alphazero.games.registry import read_game

    game = read_game(options.game)
    state = game.from_moves(" ".join(options.moves))

    from alphazero.solvers.exact import describe, solve_position, solver_for

    solver = solver_for(game)
    total = solver.default_node_limit if options.positions is None else options.positions
    with progress_bar(total, "position", unit_scale=True) as bar:
        solution = solve_position(solver, state, total, bar.update)
    print(describe(game, state, solution))
