"""The files that W&B writes offline, read by the format of their records and W&B's own messages."""

import json
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HEADER = 7
"""Bytes before the first record, and before each part of a record."""
BLOCK = 32 * 1024
"""Size of a block of LevelDB's log format, which the file has: no part crosses its end."""
LAST_PARTS = (1, 4)
"""A part that is a whole record, or the last one of it."""


class OfflineRun(NamedTuple):
    id: str
    settings: dict[str, Any]
    points: list[tuple[int, str, Any]]
    """step, name and value, in order"""


def read_offline_run(folder: Path) -> OfflineRun:
    """Return what a folder `offline-run-*` holds, once W&B's own process has written it."""
    (file,) = folder.glob("*.wandb")
    before = b""
    for _ in range(300):
        data = file.read_bytes()
        run = _parse(data)
        if run.id and run.points and data == before:
            break
        before = data
        time.sleep(0.1)
    return run


def _parse(content: bytes) -> OfflineRun:
    from wandb.proto.wandb_internal_pb2 import Record

    run_id, settings, points = "", {}, []
    for data in _records(content):
        record = Record.FromString(data)
        if record.HasField("run"):
            run_id = record.run.run_id
            for item in record.run.config.update:
                settings[item.key] = json.loads(item.value_json)
        for item in record.config.update:
            settings[item.key or ".".join(item.nested_key)] = json.loads(item.value_json)
        for item in record.history.item:
            name = item.key or ".".join(item.nested_key)
            points.append((record.history.step.num, name, json.loads(item.value_json)))
    return OfflineRun(run_id, settings, points)


def _records(data: bytes) -> Iterator[bytes]:
    place, record = HEADER, b""
    while place + HEADER <= len(data):
        if BLOCK - place % BLOCK < HEADER:  # too little is left of the block for a part
            place += BLOCK - place % BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", data, place)
        place += HEADER
        record += data[place : place + length]
        place += length
        if kind in LAST_PARTS:
            yield record
            record = b""
