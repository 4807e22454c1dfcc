"""The match between several leaves a batch and one."""

import sys
from pathlib import Path

import compare_leaves
import pytest
from helpers.players import saved_player


def test_every_opening_is_played_with_both_colours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved_player(tmp_path / "some.safetensors")
    words = [str(path), "--simulations", "60", "--games", "8", "--opening-moves", "2"]
    monkeypatch.setattr(sys, "argv", ["compare_leaves.py", *words, "--leaves", "4"])
    compare_leaves.main()
    output = capsys.readouterr().out
    assert output.startswith("4 leaves a batch against 1: ")
    assert "of 8 games distinct" in output
