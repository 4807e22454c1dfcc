"""The profile of a simulation."""

from pathlib import Path

import pytest
from helpers.runs.tiny_run import tiny_config

from alphazero.diagnostics.search_profile import SearchProfile, profile


@pytest.mark.parametrize(("solver", "cache"), [(True, 1), (False, 1), (False, 0)])
def test_the_parts_of_a_simulation_add_up(solver: bool, cache: int, tmp_path: Path) -> None:
    config = tiny_config(
        tmp_path,
        "selfplay.parallel_games=16",
        f"search.evaluation_cache_mib={cache}",
        f"search.mcts_solver={solver}",
    )
    found = profile(config, 0.6)
    inside = {name: spent for name, spent in found.parts.items() if name.startswith("  ")}
    assert sum(inside.values()) == pytest.approx(found.parts["searching"])
    assert ("  wins at once" in inside) == ("  proving" in inside) == solver
    assert ("  hashing and looking up" in inside) == bool(cache)
    derived = "difference", "proving"
    parts = [spent for name, spent in inside.items() if not name.strip().startswith(derived)]
    outside = [spent for name, spent in found.parts.items() if name[0] != " "]
    assert min(*parts, *outside) > 0
    assert 0 < found.evaluations <= found.simulations * 2
    # A root that was not kept is evaluated without a simulation: at most once in four.
    assert 0 < found.leaves <= 1.25
    first, *_, last = str(found).splitlines()
    assert first.startswith("searching")
    assert last.endswith("ns")


def test_a_profile_without_evaluations_is_shown() -> None:
    shown = str(SearchProfile({"searching": 300.0}, simulations=10, evaluations=0, leaves=1.0))
    assert shown.splitlines()[1].split() == ["a", "simulation", "300", "ns"]
