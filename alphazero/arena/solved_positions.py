"""Positions whose exact answers are known: from files, packed with the project, or counted out.

A file has a line for each: `MOVES SCORE LABELS`. MOVES are the moves played so far, in the game's
notation, with commas between those that are longer than one character; SCORE is positive when the
player to move wins, 0 for a draw, negative when it loses; LABELS has a character for each action:
`+` it wins, `=` it draws, `-` it loses, `.` it is not legal.

Letters: P positions, A actions, S state size.
"""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alphazero.errors import GameError, RunError
from alphazero.games.game import ONGOING, PLY, Game, State
from alphazero.games.registry import write_game
from alphazero.mcts.rollout_methods import RolloutConfig
from alphazero.mcts.rollout_search import RolloutSearch
from alphazero.players.base import SearchPlayer, Temperature
from alphazero.solvers.exhaustive import ILLEGAL, Solution, solve
from alphazero.utils.files import is_folder, read_limited, reason, shown

STAGES = ("opening", "middle", "end")
"""Thirds of a game, by the moves of the longest one: in Connect Four 14 moves each."""

PACKED = Path(__file__).parent / "positions"
"""Where files of solved positions lie, named after their games."""


def stages_of(game: Game, states: State) -> npt.NDArray[np.int64]:
    """Return the stage of each position `states` [P, S], a place in `STAGES`: [P]."""
    return states[:, PLY] * len(STAGES) // game.max_moves


def solved_positions(game: Game, each: int | None = None, seed: int = 0) -> Solution:
    """Return solved positions of a game, the same ones for the same `seed`.

    Those that are packed with the project, or else every position of a game that is small enough.
    With `each`, at most so many of each stage.

    Raises:
        GameError: when nobody knows the answers.
    """
    packed = PACKED / f"{write_game(game)}.txt"
    solution = read_positions(game, packed) if packed.exists() else solve(game)
    if each is None:
        return solution
    order = np.random.default_rng(seed).permutation(len(solution.states))
    stages = stages_of(game, solution.states[order])
    chosen = [order[stages == stage][:each] for stage in range(len(STAGES))]
    return solution.take(np.sort(np.concatenate(chosen)))


def position_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files that are named, and those in each folder that is, in the order of names.

    Hidden files, and folders within, are left out.

    Raises:
        RunError: for a folder that cannot be read, or has no files.
    """
    files = []
    for path in paths:
        if not is_folder(path):
            files.append(path)
            continue
        try:
            inside = sorted(each for each in path.iterdir() if each.is_file())
        except OSError as error:
            raise RunError(f"cannot read {shown(path)}: {reason(error)}") from error
        inside = [each for each in inside if not each.name.startswith(".")]
        if not inside:
            raise RunError(f"{shown(path)}: no files of positions in it; check the path")
        files += inside
    return files


def read_positions(game: Game, path: Path) -> Solution:
    """Read a file of solved positions.

    Raises:
        GameError: naming the line that is not as it should be.
    """
    lines = []
    text = read_limited(path, 1 << 26).decode("utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        try:
            lines.append(_read_line(game, line))
        except (ValueError, KeyError, GameError) as error:
            raise GameError(
                f"{shown(path)}:{number}: expected 'MOVES SCORE LABELS' with {game.num_actions} "
                f"labels of + = - . ({error})"
            ) from error
    if not lines:
        raise GameError(f"{shown(path)}: no positions")
    return Solution(*(np.array(column) for column in zip(*lines, strict=True)))


class _Line(NamedTuple):
    state: State
    value: int
    action_values: npt.NDArray[np.int64]


_WORTH = {"+": 1, "=": 0, "-": -1, ".": ILLEGAL}
_LABELS = {worth: label for label, worth in _WORTH.items()}


def _read_line(game: Game, line: str) -> _Line:
    moves, score, labels = line.split() if line[:1].strip() else ["", *line.split()]
    state = game.from_line(moves.replace(",", " "))
    legal = game.legal_action_mask(state)
    if len(labels) != game.num_actions or [label != "." for label in labels] != legal.tolist():
        raise ValueError(f"the labels {labels[:40]!r} do not fit the position's legal moves")
    values = np.array([_WORTH[label] for label in labels])
    value = int(np.sign(int(score)))
    if values.max() != value:
        raise ValueError(f"the score {score[:40]} contradicts the labels {labels}")
    return _Line(state, value, values)


def make_positions(
    game: Game,
    each: int,
    seed: int,
    first_ply: int = 0,
    show: Callable[[int], object] = bool,
) -> str:
    """Make a file of solved positions: `each` of every stage, from `first_ply` on.

    They come from games in which UCT and chance take turns, as in practice, so that no network
    has ever chosen them; only positions where some legal move is wrong are taken, none twice.
    `show` is called with 1 for each.
    """
    from alphazero.solvers.exact import action_values, solver_for  # compiled when first wanted

    solver, rng = solver_for(game), np.random.default_rng(seed)
    search = RolloutSearch(game, RolloutConfig("uct", simulations=200), rng=rng)
    player = SearchPlayer(search, temperature=Temperature(1.0, game.max_moves, 1.0))
    bounds = [stage * game.max_moves // len(STAGES) for stage in range(len(STAGES) + 1)]
    lines: dict[str, bytes] = {}
    for low, high in itertools.pairwise(bounds):
        wanted = len(lines) + each
        while len(lines) < wanted:
            plies = int(rng.integers(max(low, first_ply), high))
            moves, state = _wander(game, player, plies, rng)
            if game.outcome(state) != ONGOING or state.tobytes() in lines.values():
                continue
            values = action_values(game, solver, state)
            if len(set(values.tolist()) - {ILLEGAL}) > 1:
                labels = "".join(_LABELS[value] for value in values.tolist())
                lines[f"{moves} {values.max()} {labels}"] = state.tobytes()
                show(1)
    return "\n".join(lines) + "\n"


def _wander(
    game: Game, player: SearchPlayer, plies: int, rng: np.random.Generator
) -> tuple[str, State]:
    """Return the moves of a game of `plies` moves at most, a third of them random, and its end."""
    names: list[str] = []
    state = game.initial_state()
    while len(names) < plies and game.outcome(state) == ONGOING:
        if rng.random() < 1 / 3:
            action = int(rng.choice(np.flatnonzero(game.legal_action_mask(state))))
        else:
            action = player.choose(state)
        names.append(game.action_name(state, action))
        state = game.play(state, action)
    return ("," if max(map(len, names), default=0) > 1 else "").join(names), state
