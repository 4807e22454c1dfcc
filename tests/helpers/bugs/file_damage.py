"""Damaged and hostile files, and a program that reads them all.

    python file_damage.py 10000 1 FOLDER

It prints a JSON object. For checkpoints and for shards it tells how many were tried, how many were
noticed, and what else happened.
A *damaged* file has randomly changed bytes; a *hostile* one also has matching hashes.
"""

import gc
import importlib
import io
import json
import pickle
import random
import sys
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from helpers.settings import network_config

SMALL_CHANGE = 3 << 20
"""Bytes that reading may take besides twice the file: a header is at most 1 MiB of text, and a
parsed one is larger than its text."""

WATCHED = ("exec", "import", "os.", "subprocess.", "pickle.find_class", "socket.", "ctypes.")
"""Prefixes of the audit events that reading a file must not cause."""

Parts = tuple[dict[str, Any], bytes]
GONE = object()
"""In place of a value: the key is removed."""


# --- damage of any file --------------------------------------------------------------------------


def flip_bit(path: Path) -> None:
    """Flip a bit of the byte in the middle of the second half, behind any header."""
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 4
    path.write_bytes(data)


def cut_in_half(path: Path) -> None:
    """Drop the second half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damaged(data: bytes, choice: random.Random) -> bytes:
    """Return the bytes with a bit flipped, bytes overwritten, the end cut off, or more added."""
    kind, place = choice.randrange(4), choice.randrange(len(data))
    if kind == 0:
        return data[:place] + bytes([data[place] ^ (1 << choice.randrange(8))]) + data[place + 1 :]
    if kind == 1:
        return data[:place]
    if kind == 2:
        return data + choice.randbytes(choice.randint(1, 20))
    junk = choice.randbytes(choice.randint(1, 64))
    changed = (data[:place] + junk + data[place + len(junk) :])[: len(data)]
    return changed if changed != data else data[:-1]


# --- checkpoints ---------------------------------------------------------------------------------


def parts(data: bytes) -> Parts:
    """Return the header of a `.safetensors` file and the tensors' bytes."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def joined(header: dict[str, Any], body: bytes) -> bytes:
    """Return a file with this header, as the format wants it."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return len(text).to_bytes(8, "little") + text + body


def edit(choice: random.Random, *edits: tuple[dict[str, Any], str, list[Any]]) -> None:
    """Give a key of a dictionary one of its new values, or remove it: any of the `edits`."""
    place, key, values = choice.choice(edits)
    place[key] = choice.choice(values)
    if place[key] is GONE:
        del place[key]


def edited(data: bytes, choice: random.Random) -> bytes:
    """Return a checkpoint whose header was edited, its hash as it was."""
    header, body = parts(data)
    metadata = header["__metadata__"]
    tensor = choice.choice([name for name in header if name != "__metadata__"])
    entry, metadatum = header[tensor], choice.choice(list(metadata))
    edit(
        choice,
        (header, tensor, [GONE]),
        (header, tensor + "x", [entry]),
        (header, "__metadata__", [None, [], "text", {}, {"format": {}}]),
        (entry, "shape", [[-1], [1 << 70], ["a"], None, [0], [*entry["shape"], 2]]),
        (entry, "dtype", ["F16", "I32", "F8_E4M3", "F4", "X", None, 7, {}]),
        (entry, "data_offsets", [[0, 1 << 60], [-1, 4], [8, 0], [], None, [0, 3]]),
        (metadata, metadatum, ["", "0", metadata[metadatum] + " ", None, 5, [], GONE]),
        (metadata, "comment", ["an added text"]),
    )
    return joined(header, body)


def hostile_header(data: bytes, choice: random.Random) -> bytes:
    """Return a file made to exhaust or mislead its reader."""
    size, (header, body) = choice.randint(1, 1 << 16), parts(data)
    match choice.randrange(7):
        case 0:
            text = b"[" * size
        case 1:
            text = b'{"a":' * size
        case 2:
            text = (
                b'{"__metadata__":{"format":"alphazero-player","format_version":"2"' + b" " * size
            )
        case 3:
            length = choice.choice([1 << 20, (1 << 20) + 1, 1 << 40, (1 << 64) - 1])
            return length.to_bytes(8, "little") + choice.randbytes(size)
        case 4:
            return pickle.dumps(Trap(), choice.randrange(6)) + data
        case 5:
            first = next(name for name in header if name != "__metadata__")
            header |= {f"{first}{number}": header[first] for number in range(size % 500 + 1)}
            return joined(header, body)
        case _:
            header["__metadata__"]["player"] = choice.choice(["[", '{"game":']) * size
            return joined(header, body)
    return len(text).to_bytes(8, "little") + text


def forged(data: bytes, choice: random.Random) -> bytes:
    """Return a wrong player with a matching hash."""
    from alphazero.network.checkpoint import PLAYER_FORMAT, parse_tensors, tensors_to_bytes

    tensors, texts = parse_tensors(data, "sound", PLAYER_FORMAT)
    player = json.loads(texts["player"])
    name = choice.choice([each for each, tensor in tensors.items() if tensor.is_floating_point()])
    tensor, not_finite = tensors[name], tensors[name].clone()
    numbers = float("nan"), float("inf"), -float("inf")
    not_finite.view(-1)[choice.randrange(tensor.numel())] = choice.choice(numbers)
    kinds = [torch.float64, torch.float16, torch.int64, torch.bool]
    network, setting = player["network"], choice.choice(list(player["network"]))
    wrong = [-1, 10**12, 1.5, None, "8", [], {}, 65_000]
    games = [{"name": "os.system", "options": {}}, {"name": "go", "options": {"size": 19}}]
    field = choice.choice(["game", "step", "iteration", "rating", "details"])
    edit(
        choice,
        (tensors, name, [not_finite]),
        (tensors, name, [torch.zeros(*tensor.shape, size) for size in (2, 3)]),
        (tensors, name, [tensor.to(kind) for kind in kinds]),
        (tensors, name, [GONE]),
        (tensors, choice.choice(["more", "../x", "stem", ""]), [torch.zeros(3)]),
        (network, setting, [each for each in wrong if each != network[setting]]),
        (player, field, games if field == "game" else ["x", [], "", True]),
    )
    texts = {"format": PLAYER_FORMAT, "player": json.dumps(player)}
    return tensors_to_bytes("made", tensors, texts)


# --- shards of games -----------------------------------------------------------------------------


class Trap:
    """Calls `exec` when unpickled, which raises an audit event."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return exec, ("raise SystemExit('unpickled')",)


def archive(arrays: dict[str, Any], level: int | None = 1) -> bytes:
    """Return an `.npz` file of any arrays, pickled where they need it, or of raw bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as file:
        for name, array in arrays.items():
            part = io.BytesIO()
            if isinstance(array, bytes):
                part.write(array)
            else:
                np.lib.format.write_array(part, np.asanyarray(array), allow_pickle=True)
            file.writestr(f"{name}.npy", part.getvalue())
    return buffer.getvalue()


def npy(header: str, content: bytes = b"") -> bytes:
    """Return an array's file with this header."""
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def hostile_shard(arrays: dict[str, Any], choice: random.Random) -> bytes:
    """Return invalid games in a valid archive."""
    arrays = {name: array.copy() for name, array in arrays.items()}
    name = choice.choice(list(arrays))
    array = arrays[name]
    floats = [each for each, array in arrays.items() if array.dtype.kind == "f"]
    match choice.randrange(10):
        case 0:
            field = arrays[choice.choice(floats)]
            field.flat[choice.randrange(field.size)] = choice.choice([np.nan, np.inf, -np.inf])
        case 1:
            field = arrays[choice.choice(["policy_shares", "values", "best_values"])]
            field.flat[choice.randrange(field.size)] = choice.choice([-7.0, 1e30, 3.0])
        case 2:
            arrays[name] = choice.choice(
                [array[:-1], array[None], array[..., None], array.ravel()[:0]]
            )
        case 3:
            kinds = ["f8", "i8", "u1", "c8", "S3", "?", ">i4", "M8[s]"]
            arrays[name] = np.zeros(array.shape, choice.choice(kinds))
        case 4:
            arrays[name] = np.array([Trap()], object)
        case 5:
            shape = choice.choice(["(1099511627776,)", "(-1,)", "(1,)*9", "()", "(2**70,)", "'x'"])
            kind = choice.choice(["'<i4'", "'|O'", "[('a','<i4')]", "'<f4'", "__import__('os')"])
            arrays[name] = npy(f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}")
        case 6:
            arrays[name] = npy(choice.choice(["(" * 9000, "[" * 200, "exec('1')", "", "\x00" * 99]))
        case 7:
            del arrays["actions" if name == "openings" else name]  # older files have no openings
        case 8:
            whole = arrays["actions"]
            whole[choice.randrange(len(whole))] = choice.choice([-1, 1 << 20, -(1 << 31), 77])
        case 9:
            field = arrays[choice.choice(["lengths", "outcomes", "resignations"])]
            field[choice.randrange(len(field))] += choice.choice([-9, 5, 1 << 20])
    return archive(arrays)


def bomb(choice: random.Random) -> bytes:
    """Return a small archive that unpacks to more than a hundred times its size."""
    from alphazero.training.data.game_shard import GameBatch

    moves = choice.randint(1, 4) << 20
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({moves},), }}"
    return archive(dict.fromkeys(GameBatch._fields, npy(header, bytes(4 * moves))), 9)


# --- the process ---------------------------------------------------------------------------------


class DamageTrial:
    """Reads one file after the other; counts what happens, watched audit events among it."""

    def __init__(self) -> None:
        self.awake = False
        self.events: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.excess = 0
        """maximum of the memory used for a file, less twice its size, in bytes"""
        self.odd: list[str] = []
        sys.addaudithook(self._hear)
        tracemalloc.start()

    def _hear(self, event: str, _: tuple[Any, ...]) -> None:
        if self.awake and event.startswith(WATCHED):
            self.events[event] += 1

    def read(self, read: Callable[[], object], held: int) -> bool:
        """Read a file of `held` bytes; return whether the reader refused it."""
        from alphazero.errors import AlphaZeroError

        gc.collect()  # what others have left is not this file's
        gc.disable()
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        self.awake, noticed = True, False
        try:
            read()
        except AlphaZeroError as error:
            text = str(error)
            noticed = True
            if not text.isprintable() or len(text) > 600:
                self.odd.append(f"not one short line: {text[:200]!r}")
        except BaseException as error:
            self.odd.append(f"a traceback: {error!r}"[:300])
        finally:
            self.awake = False
            gc.enable()
        used = tracemalloc.get_traced_memory()[1] - before
        self.excess = max(self.excess, used - 2 * held)
        return noticed

    def figures(self, place: Path) -> dict[str, Any]:
        """Return the result of the whole trial."""
        return {
            **self.counts,
            "events": dict(self.events),
            "excess": self.excess,
            "odd": self.odd[:5],
            "traces": sorted(path.name for path in place.iterdir()),
        }


def try_checkpoints(trial: DamageTrial, count: int, choice: random.Random, place: Path) -> None:
    """Read `count` damaged or hostile variants of a small player."""
    from alphazero.network.checkpoint import load_checkpoint
    from helpers.players import saved_player

    path, data = place / "mutant", saved_player(place / "sound", "connect_four").read_bytes()
    load_checkpoint(place / "sound")
    for _ in range(count):
        make = choice.choice([damaged, edited, hostile_header, forged])
        mutant = make(data, choice)
        path.write_bytes(mutant)
        trial.counts["tried"] += 1
        noticed = trial.read(partial(load_checkpoint, path), len(mutant))
        trial.counts["noticed"] += noticed
        if not noticed:
            trial.odd.append(f"not noticed: {mutant[:300]!r}")


def try_shards(trial: DamageTrial, count: int, choice: random.Random, place: Path) -> None:
    """Read `count` damaged shards, each by the run that has its hash; hostile ones without.

    Where only whoever can write the manifest too can have made a file, it has to hold lawful games.
    """
    from alphazero.config.loader import parse_config
    from alphazero.games import make_game
    from alphazero.training.data.game_shard import GameBatch
    from alphazero.training.manifest import RunState, shard_name
    from alphazero.training.run_directory import RunDirectory
    from alphazero.utils.files import sha256_hex
    from helpers.runs.records import random_records

    game = make_game("connect_four")
    games = GameBatch.of(game, random_records(game, 3))
    data, arrays = games.to_bytes(), games._asdict()
    del arrays["options"]  # Connect Four has no variable ones, so its files lack the array
    unpacked = sum(array.nbytes for array in games)
    name = shard_name(1)
    config = parse_config("game: {name: connect_four}\nbudget: {iterations: 1}")
    run = RunDirectory(place, config, RunState(hashes={name: sha256_hex(data)}, shards=[1]))
    (place / "replay").mkdir()
    path = place / name
    path.write_bytes(data)
    assert run.load_shard(1)
    assert len(GameBatch.from_bytes(game, data, "shard").lengths) == 3
    for number in range(count):
        hostile, held = choice.random() < 0.5, unpacked
        if number % 500 == 7:
            mutant, hostile, held = bomb(choice), True, 0
        elif hostile:
            mutant = hostile_shard(arrays, choice)
        else:
            mutant = damaged(data, choice)
        held += len(mutant)
        path.write_bytes(mutant)
        trial.counts["tried"] += 1
        trial.counts["noticed"] += trial.read(lambda: run.load_shard(1), held)
        noticed = trial.read(partial(GameBatch.from_bytes, game, mutant, "shard"), held)
        if hostile:
            trial.counts["hostile"] += 1
            trial.counts["hostile_noticed"] += noticed
            if not noticed:
                trial.odd.append(f"not noticed: {mutant[:200]!r}")
        elif not noticed:
            again = GameBatch.from_bytes(game, mutant, "shard")
            same = all(map(np.array_equal, games, again))
            trial.counts["harmless"] += same  # a date was hit, or what lies between the arrays
            if not same:
                trial.odd.append("other games were read")


if __name__ == "__main__":
    from alphazero.games import game_names, make_game

    torch.set_num_threads(1)
    # Before memory is traced, which is slow: what all this loads, also at its first use.
    importlib.import_module("alphazero.training.run_directory")
    resnet = importlib.import_module("alphazero.network.resnet")
    resnet.ResNet((3, 6, 7), 7, network_config(), seed=1)
    records = importlib.import_module("helpers.runs.records")
    records.random_records(make_game("connect_four"), 1)
    for name in game_names():  # a damaged name may be another game's, which would be imported
        make_game(name)
    number, seed, folder, found = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), {}
    for what, try_files in (("checkpoint", try_checkpoints), ("shard", try_shards)):
        place = folder / what
        place.mkdir(parents=True)
        on_trial = DamageTrial()
        try_files(on_trial, number, random.Random(seed), place)
        found[what] = on_trial.figures(place)
    print(json.dumps(found))
