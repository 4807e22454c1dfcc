"""Simple damage to a file."""

from pathlib import Path


def flip_bit(path: Path) -> None:
    """Flip a bit of the byte in the middle of the second half, behind any header."""
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 4
    path.write_bytes(data)


def cut_in_half(path: Path) -> None:
    """Drop the second half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
