"""The notebook runs from its first cell to its last, and its player has learned."""

import importlib.util
import io
import json
import re
import time

import pytest
from helpers.paths import ROOT
from PIL import Image

NOTEBOOK = ROOT / "scripts" / "tutorial.ipynb"
MISSING = [each for each in ("nbclient", "ipykernel") if importlib.util.find_spec(each) is None]


def test_the_notebook_is_small_has_no_outputs_and_no_commands_of_ipython():
    assert NOTEBOOK.stat().st_size < 200_000
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in cells)
    for source in sources:
        assert not re.search(r"^\s*[%!]", source, re.MULTILINE)
        assert len(source.splitlines()) <= 30, source
    # Other people's 0.0.0 has the name on PyPI until the first release.
    assert 'package = "alphazero[plot]>=0.1"' in sources[0]


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} is not installed")
@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs_and_its_player_plays_well():
    import base64

    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    begin = time.monotonic()
    NotebookClient(notebook, timeout=1800, kernel_name="python3").execute()
    print(f"the notebook took {time.monotonic() - begin:.0f} s")
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [output["data"] for output in outputs if "data" in output]
    pictures = [base64.b64decode(each["image/png"]) for each in shown if "image/png" in each]
    assert len(pictures) == 4
    for picture in pictures:
        assert len(Image.open(io.BytesIO(picture)).convert("RGB").getcolors(1 << 20)) > 10
    boards = [each["image/svg+xml"] for each in shown if "image/svg+xml" in each]
    assert len(boards) >= 6
    assert all("<svg" in board for board in boards)
    assert "best move: c1" in boards[2], "the trained player parries the threat"
    text = "".join(output.get("text", "") for output in outputs)
    assert "legal moves: a3 b3 c3 a2 c2 b1 c1" in text
    assert "no_centre_first" in text
    assert "iteration 14: " in text
