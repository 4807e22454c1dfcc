"""Results as JSON lines: valid, complete, on one line."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.cli.json_output import plain, to_json


class Pair(NamedTuple):
    first: int
    path: Path


@dataclass(frozen=True)
class Result:
    wins: int
    pairs: tuple[Pair, ...]
    _hidden: int = 0

    @property
    def share(self) -> float:
        return self.wins / 4


def test_records_become_objects_with_their_properties():
    fields = plain(Result(3, (Pair(1, Path("a/b")),)))
    assert fields == {"wins": 3, "pairs": [{"first": 1, "path": "a/b"}], "share": 0.75}


def test_every_line_is_what_another_reader_of_json_accepts():
    content = {
        "text": "two\nlines, ½ “quoted”",
        "NaN": float("nan"),
        "infinite": [float("inf"), np.float32("-inf")],
        "numpy": {1: np.int64(2), "share": np.float32(0.5), "flag": np.bool_(True)},
        "array": np.arange(3),
        "nothing": None,
    }
    line = to_json(content)
    assert line.isascii()
    assert "\n" not in line
    assert json.loads(line, parse_constant=str) == {
        "text": "two\nlines, ½ “quoted”",
        "NaN": None,
        "infinite": [None, None],
        "numpy": {"1": 2, "share": 0.5, "flag": True},
        "array": [0, 1, 2],
        "nothing": None,
    }
