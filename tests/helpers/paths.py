"""Paths within the repository."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
DATA = TESTS / "data"
CHECKPOINTS = ROOT / "checkpoints"
CONFIGS = ROOT / "configs"
