"""The benchmark of actors receives games from actors that only sleep."""

import pytest
from benchmark_actors import compare_sleepers
from helpers.runs.tiny_run import tiny_config

from alphazero.games import make_game


def test_a_driver_receives_games_from_sleeping_actors(tmp_path, capsys):
    game, nap = make_game("tic_tac_toe"), 0.005
    compare_sleepers(game, tiny_config(tmp_path), [1, 3], nap, 0.5, through_ray=False)
    _, _, *rows = capsys.readouterr().out.splitlines()
    assert [int(row.split()[0]) for row in rows] == [1, 3]
    for row in rows:
        actors, ideal, received = (
            float(cell.removesuffix("/s").replace(",", "")) for cell in row.split()[:3]
        )
        assert ideal == pytest.approx(actors / nap)
        assert 0 < received <= 1.1 * ideal
