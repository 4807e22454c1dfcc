"""The check of a game against every requirement of the contract."""

import hashlib
import inspect
import sys
import textwrap
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from alphazero.errors import GameError
from alphazero.games.compiled_rules import RuleFunctions, Signature
from alphazero.games.contract.other_requirements import (
    OTHER_REQUIREMENTS,
    has_a_group_of_symmetries,
)
from alphazero.games.contract.random_games import FULL, SHORT, RandomGames
from alphazero.games.contract.rule_requirements import RULE_REQUIREMENTS, Requirement
from alphazero.games.contract.watched_rules import Fault, line_of
from alphazero.games.game import Game
from alphazero.games.registry import as_game, compile_rules, write_game
from alphazero.utils.jit import cache_folder, kernel_hash


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
        lines = [f"{self.game} violates {len(self.faults)} of the requirements of every game"]
        if not self.faults:
            seen = f"{self.games:,} random games, {self.positions:,} positions"
            lines = [f"{self.game}: every requirement met ({seen})"]
        for fault in self.faults:
            lines.append(fault.headline)
            if fault.moves is not None:
                lines.append(f"after the moves: {fault.moves}" if fault.moves else "at the start:")
            if fault.drawing:
                lines.append(textwrap.indent(fault.drawing, "    "))
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def check_game(game: Game | str, effort: int = FULL) -> Report:
    """Check a game, or a text for `read_game`, against the contract.

    The check cannot know whether the rules are those of the intended game. Raises GameError for
    anything else, or a game whose rules cannot be compiled.
    """
    is_named, game = isinstance(game, str), as_game(game)
    if is_named:
        compile_rules(game)
    games = RandomGames(game, effort)
    for requirement in (*RULE_REQUIREMENTS, has_a_group_of_symmetries):
        faults = _faults(games, requirement)
        if faults:
            break
    else:
        faults = [
            fault for requirement in OTHER_REQUIREMENTS for fault in _faults(games, requirement)
        ]
    notes = games.rules.notes if games.records else []
    positions = sum(map(len, games.records))
    return Report(write_game(game), faults, notes, len(games.records), positions)


def _faults(games: RandomGames, requirement: Requirement) -> list[Fault]:
    """Return the fault if a requirement is violated; an exception of the game is a fault too."""
    games.current = None
    try:
        requirement(games)
    except Fault as raised:
        fault = raised
    except Exception as error:
        file = getattr(sys.modules.get(type(games.game).__module__), "__file__", None)
        fault = Fault(f"{type(error).__name__} is raised: {error}, {line_of(error, file)}")
    else:
        return []
    fault.requirement = fault.requirement or requirement.__name__
    state = games.current if fault.state is None else fault.state
    if state is not None:
        with suppress(Exception):  # `render` may be at fault
            fault.drawing = games.game.render(state)
        fault.moves = games.moves_to(state)
    return [fault]


def refuse_unsound(game: Game) -> None:
    """Check a game briefly, once per version of its source.

    Raises GameError if it violates a requirement, or its rules cannot be compiled.
    """
    compile_rules(game)
    marker = cache_folder() / "checked-games" / _source_hash(game)
    if marker.exists():
        return
    report = check_game(game, SHORT)
    if report.faults:
        raise GameError(
            f"{report.game} cannot be trained: {report.faults[0].headline.splitlines()[0]}; "
            f"`alphazero check {report.game}` shows where"
        )
    with suppress(OSError):  # then the game is checked again next time
        marker.parent.mkdir(mode=0o700, exist_ok=True)
        marker.touch()


def _source_hash(game: Game) -> str:
    """Return a hash of a game's options, of its rules, and of the source files of its class."""
    digest, files = hashlib.sha256(repr(game).encode()), set()
    for name, rule in zip(RuleFunctions._fields, game.rule_functions, strict=False):
        source = getattr(rule, "py_func", rule)
        digest.update(kernel_hash(source, getattr(Signature, name)).encode())
    for kind in type(game).__mro__:
        with suppress(TypeError):  # for a class without a file, like `object`
            files.add(inspect.getsourcefile(sys.modules.get(kind.__module__) or kind) or "")
    for file in sorted(files):
        digest.update(Path(file).read_bytes() if Path(file).is_file() else file.encode())
    return digest.hexdigest()[:32]
