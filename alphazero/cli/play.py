"""Commands that play and show games."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from alphazero.cli.argument_types import port, whole_number
from alphazero.cli.shared import (
    PLAYER,
    budget_options,
    command,
    game_argument,
    game_option,
    games_arguments,
    json_argument,
    player_arguments,
    print_result,
)
from alphazero.errors import AlphaZeroError, PlayerError
from alphazero.utils.files import escape

if TYPE_CHECKING:
    from alphazero.games import Game
    from alphazero.players.specs import PlayerSpec


def play_arguments(parser: argparse.ArgumentParser) -> None:
    player_arguments(parser)
    add = parser.add_argument
    text = "the side you play (default: first; with none the player plays itself)"
    add("--side", choices=("first", "second", "both", "none"), default="first", help=text)
    text = "continue a game: the first of an .sgf or .pgn file or of `alphazero match --save`; "
    text += "or begin in a position, a FEN"
    add("--from", dest="begin", type=Path, metavar="FILE", help=text)
    text = "continue after its first N moves (default: all)"
    add("--after", type=whole_number, metavar="N", help=text)
    text = "write the games at the end, with the player's search results as SGF or PGN if the "
    text += "name ends in .sgf or .pgn, else one line per game; an existing file of games is "
    text += "replaced"
    add("--save", type=Path, metavar="FILE", help=text)


@command("play checkpoints/tic_tac_toe --side second --simulations 200", play_arguments)
def play(options: argparse.Namespace) -> None:
    """Play against a checkpoint or another player in the terminal."""
    from alphazero.players.registry import agree_on_game, parse_player
    from alphazero.utils.files import check_readable, check_writable, exists

    player = parse_player(options.player, **budget_options(options))
    if options.after is not None and not options.begin:
        raise AlphaZeroError("--after counts the moves of a game that is given with --from")
    if options.begin and (exists(options.begin) or "/" not in str(options.begin)):
        check_readable(options.begin)  # early; what else may be the FEN of a position
    if options.save:
        check_writable(options.save)
    game_choice = game_option(options)

    from alphazero.frontends.terminal.app import Terminal
    from alphazero.frontends.terminal.commands import SIDES
    from alphazero.frontends.terminal.session import TerminalSession
    from alphazero.games.registry import write_game
    from alphazero.records.game_files import check_savable, continued, is_fen, load_first

    opening = None
    if options.begin:
        if not is_fen(options.begin):
            check_readable(options.begin)
        played = load_first(options.begin, game_choice or player.game)
        plays_it = player.plays(played.game)
        goes_on_as = game_choice or (played.game if plays_it else player.game)
        assert goes_on_as is not None, "a player of any game plays it"
        opening = continued(options.begin, played, options.after, goes_on_as)
        if not (game_choice or plays_it):
            text = f"a game of {write_game(played.game)} goes on as {write_game(goes_on_as)}"
            print(escape(f"{options.begin}: {text}, which {player.name} plays"), file=sys.stderr)
        game_choice = goes_on_as
    (player,), game = agree_on_game([player], game_choice)
    sources = [options.begin] if options.begin and exists(options.begin) else []
    if options.save:
        check_savable(options.save, game, sources, opening.start if opening else "")
    session = TerminalSession(player, game, SIDES[options.side], opening, sources)
    Terminal(session).run(options.save)


def serve_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    text = f"{PLAYER}; each new game is played by a run's newest best network (default: every "
    text += "checkpoint in ./checkpoints that can be read, else the shipped players)"
    add("players", nargs="*", metavar="PLAYER", help=text)
    game_argument(parser)
    text = "address to listen on: 127.0.0.1 for this machine only (default), or 0.0.0.0 for "
    text += "every machine that can reach it, which then needs the token in the printed address"
    add("--host", default="127.0.0.1", metavar="ADDRESS", help=text)
    text = "port to listen on (default: 8000; 0 for any free port)"
    add("--port", type=port, default=8000, metavar="N", help=text)
    add("--open", action="store_true", help="open the page in a browser")


@command("serve checkpoints/connect_four.safetensors --open", serve_arguments)
def serve(options: argparse.Namespace) -> None:
    """Play and analyze games in a browser, on a local web page."""
    from alphazero.players.registry import parse_player

    specs = [parse_player(name) for name in options.players]
    game_choice = game_option(options)

    try:
        from alphazero.frontends.web.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "h11"):
            raise
        raise AlphaZeroError(
            f"{error.name} is not installed; pip install 'alphazero[serve]'"
        ) from None
    from alphazero.frontends.web.catalog import Catalog
    from alphazero.utils.shipped import shipped_players

    if not specs:
        names = sorted(map(str, Path("checkpoints").glob("*.safetensors"))) or [*shipped_players()]
        # The page opens with the first player's game: one that most people know.
        for name in sorted(names, key=lambda name: Path(name).stem != "connect_four"):
            try:
                spec = parse_player(name)
                specs += [spec] * (spec.saved is not None)  # a damaged file is left out
            except AlphaZeroError as error:
                print(f"left out: {escape(str(error))}", file=sys.stderr)
    if game_choice:
        specs = _players_on(specs, game_choice, keep_all=bool(options.players))
    catalog = Catalog(specs, [game_choice] if game_choice else [])
    serve(catalog, options.host, options.port, open_browser=options.open)


def _players_on(specs: list["PlayerSpec"], game: "Game", keep_all: bool) -> list["PlayerSpec"]:
    """Return the players for another game; others are left out unless `keep_all`."""
    from alphazero.players.registry import agree_on_game

    players = []
    for spec in specs:
        try:
            players += agree_on_game([spec], game)[0]
        except PlayerError:
            if keep_all:
                raise
    return players


def gtp_arguments(parser: argparse.ArgumentParser) -> None:
    player_arguments(parser)
    text = "search on during the opponent's turn"
    parser.add_argument("--ponder", action="store_true", help=text)


@command("gtp checkpoints/connect_four.safetensors --seconds 2", gtp_arguments)
def gtp(options: argparse.Namespace) -> None:
    """Serve a player to Go programs, over the Go Text Protocol."""
    from alphazero.players.registry import agree_on_game, parse_player

    player = parse_player(options.player, **budget_options(options))
    game_choice = game_option(options)

    from alphazero.frontends.gtp.commands import serve

    (player,), game = agree_on_game([player], game_choice)
    serve(player, game, options.ponder)


@command("uci uct:seconds=2 --game gardner", player_arguments)
def uci(options: argparse.Namespace) -> None:
    """Serve a player to chess programs, over the Universal Chess Interface."""
    from alphazero.players.registry import parse_player

    player = parse_player(options.player, **budget_options(options))

    from alphazero.frontends.uci.session import serve

    serve(player, game_option(options))


def info_arguments(parser: argparse.ArgumentParser) -> None:
    text = "a checkpoint, the folder of a run, or a game (default: list all games and players)"
    parser.add_argument("name", nargs="?", help=text)
    json_argument(parser)


@command("info checkpoints/tic_tac_toe", info_arguments)
def info(options: argparse.Namespace) -> None:
    """Describe a checkpoint or a game's options, or list all that come with the package."""
    if options.name is None:
        _refuse_json(options)
        _list_all()
        return

    from alphazero.network.checkpoint import find_checkpoint, load_description
    from alphazero.utils.shipped import shipped_players

    name = options.name
    if not (os.path.lexists(name) or name in shipped_players()):
        from alphazero.games.registry import game_names

        if name in game_names():
            _refuse_json(options)
            print(_options_of(name))
            return
    path = find_checkpoint(Path(name))
    if path.suffix != ".safetensors":
        from alphazero.records.game_files import holds_played
        from alphazero.utils.files import printable

        if holds_played(path):
            file = printable(path)
            raise AlphaZeroError(f"{file} holds games, no checkpoint; try: alphazero replay {file}")
    checkpoint = load_description(path)

    from alphazero.players.checkpoint_player import describe, facts

    print_result(options, describe(path, checkpoint), **facts(path, checkpoint))


def _refuse_json(options: argparse.Namespace) -> None:
    if options.json:
        raise AlphaZeroError("--json describes a checkpoint; name one")


def _options_of(name: str) -> str:
    from alphazero.games.registry import game_options

    settings = ", ".join(f"{key} {value}" for key, value in game_options(name).items())
    return f"  {name:15} {settings}".rstrip()


def _list_all() -> None:
    from alphazero.games.registry import game_names
    from alphazero.network.checkpoint import load_description
    from alphazero.players.checkpoint_player import summarize
    from alphazero.utils.shipped import shipped_players

    print("\n".join(["games", *map(_options_of, game_names()), "players"]))
    for name, path in shipped_players().items():
        summary = summarize(path, load_description(path)).replace("\n", "\n" + 18 * " ")
        print(f"  {name:15} {summary}")
    print("more of a player: alphazero info NAME; the licence is the program's, MIT")


@command("replay games.sgf --game 2", games_arguments)
def replay(options: argparse.Namespace) -> None:
    """Step through saved games."""
    from alphazero.utils.files import check_readable, is_folder, printable

    if is_folder(options.games) or options.games.suffix == ".safetensors":
        name = printable(options.games)
        raise AlphaZeroError(f"{name} is not a file of games; try: alphazero info {name}")
    check_readable(options.games)

    from alphazero.frontends.terminal.replay_viewer import replay
    from alphazero.records.game_files import load_played

    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    replay(load_played(options.games), options.number, input if terminal else None)
