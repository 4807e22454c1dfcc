"""Games of matches in a file: text, one JSON object a line, to be replayed and counted again.

    {"format": "alphazero-game", "game": "tic_tac_toe", "players": ["A", "B"], "result": "1-0",
     "moves": ["b2", ...], ...}

The player named first moved first; `result` is 1-0 when it won, 0-1 when it lost, * while the game
is not over, else 1/2-1/2. A game that was taken from its loser says why, as `fault`.
"""

import functools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from alphazero.arena.match import GameRecord
from alphazero.errors import GameError, PlayerError
from alphazero.games.game import ONGOING, Game, State
from alphazero.games.registry import read_game, write_game
from alphazero.utils.files import read_limited, shown, write_atomic

FORMAT: Final = "alphazero-game"
BEGINNING: Final = b'{"format": "alphazero-game"'
"""How every line begins, by which such a file is known."""

RESULTS: Final = {1: "1-0", 0: "1/2-1/2", -1: "0-1", ONGOING: "*"}
"""The results by the outcome."""

_OUTCOMES: Final = {result: outcome for outcome, result in RESULTS.items()}
_SIZE_LIMIT: Final = 1 << 28
_LINE_LIMIT: Final = 1 << 20


@dataclass(frozen=True)
class PlayedGame:
    """A game, finished or not, and who played it."""

    game: Game
    players: tuple[str, str]
    """names: who moved first, who moved second"""
    actions: tuple[int, ...]
    outcome: int
    resigned: bool = False
    opening: int = 0
    """random moves that open it, before anybody thinks"""
    pair: int = 0
    """which pair of games with one opening, of these two players, it belongs to"""
    fingerprints: tuple[str, str] = ("", "")
    """what tells the players from others of the same names"""
    fault: str = ""
    """why the game was taken from the player who lost it; empty: it was not"""
    comments: tuple[str, ...] = ()
    """what is said of the moves, one by one; not kept in a line of a file"""
    told: str = ""
    """the result as another program's SGF has it, where the moves do not say the same"""

    @classmethod
    def of(
        cls,
        game: Game,
        record: GameRecord,
        names: tuple[str, str],
        fingerprints: tuple[str, str] = ("", ""),
    ) -> "PlayedGame":
        """Return the game of a match between players 0 and 1, so called."""
        first, second = record.pairing.seats
        return cls(
            game,
            (names[first], names[second]),
            tuple(map(int, record.actions)),
            record.outcome,
            record.resigned,
            len(record.pairing.opening),
            record.pairing.label,
            (fingerprints[first], fingerprints[second]),
            record.fault,
        )

    def states(self) -> list[State]:
        """Return the first position and that after each move."""
        states = [self.game.initial_state()]
        for action in self.actions:
            states.append(self.game.play(states[-1], action))
        return states

    def moves(self) -> list[str]:
        """Return the moves in the game's notation."""
        pairs = zip(self.states(), self.actions, strict=False)
        return [self.game.action_name(state, action) for state, action in pairs]

    def to_line(self) -> str:
        """Write the game as a line of the file."""
        content = {
            "format": FORMAT,
            "game": write_game(self.game),
            "players": self.players,
            "result": RESULTS[self.outcome],
            "resigned": self.resigned,
            "moves": self.moves(),
            "opening": self.opening,
            "pair": self.pair,
            "fingerprints": self.fingerprints,
            "fault": self.fault,
        }
        content |= {"told": self.told} if self.told else {}
        return json.dumps(content)


def save_games(path: Path, games: Iterable[PlayedGame]) -> None:
    """Write games to `path`, in place of what was there.

    Raises:
        RunError: when it cannot be written.
    """
    write_atomic(path, "".join(game.to_line() + "\n" for game in games).encode())


def holds_games(path: Path) -> bool:
    """Whether `path` is a file that begins as one of games does."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(BEGINNING)) == BEGINNING
    except (OSError, ValueError):
        return False


def load_games(path: Path) -> list[PlayedGame]:
    """Read games and play them through.

    Raises:
        PlayerError: naming the line that is no game, or where one makes an illegal move.
        RunError: when the file cannot be read.
    """
    games = []
    cached = functools.cache(read_game)
    for number, line in enumerate(read_limited(path, _SIZE_LIMIT).split(b"\n"), 1):
        if line.strip():
            try:
                games.append(read_line(line, cached))
            except PlayerError as error:
                raise PlayerError(f"{shown(path)}:{number}: {error}") from error
    if not games:
        raise PlayerError(
            f"{shown(path)}: holds no games; write some with `alphazero match --save`"
        )
    return games


def read_line(line: bytes, make: Callable[[str], Game] = read_game) -> PlayedGame:
    """Read the game of a line, made by `make` from its name, and play it through.

    Raises:
        PlayerError: when it is none, or makes an illegal move.
    """
    try:
        return _read_line(line, make)
    except (ValueError, KeyError, TypeError, RecursionError, GameError) as error:
        said = f"lacks {error}" if isinstance(error, KeyError) else f"{error}"
        raise PlayerError(
            f"no game as `alphazero match --save` writes one: {ascii(said)[1:-1][:300]}"
        ) from error


def _read_line(line: bytes, make: Callable[[str], Game]) -> PlayedGame:
    if len(line) > _LINE_LIMIT:
        raise ValueError(f"the line is longer than {_LINE_LIMIT:,} bytes")
    content = json.loads(line)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    game = make(_typed(content, "game", str))
    actions, state = [], game.initial_state()
    for number, move in enumerate(_texts(content, "moves"), 1):
        if game.outcome(state) != ONGOING:
            raise ValueError(f"move {number} comes after the end of the game")
        try:
            actions.append(game.parse_action(state, move))
        except GameError as error:
            raise ValueError(f"move {number}: {error}") from error
        state = game.play(state, actions[-1])
    result, resigned = _typed(content, "result", str), _typed(content, "resigned", bool)
    if result not in _OUTCOMES:
        raise ValueError(f"result {result[:20]!r} is none of {', '.join(_OUTCOMES)}")
    opening = _typed(content, "opening", int)
    if not 0 <= opening <= len(actions):
        raise ValueError(f"opening: {opening} of its {len(actions)} moves")
    pair = _typed(content, "pair", int)
    if pair < 0:
        raise ValueError(f"pair: {pair} is below 0")
    outcome: int | None = game.outcome(state)
    fault = _typed({"fault": "", **content}, "fault", str)  # older files do not tell it
    told = _typed({"told": "", **content}, "told", str)
    ends = _OUTCOMES[result]
    if told:
        outcome = ends
    elif resigned or fault:
        # Its moves leave it open, and yet it has a result.
        outcome = ends if outcome == ONGOING and ends != ONGOING else None
    if outcome != ends:
        raise ValueError(f"its moves do not end with the result {result}")
    return PlayedGame(
        game,
        _pair(content, "players"),
        tuple(actions),
        ends,
        resigned,
        opening,
        pair,
        _pair(content, "fingerprints"),
        fault,
        told=told,
    )


def _typed(content: dict[str, Any], name: str, kind: type) -> Any:
    if type(content[name]) is not kind:
        raise ValueError(f"{name}: expected {kind.__name__}, got {str(content[name])[:40]!r}")
    return content[name]


def _texts(content: dict[str, Any], name: str) -> list[str]:
    texts = _typed(content, name, list)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name}: expected texts, got {str(texts)[:40]!r}")
    return texts  # type: ignore[no-any-return]


def _pair(content: dict[str, Any], name: str) -> tuple[str, str]:
    texts = _texts(content, name)
    if len(texts) != 2:
        raise ValueError(f"{name}: expected two, got {len(texts)}")
    return texts[0], texts[1]
