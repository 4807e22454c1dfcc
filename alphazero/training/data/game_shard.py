"""Recorded games as arrays, end to end, and the `.npz` files that keep them.

Letters: P positions (one for each move played), A actions.
"""

import io
import math
import zipfile
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.errors import RunError
from alphazero.games.game import ONGOING, PLY, Game, Mask, Rules, RulesType, State, value_of
from alphazero.records.game_record import Floats, GameRecord, Pairing
from alphazero.utils.jit import kernel

Integers = npt.NDArray[np.int64]

PLAYED_OUT, MAY_RESIGN, RESIGNED = range(3)
"""How a game stands with resignation: not allowed in it, allowed but not done, done."""


class GameBatch(NamedTuple):
    """GameBatch end to end, as arrays."""

    actions: npt.NDArray[np.int32]
    """[P]"""
    policies: Floats
    """[P, A] the search policy of each move; zeros where it is not to be learned from"""
    values: Floats
    """[P] the search's value of each position, for the player to move"""
    surprises: Floats
    """[P] KL(search policy || network's prior) of each position, nats"""
    prospects: Floats
    """[P] the better of the position's value and that of its best action, for the player to move"""
    lengths: npt.NDArray[np.int32]
    """[games] moves of each game"""
    outcomes: npt.NDArray[np.int32]
    """[games] for player 0; ONGOING for a game that goes on in the next iteration"""
    resignations: npt.NDArray[np.int32]
    """[games] PLAYED_OUT, MAY_RESIGN or RESIGNED; who resigned is the player to move at the end"""
    openings: npt.NDArray[np.int32]
    """[games] the first moves of each game that nobody searched: they were drawn"""

    @classmethod
    def of(cls, game: Game, records: Sequence[GameRecord]) -> "GameBatch":
        """Lay records end to end.

        Raises:
            RunError: when a search answered with NaN or infinity.
        """
        for record in records:
            finite = np.isfinite(record.policies).all(axis=1)
            for numbers in (record.values, record.surprises, record.prospects):
                finite &= np.isfinite(numbers)
            if not finite.all():
                raise RunError(
                    f"the search answered with NaN or infinity at move {finite.argmin() + 1} of a "
                    "game; resume with a lower learner.learning_rate, the last saved iteration "
                    "is whole"
                )
        parts = [GameRecord.opening(game, Pairing()), *records]
        return cls(
            np.concatenate([record.actions for record in parts]),
            np.concatenate([record.policies for record in parts]),
            np.concatenate([record.values for record in parts]),
            np.concatenate([record.surprises for record in parts]),
            np.concatenate([record.prospects for record in parts]),
            np.array([len(record.actions) for record in records], np.int32),
            np.array([record.outcome for record in records], np.int32),
            np.array(
                [
                    RESIGNED
                    if record.resigned
                    else MAY_RESIGN
                    if record.pairing.may_resign
                    else PLAYED_OUT
                    for record in records
                ],
                np.int32,
            ),
            np.array([len(record.pairing.opening) for record in records], np.int32),
        )

    def records(self) -> list[GameRecord]:
        """Return the games one by one."""
        ends = np.cumsum(self.lengths)
        return [
            GameRecord(
                Pairing(
                    opening=tuple(self.actions[end - length :][:opening].tolist()),
                    may_resign=bool(resignation != PLAYED_OUT),
                ),
                self.actions[end - length : end],
                self.policies[end - length : end],
                self.values[end - length : end],
                self.surprises[end - length : end],
                self.prospects[end - length : end],
                int(outcome),
                bool(resignation == RESIGNED),
            )
            for end, length, outcome, resignation, opening in zip(
                ends, self.lengths, self.outcomes, self.resignations, self.openings, strict=True
            )
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
    def from_bytes(cls, game: Game, data: bytes, source: str) -> "GameBatch":
        """Read the bytes of `to_bytes`, and replay the games by the rules.

        What the headers promise is compared with the game and with the file before anything is
        unpacked, so that a hostile one gets no memory; the arrays are then the only large copy.

        Raises:
            RunError: when they are not such games; `source` says where they came from.
        """
        games = None
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                has_openings = "openings.npy" in archive.namelist()
                names = cls._fields if has_openings else cls._fields[:-1]  # as in older files
                fault = _shape_mismatch(game, [_read_promise(archive, name) for name in names])
                if not fault:
                    arrays = [_read_array(archive, name) for name in names]
                    games = cls(*arrays, *([] if has_openings else [np.zeros_like(arrays[-1])]))
        except Exception as error:  # damaged bytes make zipfile, zlib and numpy raise anything
            said = " ".join(str(error).split())[:200]
            raise RunError(f"{source}: these are not recorded games ({said})") from error
        if games is not None:
            fault = _fault(game, games)
        if games is None or fault:
            raise RunError(f"{source}: these are not games of {game}: {fault}")
        return games


class _ArrayHeader(NamedTuple):
    """What the header of an array says of it."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def _read_promise(archive: zipfile.ZipFile, name: str) -> _ArrayHeader:
    """Read the header of an array; ValueError when the file is not as large as it says."""
    entry = archive.getinfo(f"{name}.npy")
    with archive.open(entry) as part:
        if np.lib.format.read_magic(part) != (1, 0):
            raise ValueError(f"{name} is of an unknown version")
        shape, _, dtype = np.lib.format.read_array_header_1_0(part)
        size = entry.file_size - part.tell()
    if size > _UNPACKED_LIMIT or math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"{name} has another size than its header says")
    return _ArrayHeader(shape, dtype)


def _read_array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read an array of the archive, piece by piece; never unpickles."""
    with archive.open(f"{name}.npy") as part:
        array = np.lib.format.read_array(part, allow_pickle=False)
        part.read(1)  # to the very end, where zipfile compares the checksum
    return np.ascontiguousarray(array)


def _shape_mismatch(game: Game, promises: Sequence[_ArrayHeader]) -> str:
    """Say which array has another type or shape than games of `game` have; nothing when none."""
    moves, games = promises[0].shape[0], promises[GameBatch._fields.index("lengths")].shape[0]
    counts = [moves] * 5 + [games] * 4
    for name, promise, count, example in zip(
        GameBatch._fields, promises, counts, GameBatch.of(game, []), strict=False
    ):
        wanted = _ArrayHeader((count, *example.shape[1:]), example.dtype)
        if promise != wanted:
            return (
                f"expected {name} {wanted.dtype} {list(wanted.shape)}, "
                f"received {promise.dtype} {list(promise.shape)}"
            )
    return ""


def _fault(game: Game, games: GameBatch) -> str:
    """Say what keeps arrays of the right shapes from being games of `game`; nothing if they are."""
    lengths, policies = games.lengths.astype(np.int64), games.policies
    if (lengths < 0).any() or lengths.sum() != len(games.actions):
        return "their lengths do not add up to the number of moves"
    sums = policies.sum(axis=1, dtype=np.float64)
    searched = policies.any(axis=1)
    if not ((policies >= 0).all() and (np.abs(sums[searched] - 1) < _ROUNDING).all()):
        return "there are search policies that are no probabilities"
    for name, numbers in (("values", games.values), ("prospects", games.prospects)):
        if not (np.abs(numbers) <= 1 + _ROUNDING).all():
            return f"there are {name} outside -1 to 1"
    if not ((games.surprises >= 0) & np.isfinite(games.surprises)).all():
        return "there are surprises that are no divergences"
    if not np.isin(games.resignations, (PLAYED_OUT, MAY_RESIGN, RESIGNED)).all():
        return "there are resignations of no known kind"
    if not ((games.openings >= 0) & (games.openings <= lengths)).all():
        return "there are openings longer than their games"
    wrong = _find_wrong(
        game.rules,
        game.initial_state(),
        games.actions.astype(np.int64),
        lengths,
        games.outcomes.astype(np.int64),
        games.resignations == RESIGNED,
        np.zeros(game.num_actions, np.bool_),
    )
    return f"game {wrong + 1} breaks the rules or ends otherwise" if wrong >= 0 else ""


_UNPACKED_LIMIT = 4 << 30
"""Bytes that an array may have."""

_ROUNDING = 1e-3
"""How far float32 numbers read from a file may be off."""

_integers, _masks = types.Array(types.int64, 1, "C"), types.Array(types.boolean, 1, "C")


@kernel(types.int64(RulesType, *(_integers,) * 4, _masks, _masks))
def _find_wrong(
    rules: Rules,
    initial_state: State,
    moves: Integers,
    lengths: Integers,
    outcomes: Integers,
    resigned: Mask,
    mask: Mask,
) -> int:
    """Replay the games; return the first with an illegal move or another outcome, else -1.

    A game whose player to move has resigned goes on by the rules, and is lost for that player.
    """
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
        outcome = outcomes[game]
        if resigned[game]:
            if outcome == ONGOING or value_of(outcome, state[PLY] % 2) != -1:
                return game
            outcome = ONGOING
        if rules.outcome(state) != outcome:
            return game
        begin += lengths[game]
    return -1
