"""A played game as an animated picture."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PIL import Image

from alphazero.drawing.board import BoardDrawing
from alphazero.drawing.canvas import MARGIN, Canvas
from alphazero.errors import RunError
from alphazero.games.game import Game
from alphazero.utils.files import check_writable, printable, write_atomic

CELL: Final = 44
"""The size of a cell, in pixels."""

MILLISECONDS: Final = 700
"""Time of a position."""

END_MILLISECONDS: Final = 3000
"""Time of the last position."""

MAX_COLOURS: Final = 64
"""Colours of a frame: boards have few, and smooth edges need some between them."""


def animate(game: Game, actions: Sequence[int]) -> bytes:
    """Return the positions of a game as an animated GIF, which repeats for ever."""
    frames = [
        canvas.to_image().quantize(MAX_COLOURS, dither=Image.Dither.NONE)
        for canvas in _positions(game, actions)
    ]
    times = [MILLISECONDS] * (len(frames) - 1) + [END_MILLISECONDS]
    data = io.BytesIO()
    frames[0].save(
        data, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, disposal=1
    )
    return data.getvalue()


def save_gif(path: Path, game: Game, actions: Sequence[int]) -> None:
    """Write a game as an animated GIF.

    Raises:
        RunError: for a name that does not end in .gif, or a file that cannot be written.
    """
    if path.suffix.lower() != ".gif":
        raise RunError(f"cannot draw {printable(path)}: let its name end in .gif")
    check_writable(path)
    write_atomic(path, animate(game, actions))


def _positions(game: Game, actions: Sequence[int]) -> list[Canvas]:
    board = BoardDrawing(game, MARGIN, MARGIN, CELL)
    size = board.width + 2 * MARGIN, board.height + 2 * MARGIN
    state, last, drawn = game.initial_state(), None, []
    for action in (*actions, None):
        canvas = Canvas(size)
        board.draw(canvas, state, last)
        drawn.append(canvas)
        if action is not None:
            last = game.action_cell(state, action)
            state = game.play(state, action)
    return drawn
