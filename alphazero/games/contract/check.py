"""The check of a game against every promise of the contract."""

import hashlib
import inspect
import sys
import textwrap
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from alphazero.errors import GameError
from alphazero.games.contract.display import REST
from alphazero.games.contract.guarded import Breach, place_of
from alphazero.games.contract.interpreted import sources_of
from alphazero.games.contract.rules import FIRST, Promise
from alphazero.games.contract.trial import FULL, SHORT, Effort, Trial
from alphazero.games.game import Game
from alphazero.games.registry import read_game, write_game
from alphazero.utils.jit import cache_folder


@dataclass(frozen=True)
class Fault:
    """A broken promise."""

    promise: str
    """name of its function, or of a promise that `guarded.py` checks"""
    text: str
    """the fault and what was expected"""
    moves: str | None = None
    """the moves to the position; None if it is in no random game"""
    drawing: str = ""
    """the position as text"""

    @property
    def name(self) -> str:
        return f"'{self.promise.replace('_', ' ')}' is broken"

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.text}"]
        if self.moves is not None:
            lines.append(f"after the moves: {self.moves}" if self.moves else "at the start:")
        return "\n".join([*lines, textwrap.indent(self.drawing, "    ")]).rstrip()


@dataclass(frozen=True)
class Report:
    """The result of a check."""

    game: str
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """things that could not be checked"""
    games: int = 0
    positions: int = 0

    def __str__(self) -> str:
        seen = f"{self.games:,} random games, {self.positions:,} positions"
        notes = [f"note: {note}" for note in self.notes]
        if not self.faults:
            return "\n".join([f"{self.game}: every promise kept ({seen})", *notes])
        broken = f"{len(self.faults)} of the promises that every game keeps"
        return "\n".join([f"{self.game} breaks {broken}", *map(str, self.faults), *notes])


def check_game(game: Game | str, effort: Effort = FULL) -> Report:
    """Check a game, or a text for `read_game`, against the contract.

    The check cannot know whether the rules are those of the intended game. Raises GameError for an
    unknown game.
    """
    game = read_game(game) if isinstance(game, str) else game
    trial, faults = Trial(game, effort), list[Fault]()
    for promise in FIRST:
        faults += _faults(trial, promise)
        if faults:
            break
    else:
        for promise in REST:
            faults += _faults(trial, promise)
    records = vars(trial).get("records", [])
    notes = trial.rules.notes if records else []
    return Report(write_game(game), faults, notes, len(records), sum(map(len, records)))


def refuse_unsound(game: Game) -> None:
    """Check a game briefly, once per version of its source.

    Raises GameError if it breaks a promise.
    """
    marker = cache_folder() / "checked-games" / _source_hash(game)
    if marker.exists():
        return
    report = check_game(game, SHORT)
    if report.faults:
        fault = report.faults[0]
        raise GameError(
            f"{report.game} cannot be trained: {fault.name}: {fault.text.splitlines()[0]}; "
            f"`alphazero check {report.game}` shows where"
        )
    with suppress(OSError):  # then the game is checked again next time
        marker.parent.mkdir(mode=0o700, exist_ok=True)
        marker.touch()


def _source_hash(game: Game) -> str:
    """Return a hash of a game's options and of the source files of its class and rules."""
    files = set()
    for kind in type(game).__mro__:
        module = sys.modules.get(kind.__module__)
        with suppress(TypeError):  # for a class without a file, like `object`
            files.add(inspect.getsourcefile(module or kind) or "")
    for rule in game.rule_functions:
        files |= sources_of(rule)
    digest = hashlib.sha256(repr(game).encode())
    for file in sorted(files):
        digest.update(Path(file).read_bytes() if Path(file).is_file() else file.encode())
    return digest.hexdigest()[:32]


def _faults(trial: Trial, promise: Promise) -> list[Fault]:
    """Return the fault of a broken promise, if any; an exception of the game is a fault too."""
    trial.current = None
    try:
        promise(trial)
    except Breach as breach:
        name, text = breach.promise or promise.__name__, str(breach)
        state = trial.current if breach.state is None else breach.state
    except Exception as error:
        name, state = promise.__name__, trial.current
        text = f"{type(error).__name__} is raised: {error}, {place_of(error)}"
    else:
        return []
    moves, drawing = None, ""
    if state is not None:
        with suppress(Exception):  # `render` may be at fault
            drawing = trial.game.render(state)
        moves = trial.moves_to(state)
    return [Fault(name, text, moves, drawing)]
