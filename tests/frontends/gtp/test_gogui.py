"""Drawings for GoGui."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.frontends.gtp_client import GtpTalk
from helpers.players import TINY, saved_player

TYPES = {"gfx", "string", "dboard", "cboard", "sboard"}


def drawings(talk: GtpTalk) -> dict[str, tuple[str, str]]:
    """Return type and answer of each drawing, by its label."""
    found = {}
    for line in talk.ask("gogui-analyze_commands")[2:].strip().splitlines():
        kind, label, command = line.split("/")
        assert kind in TYPES
        assert talk.ask(f"known_command {command}") == "= true\n\n"
        found[label] = kind, talk.ask(command)
    return found


def board(reply: str) -> list[list[str]]:
    assert reply.startswith("=\n")
    return [row.split(" ") for row in reply.strip("=\n").split("\n")]


def test_maps_show_the_search_cell_by_cell() -> None:
    talk = GtpTalk("uct:90", "tic_tac_toe")
    talk.ask("play b B2")
    found = drawings(talk)
    for label in ("Prior", "Policy Colors", "Value", "Win Rates", "Visits"):
        assert [len(row) for row in board(found[label][1])] == [3, 3, 3], label
    priors = np.array(board(found["Prior"][1]), float)
    assert priors[1, 1] == 0
    assert priors.sum() == pytest.approx(1, abs=0.01)
    values = np.array(board(found["Value"][1]), float)
    assert np.abs(values).max() <= 1
    visits = board(found["Visits"][1])
    assert visits[1][1] == '""'
    assert sum(int(word) for row in visits for word in row if word != '""') == 90
    rates, colours = board(found["Win Rates"][1]), board(found["Policy Colors"][1])
    assert rates[1][1] == colours[1][1] == '""'
    assert float(rates[0][0]) == pytest.approx(50 * (1 + values[0, 0]), abs=0.6)
    assert colours[0][0] == "#ffdfdf"  # an eighth: every move alike
    assert found["Ownership"][1] == "? not supported: this player predicts no ownership\n\n"


def test_moves_without_visits_have_no_value() -> None:
    talk = GtpTalk("uct:3", "tic_tac_toe")
    visits, values = (board(talk.ask(f"alphazero-{word}_map")) for word in ("visit", "value"))
    for count, value in zip(np.ravel(visits), np.ravel(values), strict=True):
        assert (value == "0") == (count == "0")


def test_the_drawing_has_win_rates_shares_and_the_best_line() -> None:
    talk = GtpTalk("uct:200", "tic_tac_toe")
    for line in ("play b a1", "play w b2", "play b a2", "play w c3", "play b b1"):
        talk.ask(line)
    kind, text = drawings(talk)["Search"]
    assert kind == "gfx"
    lines = [line.partition(" ")[::2] for line in text[2:].strip().splitlines()]
    assert {word for word, _ in lines} == {"COLOR", "LABEL", "VAR", "TEXT"}
    words = {word: rest.split() for word, rest in lines}
    assert len(words["LABEL"]) % 2 == 0
    assert words["VAR"][::2] == ["w", "b", "w", "b"][: len(words["VAR"]) // 2]
    assert words["VAR"][1] == words["LABEL"][0]  # the best move is labelled first
    assert re.fullmatch(r"black \d+\.\d %, 200 visits", " ".join(words["TEXT"]))
    assert talk.ask("alphazero-win_rate") == f"= {' '.join(words['TEXT'])}\n\n"
    for word, rest in lines:
        if word == "COLOR":
            assert re.fullmatch(r"#ff[0-9a-f]{4} [ABC][123]", rest)


def test_ownership_is_for_black_whoever_is_to_move(tmp_path: Path) -> None:
    game = "go:rows=3,columns=3"
    heads = replace(TINY, auxiliary=("ownership", "margin"))
    talk = GtpTalk(str(saved_player(tmp_path / "go.safetensors", game, heads)), game)
    for line in ("play b a1", "play w b2"):
        talk.ask(line)
        end = talk.engine.analyzer.predict_end(talk.engine.position.state)
        assert end.ownership is not None
        found = np.array(board(talk.ask("alphazero-ownership_map")), float).ravel()
        assert found == pytest.approx(end.ownership, abs=1e-3)
        assert f"margin {end.margin:+.1f}, " in talk.ask("alphazero-win_rate")


def test_a_finished_game_and_a_game_without_cells_have_no_maps() -> None:
    talk = GtpTalk("uct:5", "nim")
    assert talk.ask("alphazero-gfx").startswith("? no map")
    assert talk.ask("alphazero-gfx now").startswith("? expected no arguments")
