"""A run's folder: its files, and how a state is published so that no kill can damage it.

Every iteration writes new files under new names and then, last, `state/manifest.json`, which names
them with their hashes. Until that rename the old manifest and its files stay valid. Files that no
manifest names are left-overs, and are removed.
"""

import dataclasses
import functools
import json
import math
import platform
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final, NoReturn

import numpy as np
from torch import Tensor

from alphazero.config.loader import dump_config, load_config, parse_config
from alphazero.config.schema import Config
from alphazero.errors import RunError
from alphazero.games import Game, make_game
from alphazero.network.checkpoint import (
    BEST,
    FILE_LIMIT,
    LEARNING_COPIES,
    Checkpoint,
    checkpoint_bytes,
    parse_tensors,
    read_checkpoint,
    tensors_to_bytes,
)
from alphazero.network.resnet import ResNet
from alphazero.records.game_record import GameRecord
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.manifest import (
    CONFIG,
    CONFIG_HEAD,
    FORMAT,
    FORMAT_VERSION,
    MANIFEST,
    NEXT_CONFIG,
    RunState,
    check_new,
    check_resumable,
    digest_of,
    identify_lock,
    player_name,
    read_manifest,
    read_run,
    run_folder,
    shard_name,
)
from alphazero.utils.files import (
    TEMPORARY_SUFFIX,
    path_errors,
    printable,
    read_limited,
    remove,
    sha256_hex,
    write_atomic,
)

LEARNER_FORMAT: Final = "alphazero-learner"
KEPT_GAMES = 100
"""Newest iterations whose sample games stay in games/."""

SAMPLE_NAME: Final = re.compile(r"(selfplay|gate)-([0-9]{6,9})\.(txt|sgf|jsonl)")
"""Names of the sample games in `games/`: their kind, iteration and format."""
_SIZE_LIMIT: Final = LEARNING_COPIES * FILE_LIMIT

PLAY, LEARN, GATE, INITIALISE, CALIBRATE, MEASURE, HOLDOUT = range(7)
"""The purposes of random numbers."""


def untrained_network(
    config: Config, game: Game, seed: list[int]
) -> tuple[ResNet, np.random.Generator]:
    """Return the network that a run begins with, and the random numbers that follow its seed."""
    rng = np.random.default_rng(seed)
    return ResNet.of(game, config.network, int(rng.integers(2**31))), rng


def matches_run(player: Checkpoint, config: Config) -> bool:
    """Whether a player has a configuration's game and network."""
    name, options = config.game.name, config.game.options
    if (name, options) != (player.game_name, player.game_options):
        return False
    cells = math.prod(make_game(name, **options).observation_shape[1:])
    return player.network_settings == config.network.for_board(cells)


def read_games(folder: Path | str) -> Iterator[GameRecord]:
    """Yield the self-play games in a run's window, oldest first.

    A record has `actions` [T], `policies` with a row for each move, `values` [T] for the player to
    move, and the `outcome` for player 0. `game` of `load_player(folder)` reads its moves.

    Raises:
        RunError: when the folder holds no run, or one of its files is damaged.
    """
    run = RunDirectory.open(folder)
    for iteration in run.state.shards:
        yield from run.load_shard(iteration).records()


class RunDirectory:
    """A run's folder, its configuration, and its last published state."""

    def __init__(
        self, folder: Path, config: Config, state: RunState, first: ResNet | None = None
    ) -> None:
        self.folder = folder
        self.config = config
        self.state = state
        self._first = first
        self._lock = identify_lock(folder)
        self._is_changed = False
        """whether overrides changed the configuration since it was written"""

    @functools.cached_property
    def game(self) -> Game:
        return make_game(self.config.game.name, **self.config.game.options)

    def seed(self, purpose: int) -> list[int]:
        """Return the seed of a purpose in this iteration, for `numpy.random.default_rng`."""
        return [self.config.run.seed, self.state.iteration, purpose]

    def new_network(self) -> ResNet:
        """Return an untrained network, or the one that the run was created with."""
        return self._first or untrained_network(self.config, self.game, self.seed(INITIALISE))[0]

    @classmethod
    def create(cls, config: Config, first: ResNet | None = None) -> "RunDirectory":
        """Create the folder of a new run, which begins with the network `first` if there is one.

        Raise RunError if it holds a run or cannot be created.
        """
        folder = run_folder(config)
        check_new(folder)
        with path_errors("create", folder):
            for name in ("state", "replay", "games"):
                (folder / name).mkdir(parents=True, exist_ok=True)
        run = cls(folder, config, RunState(), first)
        run._write(CONFIG, run._config_text())
        return run

    @classmethod
    def open(cls, folder: Path | str) -> "RunDirectory":
        """Open a run for reading; raise RunError if there is none or its manifest is damaged."""
        folder = check_resumable(folder)
        return cls(folder, load_config(folder / CONFIG), read_manifest(folder / MANIFEST))

    @classmethod
    def resume(cls, folder: Path, overrides: Sequence[str] = ()) -> "RunDirectory":
        """Open a run that was interrupted, or that continues with a larger budget.

        Overrides are kept by `save_config`, once nothing has refused them.

        Raises:
            RunError: when the folder holds no run, is damaged, or its game, its network, its
                optimizer or its name would change.
        """

        def refuse(what: str, advice: str = "start a new one with another run.name") -> NoReturn:
            raise RunError(f"{printable(folder)}: {what} of a run cannot change; {advice}")

        (state, text), source = read_run(folder), str(folder / CONFIG)
        before, config = parse_config(text, source), parse_config(text, source, overrides)
        if (before.run.name, before.run.folder) != (config.run.name, config.run.folder):
            refuse("run.name and run.folder", "move its folder")
        run = cls(folder, config, state)
        if not (before.network == config.network and matches_run(run.load_best(), config)):
            refuse("the game and the network")
        if before.learner.optimizer != config.learner.optimizer:
            refuse("learner.optimizer")
        state.hashes.pop(NEXT_CONFIG, None)
        state.hashes[CONFIG] = sha256_hex(text.encode())
        run._is_changed = config != before
        return run

    def budget_is_spent(self) -> bool:
        return self.budget_share() >= 1

    def budget_share(self) -> float:
        """Return the share of the budget that is spent, by the limit that is nearest."""
        return max(self.budget_shares().values())

    def budget_shares(self) -> dict[str, float]:
        """Return the share that is spent of each limit of the budget, by its key."""
        state, limits = self.state, vars(self.config.budget)
        used = {
            "iterations": state.iteration,
            "samples": state.positions,
            "evaluations": state.evaluations,
            "minutes": state.seconds / 60,
        }
        return {key: used[key] / limit for key, limit in limits.items() if limit is not None}

    def seconds_left(self) -> float | None:
        """Estimate the time until the budget is spent, by the mean speed; None if unknown."""
        minutes, share = self.config.budget.minutes, self.budget_share()
        if share:
            return max(self.state.seconds * (1 / share - 1), 0.0)
        return None if minutes is None else 60 * minutes

    def checkpoint(self, network: ResNet, rating: float | None) -> Checkpoint:
        """Return a network of this run as a checkpoint, with a copy of its weights."""
        state, config = self.state, self.config
        return Checkpoint(
            game_name=config.game.name,
            game_options=dict(config.game.options),
            network_settings=network.settings,
            weights={
                name: tensor.detach().clone() for name, tensor in network.state_dict().items()
            },
            step=state.step,
            iteration=state.iteration,
            rating=rating,
            details={
                "run": config.run.name,
                "seed": config.run.seed,
                "games": state.games,
                "positions": state.positions,
                "evaluations": state.evaluations,
                "search": dataclasses.asdict(config.search),
                **({"initial": Path(initial).name} if (initial := config.network.initial) else {}),
            },
        )

    def save_player(self, checkpoint: Checkpoint) -> str:
        """Write a player under the name of its step, unless it exists; return that name."""
        name = player_name(checkpoint.step)
        if name not in self.state.hashes:
            self._write(name, checkpoint_bytes(checkpoint, self._printable(name)))
        return name

    def save_state(self, learner: dict[str, Tensor], unfinished: Sequence[GameRecord]) -> None:
        """Write the tensors of the learner, and the games under way."""
        state, metadata = self.state, {"format": LEARNER_FORMAT}
        state.learner = f"state/learner-{state.iteration:06d}.safetensors"
        name = self._printable(state.learner)
        self._write(state.learner, tensors_to_bytes(name, learner, metadata))
        state.unfinished = f"state/unfinished-{state.iteration:06d}.npz"
        self._write(state.unfinished, GameBatch.of(self.game, unfinished).to_bytes())

    def save_games(self, games: GameBatch) -> None:
        self._write(shard_name(self.state.iteration), games.to_bytes())

    def save_sample(self, kind: str, record: GameRecord) -> str:
        """Write a game into `games/`, as text and SGF or JSON; return the text.

        `kind` is "selfplay" or "gate".
        """
        from alphazero.records.played_game import PlayedGame
        from alphazero.records.sgf_export import commented, has_sgf, to_sgf

        names = ("challenger", "best") if kind == "gate" else ("best", "best")
        played = PlayedGame.of(self.game, record, names)
        text, suffix, content = played.describe(), "jsonl", f"{played.to_line()}\n"
        if has_sgf(self.game):
            suffix, content = "sgf", to_sgf(commented(played, record))
        path = self.folder / "games" / f"{kind}-{self.state.iteration:06d}"
        with path_errors("create", path.parent):
            path.parent.mkdir(exist_ok=True)  # it may have been deleted
        self._replace(path.with_suffix(".txt"), f"{text}\n".encode())
        self._replace(path.with_suffix(f".{suffix}"), content.encode())
        return text

    def publish(self) -> None:
        """Make the saved files the state that a resumed run starts from."""
        state = self.state
        names = {state.best, state.learner, state.unfinished, CONFIG}
        names |= {player_name(state.step)} & state.hashes.keys()
        names |= {shard_name(iteration) for iteration in state.shards}
        state.hashes = {name: state.hashes[name] for name in sorted(names)}
        self._write_manifest()
        self.clean_up()

    def _write_manifest(self) -> None:
        content = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            **dataclasses.asdict(self.state),
        }
        content["sha256"] = digest_of(content)
        self._replace(self.folder / MANIFEST, json.dumps(content, indent=1).encode() + b"\n")

    def clean_up(self) -> None:
        """Renew `best.safetensors` and remove left-overs, also those of a kill after publishing."""
        self._check_place()
        self._refresh_best()
        self._remove_leftovers()

    def _refresh_best(self) -> None:
        best = self.folder / BEST
        data = self.read(self.state.best)
        try:
            fresh = read_limited(best, _SIZE_LIMIT) == data
        except RunError:  # missing, or not a file
            fresh = False
        if not fresh:
            self._replace(best, data)

    def load_best(self) -> Checkpoint:
        name = self.state.best
        return read_checkpoint(self.read(name), self._printable(name))

    def load_learner(self) -> dict[str, Tensor]:
        name = self.state.learner
        return parse_tensors(self.read(name), self._printable(name), LEARNER_FORMAT)[0]

    def load_shard(self, iteration: int) -> GameBatch:
        return self.load_games(shard_name(iteration))

    def load_games(self, name: str) -> GameBatch:
        """Read a file of games that the manifest names, and replay the games by the rules."""
        return GameBatch.from_bytes(self.game, self.read(name), self._printable(name))

    def _write(self, name: str, data: bytes) -> None:
        self._replace(self.folder / name, data)
        self.state.hashes[name] = sha256_hex(data)

    def _replace(self, path: Path, data: bytes) -> None:
        self._check_place()
        write_atomic(path, data)

    def _check_place(self) -> None:
        """Raise RunError if the folder is not the locked one any more: it may have been moved."""
        if self._lock and identify_lock(self.folder) != self._lock:
            raise RunError(
                f"{printable(self.folder)} was moved or replaced while it was in use; nothing more "
                "is written there; resume the run where it is now"
            )

    def read(self, name: str) -> bytes:
        """Return the bytes of a file; raise RunError unless their hash is the manifest's."""
        data = read_limited(self.folder / name, _SIZE_LIMIT)
        if sha256_hex(data) != self.state.hashes.get(name):
            raise RunError(
                f"{self._printable(name)} is damaged: its SHA-256 is not the one in "
                f"{MANIFEST}; restore the file from a copy"
            )
        return data

    def _printable(self, name: str) -> str:
        return printable(self.folder / name)

    def save_config(self) -> None:
        """Replace `config.yaml` if overrides changed it.

        In between, the manifest has the hashes of both versions.
        """
        if not self._is_changed:
            return
        text = self._config_text()
        self.state.hashes[NEXT_CONFIG] = sha256_hex(text)
        self._write_manifest()
        self._write(CONFIG, text)
        del self.state.hashes[NEXT_CONFIG]
        self._write_manifest()
        self._is_changed = False

    def _config_text(self) -> bytes:
        packages = ("torch", "numpy", "numba")
        versions = ", ".join(f"{name} {version(name)}" for name in packages)
        python = f"Python {platform.python_version()}"
        head = f"{CONFIG_HEAD}# alphazero {version('alphazero')}, {python}, {versions}\n"
        return f"{head}{dump_config(self.config)}".encode()

    def _remove_leftovers(self) -> None:
        """Remove files that no manifest names, and older checkpoints and samples than are kept."""
        state, keep = self.state, set(self.state.hashes)
        for folder, pattern in (("state", "*-*"), ("replay", "games-*")):
            for path in (self.folder / folder).glob(pattern):
                if f"{folder}/{path.name}" not in keep:
                    remove(path)
        for path in self.folder.rglob(f".*{TEMPORARY_SUFFIX}"):
            remove(path)
        for path in (self.folder / "games").glob("*-*"):
            sample = SAMPLE_NAME.fullmatch(path.name)
            if sample and int(sample[2]) <= state.iteration - KEPT_GAMES:
                remove(path)
        players = sorted(self.folder.glob("step-*.safetensors"))
        kept = self.config.run.keep_checkpoints
        old = players[:-kept] if kept else []
        for path in players:
            is_later = path.name > player_name(state.step)
            if (is_later or path in old) and path.name not in keep:
                remove(path)
