"""The replay window against a plain reconstruction, and the files its games are kept in.

Letters: P positions, A actions, B batch, [C, H, W] observation.
"""

import io
import pickle
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from alphazero.config import ReplayConfig
from alphazero.errors import RunError
from alphazero.games import ONGOING, Game, make_game
from alphazero.games.game import to_play
from alphazero.players.match import GameRecord, Pairing
from alphazero.training.replay import Batch, Games, Replay

GAMES = {
    "tic_tac_toe": make_game("tic_tac_toe"),
    "mnk 3x4x3": make_game("mnk", rows=3, columns=4, length=3),
    "connect_four": make_game("connect_four"),
}
TIC_TAC_TOE, CONNECT_FOUR = GAMES["tic_tac_toe"], GAMES["connect_four"]


def random_record(game: Game, rng: np.random.Generator, opening: int = 0) -> GameRecord:
    """A random game with random search policies; its first `opening` moves were not searched."""
    state, actions, policies = game.initial_state(), [], []
    while game.outcome(state) == ONGOING:
        mask = game.legal_action_mask(state)
        policy = np.zeros(game.num_actions, np.float32)
        if len(actions) >= opening:
            policy[mask] = rng.dirichlet(np.ones(mask.sum()))
        policies.append(policy)
        actions.append(int(rng.choice(np.flatnonzero(mask))))
        state = game.play(state, actions[-1])
    values = rng.uniform(-1, 1, len(actions)).astype(np.float32)
    values[:opening] = 0
    outcome = game.outcome(state)
    return GameRecord(
        Pairing(), np.array(actions, np.int32), np.array(policies, np.float32), values, outcome
    )


def random_records(game: Game, count: int, seed: int = 0, opening: int = 0) -> list[GameRecord]:
    rng = np.random.default_rng(seed)
    return [random_record(game, rng, opening) for _ in range(count)]


def unfinished(record: GameRecord, moves: int) -> GameRecord:
    """The beginning of a game."""
    return GameRecord(
        record.pairing,
        record.actions[:moves],
        record.policies[:moves],
        record.values[:moves],
        ONGOING,
    )


def window(minimum: int = 1, maximum: int = 10**6, fraction: float = 1.0) -> ReplayConfig:
    return ReplayConfig(window_minimum=minimum, window_maximum=maximum, window_fraction=fraction)


def filled(game: Game, shards: Sequence[Sequence[GameRecord]], settings: ReplayConfig) -> Replay:
    replay = Replay(game, settings)
    for iteration, records in enumerate(shards, 1):
        replay.add(iteration, Games.of(game, records))
    return replay


Sample = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], int]


def plain_samples(game: Game, records: Sequence[GameRecord], symmetry: int = 0) -> list[Sample]:
    """Every searched position as (observation, policy, value), by plain Python and symmetry."""
    cells, actions = game.symmetries().cells[symmetry], game.symmetries().actions[symmetry]
    samples = []
    for record in records:
        state = game.initial_state()
        for action, policy in zip(record.actions.tolist(), record.policies, strict=True):
            if policy.any():
                seen = game.observe(state)
                turned = np.zeros_like(seen)
                for plane, image in zip(seen, turned, strict=True):
                    for cell, place in enumerate(cells):
                        image.flat[place] = plane.flat[cell]
                target = np.zeros_like(policy)
                for each, place in enumerate(actions):
                    target[place] = policy[each]
                won = {0: 0, 1: 1 - 2 * to_play(state), -1: 2 * to_play(state) - 1}
                samples.append((turned, target, won[record.outcome]))
            state = game.play(state, action)
    return samples


def keys(samples: Sequence[Sample] | Batch) -> list[bytes]:
    rows = zip(*samples, strict=True) if isinstance(samples, Batch) else samples
    return [
        seen.tobytes() + policy.tobytes() + str(int(value)).encode() for seen, policy, value in rows
    ]


# Batches


@pytest.mark.parametrize("name", GAMES)
def test_every_sample_is_a_position_of_the_games_as_plain_python_rebuilds_it(name: str):
    game = GAMES[name]
    records = random_records(game, 12)
    replay = filled(game, [records[:5], records[5:]], window())
    expected = keys(plain_samples(game, records))
    drawn = keys(replay.sample(60 * len(expected), np.random.default_rng(0), augment=False))
    assert len(set(expected)) == len(expected)
    assert set(drawn) == set(expected)


@pytest.mark.parametrize("name", GAMES)
def test_symmetries_move_planes_and_policy_together_and_all_occur(name: str):
    game = GAMES[name]
    records = random_records(game, 3)
    kinds = len(game.symmetries().cells)
    expected = [keys(plain_samples(game, records, symmetry)) for symmetry in range(kinds)]
    drawn = set(
        keys(filled(game, [records], window()).sample(12_000, np.random.default_rng(0), True))
    )
    assert drawn == {key for each in expected for key in each}
    assert len(drawn) == kinds * len(expected[0])


def test_the_value_is_the_outcome_for_the_player_to_move():
    # X: the top row. O: two cells of the bottom row.
    actions = np.array([0, 8, 1, 7, 2], np.int32)
    policies = np.eye(9, dtype=np.float32)[actions]
    record = GameRecord(Pairing(), actions, policies, np.zeros(5, np.float32), 1)
    replay = filled(TIC_TAC_TOE, [[record]], window())
    batch = replay.sample(200, np.random.default_rng(0), False)
    for seen, policy, value in zip(*batch, strict=True):
        stones = int(seen[0].sum() + seen[1].sum())
        assert policy[actions[stones]] == 1
        assert value == (1 if stones % 2 == 0 else -1)


def test_moves_of_openings_are_never_drawn_nor_counted():
    records = random_records(TIC_TAC_TOE, 10, opening=3)
    replay = filled(TIC_TAC_TOE, [records], window())
    searched = sum(len(record.actions) - 3 for record in records)
    assert replay.total_positions == replay.window == searched
    batch = replay.sample(3_000, np.random.default_rng(0), True)
    assert batch.policies.any(axis=1).all()
    assert batch.observations[:, :2].sum(axis=(1, 2, 3)).min() == 3
    assert set(keys(replay.sample(3_000, np.random.default_rng(0), False))) == set(
        keys(plain_samples(TIC_TAC_TOE, records))
    )


def test_batches_are_settled_by_their_seed():
    replay = filled(TIC_TAC_TOE, [random_records(TIC_TAC_TOE, 10)], window())
    first, again, other = (
        keys(replay.sample(64, np.random.default_rng(seed), True)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_every_position_of_the_window_is_drawn_alike():
    shards = [random_records(TIC_TAC_TOE, 10, seed) for seed in range(4)]
    replay = filled(TIC_TAC_TOE, shards, window(maximum=150))
    inside = keys(plain_samples(TIC_TAC_TOE, [record for shard in shards for record in shard]))
    inside = inside[-150:]
    draws = 60_000
    drawn = keys(replay.sample(draws, np.random.default_rng(0), False))
    counts = np.array([drawn.count(key) for key in inside])
    assert counts.sum() == draws
    expected = draws / 150
    statistic = ((counts - expected) ** 2 / expected).sum()
    # Chi-square with 149 degrees of freedom: mean 149, standard deviation 17.3.
    assert 149 - 4 * 17.3 < statistic < 149 + 4 * 17.3


def test_symmetries_are_drawn_alike():
    record = random_records(TIC_TAC_TOE, 1)[0]
    kinds = [set(keys(plain_samples(TIC_TAC_TOE, [record], symmetry))) for symmetry in range(8)]
    replay = filled(TIC_TAC_TOE, [[record]], window())
    draws = 8_000
    drawn = keys(replay.sample(draws, np.random.default_rng(0), True))
    counts = np.array([sum(key in kind for key in drawn) for kind in kinds])
    assert counts.sum() == draws
    statistic = ((counts - draws / 8) ** 2 / (draws / 8)).sum()
    assert statistic < 24.3  # chi-square with 7 degrees of freedom, 99.9 %


# The window


DRAWN = [4, 0, 8, 7, 1, 6, 2, 5, 3]
"""Nine moves of tic-tac-toe that fill the board."""


def drawn_games(count: int, opening: int = 0) -> list[GameRecord]:
    """So many games of nine moves, all but the opening's searched, no two policies alike."""
    rng = np.random.default_rng(count)
    records = []
    for _ in range(count):
        policies = rng.dirichlet(np.ones(9), 9).astype(np.float32)
        policies[:opening] = 0
        actions = np.array(DRAWN, np.int32)
        records.append(GameRecord(Pairing(), actions, policies, np.zeros(9, np.float32), 0))
    return records


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (window(minimum=50, maximum=1_000, fraction=0.5), 54),
        (window(minimum=90, maximum=1_000, fraction=0.5), 90),
        (window(minimum=500, maximum=1_000, fraction=0.5), 108),
        (window(minimum=10, maximum=40, fraction=0.5), 40),
        (window(minimum=1, maximum=1_000, fraction=1.0), 108),
        (window(minimum=1, maximum=1_000, fraction=0.29), 31),
        (window(minimum=1, maximum=1, fraction=0.01), 1),
    ],
)
def test_the_window_is_a_share_of_all_positions_between_its_bounds(
    settings: ReplayConfig, expected: int
):
    replay = filled(TIC_TAC_TOE, [drawn_games(10), drawn_games(2)], settings)
    assert replay.total_positions == 12 * 9
    assert replay.window == expected


def test_only_the_newest_positions_are_drawn():
    records = random_records(TIC_TAC_TOE, 20)
    replay = filled(TIC_TAC_TOE, [records[:7], records[7:]], window(maximum=37))
    newest = keys(plain_samples(TIC_TAC_TOE, records))[-37:]
    drawn = replay.sample(4_000, np.random.default_rng(0), False)
    assert set(keys(drawn)) == set(newest)


@pytest.mark.parametrize(
    "settings",
    [
        window(maximum=40),
        window(maximum=36),
        window(30, 500, 0.5),
        window(500, 1_000),
        window(1, 1),
    ],
)
def test_a_shard_leaves_when_the_window_no_longer_reaches_it(settings: ReplayConfig):
    replay, sizes = Replay(TIC_TAC_TOE, settings), []
    for iteration, games in enumerate([2, 2, 2, 1, 3, 1, 1, 5, 2, 2, 1, 1, 1], 1):
        replay.add(iteration, Games.of(TIC_TAC_TOE, drawn_games(games)))
        sizes.append(9 * games)
        wanted = int(settings.window_fraction * sum(sizes))
        wanted = max(settings.window_minimum, min(wanted, settings.window_maximum))
        # The fewest of the newest shards that hold as many positions as are wanted.
        needed = next(
            (back for back in range(1, iteration) if sum(sizes[-back:]) >= wanted), iteration
        )
        assert replay.iterations == list(range(iteration - needed + 1, iteration + 1))
        assert replay.window == min(wanted, sum(sizes))


def test_a_shard_without_searched_moves_does_no_harm():
    replay = filled(TIC_TAC_TOE, [[], drawn_games(1, opening=9), drawn_games(2)], window())
    assert replay.iterations == [3]
    assert replay.window == 18
    assert Replay(TIC_TAC_TOE, window()).window == 0


def test_shards_that_come_back_from_the_disk_make_the_same_window():
    settings = window(10, 400, 0.6)
    shards = [random_records(TIC_TAC_TOE, 9, seed) for seed in range(8)]
    before = filled(TIC_TAC_TOE, shards, settings)
    assert 1 < len(before.iterations) < 8
    after = Replay(TIC_TAC_TOE, settings)
    for iteration in before.iterations:
        games = Games.of(TIC_TAC_TOE, shards[iteration - 1])
        after.add(iteration, games, before.total_positions)
    assert after.iterations == before.iterations
    for name in ("window", "total_positions"):
        assert getattr(after, name) == getattr(before, name)
    first, second = (
        keys(replay.sample(500, np.random.default_rng(0), True)) for replay in (before, after)
    )
    assert first == second


def test_the_age_is_the_mean_over_the_window():
    shards = [drawn_games(2), drawn_games(2), drawn_games(1)]
    replay = filled(TIC_TAC_TOE, shards, window(maximum=20))
    # 9 positions of iteration 3 and the newest 11 of iteration 2, seen from iteration 5.
    assert replay.mean_age(5) == pytest.approx((9 * 2 + 11 * 3) / 20)
    assert Replay(TIC_TAC_TOE, window()).mean_age(5) == 0


def test_an_unfinished_game_teaches_nothing_and_is_refused():
    record = drawn_games(1)[0]
    with pytest.raises(RunError, match=r"iteration 7 .*not finished"):
        Replay(TIC_TAC_TOE, window()).add(7, Games.of(TIC_TAC_TOE, [record, unfinished(record, 4)]))


@pytest.mark.parametrize("field", ["policies", "values"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_search_that_answered_with_nan_or_infinity_is_not_stored(field: str, number: float):
    records = drawn_games(3)
    getattr(records[1], field)[5] = number
    with pytest.raises(RunError, match=r"NaN or infinity at move 6 of a game"):
        Games.of(TIC_TAC_TOE, records)


# Files


@pytest.mark.parametrize("name", GAMES)
def test_games_come_back_from_their_bytes_exactly(name: str):
    game = GAMES[name]
    records = random_records(game, 6, opening=2)
    records += [unfinished(record, moves) for moves, record in enumerate(records[:4])]
    games = Games.of(game, records)
    again = Games.from_bytes(game, games.to_bytes(), "here")
    for before, after in zip(games, again, strict=True):
        assert before.dtype == after.dtype
        assert np.array_equal(before, after)
    for before, after in zip(records, again.records(), strict=True):
        assert before.outcome == after.outcome
        for each in ("actions", "policies", "values"):
            assert np.array_equal(getattr(before, each), getattr(after, each))


def test_equal_games_give_equal_bytes():
    first, again, other = (
        Games.of(CONNECT_FOUR, random_records(CONNECT_FOUR, 5, seed)).to_bytes()
        for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_no_games_are_games_too():
    none = Games.from_bytes(CONNECT_FOUR, Games.of(CONNECT_FOUR, []).to_bytes(), "here")
    assert none.records() == []


def archive(arrays: dict[str, Any]) -> bytes:
    """An `.npz` file of any arrays, pickled where they need it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, array in arrays.items():
            part = io.BytesIO()
            np.lib.format.write_array(part, np.asanyarray(array), allow_pickle=True)
            file.writestr(f"{name}.npy", part.getvalue())
    return buffer.getvalue()


def refusal(data: bytes, game: Game = CONNECT_FOUR) -> str:
    """The one line with which bytes are refused."""
    with pytest.raises(RunError) as caught:
        Games.from_bytes(game, data, "games-7.npz")
    text = str(caught.value)
    assert text.startswith("games-7.npz: these are not ")
    assert text.isprintable()
    assert len(text) < 400
    return text


def some_games() -> dict[str, Any]:
    """The arrays of five games of Connect Four."""
    games = Games.of(CONNECT_FOUR, random_records(CONNECT_FOUR, 5))
    return {name: array.copy() for name, array in games._asdict().items()}


class Trap:
    """Fails the test when it is unpickled."""

    sprung = False

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return setattr, (Trap, "sprung", True)


@pytest.mark.parametrize("name", Games._fields)
def test_pickled_arrays_are_refused_and_never_unpickled(name: str):
    arrays = some_games()
    arrays[name] = np.array([Trap()], object)
    data = archive(arrays)
    assert b"sprung" in data
    refusal(data)
    refusal(pickle.dumps(Trap()))
    assert not Trap.sprung


def set_outcome(value: int) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays["outcomes"][2] = value

    return change


def set_action(value: int) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays["actions"][8] = value

    return change


def set_policy(*values: float) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays["policies"][3] = 0
        arrays["policies"][3, : len(values)] = values

    return change


def set_value(value: float) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays["values"][3] = value

    return change


def convert(name: str, dtype: str) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays[name] = arrays[name].astype(dtype)

    return change


def shorten(name: str) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays[name] = arrays[name][:-1]

    return change


def negative_length(arrays: dict[str, Any]) -> None:
    arrays["lengths"][1] += arrays["lengths"][0] + 1
    arrays["lengths"][0] = -1


def longer_game(arrays: dict[str, Any]) -> None:
    arrays["lengths"][0] += 1
    arrays["lengths"][1] -= 1


def overfull_column(arrays: dict[str, Any]) -> None:
    """Seven stones in a column of six: the compiled rule would leave the board."""
    length = arrays["lengths"][0]
    arrays["actions"][:length] = 0


def flatten(arrays: dict[str, Any]) -> None:
    arrays["policies"] = arrays["policies"].ravel()


def make_scalar(arrays: dict[str, Any]) -> None:
    arrays["actions"] = np.int32(3)


def drop_values(arrays: dict[str, Any]) -> None:
    del arrays["values"]


FAULTS = {
    "outcome of nothing": set_outcome(3),
    "another outcome": set_outcome(-2),
    "a huge outcome": set_outcome(2**31 - 1),
    "a finished game called unfinished": set_outcome(ONGOING),
    "a won game called drawn": set_outcome(0),
    "an action beyond the last": set_action(7),
    "a huge action": set_action(2**31 - 1),
    "a negative action": set_action(-1),
    "a very negative action": set_action(-(2**31)),
    "a full column": overfull_column,
    "NaN in a policy": set_policy(np.nan),
    "infinity in a policy": set_policy(np.inf),
    "a policy of more than one": set_policy(0.7, 0.7),
    "a policy of less than one": set_policy(0.3, 0.3),
    "a negative probability": set_policy(1.5, -0.5),
    "probabilities that cancel": set_policy(0.5, -0.5),
    "NaN as a value": set_value(np.nan),
    "a value above one": set_value(1.5),
    "a negative length": negative_length,
    "lengths that do not fit the games": longer_game,
    "fewer lengths": shorten("lengths"),
    "fewer outcomes": shorten("outcomes"),
    "fewer actions": shorten("actions"),
    "fewer policies": shorten("policies"),
    "fewer values": shorten("values"),
    "actions of 64 bits": convert("actions", "<i8"),
    "actions as floats": convert("actions", "<f4"),
    "actions of the other byte order": convert("actions", ">i4"),
    "policies of 64 bits": convert("policies", "<f8"),
    "policies as texts": convert("policies", "<U8"),
    "lengths without sign": convert("lengths", "<u4"),
    "outcomes as truth": convert("outcomes", "?"),
    "flat policies": flatten,
    "no array of actions": make_scalar,
    "no values": drop_values,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_games_that_cannot_be_are_refused(fault: str):
    arrays = some_games()
    Games.from_bytes(CONNECT_FOUR, archive(arrays), "here")
    FAULTS[fault](arrays)
    refusal(archive(arrays))


def test_games_of_another_game_are_refused():
    data = Games.of(TIC_TAC_TOE, random_records(TIC_TAC_TOE, 4)).to_bytes()
    assert "received float32" in refusal(data)
    small = make_game("connect_four", rows=4, columns=7)
    refusal(archive(some_games()), small)


def test_arrays_may_lie_in_memory_in_either_order():
    arrays = some_games()
    arrays["policies"] = np.asfortranarray(arrays["policies"])
    games = Games.from_bytes(CONNECT_FOUR, archive(arrays), "here")
    replay = Replay(CONNECT_FOUR, window())
    replay.add(1, games)
    assert replay.sample(10, np.random.default_rng(0), True).policies.any(axis=1).all()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK",
        b"PK\x03\x04" + bytes(100),
        b"\x93NUMPY" + bytes(100),
        bytes(10_000),
        np.random.default_rng(0).bytes(10_000),
        archive({}),
    ],
)
def test_bytes_that_are_no_games_are_refused(data: bytes):
    refusal(data)


def test_a_header_that_promises_a_huge_array_is_refused():
    header = b"{'descr': '<i4', 'fortran_order': False, 'shape': (1099511627776,), }"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in Games._fields:
            file.writestr(f"{name}.npy", array)
    refusal(buffer.getvalue())


def test_truncated_games_are_refused_wherever_they_end():
    data = Games.of(CONNECT_FOUR, random_records(CONNECT_FOUR, 2)).to_bytes()
    for length in range(0, len(data), 7):
        refusal(data[:length])


def test_mutated_bytes_are_games_or_are_refused_in_one_line():
    games = Games.of(CONNECT_FOUR, random_records(CONNECT_FOUR, 2))
    good, rng = games.to_bytes(), np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        data = bytearray(good)
        for _ in range(rng.integers(1, 4)):
            data[rng.integers(len(data))] = rng.integers(256)
        try:
            again = Games.from_bytes(CONNECT_FOUR, bytes(data), "games-7.npz")
        except RunError:
            refused += 1
            refusal(bytes(data))
        else:
            assert all(map(np.array_equal, games, again))  # only dates and the like were hit
    assert refused > 200


def test_mutated_arrays_are_refused_or_can_be_drawn_from():
    rng = np.random.default_rng(0)
    refused = drawn = 0
    for _ in range(300):
        arrays = some_games()
        name = Games._fields[rng.integers(5)]
        raw = arrays[name].reshape(-1).view(np.uint8)
        for _ in range(rng.integers(1, 3)):
            raw[rng.integers(len(raw))] ^= 1 << rng.integers(8)
        try:
            games = Games.from_bytes(CONNECT_FOUR, archive(arrays), "games-7.npz")
        except RunError:
            refused += 1
            continue
        replay = Replay(CONNECT_FOUR, window())
        replay.add(1, games)
        batch = replay.sample(64, np.random.default_rng(0), True)
        assert set(batch.values.tolist()) <= {1.0, 0.0, -1.0}
        assert np.allclose(batch.policies.sum(axis=1), 1, atol=1e-3)
        drawn += 1
    assert refused > 100
    assert drawn > 20
