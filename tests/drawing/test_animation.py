"""A game as an animated picture has a frame for each position, which shows it."""

import io
from pathlib import Path

import pytest
from PIL import Image

from alphazero.drawing.animation import END_MILLISECONDS, MILLISECONDS, animate, save_gif
from alphazero.drawing.board import BoardDrawing
from alphazero.drawing.canvas import MARGIN
from alphazero.drawing.palette import palette_of
from alphazero.errors import RunError
from alphazero.games import make_game


def test_each_frame_shows_the_stones_of_its_position() -> None:
    game, columns = make_game("connect_four"), [3, 3, 4]
    picture = Image.open(io.BytesIO(animate(game, columns)))
    board = BoardDrawing(game, MARGIN, MARGIN, 44)
    landed = [38, 31, 39]
    assert picture.n_frames == 4
    for frame in range(4):
        picture.seek(frame)
        assert picture.info["duration"] == (END_MILLISECONDS if frame == 3 else MILLISECONDS)
        shown = picture.convert("RGB")
        for move, cell in enumerate(landed):
            x, y = board.centres[cell]
            # Beside the ring of the last move.
            pixel = shown.getpixel((round(x), round(y + 0.75 * board.radius)))
            expected = palette_of(game).stones[move % 2].colour
            near = max(abs(a - b) for a, b in zip(pixel, expected, strict=True)) < 12
            assert near == (move < frame), (frame, move)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"end in \.gif"):
        save_gif(tmp_path / "a.png", make_game("nim"), [])
    save_gif(tmp_path / "a.gif", make_game("nim"), [0, 1])
    with Image.open(tmp_path / "a.gif") as picture:
        assert picture.n_frames == 3
