"""The search of one game on demand, within its limits."""

from pathlib import Path

from helpers.games import TIC_TAC_TOE
from helpers.players import saved_player

from alphazero.frontends.analyzer import Analyzer
from alphazero.players.registry import parse_player


def test_a_limit_of_visits_does_not_make_a_bare_network_search(tmp_path: Path) -> None:
    spec = parse_player(f"network:{saved_player(tmp_path / 'any.safetensors')}")
    analyzer = Analyzer(spec, TIC_TAC_TOE)
    analyzer.max_visits = 50
    analyzer.set_position([])
    assert analyzer.choose(None) is not None
    assert analyzer.roots is not None
    assert analyzer.roots.visits.sum() == 0
