"""The script that writes solved positions: they are read as what was solved."""

import pytest
from make_positions import make_positions

from alphazero.arena.solved_positions import read_positions
from alphazero.games.registry import read_game
from alphazero.solvers.exact import action_values, solver_for


@pytest.mark.parametrize("name", ["nim:heap=40,most=12", "connect_four:rows=2,columns=10"])
def test_positions_are_read_as_what_was_solved(name: str, tmp_path, capsys):
    game, path = read_game(name), tmp_path / "positions.txt"
    path.write_text(make_positions(game, 3, seed=1, first_ply=1 if "nim" in name else 5))
    solved, solver = read_positions(game, path), solver_for(game)
    assert not capsys.readouterr().err
    assert len(solved.states) == len(path.read_text().splitlines()) > 2
    for state, values in zip(solved.states, solved.action_values, strict=True):
        assert action_values(game, solver, state).tolist() == values.tolist()
