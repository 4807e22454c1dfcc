"""Recorded games as concatenated arrays, and their `.npz` files.

Letters: P positions (one per move), M shares of moves in their search policies.
"""

import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.errors import GameError, RunError
from alphazero.games.compiled_rules import Rules, RulesType
from alphazero.games.game import ONGOING, OUTCOME, PLY, Game, Mask, State, value_of
from alphazero.records.game_record import GameRecord, Pairing, Policies
from alphazero.utils.arrays import Float32Array, Int32Array, Int64Array
from alphazero.utils.jit import kernel

PLAYED_OUT, MAY_RESIGN, RESIGNED = range(3)
"""Resignation status of a game: not allowed; allowed, but not resigned; resigned."""


class GameBatch(NamedTuple):
    """Games as concatenated arrays."""

    actions: Int32Array
    """[P]"""
    policy_counts: Int32Array
    """[P] moves with a share in the policy target; 0: the position is not trained on"""
    policy_actions: Int32Array
    """[M] these moves, as in `Policies`"""
    policy_shares: Float32Array
    """[M]"""
    values: Float32Array
    """[P] search values, for the player to move"""
    best_values: Float32Array
    """[P] larger of the search value and the best action's value, for the player to move"""
    lengths: Int32Array
    """[games] number of moves"""
    outcomes: Int32Array
    """[games] for player 0; ONGOING for a game that continues in the next iteration"""
    resignations: Int32Array
    """[games] PLAYED_OUT, MAY_RESIGN or RESIGNED (by the player to move at the end)"""
    openings: Int32Array
    """[games] number of opening moves, drawn without a search"""
    options: Int32Array
    """[games, V] values of the game's V `variable_options`"""

    @classmethod
    def of(cls, game: Game, records: Sequence[GameRecord]) -> "GameBatch":
        """Concatenate records; raise RunError if a search returned NaN or infinity."""
        for record in records:
            finite = np.ones(len(record.actions), np.bool_)
            finite[record.policies.rows[~np.isfinite(record.policies.shares)]] = False
            for numbers in (record.values, record.best_values):
                finite &= np.isfinite(numbers)
            if not finite.all():
                raise RunError(
                    f"the search answered with NaN or infinity at move {finite.argmin() + 1} of a "
                    "game; resume with a lower learner.learning_rate, the last saved iteration "
                    "is whole"
                )
        parts = [GameRecord.opening(Pairing()), *records]
        policies = Policies.join([record.policies for record in parts])
        return cls(
            np.concatenate([record.actions for record in parts]),
            policies.counts,
            policies.actions,
            policies.shares,
            np.concatenate([record.values for record in parts]),
            np.concatenate([record.best_values for record in parts]),
            np.array([len(record.actions) for record in records], np.int32),
            np.array([record.outcome for record in records], np.int32),
            np.array(
                [
                    RESIGNED if record.resigned else int(record.pairing.may_resign)
                    for record in records
                ],
                np.int32,
            ),
            np.array([len(record.pairing.opening) for record in records], np.int32),
            _table([record.pairing.options or game.variable_values for record in records], game),
        )

    @property
    def policies(self) -> Policies:
        return Policies(self.policy_counts, self.policy_actions, self.policy_shares)

    def since(self, first: int) -> "GameBatch":
        """Return the games from number `first` on."""
        moves = self.lengths[:first].sum()
        shares = self.policy_counts[:moves].sum()
        begins = _counts(moves, shares, first)
        parts: Any = (array[begin:] for array, begin in zip(self, begins, strict=True))
        return GameBatch(*parts)

    def followed_by(self, games: "GameBatch") -> "GameBatch":
        parts: Any = map(np.concatenate, zip(self, games, strict=True))
        return GameBatch(*parts)

    def records(self) -> list[GameRecord]:
        ends, shares = np.cumsum(self.lengths), np.cumsum(np.append(0, self.policy_counts))
        records = []
        for index, stop in enumerate(ends.tolist()):
            moves = slice(stop - int(self.lengths[index]), stop)
            part = slice(shares[moves.start], shares[moves.stop])
            pairing = Pairing(
                opening=tuple(self.actions[moves][: self.openings[index]].tolist()),
                may_resign=bool(self.resignations[index] != PLAYED_OUT),
                options=tuple(self.options[index].tolist()),
            )
            policies = Policies(
                self.policy_counts[moves], self.policy_actions[part], self.policy_shares[part]
            )
            searches = policies, self.values[moves], self.best_values[moves]
            end = int(self.outcomes[index]), bool(self.resignations[index] == RESIGNED)
            records.append(GameRecord(pairing, self.actions[moves], *searches, *end))
        return records

    def to_bytes(self) -> bytes:
        """Return the games as the bytes of an `.npz` file; equal games give equal bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in zip(self._fields, self, strict=True):
                if name == "options" and not array.shape[1]:
                    continue  # the game has none
                part = io.BytesIO()
                np.lib.format.write_array(part, np.ascontiguousarray(array), allow_pickle=False)
                entry = zipfile.ZipInfo(f"{name}.npy")  # without a date: reproducible
                archive.writestr(entry, part.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=1)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, game: Game, data: bytes, source: str) -> "GameBatch":
        """Read the bytes of `to_bytes`, and check the games by replaying them.

        Array headers are checked against the game and the file size before unpacking, so that a
        malicious file cannot allocate memory. The arrays are the only large copy.

        Raises:
            RunError: if the bytes are not games of `game`; the message starts with `source`.
        """
        games = None
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                absent = {"options.npy"} - set(archive.namelist())  # the game has none
                names = [name for name in cls._fields if f"{name}.npy" not in absent]
                kinds = {name: _read_header(archive, name) for name in names}
                fault = _shape_mismatch(game, kinds)
                if not fault:
                    arrays = {name: _read_array(archive, name) for name in names}
                    arrays.setdefault(
                        "options", _table([game.variable_values] * len(arrays["lengths"]), game)
                    )
                    games = cls(**arrays)
        except Exception as error:  # zipfile, zlib and numpy raise many types
            message = " ".join(str(error).split())[:200]
            raise RunError(f"{source}: these are not recorded games ({message})") from error
        if games is not None:
            fault = _content_fault(game, games)
        if games is None or fault:
            raise RunError(f"{source}: these are not games of {game}: {fault}")
        return games


def _table(rows: Sequence[Sequence[int]], game: Game) -> Int32Array:
    """Return `rows`, values of the game's V variable options, as an array [games, V]."""
    return np.array(rows, np.int32).reshape(len(rows), len(game.variable_options))


def initial_states(game: Game, options: Int32Array) -> tuple[State, Int64Array]:
    """Return the different initial states [D, S] of games with `options` [games, V], D at least 1.

    Also returns the index of each game's initial state, [games]. Raises GameError for options that
    `game` cannot have.
    """
    if not options.size:
        return game.initial_state()[None], np.zeros(len(options), np.int64)
    rows, indices = np.unique(options, axis=0, return_inverse=True)
    states = np.stack([game.variant(row).initial_state() for row in rows.tolist()])
    return states, indices.reshape(-1).astype(np.int64)


def _counts(moves: int, shares: int, games: int) -> list[int]:
    """Return the rows of each array of a `GameBatch`."""
    return [moves] * 2 + [shares] * 2 + [moves] * 2 + [games] * 5


_Kind: TypeAlias = tuple[tuple[int, ...], np.dtype[Any]]
"""Shape and type of an array."""


def _read_header(archive: zipfile.ZipFile, name: str) -> _Kind:
    """Return the kind of an array; raise ValueError if its entry has another size."""
    entry = archive.getinfo(f"{name}.npy")
    with archive.open(entry) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} is of an unknown version")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        size = entry.file_size - file.tell()
    if size > _UNPACKED_LIMIT or math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"{name} has another size than its header says")
    return shape, dtype


def _read_array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Return an array, unpacked in small pieces; raise ValueError if its entry ends too early."""
    with archive.open(f"{name}.npy") as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
        file.read(1)  # zipfile checks the CRC at the end
    return np.ascontiguousarray(array)


def _shape_mismatch(game: Game, kinds: Mapping[str, _Kind]) -> str:
    """Describe the first array with a wrong type or shape for `game`; "" if all are right."""
    moves, shares, games = (kinds[name][0][0] for name in ("actions", "policy_actions", "lengths"))
    counts, examples = _counts(moves, shares, games), GameBatch.of(game, [])
    for name, count, example in zip(GameBatch._fields, counts, examples, strict=True):
        expected = (count, *example.shape[1:]), example.dtype
        shape, dtype = kinds.get(name, expected)
        if (shape, dtype) != expected:
            return (
                f"expected {name} {example.dtype} {list(expected[0])}, "
                f"received {dtype} {list(shape)}"
            )
    return ""


def _content_fault(game: Game, games: GameBatch) -> str:
    """Describe the first invalid content of arrays of the right shapes; "" if all is valid."""
    lengths, counts = games.lengths.astype(np.int64), games.policy_counts
    if (lengths < 0).any() or lengths.sum() != len(games.actions):
        return "their lengths do not add up to the number of moves"
    if (counts < 0).any() or counts.sum(dtype=np.int64) != len(games.policy_actions):
        return "their policies do not add up to the number of shares"
    rows, actions = games.policies.rows, games.policy_actions
    if not ((actions >= 0) & (actions < game.num_actions)).all():
        return "there are search policies of moves that do not exist"
    if not ((rows[1:] > rows[:-1]) | (actions[1:] > actions[:-1])).all():
        return "there are search policies whose moves are not in order"
    sums = np.bincount(rows, games.policy_shares, minlength=len(counts))
    if not ((games.policy_shares > 0).all() and (np.abs(sums[counts > 0] - 1) < _ROUNDING).all()):
        return "there are search policies that are no probabilities"
    for name, numbers in (("values", games.values), ("best_values", games.best_values)):
        if not (np.abs(numbers) <= 1 + _ROUNDING).all():
            return f"there are {name} outside -1 to 1"
    if not np.isin(games.resignations, (PLAYED_OUT, MAY_RESIGN, RESIGNED)).all():
        return "there are resignations of no known kind"
    if not ((games.openings >= 0) & (games.openings <= lengths)).all():
        return "there are openings longer than their games"
    try:
        first_states, indices = initial_states(game, games.options)
    except GameError as error:
        return f"there are options out of their range: {error}"
    wrong = _find_wrong(
        game.rules,
        first_states,
        indices,
        games.actions.astype(np.int64),
        lengths,
        games.outcomes.astype(np.int64),
        games.resignations == RESIGNED,
        np.zeros(game.num_actions, np.bool_),
    )
    return f"game {wrong + 1} breaks the rules or ends otherwise" if wrong >= 0 else ""


_UNPACKED_LIMIT = 4 << 30
"""Maximum size of an array in bytes."""

_ROUNDING = 1e-3
"""Tolerance for float32 numbers from a file."""

_integers, _masks = types.Array(types.int64, 1, "C"), types.Array(types.boolean, 1, "C")


@kernel(types.int64(RulesType, types.int64[:, ::1], *(_integers,) * 4, _masks, _masks))
def _find_wrong(
    rules: Rules,
    first_states: State,
    indices: Int64Array,
    moves: Int64Array,
    lengths: Int64Array,
    outcomes: Int64Array,
    resigned: Mask,
    mask: Mask,
) -> int:
    """Replay the games; return the first with an illegal move or a wrong outcome, else -1.

    Game g begins with `first_states[indices[g]]`.
    A resigned game must be ongoing by the rules, and lost for the player to move.
    """
    begin = 0
    for game in range(len(lengths)):
        state = first_states[indices[game]].copy()
        for move in moves[begin : begin + lengths[game]]:
            if not 0 <= move < len(mask) or state[OUTCOME] != ONGOING:
                return game
            rules.functions.legal(state, mask)
            if not mask[move]:
                return game
            rules.functions.play(state, move)
        outcome = outcomes[game]
        if resigned[game]:
            if outcome == ONGOING or value_of(outcome, state[PLY] % 2) != -1:
                return game
            outcome = ONGOING
        if state[OUTCOME] != outcome:
            return game
        begin += lengths[game]
    return -1
