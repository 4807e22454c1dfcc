"""A figure is written as PNG or SVG, over figures only."""

import io
import re
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from PIL import Image

from alphazero.drawing.figures import check_figure, save_figure
from alphazero.errors import RunError


def test_the_suffix_of_a_file_is_its_format(tmp_path: Path) -> None:
    figure = Figure(figsize=(5, 3))
    save_figure(tmp_path / "a.PNG", figure)
    save_figure(tmp_path / "a.svg", figure)
    with Image.open(io.BytesIO((tmp_path / "a.PNG").read_bytes())) as picture:
        assert (picture.format, picture.size) == ("PNG", (1000, 600))
    assert "<svg" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_a_figure_is_replaced_and_any_other_file_is_not(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    check_figure(path)
    save_figure(path, Figure())
    check_figure(path)
    path.touch()
    check_figure(path)
    Image.new("RGB", (9, 9)).save(path, "PNG")
    with pytest.raises(RunError, match=f"{name}: the file holds no figure by matplotlib; remove"):
        check_figure(path)


def test_another_format_or_no_matplotlib_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.pdf", "a"):
        with pytest.raises(RunError, match=f"cannot draw {name}: a figure is PNG or SVG"):
            check_figure(Path(name))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RunError, match=re.escape("pip install 'alphazero[plot]'")):
        check_figure(Path("a.png"))
