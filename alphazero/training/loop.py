"""The training loop: iterations until the budget is spent, in a new run or an old one.

`iteration.py` has the stages of an iteration. The method in plain Python, without options:
`alphazero/reference.py`.
"""

import contextlib
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from alphazero.config.loader import config_from
from alphazero.config.schema import Config
from alphazero.errors import RunError
from alphazero.games.game import Game
from alphazero.games.registry import make_game
from alphazero.mcts.kernels.root import begin_searches
from alphazero.mcts.kernels.simulation import next_batch
from alphazero.network.checkpoint import check_network_size
from alphazero.network.inference.backend import explain_backend, explain_threads, resolve_backend
from alphazero.training.data.replay_buffer import observe_samples
from alphazero.training.iteration import Training, new_learner
from alphazero.training.learning.learner import Learner
from alphazero.training.manifest import LOCK, check_resumable, run_folder
from alphazero.training.monitoring.tensorboard import TensorBoardWriter
from alphazero.training.run_directory import INITIALISE, RunDirectory, untrained_network
from alphazero.utils.files import locked, printable
from alphazero.utils.jit import compile_aside
from alphazero.utils.jobs import threads_per_evaluation
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import Observer, no_observer, say


def train(config: Config | Mapping[str, Any] | Path | str, observe: Observer = no_observer) -> Path:
    """Train a new run until its budget is spent; return its folder.

    `config` is a configuration, its sections as nested dicts, or the path of a YAML file.
    `observe` receives each event of `alphazero train --json`. A dict of numbers by name that it
    returns after an iteration adds curves to TensorBoard.

    Raises:
        AlphaZeroError: when the run cannot start or continue; published iterations stay intact.
    """
    config = config_from(config)
    game = make_game(config.game.name, **config.game.options)
    _check(config, game)
    if config.evaluation.anchors and os.environ.get("RANK", "0") == "0":  # others only learn
        from alphazero.training.evaluation import read_anchors

        read_anchors(game, config)
    first, origin = None, ""
    if config.network.initial:
        from alphazero.network.transfer import start_from

        first, rng = untrained_network(config, game, [config.run.seed, 0, INITIALISE])
        origin = f"starts from {printable(config.network.initial)}; "
        origin += str(start_from(config.network.initial, first, rng))

    def create_run() -> RunDirectory:
        if origin:
            say(origin)
        return RunDirectory.create(config, first)

    return _train(run_folder(config), create_run, observe)


def resume(
    folder: Path | str, overrides: Sequence[str] = (), observe: Observer = no_observer
) -> Path:
    """Continue an interrupted run, or one whose budget `overrides` enlarge; return its folder.

    On the same machine the result equals that of an uninterrupted run. `observe` is as in `train`.

    Raises:
        AlphaZeroError: when there is nothing to resume, or as in `train`.
    """
    path = check_resumable(folder)

    def open_run() -> RunDirectory:
        run = RunDirectory.resume(path, overrides)
        _check(run.config, run.game)
        return run

    return _train(path, open_run, observe)


def _check(config: Config, game: Game) -> None:
    from alphazero.games.contract.check import refuse_unsound

    compile_aside(next_batch, observe_samples, begin_searches)
    refuse_unsound(game)
    check_network_size(config, game)
    resolve_backend(config.inference)


def _train(folder: Path, open_run: Callable[[], RunDirectory], observe: Observer) -> Path:
    """Train the run in `folder`; several processes under torchrun share the learner's steps."""
    if not callable(observe):
        raise RunError(
            f"observe: expected a function, got {type(observe).__name__}; for overrides of keys "
            "use load_config(path, overrides)"
        )
    with contextlib.ExitStack() as stack:
        make_learner: Callable[[RunDirectory], Learner] = new_learner
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            from alphazero.training.learning.data_parallel import join_group

            group = join_group()
            if group.rank:
                group.follow(folder)
                return folder
            stack.enter_context(group.leading())
            make_learner = group.learner
        stack.enter_context(locked(folder, LOCK))
        _train_opened(open_run(), make_learner, observe)
    return folder


def _train_opened(
    run: RunDirectory, make_learner: Callable[[RunDirectory], Learner], observe: Observer
) -> None:
    backend, folder = explain_backend(run.config.inference), printable(run.folder)
    verb = "resuming" if run.state.iteration else "training into"
    parent = shlex.quote(printable(run.folder.parent))
    say(f"{verb} {folder}; watch with: tensorboard --logdir {parent}")
    say(backend)
    observe({"event": "start", **_progress_of(run), "backend": backend})
    threads = run.config.run.threads or usable_cores()
    training_type: type[Training] = Training
    if run.config.selfplay.distributed is not None:
        from alphazero.training.distributed.training import DistributedTraining

        training_type = DistributedTraining
    elif advice := explain_threads(run.config, threads):
        say(advice)
    with (
        threads_per_evaluation(threads),
        contextlib.closing(training_type(run, threads, make_learner)) as training,
    ):
        run.save_config()
        if run.budget_is_spent():
            spent = [key for key, share in run.budget_shares().items() if share >= 1]
            larger = " ".join(f"budget.{key}=..." for key in spent)
            done = f"its budget is spent, at iteration {run.state.iteration:,}"
            say(f"{done}; to go on, enlarge it: {larger}")
        else:
            # TensorBoard calls the run by the name of its folder.
            tensorboard = TensorBoardWriter(run.folder, run.state.iteration)
            while not run.budget_is_spent():
                metrics = training.iterate(tensorboard.write)
                event = {"event": "iteration", **_progress_of(run), "metrics": metrics}
                tensorboard.write_more(run.state.iteration, observe(event))
    run.clean_up()
    observe({"event": "end", **_progress_of(run)})


def _progress_of(run: RunDirectory) -> dict[str, Any]:
    """Return the fields of every event."""
    state = run.state
    return {
        "run": str(run.folder),
        "game": run.config.game.name,
        "iteration": state.iteration,
        "games": state.games,
        "positions": state.positions,
        "evaluations": state.evaluations,
        "steps": state.step,
        "seconds": state.seconds,
        "best": state.best,
        "budget_spent": run.budget_share(),
        "seconds_left": run.seconds_left(),
    }
