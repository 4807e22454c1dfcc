"""Bars appear on a terminal, and nowhere while they are hidden."""

import io

import pytest

from alphazero.utils.progress import progress_bar, say, shows_bars, without_bars


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Screen, io.StringIO])
def test_a_bar_is_drawn_on_a_terminal_alone(monkeypatch, stream: type[io.StringIO]):
    screen = stream()
    monkeypatch.setattr("sys.stderr", screen)
    assert shows_bars() == (stream is Screen)
    with progress_bar(3, "game", file=screen) as bar:
        bar.update(2)
        bar.refresh()
    assert ("2/3" in screen.getvalue()) == (stream is Screen)
    seen = screen.getvalue()
    with without_bars():
        assert not shows_bars()
        with progress_bar(3, "game", file=screen) as bar:
            bar.update(2)
            bar.refresh()
    assert screen.getvalue() == seen
    assert shows_bars() == (stream is Screen)


def test_lines_go_to_standard_output(capsys):
    say("iteration 1")
    assert capsys.readouterr() == ("iteration 1\n", "")
