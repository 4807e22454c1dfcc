"""The replay window: the newest positions of self-play, and batches drawn from them.

Games are kept as they were played, moves and search policies; observations are made when a
batch is drawn, by replaying the moves.

Letters: P positions (one for each move played), A actions, B batch, [C, H, W] observation.
"""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.config import ReplayConfig
from alphazero.errors import RunError
from alphazero.games.game import ONGOING, PLY, Game, Mask, Rules, RulesType, State, value_of
from alphazero.jit import kernel
from alphazero.players.match import GameRecord, Pairing

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]


class Games(NamedTuple):
    """Games end to end, as arrays."""

    actions: npt.NDArray[np.int32]
    """[P]"""
    policies: Floats
    """[P, A] the search policy of each move; zeros where no search chose it"""
    values: Floats
    """[P] the search's value of each position, for the player to move"""
    lengths: npt.NDArray[np.int32]
    """[games] moves of each game"""
    outcomes: npt.NDArray[np.int32]
    """[games] for player 0; ONGOING for a game that goes on in the next iteration"""

    @classmethod
    def of(cls, game: Game, records: Sequence[GameRecord]) -> "Games":
        """Lay records end to end.

        Raises:
            RunError: when a search answered with NaN or infinity.
        """
        for record in records:
            finite = np.isfinite(record.policies).all(axis=1) & np.isfinite(record.values)
            if not finite.all():
                raise RunError(
                    f"the search answered with NaN or infinity at move {finite.argmin() + 1} of a "
                    "game; resume with a lower learner.learning_rate, the last saved iteration "
                    "is whole"
                )
        empty = GameRecord(
            Pairing(),
            np.zeros(0, np.int32),
            np.zeros((0, game.num_actions), np.float32),
            np.zeros(0, np.float32),
            ONGOING,
        )
        parts = [empty, *records]
        return cls(
            np.concatenate([record.actions for record in parts]),
            np.concatenate([record.policies for record in parts]),
            np.concatenate([record.values for record in parts]),
            np.array([len(record.actions) for record in records], np.int32),
            np.array([record.outcome for record in records], np.int32),
        )

    def records(self) -> list[GameRecord]:
        """Return the games one by one."""
        ends = np.cumsum(self.lengths)
        return [
            GameRecord(
                Pairing(),
                self.actions[end - length : end],
                self.policies[end - length : end],
                self.values[end - length : end],
                int(outcome),
            )
            for end, length, outcome in zip(ends, self.lengths, self.outcomes, strict=True)
        ]

    def to_bytes(self) -> bytes:
        """Return the games as the bytes of an `.npz` file, the same for the same games."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in zip(self._fields, self, strict=True):
                part = io.BytesIO()
                np.lib.format.write_array(part, np.ascontiguousarray(array), allow_pickle=False)
                entry = zipfile.ZipInfo(f"{name}.npy")  # without a date: the same bytes every time
                archive.writestr(entry, part.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=1)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, game: Game, data: bytes, source: str) -> "Games":
        """Read the bytes of `to_bytes`, and replay the games by the rules.

        Raises:
            RunError: when they are not such games; `source` says where they came from.
        """
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                games = cls(*(_read_array(archive, name) for name in cls._fields))
        except Exception as error:  # damaged bytes make zipfile, zlib and numpy raise anything
            said = " ".join(str(error).split())[:200]
            raise RunError(f"{source}: these are not recorded games ({said})") from error
        fault = _fault(game, games)
        if fault:
            raise RunError(f"{source}: these are not games of {game}: {fault}")
        return games


def _read_array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read an array of the archive; never unpickles."""
    part = io.BytesIO(archive.read(f"{name}.npy"))
    return np.ascontiguousarray(np.lib.format.read_array(part, allow_pickle=False))


def _fault(game: Game, games: Games) -> str:
    """Say what keeps `games` from being games of `game`; nothing when they are."""
    counts = [len(games.actions)] * 3 + [len(games.lengths)] * 2
    for name, array, count, example in zip(
        Games._fields, games, counts, Games.of(game, []), strict=True
    ):
        shape = count, *example.shape[1:]
        if (array.shape, array.dtype) != (shape, example.dtype):
            return (
                f"expected {name} {example.dtype} {list(shape)}, "
                f"received {array.dtype} {list(array.shape)}"
            )
    lengths, policies = games.lengths.astype(np.int64), games.policies
    if (lengths < 0).any() or lengths.sum() != len(games.actions):
        return "their lengths do not add up to the number of moves"
    sums = policies.sum(axis=1, dtype=np.float64)
    searched = policies.any(axis=1)
    if not ((policies >= 0).all() and (np.abs(sums[searched] - 1) < _ROUNDING).all()):
        return "there are search policies that are no probabilities"
    if not (np.abs(games.values) <= 1 + _ROUNDING).all():
        return "there are values outside -1 to 1"
    wrong = _find_wrong(
        game.rules,
        game.initial_state(),
        games.actions.astype(np.int64),
        lengths,
        games.outcomes.astype(np.int64),
        np.zeros(game.num_actions, np.bool_),
    )
    return f"game {wrong + 1} breaks the rules or ends otherwise" if wrong >= 0 else ""


_ROUNDING = 1e-3
"""How far float32 numbers read from a file may be off."""

_integers, _masks = types.Array(types.int64, 1, "C"), types.Array(types.boolean, 1, "C")


@kernel(types.int64(RulesType, *(_integers,) * 4, _masks))
def _find_wrong(
    rules: Rules,
    initial_state: State,
    moves: Integers,
    lengths: Integers,
    outcomes: Integers,
    mask: Mask,
) -> int:
    """Replay the games; return the first with an illegal move or another outcome, else -1."""
    begin = 0
    for game in range(len(lengths)):
        state = initial_state.copy()
        for move in moves[begin : begin + lengths[game]]:
            if not 0 <= move < len(mask) or rules.outcome(state) != ONGOING:
                return game
            rules.legal(state, mask)
            if not mask[move]:
                return game
            rules.play(state, move)
        if rules.outcome(state) != outcomes[game]:
            return game
        begin += lengths[game]
    return -1


class Batch(NamedTuple):
    """Samples (s, pi, z) for one optimizer step."""

    observations: Floats
    """[B, C, H, W]"""
    policies: Floats
    """[B, A] the search policies pi"""
    values: Floats
    """[B] the outcomes z, for the player to move, mixed with the search's values if so asked"""


@kernel(
    types.void(
        RulesType,
        *(_integers,) * 4,
        types.Array(types.float32, 2, "C"),
        types.Array(types.float32, 1, "C"),
        types.float64,
        *(_integers,) * 2,
        *(types.Array(types.int64, 2, "C"),) * 2,
        types.Array(types.float32, 4, "C"),
        types.Array(types.float32, 2, "C"),
        types.Array(types.float32, 1, "C"),
    )
)
def _fill(
    rules: Rules,
    initial_state: State,
    moves: Integers,
    starts: Integers,
    outcomes: Integers,
    policies: Floats,
    search_values: Floats,
    value_mix: float,
    positions: Integers,
    symmetries: Integers,
    action_images: Integers,
    cell_images: Integers,
    observations: Floats,
    targets: Floats,
    values: Floats,
) -> None:
    """Replay the games to `positions` [B] and write each as seen under its symmetry [B].

    `starts` and `outcomes` [P] belong to the game that a position is of.
    """
    _, channels, height, width = observations.shape
    planes = np.zeros((channels, height, width), np.float32)
    for row in range(len(positions)):
        position, symmetry = positions[row], symmetries[row]
        state = initial_state.copy()
        for move in range(starts[position], position):
            rules.play(state, moves[move])
        rules.observe(state, planes)
        for channel in range(channels):
            for cell in range(height * width):
                image = cell_images[symmetry, cell]
                observations[row, channel, image // width, image % width] = planes[
                    channel, cell // width, cell % width
                ]
        for action in range(policies.shape[1]):
            targets[row, action_images[symmetry, action]] = policies[position, action]
        value = value_of(outcomes[position], state[PLY] % 2)
        values[row] = (1 - value_mix) * value + value_mix * search_values[position]


@dataclass
class _Shard:
    iteration: int
    games: Games


class Replay:
    """The window over the newest games, and the games themselves, an iteration a shard."""

    def __init__(self, game: Game, settings: ReplayConfig) -> None:
        self.game = game
        self.settings = settings
        self.total_positions = 0
        """Positions ever added."""
        self._shards: list[_Shard] = []
        self._symmetries = game.symmetries()
        self._join()

    @property
    def iterations(self) -> list[int]:
        """The iterations whose games are held, oldest first."""
        return [shard.iteration for shard in self._shards]

    @property
    def window(self) -> int:
        """How many of the newest positions training may draw."""
        wanted = int(self.settings.window_fraction * self.total_positions)
        bounded = max(self.settings.window_minimum, min(wanted, self.settings.window_maximum))
        return min(bounded, len(self._trainable))

    def add(self, iteration: int, games: Games, total_positions: int | None = None) -> None:
        """Append an iteration's games; drop the oldest shards once they are out of the window.

        `total_positions` is given when games come back from the disk, where older ones are gone.

        Raises:
            RunError: when a game is not finished, so that nothing can be learnt from it.
        """
        if (games.outcomes == ONGOING).any():
            raise RunError(f"the games of iteration {iteration} include one that is not finished")
        self._shards.append(_Shard(iteration, games))
        if total_positions is None:
            total_positions = self.total_positions + int(games.policies.any(axis=1).sum())
        self.total_positions = total_positions
        self._join()
        while (
            len(self._shards) > 1
            and len(self._trainable) - int(self._shards[0].games.policies.any(axis=1).sum())
            >= self.window
        ):
            self._shards.pop(0)
            self._join()

    def sample(
        self, batch_size: int, rng: np.random.Generator, augment: bool, value_mix: float = 0.0
    ) -> Batch:
        """Draw a batch, every position of the window alike.

        With `augment` each is seen under a random symmetry; its value is (1 - `value_mix`) z +
        `value_mix` q, where q is the search's value.
        """
        drawn = rng.integers(len(self._trainable) - self.window, len(self._trainable), batch_size)
        kinds = len(self._symmetries.actions) if augment else 1
        symmetries = rng.integers(0, kinds, batch_size)
        batch = Batch(
            np.empty((batch_size, *self.game.observation_shape), np.float32),
            np.empty((batch_size, self.game.num_actions), np.float32),
            np.empty(batch_size, np.float32),
        )
        _fill(
            self.game.rules,
            self.game.initial_state(),
            self._moves,
            self._starts,
            self._outcomes,
            self._policies,
            self._values,
            value_mix,
            self._trainable[drawn],
            symmetries,
            self._symmetries.actions,
            self._symmetries.cells,
            *batch,
        )
        return batch

    def mean_age(self, iteration: int) -> float:
        """Return the mean age of the window's positions at `iteration`, in iterations."""
        if not self.window:
            return 0.0
        newest = self._trainable[len(self._trainable) - self.window :]
        return iteration - float(self._born[newest].mean())

    def _join(self) -> None:
        """Lay all shards end to end, for drawing."""
        games = [shard.games for shard in self._shards] or [Games.of(self.game, [])]
        lengths = np.concatenate([each.lengths for each in games]).astype(np.int64)
        outcomes = np.concatenate([each.outcomes for each in games]).astype(np.int64)
        sizes = [len(each.actions) for each in games]
        self._moves = np.concatenate([each.actions for each in games]).astype(np.int64)
        self._policies = np.concatenate([each.policies for each in games])
        self._values = np.concatenate([each.values for each in games])
        self._starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
        self._outcomes = np.repeat(outcomes, lengths)
        born: list[Any] = [shard.iteration for shard in self._shards] or [0]
        self._born = np.repeat(np.array(born, np.float64), sizes)
        self._trainable = np.flatnonzero(self._policies.any(axis=1))
