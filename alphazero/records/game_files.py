"""Files of played games: SGF or JSON lines, by the suffix of the file."""

import dataclasses
import itertools
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from alphazero.errors import AlphaZeroError, GameError, PlayerError, RunError
from alphazero.games.game import Game
from alphazero.games.registry import write_game
from alphazero.records.game_record import GameRecord
from alphazero.records.jsonl import holds_games, load_games, read_lines, to_lines
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf import SIZE_LIMIT, MainLine, number_of, read_collection, read_main_line
from alphazero.records.sgf_export import commented, to_sgf
from alphazero.records.sgf_import import from_sgf
from alphazero.records.sgf_text import decode
from alphazero.utils.files import path_errors, printable, read_limited, write_atomic
from alphazero.utils.shared_files import MAX_WARNINGS, check_replaceable, read_each, warn

SUFFIX: Final = ".sgf"


def check_savable(path: Path, game: Game, sources: Iterable[Path] = ()) -> None:
    """Check before games are played that they can be saved.

    Raise GameError if `path` is SGF and the game cannot be written as SGF, RunError if no file can
    be written, or `path` is a file that holds anything but games, or one of the `sources`.
    """
    if _is_sgf(path):
        try:
            number_of(game)
        except GameError as error:
            raise GameError(f"{error}; a file that ends in .jsonl takes any game") from None
    check_replaceable(path, "games", lambda: holds_played(path))
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
    if _is_sgf(path):
        return "".join(map(to_sgf, games)).encode("utf-8", "replace")
    return to_lines(games)


class MatchFile:
    """The file of a match's games, in SGF with comments on the searches.

    `names` and `searched` are by the match's players, as in `commented`.
    """

    def __init__(
        self, path: Path, game: Game, names: tuple[str, str], searched: tuple[bool, bool]
    ) -> None:
        self._path, self._game, self._names, self._searched = path, game, names, searched
        self._has_begun = False

    def append(self, records: Sequence[GameRecord]) -> None:
        """Add games; the first call replaces what the file held; raise as `check_savable`."""
        if not self._has_begun:
            self.save(records)
            return
        with path_errors("write", self._path), self._path.open("ab") as file:
            file.write(_to_bytes(self._path, self._played(records)))

    def save(self, records: Sequence[GameRecord]) -> None:
        """Replace the file by these games; raise as `check_savable`."""
        save_played(self._path, self._played(records))
        self._has_begun = True

    def _played(self, records: Sequence[GameRecord]) -> list[PlayedGame]:
        played = [PlayedGame.of(self._game, record, self._names) for record in records]
        if _is_sgf(self._path):
            return list(map(commented, played, records, itertools.repeat(self._searched)))
        return played


def holds_played(path: Path) -> bool:
    """Whether `path` is a file of games."""
    return _is_sgf(path) or holds_games(path)


def load_played(path: Path, warn: Callable[[str], object] = warn) -> list[PlayedGame]:
    """Read a file of one or more games; `warn` receives what is left out of it.

    Raise PlayerError if no game can be read, RunError if the file cannot be read.
    """
    if not _is_sgf(path):
        return load_games(path, warn)
    return read_sgf_games(read_limited(path, SIZE_LIMIT), f"{printable(path)}: ", warn)


def read_played(data: bytes, warn: Callable[[str], object]) -> list[PlayedGame]:
    """Read the games of a file, of SGF or JSON lines, as `load_played`."""
    is_json = data.removeprefix(BOM_UTF8).lstrip().startswith(b"{")
    return read_lines(data, "line ", warn) if is_json else read_sgf_games(data, "", warn)


def read_sgf_games(data: bytes, place: str, warn: Callable[[str], object]) -> list[PlayedGame]:
    """Read the games of an SGF file as `load_played`; `place` comes before the number of a game."""

    def read(item: tuple[int, MainLine]) -> PlayedGame:
        try:
            record = read_main_line(item[1])
            played = from_sgf(record)
        except AlphaZeroError as error:
            raise PlayerError(f"{place}game {item[0]}: {_escaped(error)}") from None
        for warning in record.warnings[:MAX_WARNINGS]:
            warn(f"{place}game {item[0]}: {_escaped(warning)}")
        return played

    try:
        return read_each(enumerate(read_collection(decode(data)), 1), read, warn)
    except GameError as error:
        raise PlayerError(f"{place}{error}") from None


def _escaped(text: object) -> str:
    return ascii(str(text))[1:-1][:300]


def load_start_position(path: Path, moves: int | None, game: Game | None) -> PlayedGame:
    """Return a file's first game up to `moves` moves, to be continued as `game` or its own game.

    Raise PlayerError for another game, fewer moves, or a move that is illegal in `game`.
    """
    played = load_played(path)[0]
    count = len(played.actions)
    if moves is not None and moves > count:
        raise PlayerError(
            f"{printable(path)}: the game has {count} moves; continue after move {count} at the "
            "latest"
        )
    if game is None:
        game = played.game
    if type(game) is not type(played.game) or (
        game.observation_shape[1:] != played.game.observation_shape[1:]
    ):
        raise PlayerError(
            f"{printable(path)}: a game of {write_game(played.game)}; expected {write_game(game)}"
        )
    actions, state = played.actions[:moves], game.initial_state()
    for number, action in enumerate(actions, 1):
        try:
            state = game.play(state, action)
        except GameError:
            raise PlayerError(
                f"{printable(path)}: move {number} is not legal in {write_game(game)}; continue "
                f"after move {number - 1} at the latest"
            ) from None
    return dataclasses.replace(
        played,
        game=game,
        actions=actions,
        outcome=game.outcome(state),
        resigned=False,
        opening=0,
        forfeit_reason="",
        comments=played.comments[:moves],
        sgf_result="",
    )


def _is_sgf(path: Path) -> bool:
    return path.suffix.lower() == SUFFIX
