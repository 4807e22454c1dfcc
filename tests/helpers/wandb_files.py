"""The files that W&B writes offline, read by the format of their records and W&B's own messages."""

import json
import struct
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
    """Return what a folder `offline-run-*` holds."""
    from wandb.proto.wandb_internal_pb2 import Record

    (file,) = folder.glob("*.wandb")
    run_id, settings, points = "", {}, []
    for data in _records(file.read_bytes()):
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
