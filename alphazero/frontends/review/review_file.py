"""Evaluations of games, kept in a file of JSON lines, so that a review can go on.

A line holds one player's evaluations of one game:

    {"format": "alphazero-review", "game": "tic_tac_toe", "moves": ["b2", ...], "player": "uct:...",
     "fingerprint": "...", "positions": [{"ply": 4, "value": 1.0, "exact": true, ...}, ...]}
"""

import json
import math
from pathlib import Path
from typing import Any, Final

from alphazero.errors import GameError, PlayerError
from alphazero.frontends.review.judgement import Evaluation
from alphazero.games.game import Game, State
from alphazero.games.registry import write_game
from alphazero.players.specs import PlayerSpec
from alphazero.records.played_game import PlayedGame
from alphazero.utils.checked_json import field, parse_object, typed
from alphazero.utils.files import printable, read_limited, write_atomic

FORMAT: Final = "alphazero-review"
SUFFIX: Final = ".review.jsonl"

_SIZE_LIMIT: Final = 1 << 26
_HEAD: Final = "game", "moves", "player", "fingerprint"
"""The fields that identify the game and the player of a line."""


def review_file(games: Path) -> Path:
    """Return where the reviews of a file of games are kept: beside it."""
    return games.with_name(games.stem + SUFFIX)


class ReviewFile:
    """The lines of a file; each is parsed when its game is asked for."""

    def __init__(self, path: Path) -> None:
        """Read a file, which need not exist.

        Raise PlayerError for a file that holds no reviews, RunError when it cannot be read.
        """
        self.path = path
        self._lines: dict[str, dict[str, Any]] = {}
        if not path.exists():
            return
        for number, text in enumerate(read_limited(path, _SIZE_LIMIT).splitlines(), 1):
            try:
                content = parse_object(text)
                if field(content, "format", str) != FORMAT:
                    raise ValueError(f"format: expected {FORMAT}")
                typed(content["positions"], list)
                self._lines[json.dumps([content[name] for name in _HEAD])] = content
            except (KeyError, TypeError, ValueError) as error:
                raise self._invalid(number, error) from None

    def load(self, played: PlayedGame, spec: PlayerSpec) -> dict[int, Evaluation]:
        """Return the evaluations of a game by `spec`, by ply.

        Raise PlayerError for a line that does not fit the game.
        """
        head = _head_of(played, spec)
        content = self._lines.get(json.dumps(head))
        if content is None:
            return {}
        states = played.states()
        try:
            return dict(
                _read(played.game, states, typed(row, dict)) for row in content["positions"]
            )
        except (KeyError, TypeError, ValueError, GameError) as error:
            number = list(self._lines).index(json.dumps(head)) + 1
            raise self._invalid(number, error) from None

    def save(
        self, played: PlayedGame, spec: PlayerSpec, evaluations: dict[int, Evaluation]
    ) -> None:
        """Write the evaluations of a game by `spec`; raise RunError if it cannot be written."""
        head, states = _head_of(played, spec), played.states()
        rows = [
            _write(played.game, states[ply], ply, item) for ply, item in sorted(evaluations.items())
        ]
        content = {"format": FORMAT, **dict(zip(_HEAD, head, strict=True)), "positions": rows}
        self._lines[json.dumps(head)] = content
        text = "".join(json.dumps(line) + "\n" for line in self._lines.values())
        write_atomic(self.path, text.encode())

    def _invalid(self, number: int, error: Exception) -> PlayerError:
        reason = ascii(str(error))[1:-1][:200]
        return PlayerError(
            f"{printable(self.path)}: line {number}: no review: {reason}; remove the file to "
            "review again"
        )


def _head_of(played: PlayedGame, spec: PlayerSpec) -> list[Any]:
    return [write_game(played.game), played.moves(), spec.name, spec.player_hash]


def _write(game: Game, state: State, ply: int, evaluation: Evaluation) -> dict[str, Any]:
    return {
        "ply": ply,
        "value": evaluation.value,
        "exact": evaluation.is_exact,
        "end": evaluation.end,
        "best": [game.action_name(state, action) for action in evaluation.best],
        "line": game.action_names(state, evaluation.line),
    }


def _read(game: Game, states: list[State], row: dict[str, Any]) -> tuple[int, Evaluation]:
    ply, end = field(row, "ply", int), field(row, "end", int)
    value = typed(row["value"], int, float)
    if not 0 <= ply < len(states) or not 0 <= end <= game.max_moves:
        raise ValueError("ply or end is out of range")
    if not math.isfinite(value) or abs(value) > 1:
        raise ValueError(f"value: expected a number from -1 to 1, got {value}")
    state, line = states[ply], []
    best = [game.parse_action(state, typed(name, str)) for name in field(row, "best", list)]
    choices = int(game.legal_action_mask(state).sum())
    for name in field(row, "line", list):
        line.append(game.parse_action(state, typed(name, str)))
        state = game.play(state, line[-1])
    if bool(best) != bool(choices) or line[:1] != best[:1]:
        raise ValueError(f"position {ply} needs a best move, with which its line begins")
    exact = field(row, "exact", bool)
    return ply, Evaluation(float(value), exact, end, tuple(best), tuple(line), choices)
