"""The commands, one function each: no logic, only who is asked, and what is printed.

Each takes what was typed, and imports what it needs: a command starts as fast as it can. Arguments
and files are looked at before torch is imported and kernels are compiled, so that a mistake is
answered at once: hence imports in two places.
"""

import argparse
import functools
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from alphazero.errors import AlphaZeroError
from alphazero.utils.machine import usable_cores

if TYPE_CHECKING:
    from alphazero.games import Game

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def train(options: argparse.Namespace) -> int:
    """Train from a YAML file, or resume a run."""
    from alphazero.config.loader import load_config
    from alphazero.training.manifest import check_new, check_run, folder_of, holds_run

    if options.resume:
        overrides = [options.config, *options.overrides] if options.config else options.overrides
        folder = options.resume
        check_run(folder)
    elif options.config:
        config = load_config(options.config, options.overrides)
        folder = folder_of(config)
        check_new(folder)
    else:
        raise AlphaZeroError("name a YAML file, as in configs/, or a run's folder with --resume")
    try:
        from alphazero.training.loop import resume, train

        if options.resume:
            resume(folder, overrides)
        else:
            train(config)
    except KeyboardInterrupt:
        again = f"go on with: alphazero train --resume {shlex.quote(str(folder))}"
        if not holds_run(folder):
            again = "nothing was saved yet, so begin again with the same command"
        print(f"\nstopped; {again}", file=sys.stderr)
        return INTERRUPTED
    print(f"done; play it with: alphazero play {shlex.quote(str(folder))}")
    return 0


def play(options: argparse.Namespace) -> None:
    """Play against a player."""
    from alphazero.players.registry import agreed_game, name_player
    from alphazero.utils.files import check_readable, check_writable

    player = name_player(options.player, simulations=options.simulations, seconds=options.seconds)
    if options.after is not None and not options.begin:
        raise AlphaZeroError("--after counts the moves of a game that is given with --from")
    if options.begin:
        check_readable(options.begin)
    if options.save:
        check_writable(options.save)
    asked = _game(options)

    from alphazero.frontends.terminal.app import Terminal
    from alphazero.frontends.terminal.commands import SIDES
    from alphazero.frontends.terminal.screen import Screen
    from alphazero.frontends.terminal.session import Sitting
    from alphazero.records.sgf_export import begin_from, check_savable

    opening = None
    if options.begin:
        own = asked or player.game
        opening = begin_from(options.begin, options.after, own)
        asked = own or opening.game
    game = agreed_game([player], asked)
    if options.save:
        check_savable(options.save, game)
    sitting = Sitting(player, game, SIDES[options.side], opening)
    Terminal(sitting, Screen.of(sys.stdout)).run(options.save)


def serve(options: argparse.Namespace) -> None:
    """Serve the page."""
    from alphazero.players.registry import name_player, read_player
    from alphazero.utils.files import check_readable, is_folder

    for name in options.players:
        name_player(name)
    for path in options.ratings:
        if not is_folder(path):
            check_readable(path)

    from alphazero.diagnostics.run_archive import RunArchive
    from alphazero.training.manifest import holds_run

    try:
        from alphazero.frontends.web.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "h11"):
            raise
        raise AlphaZeroError(
            f"{error.name} is not installed; pip install 'alphazero[serve]'"
        ) from None
    from alphazero.frontends.web.catalog import Catalogue
    from alphazero.frontends.web.ratings import RatingTable

    entrants = [read_player(name) for name in options.players]
    if not options.players:
        for path in sorted(Path("checkpoints").glob("*.safetensors")):
            try:
                entrants.append(read_player(str(path)))
            except AlphaZeroError as error:
                print(f"left out: {error}", file=sys.stderr)
    named = map(Path, options.players)
    folders = [folder for folder in named if folder.is_dir() and holds_run(folder)]
    catalogue = Catalogue(
        entrants, [RunArchive(folder) for folder in folders], RatingTable(options.ratings)
    )
    serve(catalogue, options.host, options.port, browse=options.open)


def gtp(options: argparse.Namespace) -> None:
    """Serve a player."""
    from alphazero.players.registry import agreed_game, name_player

    player = name_player(options.player, simulations=options.simulations, seconds=options.seconds)
    asked = _game(options)

    from alphazero.frontends.gtp.session import serve

    serve(player, agreed_game([player], asked), options.ponder)


def gomocup(options: argparse.Namespace) -> None:
    """Serve a player of gomoku."""
    from alphazero.players.registry import name_player, read_player

    name_player(options.player, simulations=options.simulations, seconds=options.seconds)

    from alphazero.frontends.gomocup.session import serve

    serve(read_player(options.player, simulations=options.simulations, seconds=options.seconds))


def _game(options: argparse.Namespace) -> "Game | None":
    """Return the game that was asked for, if any."""
    from alphazero.games.registry import read_game

    return read_game(options.game) if options.game else None


def grade(options: argparse.Namespace) -> int:
    """Count optimal moves."""
    from tqdm import tqdm

    from alphazero.errors import PlayerError
    from alphazero.players.registry import name_checkpoint
    from alphazero.utils.files import check_readable, check_writable, is_folder

    named = name_checkpoint(options.checkpoint)
    if options.save and named.changes:
        raise PlayerError(
            f"--save keeps the figures of the player as trained, without {', '.join(named.changes)}"
        )
    for path in options.positions:
        if not is_folder(path):
            check_readable(path)
    if options.save:
        check_writable(options.save)

    from alphazero.arena.grade import grade
    from alphazero.arena.solved_positions import position_files, read_positions, solved_positions
    from alphazero.players.checkpoint_player import save_grades

    saved = named.saved
    game = saved.game
    if options.positions:
        files = position_files(options.positions)
        sets = [(path.name, read_positions(game, path)) for path in files]
    else:
        sets = [("solved positions", solved_positions(game))]
    grades: list[str] = []
    passed = True
    for simulations in options.simulations or [saved.settings.simulations]:
        seat_player = functools.partial(saved.seat, simulations=simulations)
        for name, solution in sets:
            total = len(solution.states)
            with tqdm(total=total, unit="position", leave=False, disable=None) as bar:
                result = grade(game, seat_player, solution, workers=usable_cores(), show=bar.update)
            grades.append(f"{name}, {simulations} simulations: {result}")
            print(grades[-1])
            if result.first_mistake and not options.positions:
                print(f"the first mistake:\n{result.first_mistake}")
            passed &= result.share >= options.require
    if options.save:
        save_grades(saved, grades, options.save)
    return 0 if passed else 1


def match(options: argparse.Namespace) -> None:
    """Play a match."""
    import numpy as np
    from tqdm import tqdm

    from alphazero.errors import PlayerError
    from alphazero.players.registry import (
        CheckpointOptions,
        agreed_game,
        name_player,
        seats_of,
        tables_for,
    )
    from alphazero.utils.files import check_writable

    players = [
        name_player(
            text,
            simulations=options.simulations,
            seconds=options.seconds,
            patience=options.patience,
        )
        for text in (options.first, options.second)
    ]
    for file in (options.save, options.note):
        if file:
            check_writable(file)
    asked = _game(options)

    from alphazero.arena.head_to_head import contest
    from alphazero.arena.match import paired_openings
    from alphazero.players.checkpoint_player import grades_of, save_grades
    from alphazero.records.sgf_export import check_savable, save_match

    game = agreed_game(players, asked)
    noted = players[0].options
    if options.note and not isinstance(noted, CheckpointOptions):
        raise PlayerError(f"--note is written into a checkpoint, and {players[0].name} is none")
    if options.save:
        check_savable(options.save, game)
    rng, workers = np.random.default_rng(options.seed), usable_cores()
    schedule = paired_openings(game, options.games, options.opening_moves, rng)
    with tqdm(total=options.games, unit="game", leave=False, disable=None) as bar:
        result, records = contest(
            game,
            seats_of(game, players, rng),
            schedule,
            tables=tables_for(players, workers),
            workers=workers,
            sprt=options.sprt,
            show=bar.update,
        )
    names = players[0].name, players[1].name
    print(f"{names[0]} against {names[1]}: {result}")
    for number, record in enumerate(records, 1):
        if record.fault:
            loser = record.pairing.seats[0 if record.outcome < 0 else 1]
            print(f"game {number}: {names[loser]} lost by adjudication: {record.fault}")
    if options.sprt:
        print(options.sprt.describe(records))
    if options.save:
        searched = players[0].options.searches, players[1].options.searches
        save_match(options.save, game, records, names, searched)
    if isinstance(noted, CheckpointOptions) and options.note:
        told = names[0].replace(noted.path, "").strip(":") or "as trained"
        line = f"{told}, against {names[1]}: {result}"
        save_grades(noted.saved, [*grades_of(noted.saved.checkpoint), line], options.note)


def rate(options: argparse.Namespace) -> int:
    """Rate players by a tournament."""
    from tqdm import tqdm

    from alphazero.players.registry import agreed_game, name_player
    from alphazero.utils.files import check_writable, is_folder

    for text in options.players:
        if not is_folder(Path(text)):  # a run's may hold no best player
            name_player(text, simulations=options.simulations, seconds=options.seconds)
    for file in (options.csv, options.plot):
        if file:
            check_writable(file)
    asked = _game(options)

    from alphazero.arena.tournament import Tournament, save_csv, standings, table
    from alphazero.diagnostics.run_history import draw_progress, find_anchor, read_field
    from alphazero.drawing.canvas import save_picture

    entrants, minutes = read_field(
        options.players, options.checkpoints, options.simulations, options.seconds
    )
    anchor = find_anchor(entrants, options.anchor)
    tournament = Tournament(
        agreed_game(entrants, asked),
        entrants,
        options.games,
        options.opening_moves,
        options.seed,
        options.gauntlet,
        options.folder,
    )
    try:
        with tqdm(total=tournament.missing, unit="game", leave=False, disable=None) as bar:
            tournament.play(usable_cores(), bar.update)
    except KeyboardInterrupt:
        kept = "nothing was kept; with --folder FOLDER the same command can go on"
        if options.folder:
            kept = f"{len(tournament.played):,} games are kept; the same command goes on from them"
        print(f"\nstopped; {kept}", file=sys.stderr)
        return INTERRUPTED
    rows, ratings = standings(tournament, anchor)
    print(table(rows, ratings, tournament.counted))
    if options.csv:
        save_csv(options.csv, rows, {"minutes": minutes})
    if options.plot:
        save_picture(options.plot, draw_progress(rows, minutes))
    return 0


def show(options: argparse.Namespace) -> None:
    """Describe a checkpoint, or replay games."""
    from alphazero.network.header import check_checkpoint, find_checkpoint
    from alphazero.utils.files import check_readable, is_folder

    if is_folder(options.file) or options.file.suffix == ".safetensors":
        check_checkpoint(find_checkpoint(options.file))
    else:
        find_checkpoint(options.file)  # names a checkpoint that is meant, where one is
        check_readable(options.file)

    from alphazero.records.sgf_export import holds_played, load_played

    if options.number or holds_played(options.file):
        from alphazero.frontends.terminal.replay_viewer import replay

        terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        replay(load_played(options.file), options.number, input if terminal else None)
        return
    from alphazero.network.checkpoint import load_checkpoint
    from alphazero.network.header import find_checkpoint
    from alphazero.players.checkpoint_player import describe

    path = find_checkpoint(options.file)
    print(describe(path, load_checkpoint(path)))


def plot(options: argparse.Namespace) -> None:
    """Draw a run's curves."""
    from alphazero.diagnostics.run_figure import plot_run

    files = plot_run(options.folder, [options.save] if options.save else None)
    print(f"drawn in {' and '.join(map(str, files))}")


def verify(options: argparse.Namespace) -> None:
    """Verify a run."""
    from alphazero.training.manifest import check_resumable
    from alphazero.utils.files import check_readable, is_folder

    if is_folder(options.path):
        check_resumable(options.path)
    else:
        check_readable(options.path)

    from alphazero.diagnostics.verify import verify

    verdict = verify(options.path)
    print(verdict)
    if verdict.faults:
        raise AlphaZeroError("\n".join(verdict.faults))


def bench(options: argparse.Namespace) -> None:
    """Measure self-play."""
    from tqdm import tqdm

    from alphazero.config.loader import load_config

    config = load_config(options.config, options.overrides)

    from alphazero.diagnostics.benchmark import ROUNDS, benchmark
    from alphazero.network.backend import useful_workers

    cores, tables = config.run.threads or usable_cores(), config.selfplay.parallel_games
    workers = useful_workers(config.inference, cores, tables)
    with tqdm(total=ROUNDS + 1, unit="round", leave=False, disable=None) as bar:
        print(benchmark(config, options.seconds, workers, bar.update))


def plan(options: argparse.Namespace) -> None:
    """Forecast a run, or compare a forecast with a run."""
    from tqdm import tqdm

    from alphazero.config.loader import load_config
    from alphazero.training.manifest import check_run

    if bool(options.config) == bool(options.against):
        raise AlphaZeroError("name either a YAML file, as in configs/, or a run with --against")
    if options.against:
        check_run(options.against)
    else:
        config = load_config(options.config, options.overrides)

    from alphazero.diagnostics.calibration import PARTS, calibrate
    from alphazero.diagnostics.forecast import compare, describe, look_back

    past = look_back(options.against) if options.against else None
    config = past.config if past else config
    cores = config.run.threads or usable_cores()
    with tqdm(total=PARTS, unit="part", leave=False, disable=None) as bar:
        measured = calibrate(config, cores, options.seconds, bar.update)
    print(compare(past, measured) if past else describe(config, measured))


def doctor(options: argparse.Namespace) -> None:
    """Look for what is wrong with a run; what is found is no mistake of the command."""
    from alphazero.training.manifest import check_run

    check_run(options.run_folder)

    from alphazero.diagnostics.doctor import examine

    print(examine(options.run_folder))


def solve(options: argparse.Namespace) -> None:
    """Solve a position."""
    from tqdm import tqdm

    from alphazero.games.registry import read_game

    game = read_game(options.game)
    state = game.from_line(" ".join(options.moves))

    from alphazero.solvers.exact import answer, describe, solver_for

    solver = solver_for(game)
    total = solver.affordable if options.positions is None else options.positions
    with tqdm(total=total, unit="position", unit_scale=True, leave=False, disable=None) as bar:
        found = answer(solver, state, total, bar.update)
    print(describe(game, state, found))


def foundations(options: argparse.Namespace) -> None:
    """Run one of the foundations."""
    from tqdm import tqdm

    from alphazero.foundations.common import FoundationsError
    from alphazero.foundations.demos import make_exhibit
    from alphazero.utils.files import check_writable, write_atomic

    try:
        exhibit = make_exhibit(options.name, vars(options))
    except FoundationsError as error:
        raise AlphaZeroError(str(error)) from error
    plot = options.plot or Path(f"{options.name}.png")
    check_writable(plot)
    with tqdm(
        total=exhibit.total, unit=exhibit.unit, unit_scale=True, leave=False, disable=None
    ) as bar:
        found = exhibit.run(bar.update)
    print(found.text)
    write_atomic(plot, found.picture)
    print(f"drawn in {plot}")


def check(options: argparse.Namespace) -> None:
    """Check a game."""
    from alphazero.games.contract.check import check_game

    report = check_game(options.game)
    if report.faults:
        raise AlphaZeroError(str(report))
    print(report)


def games(_: argparse.Namespace) -> None:
    """List the games."""
    from alphazero.games import game_names, game_options

    for name in game_names():
        options = ", ".join(f"{key} {value}" for key, value in game_options(name).items())
        print(f"{name:14} {options}")
