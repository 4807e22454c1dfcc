"""Games as JSON lines: one object per line, from which the game can be replayed.

    {"format": "alphazero-game", "game": "tic_tac_toe", "players": ["A", "B"], "result": "1-0",
     "moves": ["b2", ...], ...}

The player named first moved first. `result` is 1-0 if it won, 0-1 if it lost, 1/2-1/2 for a draw,
* for an unfinished game. `fault` is why the loser forfeited the game, or empty. A game that did not
begin in the initial position has it as `start`, for chess a FEN.
"""

import functools
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from alphazero.errors import GameError, PlayerError
from alphazero.games.game import ONGOING, Game
from alphazero.games.registry import read_game
from alphazero.games.results import SCORES
from alphazero.records.played_game import FORMAT, PlayedGame, first_state
from alphazero.utils.checked_json import field, parse_object
from alphazero.utils.files import printable, read_limited
from alphazero.utils.shared_files import read_each, warn

BEGINNING: Final = b'{"format": "alphazero-game"'
"""The beginning of every line, by which such a file is recognised."""

_OUTCOMES: Final = {score: outcome for outcome, score in SCORES.items()}
_SIZE_LIMIT: Final = 1 << 28
_LINE_LIMIT: Final = 1 << 20


def to_lines(games: Iterable[PlayedGame]) -> bytes:
    """Return the content of a file of games."""
    return "".join(game.to_line() + "\n" for game in games).encode()


def load_games(path: Path, warn: Callable[[str], object] = warn) -> list[PlayedGame]:
    """Read games and replay them; `warn` receives the lines that cannot be read.

    Raise PlayerError if no line can be read, RunError if the file cannot be read.
    """
    games = read_lines(read_limited(path, _SIZE_LIMIT), f"{printable(path)}:", warn)
    if not games:
        raise PlayerError(
            f"{printable(path)}: no games in it; write some with `alphazero match --save`"
        )
    return games


def read_lines(data: bytes, place: str, warn: Callable[[str], object]) -> list[PlayedGame]:
    """Read the games of a file as `load_games`; `place` comes before the number of a line."""
    cached = functools.cache(read_game)

    def read(item: tuple[int, bytes]) -> PlayedGame:
        try:
            return replace(read_line(item[1], cached), number=item[0])
        except PlayerError as error:
            raise PlayerError(f"{place}{item[0]}: {error}") from error

    lines = enumerate(data.split(b"\n"), 1)
    return read_each((item for item in lines if item[1].strip()), read, warn)


def read_line(line: bytes, make: Callable[[str], Game] = read_game) -> PlayedGame:
    """Replay a line's game, made by `make` from its name; raise PlayerError if it is invalid."""
    try:
        return _read_line(line, make)
    except (ValueError, KeyError, TypeError, RecursionError, GameError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else f"{error}"
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            reason = "expected a JSON object"
        reason = ascii(reason)[1:-1][:300]
        raise PlayerError(f"not a game of `alphazero match --save`: {reason}") from error


def _read_line(line: bytes, make: Callable[[str], Game]) -> PlayedGame:
    if len(line) > _LINE_LIMIT:
        raise ValueError(f"the line is longer than {_LINE_LIMIT:,} bytes")
    content = parse_object(line)
    if content.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    game = make(field(content, "game", str))
    start = field({"start": "", **content}, "start", str)
    actions, state = [], first_state(game, start)
    for number, move in enumerate(_texts(content, "moves"), 1):
        if game.outcome(state) != ONGOING:
            raise ValueError(f"move {number} comes after the end of the game")
        try:
            actions.append(game.parse_action(state, move))
        except GameError as error:
            raise ValueError(f"move {number}: {error}") from error
        state = game.play(state, actions[-1])
    result, resigned = field(content, "result", str), field(content, "resigned", bool)
    if result not in _OUTCOMES:
        raise ValueError(f"result: expected one of {', '.join(_OUTCOMES)}, got {result[:20]!r}")
    opening = field(content, "opening", int)
    if not 0 <= opening <= len(actions):
        raise ValueError(f"opening: expected 0 to {len(actions)} moves, got {opening}")
    pair = field(content, "pair", int)
    if pair < 0:
        raise ValueError(f"pair: must be at least 0, got {pair}")
    forfeit_reason = field({"fault": "", **content}, "fault", str)  # older files lack it
    sgf_result = field({"told": "", **content}, "told", str)
    end, outcome = game.outcome(state), _OUTCOMES[result]
    if sgf_result:
        is_consistent = True
    elif resigned or forfeit_reason:
        # The moves leave the game open, but it has a result.
        is_consistent = end == ONGOING and outcome != ONGOING
    else:
        is_consistent = end == outcome
    if not is_consistent:
        raise ValueError(f"the moves do not lead to the result {result}")
    return PlayedGame(
        game,
        _pair(content, "players"),
        tuple(actions),
        outcome,
        resigned,
        opening,
        pair,
        _pair(content, "fingerprints"),
        forfeit_reason,
        sgf_result=sgf_result,
        start=start,
    )


def _texts(content: dict[str, Any], name: str) -> list[str]:
    texts = field(content, name, list)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name}: expected texts, got {str(texts)[:40]!r}")
    return texts  # type: ignore[no-any-return]


def _pair(content: dict[str, Any], name: str) -> tuple[str, str]:
    texts = _texts(content, name)
    if len(texts) != 2:
        raise ValueError(f"{name}: expected two, got {len(texts)}")
    return texts[0], texts[1]
