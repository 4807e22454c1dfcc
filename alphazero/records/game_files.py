"""Files of played games: SGF, PGN or JSON lines, by the suffix of the file."""

import contextlib
import itertools
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from alphazero.errors import AlphaZeroError, GameError, PlayerError, RunError
from alphazero.games.game import ONGOING, Game
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import write_game
from alphazero.records.game_record import GameRecord
from alphazero.records.jsonl import BEGINNING, load_games, read_lines, to_lines
from alphazero.records.pgn import PgnGame, from_pgn, is_position, read_pgn, read_position, to_pgn
from alphazero.records.played_game import PlayedGame, first_state
from alphazero.records.sgf import SIZE_LIMIT, MainLine, number_of, read_collection, read_main_line
from alphazero.records.sgf_export import check_start, commented, has_sgf, to_sgf
from alphazero.records.sgf_import import from_sgf
from alphazero.records.sgf_text import BEGIN, decode
from alphazero.utils.files import (
    check_writable,
    exists,
    path_errors,
    printable,
    read_limited,
    write_atomic,
)
from alphazero.utils.shared_files import MAX_WARNINGS, Item, read_each, starts_with, warn

SGF, PGN = ".sgf", ".pgn"
POSITIONS: Final = ".epd", ".fen"
"""Suffixes of files with a position in each line."""

_PGN = re.compile(r"(?:\{[^}]*\}\s*|[%;][^\n]*\n\s*)*(?:\[\s*\w+\s+\"|\(?\s*1\s*\.|1\s+[a-hNO])")
"""The beginning of PGN: tags or a first move, perhaps after comments."""


def check_savable(path: Path, game: Game, sources: Iterable[Path] = (), start: str = "") -> None:
    """Check before games are played that they can be saved; they begin in `PlayedGame.start`.

    Raise GameError if `path` is SGF or PGN and the game cannot be written so, RunError if no file
    can be written, or `path` is a file that holds anything but games, or one of the `sources`.
    """
    try:
        if _suffix(path) == SGF:
            number_of(game)
            check_start(start)
        elif _suffix(path) == PGN:
            to_pgn(PlayedGame(game, ("", ""), (), ONGOING))
    except GameError as error:
        raise GameError(f"{error}; a file that ends in .jsonl takes any game") from None
    if _suffix(path) in POSITIONS:
        raise RunError(f"cannot write {printable(path)}: it would hold positions, no games")
    check_writable(path)
    if path.exists() and path.stat().st_size and not holds_played(path):
        raise RunError(
            f"cannot write {printable(path)}: the file holds no games; remove it, or choose "
            "another name"
        )
    with path_errors("write", path):
        if any(path.exists() and path.samefile(source) for source in sources):
            raise RunError(
                f"cannot write {printable(path)}: it would replace the games that are read from "
                "it; choose another name"
            )


def save_played(path: Path, games: Sequence[PlayedGame]) -> None:
    """Write games to `path`, replacing it, by its suffix; raise as `check_savable`."""
    write_atomic(path, _to_bytes(path, games))


def _to_bytes(path: Path, games: Sequence[PlayedGame]) -> bytes:
    if _suffix(path) in (SGF, PGN):
        return "".join(to_text(path, game) for game in games).encode("utf-8", "replace")
    return to_lines(games)


def record_format(game: Game) -> str | None:
    """Return the format that other programs read for a game, "sgf" or "pgn"; None without."""
    if isinstance(game, PieceGame):
        return PGN.strip(".")
    return SGF.strip(".") if has_sgf(game) else None


def to_text(path: Path, game: PlayedGame) -> str:
    """Return a game as PGN or SGF, by the suffix of `path`."""
    return (to_pgn if _suffix(path) == PGN else to_sgf)(game)


def save_records(
    path: Path,
    game: Game,
    records: Sequence[GameRecord],
    names: tuple[str, str],
    searched: tuple[bool, bool],
    append: bool = False,
) -> None:
    """Write a match's games, in SGF and PGN with comments on the searches; raise as `save_played`.

    `names` and `searched` are by the match's players, as in `commented`. `append`: keep the games
    that are in the file.
    """
    played = [PlayedGame.of(game, record, names) for record in records]
    if _suffix(path) in (SGF, PGN):
        played = list(map(commented, played, records, itertools.repeat(searched)))
    if append:
        with path_errors("write", path), path.open("ab") as file:
            file.write(_to_bytes(path, played))
    else:
        save_played(path, played)


def holds_played(path: Path) -> bool:
    """Whether `path` is a file of games."""
    return _suffix(path) in (SGF, PGN) or starts_with(path, BEGINNING)


def load_played(path: Path, warn: Callable[[str], object] = warn) -> list[PlayedGame]:
    """Read a file of one or more games; `warn` receives what is left out of it.

    Raise PlayerError if no game can be read, RunError if the file cannot be read.
    """
    if _suffix(path) not in (SGF, PGN, *POSITIONS):
        return load_games(path, warn)
    text, place = decode(read_limited(path, SIZE_LIMIT)), f"{printable(path)}: "
    if _suffix(path) == SGF:
        return _read_games(read_collection(text), _read_main_line, place, warn)
    return _read_pgn_games(text, place, warn)


def holds_game(data: bytes, game: Game) -> bool:
    """Whether a text is a game in one of the formats that `read_played` reads.

    A list of numbered moves without tags is PGN if pieces move in `game`.
    """
    if _is_json(data):
        return True
    text = decode(data).strip()
    match = _PGN.match(text)
    is_pgn = match and (isinstance(game, PieceGame) or match[0].endswith('"'))
    return bool(is_pgn or _position_lines(text) or BEGIN.match(text))


def _is_json(data: bytes) -> bool:
    return re.match(rb'\s*\{\s*"', data.removeprefix(BOM_UTF8)) is not None


def read_played(
    data: bytes, warn: Callable[[str], object], game: Game | None = None
) -> list[PlayedGame]:
    """Read the games of a file, of SGF, PGN, JSON lines or positions, as `load_played`.

    Positions are those of `game` if it can have them, and so is a PGN without tags.
    """
    if _is_json(data):
        return read_lines(data, "line ", warn)
    text = decode(data).strip()
    if _PGN.match(text) or _position_lines(text):
        return _read_pgn_games(text, "", warn, game)
    return _read_games(read_collection(text), _read_main_line, "", warn)


def _read_pgn_games(
    text: str, place: str, warn: Callable[[str], object], game: Game | None = None
) -> list[PlayedGame]:
    """Read the games of a PGN file, or the positions of lines of FEN or EPD."""
    if lines := _position_lines(text):
        return _read_games(lines, partial(_read_position, game=game), place, warn, "position")
    return _read_games(read_pgn(text), partial(_read_pgn, game=game), place, warn)


def _position_lines(text: str) -> list[str]:
    """Return the lines of a file of positions; none if the first is no position."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return lines if lines and is_position(lines[0]) else []


def _read_pgn(record: PgnGame, game: Game | None) -> tuple[PlayedGame, list[str]]:
    if isinstance(game, PieceGame) and not record.tags:
        with contextlib.suppress(GameError):  # its first move is none of this game
            return from_pgn(record, game), record.warnings
    return from_pgn(record), record.warnings


def _read_position(line: str, game: Game | None) -> tuple[PlayedGame, list[str]]:
    if not is_position(line):
        raise GameError(f"{line[:40]!r} is no FEN and no EPD")
    played, operations = read_position(line, game)
    return played, [f"the operation {operation[:60]} is left out" for operation in operations]


def _read_main_line(line: MainLine) -> tuple[PlayedGame, list[str]]:
    record = read_main_line(line)
    return from_sgf(record), record.warnings


def _read_games(
    items: Iterable[Item],
    convert: Callable[[Item], tuple[PlayedGame, list[str]]],
    place: str,
    warn: Callable[[str], object],
    kind: str = "game",
) -> list[PlayedGame]:
    """Convert the items that can be; `convert` also returns what it left out.

    `place` comes before the number of an item.
    """

    def read(item: tuple[int, Item]) -> PlayedGame:
        try:
            played, warnings = convert(item[1])
        except AlphaZeroError as error:
            raise PlayerError(f"{place}{kind} {item[0]}: {_escaped(error)}") from None
        for warning in warnings[:MAX_WARNINGS]:
            warn(f"{place}{kind} {item[0]}: {_escaped(warning)}")
        return replace(played, number=item[0])

    try:
        return read_each(enumerate(items, 1), read, warn)
    except GameError as error:
        raise PlayerError(f"{place}{error}") from None


def _escaped(text: object) -> str:
    return ascii(str(text))[1:-1][:300]


def load_first(path: Path, game: Game | None) -> PlayedGame:
    """Return a file's first game; `path` may be a FEN instead, of `game` if it can have it."""
    position = _read_pgn_games(str(path), "", warn, game) if is_fen(path) else None
    return (position or load_played(path))[0]


def continued(path: Path, played: PlayedGame, moves: int | None, game: Game) -> PlayedGame:
    """Return the first game of `path` up to `moves` moves, to be continued as `game`.

    It keeps the file's players, event, comments and variations, but not a resignation. Raise
    PlayerError for another game, fewer moves, or a move that is illegal in `game`.
    """
    count = len(played.actions)
    if moves is not None and moves > count:
        raise PlayerError(
            f"{printable(path)}: the game has {count} moves; continue after move {count} at the "
            "latest"
        )
    if type(game) is not type(played.game) or (
        game.observation_shape[1:] != played.game.observation_shape[1:]
    ):
        raise PlayerError(
            f"{printable(path)}: a game of {write_game(played.game)}; expected {write_game(game)}"
        )
    actions, state = played.actions[:moves], first_state(game, played.start)
    for number, action in enumerate(actions, 1):
        try:
            state = game.play(state, action)
        except GameError:
            raise PlayerError(
                f"{printable(path)}: move {number} is not legal in {write_game(game)}; continue "
                f"after move {number - 1} at the latest"
            ) from None
    outcome = game.outcome(state)
    is_end = outcome != ONGOING and len(actions) == count
    return replace(
        played,
        game=game,
        actions=actions,
        outcome=played.outcome if is_end else outcome,
        resigned=False,
        opening=min(played.opening, len(actions)),
        setup=min(played.setup, len(actions)),
        forfeit_reason="",
        comments=played.comments[:moves],
        sgf_result=played.sgf_result if is_end else "",
        variations=tuple(line for line in played.variations if line.ply < len(actions)),
    )


def is_fen(path: Path) -> bool:
    """Whether `path` is the FEN of a position rather than a file."""
    return is_position(str(path)) and not exists(path)


def _suffix(path: Path) -> str:
    return path.suffix.lower()
