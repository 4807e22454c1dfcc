"""Reads pictures."""

import numpy as np
from PIL import Image

from alphazero.drawing.canvas import COLOURS


def heights(picture: Image.Image, colour: int, x: int) -> list[int]:
    """The rows of a column that have a colour."""
    column = np.asarray(picture)[:, x]
    return np.flatnonzero((column == COLOURS[colour]).all(axis=1)).tolist()
