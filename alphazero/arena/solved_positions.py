"""Solved positions: read from files, bundled, or computed.

A file has a line per position: `MOVES SCORE LABELS`. MOVES are the moves so far, in the game's
notation, separated by commas where `Game.split_moves` needs spaces. SCORE is positive when the
player to move wins, 0 for a draw, negative when it loses. LABELS has a character per action: `+`
wins, `=` draws, `-` loses, `.` is illegal.

Letters: P positions, A actions, S state size.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from alphazero.errors import GameError, RunError
from alphazero.games.game import PLY, Game, State
from alphazero.games.registry import write_game
from alphazero.solvers.exhaustive import ILLEGAL, SolvedPositions, solve_all_positions
from alphazero.utils.arrays import Int64Array
from alphazero.utils.files import is_folder, path_errors, printable, read_limited
from alphazero.utils.shared_files import read_each, warn

STAGES = ("opening", "middle", "end")
"""Thirds of the longest game; in Connect Four 14 moves each."""

BUNDLED = Path(__file__).parent / "positions"
"""Folder of bundled files, named after their games, with a dash for the colon."""


def stages_of(game: Game, states: State) -> Int64Array:
    """Return the stage of each position `states` [P, S] as an index into `STAGES`: [P]."""
    return states[:, PLY] * len(STAGES) // game.max_moves


def solved_positions(game: Game, each: int | None = None, seed: int = 0) -> SolvedPositions:
    """Return solved positions of a game, the same for the same `seed`.

    These are the bundled ones, else all positions of a small game; at most `each` per stage.
    Raises GameError when no solution is available.
    """
    bundled = BUNDLED / f"{write_game(game).replace(':', '-')}.txt"
    solution = read_positions(game, bundled) if bundled.exists() else solve_all_positions(game)
    if each is None:
        return solution
    order = np.random.default_rng(seed).permutation(len(solution.states))
    stages = stages_of(game, solution.states[order])
    chosen = [order[stages == stage][:each] for stage in range(len(STAGES))]
    return solution.take(np.sort(np.concatenate(chosen)))


def position_files(paths: Sequence[Path]) -> list[Path]:
    """Return the given files and the files in each given folder, by name.

    Hidden files and subfolders are skipped. Raises RunError for a folder that cannot be read,
    or holds no files.
    """
    files = []
    for path in paths:
        if not is_folder(path):
            files.append(path)
            continue
        with path_errors("read", path):
            inside = sorted(file for file in path.iterdir() if file.is_file())
        inside = [file for file in inside if not file.name.startswith(".")]
        if not inside:
            raise RunError(f"{printable(path)}: no files of positions in it; check the path")
        files += inside
    return files


def read_positions(game: Game, path: Path) -> SolvedPositions:
    """Read a file of solved positions; each malformed line costs a warning.

    Raises GameError when no line can be read, with the number of the first.
    """

    def read(item: tuple[int, str]) -> tuple[State, int, Int64Array]:
        number, line = item
        try:
            return _read_line(game, line)
        except (ValueError, KeyError, GameError) as error:
            raise GameError(
                f"{printable(path)}:{number}: expected 'MOVES SCORE LABELS' with "
                f"{game.num_actions} labels of + = - . ({error})"
            ) from error

    text = read_limited(path, 1 << 26).decode("utf-8-sig", errors="replace")
    numbered = (item for item in enumerate(text.splitlines(), 1) if item[1].strip())
    lines = read_each(numbered, read, warn)
    if not lines:
        raise GameError(f"{printable(path)}: no positions")
    return SolvedPositions(*(np.array(column) for column in zip(*lines, strict=True)))


_SCORES = {"+": 1, "=": 0, "-": -1, ".": ILLEGAL}
LABELS = {score: label for label, score in _SCORES.items()}


def _read_line(game: Game, line: str) -> tuple[State, int, Int64Array]:
    """Return the position of a line, its value, and the values of its actions [A]."""
    moves, score, labels = line.split() if line[:1].strip() else ["", *line.split()]
    state = game.from_moves(moves.replace(",", " "))
    legal = game.legal_action_mask(state)
    if len(labels) != game.num_actions or [label != "." for label in labels] != legal.tolist():
        raise ValueError(f"the labels {labels[:40]!r} do not fit the position's legal moves")
    values = np.array([_SCORES[label] for label in labels])
    value = int(np.sign(int(score)))
    if values.max() != value:
        raise ValueError(f"the score {score[:40]} contradicts the labels {labels}")
    return state, value, values
