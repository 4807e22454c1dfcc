"""Make a file of solved positions, for `alphazero grade` and the curves of a training run.

python scripts/make_positions.py connect_four FILE [--each 200] [--first-ply 8] [--seed 1]

This made Connect Four's shipped file, alphazero/arena/positions/connect_four.txt. Earlier positions
take longer to solve: about three seconds on one core after 8 moves.
"""

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np

from alphazero.arena.solved_positions import LABELS, STAGES
from alphazero.cli.argument_types import positive_number, whole_number
from alphazero.cli.main import run_and_report
from alphazero.errors import GameError
from alphazero.games.game import ONGOING, Game, State
from alphazero.games.registry import read_game
from alphazero.mcts.kernels.root import Exploration
from alphazero.mcts.rollout_methods import RolloutConfig
from alphazero.mcts.rollout_search import RolloutSearch
from alphazero.players.search_player import SearchPlayer
from alphazero.solvers.exact import action_values, solver_for
from alphazero.solvers.exhaustive import ILLEGAL
from alphazero.utils.files import check_writable, write_atomic
from alphazero.utils.progress import Progress, no_progress, progress_bar

MOST_TRIES = 1000
"""Games without a new position after which a stage has no more."""


def make_positions(
    game: Game, each: int, seed: int, first_ply: int = 0, show: Progress = no_progress
) -> str:
    """Return the text of a file of solved positions: `each` per stage, from `first_ply` on.

    The games mix UCT moves with random moves, independent of any network. Positions are distinct,
    and some legal move in each is suboptimal. Late stages that few games reach have fewer. `show`
    is called with 1 for each position.

    Raises:
        GameError: when `MOST_TRIES` games in a row bring no new position of the first stage.
    """
    solver, rng = solver_for(game), np.random.default_rng(seed)
    settings = RolloutConfig("uct", simulations=200)
    drawn = Exploration(temperature_moves=game.max_moves, temperature=1.0)
    player = SearchPlayer(RolloutSearch(game, settings, exploration=drawn, rng=rng))
    bounds = [stage * game.max_moves // len(STAGES) for stage in range(len(STAGES) + 1)]
    lines: dict[str, bytes] = {}
    for low, high in itertools.pairwise(bounds):
        before, tries = len(lines), 0
        while len(lines) < before + each:
            tries += 1
            if tries > MOST_TRIES and before:
                break  # few games are so long
            if tries > MOST_TRIES or first_ply >= high:
                raise GameError(
                    f"after {max(low, first_ply)} to {high - 1} moves there are only "
                    f"{len(lines) - before} of {each} positions with a wrong move; ask for fewer "
                    "(--each) or earlier ones (--first-ply)"
                )
            plies = int(rng.integers(max(low, first_ply), high))
            moves, state = _random_game(game, player, plies, rng)
            if game.outcome(state) != ONGOING or state.tobytes() in lines.values():
                continue
            values = action_values(game, solver, state)
            if len(set(values.tolist()) - {ILLEGAL}) > 1:
                labels = "".join(LABELS[value] for value in values.tolist())
                lines[f"{moves} {values.max()} {labels}"] = state.tobytes()
                tries = 0
                show(1)
    return "\n".join(lines) + "\n"


def _random_game(
    game: Game, player: SearchPlayer, plies: int, rng: np.random.Generator
) -> tuple[str, State]:
    """Play at most `plies` moves, a third of them random; return the moves and the last state."""
    names: list[str] = []
    state = game.initial_state()
    while len(names) < plies and game.outcome(state) == ONGOING:
        if rng.random() < 1 / 3:
            action = int(rng.choice(np.flatnonzero(game.legal_action_mask(state))))
        else:
            action = player.choose(state)
        names.append(game.action_name(state, action))
        state = game.play(state, action)
    together = "".join(names)
    return together if game.split_moves(together) == names else ",".join(names), state


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("game", metavar="GAME", help="e.g. connect_four or mnk:rows=4,columns=4")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--each", type=positive_number, default=200, help="positions per stage")
    parser.add_argument(
        "--first-ply", type=whole_number, default=8, help="least number of moves before a position"
    )
    parser.add_argument("--seed", type=whole_number, default=1, help="of all chance")
    options = parser.parse_args()

    game = read_game(options.game)
    check_writable(options.file)
    with progress_bar(options.each * len(STAGES), "position") as bar:
        text = make_positions(game, options.each, options.seed, options.first_ply, bar.update)
    write_atomic(options.file, text.encode())


if __name__ == "__main__":
    sys.exit(run_and_report(main))
