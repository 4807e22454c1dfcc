"""The command line: one command each, no logic."""

import argparse
import functools
import os
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from alphazero.errors import AlphaZeroError

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

UNREAD = 141
"""Exit code when nobody reads the output any more, as after `| head`, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code: 0, 2 for a mistake told in one line, 130 for Ctrl-C."""

    def run() -> int:
        options = _parse(arguments)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        return int(options.run(options) or 0)

    return told(run)


def told(run: Callable[[], int | None]) -> int:
    """Call `run`, tell a person's mistake in one line, and return the exit code as `main` does."""
    try:
        try:
            return run() or 0
        finally:
            print(end="", flush=True)
    except AlphaZeroError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"error: not enough memory ({error}); choose smaller sizes", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered would fail once more, and loudly, when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse a command line; overrides may stand anywhere, after options too."""
    whole = parser()
    options, rest = whole.parse_known_args(arguments)
    if "overrides" in options:
        options.overrides += [word for word in rest if "=" in word and not word.startswith("-")]
        rest = [word for word in rest if word not in options.overrides]
    if rest:
        whole.error(f"unrecognized arguments: {' '.join(rest)[:200]}")
    return options


class _Parser(argparse.ArgumentParser):
    """Tells a mistake in one line, where argparse would print the usage as well."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}; see: {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; each command's function is its `run`."""
    whole = _Parser(
        prog="alphazero",
        description="From a game's rules to a strong player, by self-play.",
    )
    commands = whole.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, run: Any, text: str, example: str) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=f"example: {example}",
        )
        added.set_defaults(run=run)
        return added

    each = command(
        "train",
        train,
        "train a player from a YAML file, or go on with a run",
        "alphazero train configs/tic_tac_toe.yaml run.seed=7 budget.minutes=5",
    )
    each.add_argument("config", nargs="?", metavar="CONFIG", help="the YAML file of a new run")
    each.add_argument(
        "--resume", type=Path, metavar="RUN", help="the folder of a run to go on with"
    )
    each.add_argument(
        "overrides", nargs="*", metavar="section.key=value", help="in place of what the file says"
    )

    each = command(
        "play",
        play,
        "play against a checkpoint in the terminal",
        "alphazero play checkpoints/tic_tac_toe --side second --simulations 200",
    )
    _checkpoint_argument(each)
    each.add_argument(
        "--side",
        choices=("first", "second", "both", "none"),
        default="first",
        help="what you play (default: first; none lets the player play itself)",
    )
    _thinking_arguments(each)

    each = command(
        "grade",
        grade,
        "count how often a checkpoint plays an optimal move",
        "alphazero grade checkpoints/tic_tac_toe --simulations 0,50",
    )
    _checkpoint_argument(each)
    each.add_argument(
        "positions",
        nargs="*",
        type=Path,
        metavar="POSITIONS",
        help="files of solved positions; without any, every reachable position of a small game",
    )
    each.add_argument(
        "--simulations",
        type=whole_numbers,
        metavar="N,N",
        help="simulations a move, each number in turn; 0 is the bare network",
    )
    each.add_argument(
        "--require",
        type=_share,
        default=0.0,
        metavar="SHARE",
        help="exit with 1 when the share of optimal moves, from 0 to 1, is lower anywhere",
    )
    each.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="write a copy of the checkpoint that carries these figures, for `alphazero show`",
    )

    each = command(
        "match",
        match,
        "let two checkpoints play each other",
        "alphazero match checkpoints/new checkpoints/old --games 100 --simulations 200",
    )
    each.add_argument("first", type=Path, metavar="A", help="a checkpoint or a run's folder")
    each.add_argument("second", type=Path, metavar="B", help="its opponent")
    each.add_argument(
        "--games", type=even_number, default=100, metavar="N", help="games, even (default: 100)"
    )
    each.add_argument(
        "--opening-moves",
        type=whole_number,
        default=4,
        metavar="N",
        help="random moves that open each pair of games (default: 4)",
    )
    each.add_argument(
        "--seed", type=whole_number, default=0, metavar="N", help="of the openings (default: 0)"
    )
    _thinking_arguments(each)

    each = command(
        "show",
        show,
        "say what a checkpoint is, how it was trained and how strong it is",
        "alphazero show checkpoints/tic_tac_toe",
    )
    _checkpoint_argument(each)

    each = command(
        "bench",
        bench,
        "measure self-play beside the bare network",
        "alphazero bench configs/connect_four.yaml search.cache_megabytes=0 --seconds 40",
    )
    each.add_argument("config", metavar="CONFIG", help="the YAML file of a run")
    each.add_argument(
        "overrides", nargs="*", metavar="section.key=value", help="in place of what the file says"
    )
    each.add_argument(
        "--seconds", type=_seconds, default=40, metavar="S", help="about so long (default: 40)"
    )

    each = command(
        "solve",
        solve,
        "say what a position is worth and which moves are best, exactly",
        'alphazero solve connect_four "4444 52 35 17"',
    )
    each.add_argument("game", metavar="GAME", help="its name, as `alphazero games` lists it")
    each.add_argument(
        "moves",
        nargs="?",
        default="",
        metavar="MOVES",
        help="the moves played so far, in quotes and apart by spaces",
    )
    each.add_argument(
        "overrides", nargs="*", metavar="option=value", help="options of the game, as rows=4"
    )
    each.add_argument(
        "--positions",
        type=whole_number,
        metavar="N",
        help="give up after looking at so many (default: what takes ten to thirty seconds)",
    )

    command("games", games, "list the games and their options", "alphazero games")
    return whole


def _checkpoint_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "checkpoint",
        type=Path,
        metavar="CHECKPOINT",
        help="a .safetensors file, or a run's folder for its best player",
    )


def _thinking_arguments(parser: argparse.ArgumentParser) -> None:
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument(
        "--simulations",
        type=whole_number,
        metavar="N",
        help="simulations a move (default: as in training)",
    )
    budget.add_argument("--seconds", type=_seconds, metavar="S", help="seconds a move")


def whole_number(text: str) -> int:
    """Read a number that was typed; as the next two, for argparse."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, got {text[:20]!r}")
    return int(text)


def whole_numbers(text: str) -> list[int]:
    """Read numbers between commas."""
    return [whole_number(part) for part in text.split(",")]


def even_number(text: str) -> int:
    """Read a number of games."""
    number = whole_number(text)
    if number == 0 or number % 2:
        raise argparse.ArgumentTypeError(
            f"expected an even number: openings are played twice, colours swapped; got {text}"
        )
    return number


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {text!r}")
    return seconds


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, got {text!r}")
    return share


def train(options: argparse.Namespace) -> int:
    """Train from a YAML file, or resume a run."""
    from alphazero.configfile import load_config
    from alphazero.training.loop import resume, train
    from alphazero.training.run import folder_of, holds_run

    if options.resume:
        overrides = [options.config, *options.overrides] if options.config else options.overrides
        folder = options.resume
        print(f"resuming {folder}; watch with: tensorboard --logdir {folder.parent}")
    elif options.config:
        config = load_config(options.config, options.overrides)
        folder = folder_of(config)
        print(f"training into {folder}; watch with: tensorboard --logdir {folder.parent}")
    else:
        raise AlphaZeroError("name a YAML file, as in configs/, or a run's folder with --resume")
    try:
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
    """Play against a checkpoint."""
    from alphazero.play.terminal import Terminal
    from alphazero.players.saved import load_player

    game, player = load_player(
        options.checkpoint, simulations=options.simulations, seconds=options.seconds
    )
    sides = options.side in ("first", "both"), options.side in ("second", "both")
    Terminal(game, player, sides).run()


def grade(options: argparse.Namespace) -> int:
    """Count optimal moves."""
    from tqdm import tqdm

    from alphazero.players.grade import grade, read_positions
    from alphazero.players.saved import load_saved, save_grades
    from alphazero.search.minimax import solve

    saved = load_saved(options.checkpoint)
    game = saved.game
    if options.positions:
        sets = [(path.name, read_positions(game, path)) for path in options.positions]
    else:
        sets = [("every reachable position", solve(game))]
    grades: list[str] = []
    passed = True
    for simulations in options.simulations or [saved.settings.simulations]:
        seat_player = functools.partial(saved.seat, simulations=simulations)
        for name, solution in sets:
            total = len(solution.states)
            with tqdm(total=total, unit="position", leave=False, disable=None) as bar:
                result = grade(
                    game, seat_player, solution, workers=os.cpu_count() or 1, show=bar.update
                )
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
    from tqdm import tqdm

    from alphazero.players.saved import contest, load_opponents

    players = load_opponents(options.first, options.second)
    with tqdm(total=options.games, unit="game", leave=False, disable=None) as bar:
        result = contest(
            players,
            options.games,
            options.opening_moves,
            options.seed,
            simulations=options.simulations,
            seconds=options.seconds,
            workers=os.cpu_count() or 1,
            show=bar.update,
        )
    print(f"{options.first} against {options.second}: {result}")


def show(options: argparse.Namespace) -> None:
    """Describe a checkpoint."""
    from alphazero.network.checkpoint import load_checkpoint
    from alphazero.players.saved import describe, find_checkpoint

    path = find_checkpoint(options.checkpoint)
    print(describe(path, load_checkpoint(path)))


def bench(options: argparse.Namespace) -> None:
    """Measure self-play."""
    from tqdm import tqdm

    from alphazero.configfile import load_config
    from alphazero.network.backend import useful_workers
    from alphazero.training.bench import ROUNDS, benchmark

    config = load_config(options.config, options.overrides)
    workers = useful_workers(config.inference, config.run.threads or os.cpu_count() or 1)
    with tqdm(total=ROUNDS + 1, unit="round", leave=False, disable=None) as bar:
        print(benchmark(config, options.seconds, workers, bar.update))


def solve(options: argparse.Namespace) -> None:
    """Solve a position."""
    from tqdm import tqdm

    from alphazero.games.registry import read_game
    from alphazero.search.exact import answer, describe, solver_for

    words = [options.moves, *options.overrides]
    game = read_game(options.game, (word for word in words if "=" in word))
    state = game.from_line(" ".join(word for word in words if "=" not in word))
    solver = solver_for(game)
    total = solver.affordable if options.positions is None else options.positions
    with tqdm(total=total, unit="position", unit_scale=True, leave=False, disable=None) as bar:
        found = answer(solver, state, total, bar.update)
    print(describe(game, state, found))


def games(_: argparse.Namespace) -> None:
    """List the games."""
    from alphazero.games import game_names, game_options

    for name in game_names():
        options = ", ".join(f"{key} {value}" for key, value in game_options(name).items())
        print(f"{name:14} {options}")
