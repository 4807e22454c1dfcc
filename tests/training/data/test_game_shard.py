"""The files that recorded games are kept in: exact, strict, and never unpickled."""

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.bugs.file_damage import Trap, archive, npy
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.runs.records import (
    GAMES,
    GO,
    drawn_games,
    games_with_komi,
    policies_of,
    random_records,
    taught,
    unfinished,
    window,
)

from alphazero.errors import RunError
from alphazero.games import ONGOING, Game, make_game
from alphazero.records.game_record import Pairing
from alphazero.training.data.game_shard import MAY_RESIGN, PLAYED_OUT, RESIGNED, GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer


@pytest.mark.parametrize("field", ["policies", "values", "best_values"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_search_that_answered_with_nan_or_infinity_is_not_stored(field: str, number: float):
    records = drawn_games(3)
    if field == "policies":
        dense = records[1].policies.dense(9)
        dense[5, 2] = number
        records[1] = dataclasses.replace(records[1], policies=policies_of(dense))
    else:
        getattr(records[1], field)[5] = number
    with pytest.raises(RunError, match=r"NaN or infinity at move 6 of a game"):
        GameBatch.of(TIC_TAC_TOE, records)


@pytest.mark.parametrize("name", GAMES)
def test_games_come_back_from_their_bytes_exactly(name: str):
    game = GAMES[name]
    records = random_records(game, 6, opening=2)
    for moves, opening, record in zip((0, 1, 2, 5), (0, 1, 0, 2), records[:4], strict=True):
        pairing = Pairing(opening=tuple(record.actions[:opening].tolist()))
        records.append(dataclasses.replace(unfinished(record, moves), pairing=pairing))
    games = GameBatch.of(game, records)
    again = GameBatch.from_bytes(game, games.to_bytes(), "here")
    for before, after in zip(games, again, strict=True):
        assert before.dtype == after.dtype
        assert np.array_equal(before, after)
    for before, after in zip(records, again.records(), strict=True):
        assert (before.outcome, before.pairing) == (after.outcome, after.pairing)
        for each in vars(before.policies):
            assert np.array_equal(getattr(before.policies, each), getattr(after.policies, each))
        for each in ("actions", "values", "best_values"):
            assert np.array_equal(getattr(before, each), getattr(after, each))


def test_a_resigned_game_is_lost_for_the_player_to_move_and_comes_back_as_it_was():
    whole = random_records(CONNECT_FOUR, 4)
    records = [
        dataclasses.replace(
            unfinished(record, moves),
            pairing=Pairing(may_resign=True),
            outcome=outcome,
            resigned=True,
        )
        for record, moves, outcome in zip(whole, (0, 3, 4, 5), (-1, 1, -1, 1), strict=True)
    ]
    under_way = dataclasses.replace(unfinished(whole[0], 2), pairing=Pairing(may_resign=True))
    records += [under_way, *whole]
    games = GameBatch.of(CONNECT_FOUR, records)
    assert games.resignations.tolist() == [RESIGNED] * 4 + [MAY_RESIGN] + [PLAYED_OUT] * 4
    again = GameBatch.from_bytes(CONNECT_FOUR, games.to_bytes(), "here").records()
    for before, after in zip(records, again, strict=True):
        assert (after.outcome, after.resigned) == (before.outcome, before.resigned)
        assert after.pairing == before.pairing
        assert len(after.actions) == len(before.actions)
    for index in range(4):
        wrong = dataclasses.replace(records[index], outcome=-records[index].outcome)
        refusal(GameBatch.of(CONNECT_FOUR, [*records[:index], wrong]).to_bytes())
        unresigned = dataclasses.replace(records[index], resigned=False)
        refusal(GameBatch.of(CONNECT_FOUR, [unresigned]).to_bytes())


def test_games_come_back_with_the_options_that_they_were_played_with():
    records = games_with_komi(15, -18, 15, 3)
    games = GameBatch.of(GO, [*records, unfinished(records[1], 2)])
    again = GameBatch.from_bytes(GO, games.to_bytes(), "here").records()
    assert [record.pairing.options for record in again] == [(15,), (-18,), (15,), (3,), (-18,)]
    assert again[1].variant(GO).komi == -9
    wrong = dataclasses.replace(records[1], pairing=Pairing(options=(18,)))
    assert "game 2 breaks the rules or ends otherwise" in refusal(
        GameBatch.of(GO, [records[0], wrong]).to_bytes(), GO
    )


def test_games_without_varied_options_have_those_of_their_game():
    records = random_records(GO, 3)
    games = GameBatch.of(GO, records)
    assert games.options.tolist() == [[15]] * 3
    arrays = games._asdict()
    del arrays["options"]
    again = GameBatch.from_bytes(GO, archive(arrays), "here")
    assert again.options.tolist() == [[15]] * 3
    assert "options.npy" not in str(GameBatch.of(CONNECT_FOUR, []).to_bytes())


def test_options_that_the_game_cannot_have_are_refused():
    arrays = GameBatch.of(GO, games_with_komi(5, 7))._asdict()
    arrays["options"] = np.array([[5], [1001]], np.int32)
    assert "options out of their range: komi_half_points" in refusal(archive(arrays), GO)


def test_no_games_are_games_too():
    none = GameBatch.from_bytes(CONNECT_FOUR, GameBatch.of(CONNECT_FOUR, []).to_bytes(), "here")
    assert none.records() == []


def refusal(data: bytes, game: Game = CONNECT_FOUR) -> str:
    """The one line with which bytes are refused."""
    with pytest.raises(RunError) as caught:
        GameBatch.from_bytes(game, data, "games-7.npz")
    text = str(caught.value)
    assert text.startswith("games-7.npz: these are not ")
    assert text.isprintable()
    assert len(text) < 400
    return text


def some_games() -> dict[str, Any]:
    """The arrays of five games of Connect Four."""
    games = GameBatch.of(CONNECT_FOUR, random_records(CONNECT_FOUR, 5))
    return {name: array.copy() for name, array in games._asdict().items()}


@pytest.mark.parametrize("name", GameBatch._fields)
def test_pickled_arrays_are_refused_and_never_unpickled(name: str):
    with pytest.raises(SystemExit, match="unpickled"):
        pickle.loads(pickle.dumps(Trap()))
    refusal(archive(some_games() | {name: np.array([Trap()], object)}))
    refusal(pickle.dumps(Trap()))


Change = Callable[[dict[str, Any]], object]


def put(name: str, place: Any, value: Any) -> Change:
    """A change of one number, or of several."""

    def change(arrays: dict[str, Any]) -> None:
        arrays[name][place] = value

    return change


def become(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Change:
    """A change of a whole array."""
    return lambda arrays: arrays.update({name: change(arrays[name])})


def policy(*values: float) -> Change:
    """Another policy of the fourth position, of its first moves."""

    def change(arrays: dict[str, Any]) -> None:
        begin, end = np.cumsum(arrays["policy_counts"])[2:4]
        assert end - begin >= len(values)
        arrays["policy_shares"][begin:end] = [*values, *[1e-9] * (end - begin - len(values))]

    return change


def resigned(outcome: int) -> Change:
    """A resignation in the third game, of this outcome."""

    def change(arrays: dict[str, Any]) -> None:
        arrays["resignations"][2], arrays["outcomes"][2] = RESIGNED, outcome

    return change


def shift(lengths: np.ndarray, moves: int) -> None:
    """Give moves of the first game to the second."""
    lengths[:2] += [-moves, moves]


SHORTENED = [name for name in GameBatch._fields if name != "options"]
CONVERTED = [
    *(("openings", "?"), ("resignations", "?"), ("outcomes", "?"), ("lengths", "<u4")),
    *(("actions", "<i8"), ("actions", "<f4"), ("actions", ">i4")),
    *(("policy_shares", "<f8"), ("policy_shares", "<U8"), ("policy_counts", "<u4")),
]
CHANGED: list[tuple[str, int, list[float]]] = [
    ("resignations", 2, [3, RESIGNED]),  # of an unknown kind; a finished game called resigned
    ("openings", 2, [43, -1]),
    ("outcomes", 2, [3, -2, 2**31 - 1, ONGOING, 0]),  # the game was won
    ("actions", 8, [7, 2**31 - 1, -1, -(2**31)]),
    ("policy_actions", 3, [7, 2**31 - 1, -1, -(2**31)]),
    ("policy_counts", 3, [2**31 - 1, -1]),
    ("values", 3, [np.nan, 1.5]),
    ("best_values", 3, [np.nan, -1.5]),
]
FAULTS = {
    **{f"fewer {name}": become(name, lambda array: array[:-1]) for name in SHORTENED},
    **{
        f"{name} as {kind}": become(name, lambda array, kind=kind: array.astype(kind))
        for name, kind in CONVERTED
    },
    **{
        f"{name} of {value}": put(name, place, value)
        for name, place, values in CHANGED
        for value in values
    },
    "a resignation that draws": resigned(0),
    "a resignation in a game under way": resigned(ONGOING),
    # Seven stones in a column of six: the compiled rule would leave the board.
    "a full column": put("actions", slice(0, 7), 0),
    "NaN in a policy": policy(np.nan),
    "infinity in a policy": policy(np.inf),
    "a policy of more than one": policy(0.7, 0.7),
    "a policy of less than one": policy(0.3, 0.3),
    "a negative probability": policy(1.5, -0.5),
    "probabilities that cancel": policy(0.5, -0.5),
    "a negative length": lambda arrays: shift(arrays["lengths"], arrays["lengths"][0] + 1),
    "lengths that do not fit the games": lambda arrays: shift(arrays["lengths"], -1),
    "moves of a policy in another order": become("policy_actions", lambda moves: moves[::-1]),
    "a move twice in a policy": put("policy_actions", slice(0, 2), 0),
    "counts that do not fit the shares": lambda arrays: shift(arrays["policy_counts"], 1),
    "shares as a table": become("policy_shares", lambda shares: shares[:, None]),
    "no array of actions": become("actions", lambda _: np.int32(3)),
    "no values": lambda arrays: arrays.pop("values"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_games_that_cannot_be_are_refused(fault: str):
    arrays = some_games()
    GameBatch.from_bytes(CONNECT_FOUR, archive(arrays), "here")
    FAULTS[fault](arrays)
    refusal(archive(arrays))


def test_a_stone_on_a_taken_cell_is_refused_although_the_game_ends_as_it_says():
    actions = [0, 1, 1, 4, 2]  # the first player takes the second one's cell, and its row is full
    data = GameBatch.of(TIC_TAC_TOE, [taught(actions, np.eye(9)[actions], 1)]).to_bytes()
    assert "game 1 breaks the rules" in refusal(data, TIC_TAC_TOE)


def test_games_of_another_game_are_refused():
    data = GameBatch.of(TIC_TAC_TOE, random_records(TIC_TAC_TOE, 4)).to_bytes()
    assert "moves that do not exist" in refusal(data)
    small = make_game("connect_four", rows=4, columns=7)
    refusal(archive(some_games()), small)


def test_arrays_may_lie_in_memory_in_either_order():
    arrays = GameBatch.of(GO, games_with_komi(5, 7))._asdict()
    arrays["options"] = np.asfortranarray(arrays["options"])
    games = GameBatch.from_bytes(GO, archive(arrays), "here")
    assert games.options.tolist() == [[5], [7]]


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"PK", b"PK\x03\x04" + bytes(100), b"\x93NUMPY" + bytes(100)),
        *(bytes(10_000), np.random.default_rng(0).bytes(10_000), archive({})),
    ],
)
def test_bytes_that_are_no_games_are_refused(data: bytes):
    refusal(data)


def test_a_header_that_promises_a_huge_array_is_refused():
    array = npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1099511627776,), }")
    refusal(archive(dict.fromkeys(GameBatch._fields, array)))


def test_mutated_arrays_are_refused_or_can_be_drawn_from():
    rng = np.random.default_rng(0)
    refused, drawn, whole = 0, 0, some_games()
    for _ in range(200):
        arrays = {name: array.copy() for name, array in whole.items()}
        name = rng.choice([name for name, array in arrays.items() if array.size])
        raw = arrays[name].reshape(-1).view(np.uint8)
        for _ in range(rng.integers(1, 3)):
            raw[rng.integers(len(raw))] ^= 1 << rng.integers(8)
        try:
            games = GameBatch.from_bytes(CONNECT_FOUR, archive(arrays), "games-7.npz")
        except RunError:
            refused += 1
            continue
        replay = ReplayBuffer(CONNECT_FOUR, window())
        replay.add(1, games)
        batch = replay.sample(64, np.random.default_rng(0), True)
        assert set(batch.values.tolist()) <= {1.0, 0.0, -1.0}
        assert np.allclose(batch.policies.sum(axis=1), 1, atol=1e-3)
        drawn += 1
    assert refused > 60
    assert drawn > 10
