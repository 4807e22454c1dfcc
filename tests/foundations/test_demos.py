"""The boarding pass and the queens against plain counts, and every demo as a command."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.commands import error_line

from alphazero.foundations import boarding_pass
from alphazero.foundations.__main__ import main
from alphazero.foundations.boarding_pass import SIMULATIONS
from alphazero.foundations.demos import DEMOS
from alphazero.foundations.queens import search, widths

Capture = pytest.CaptureFixture[str]


# --- the lost boarding pass ----------------------------------------------------------------------


def last_seat_chance(passengers: int) -> Fraction:
    """Count every way in which the passengers may sit, each with its chance."""

    def board(passenger: int, free: frozenset[int]) -> Fraction:
        if passenger == passengers - 1:
            return Fraction(passenger in free)
        choices = {passenger} if passenger and passenger in free else free
        return sum((board(passenger + 1, free - {seat}) for seat in choices), Fraction()) / len(
            choices
        )

    return board(0, frozenset(range(passengers)))


@pytest.mark.parametrize("passengers", range(1, 10))
def test_recurrence_and_closed_form_are_what_a_count_of_all_seatings_gives(passengers: int):
    counted = last_seat_chance(passengers)
    assert boarding_pass.recurrence(passengers) == pytest.approx(float(counted), abs=1e-15)
    assert boarding_pass.closed_form(passengers) == counted


@pytest.mark.parametrize("method", SIMULATIONS)
@pytest.mark.parametrize(
    ("passengers", "flights"),
    [(1, 100), (2, 100_000), (3, 100_000), (10, 100_000), (1_000, 5_000), (100_000, 200)],
)
def test_simulations_agree_with_the_exact_answers(method: str, passengers: int, flights: int):
    share = boarding_pass.simulate(method, passengers, flights, np.random.default_rng(11))
    exact = boarding_pass.closed_form(passengers)
    assert boarding_pass.recurrence(passengers) == pytest.approx(exact, abs=1e-9)
    error = (exact * (1 - exact) / flights) ** 0.5
    assert abs(share - exact) <= 3.5 * error


# --- queens --------------------------------------------------------------------------------------


def peaceful(columns: tuple[int, ...]) -> bool:
    """Whether no two queens share a diagonal."""
    pairs = itertools.combinations(enumerate(columns), 2)
    return all(abs(a - b) != other - row for (row, a), (other, b) in pairs)


@pytest.mark.parametrize("queens", range(1, 9))
def test_the_search_visits_and_finds_what_a_count_of_all_placements_does(queens: int):
    shown: list[int] = []
    found = search(queens, show=shown.append)
    for depth, visited in enumerate(found.visited, 1):
        assert visited == sum(map(peaceful, itertools.permutations(range(queens), depth)))
    assert found.solutions == tuple(filter(peaceful, itertools.permutations(range(queens))))
    assert len(shown) == queens


def test_of_40320_placements_the_cuts_leave_2056_for_the_92_solutions():
    cut = search(8)
    assert len(cut.solutions) == 92
    # Knuth (1975) counts 2,057 nodes: these, and the empty board.
    assert sum(cut.visited) == 2_056
    counts = widths(8, cut)
    assert [rows[-1] for rows in counts.values()] == [64**8, 8**8, 40_320, 92]
    assert counts["one a row and a column"] == [math.perm(8, depth) for depth in range(1, 9)]


# --- every demo as a command ---------------------------------------------------------------------

SMALL = {
    "blackjack-prediction": (
        "--episodes=30000",
        "averages are the same, since no state occurs twice in an episode\nthey differ from the "
        "exact values by at most 3.3 times sqrt((1 - v²) / visits), a bound of the standard "
        "error, with a mean square of 0.93",
    ),
    "blackjack-exploring-starts": ("--episodes=30000", "the learned policy is the exact one in "),
    "blackjack-epsilon-soft": (
        "--episodes=30000 --epsilon=0.2",
        "while exploring, at best -0.10680; the policy that is best then",
    ),
    "boarding-pass": (
        "--passengers=300 --flights=500",
        "     0.5000     0.5000     0.5000     0.5000\n"
        "  standard error             0.0000     0.0224     0.0224     0.0224     0.0224\n",
    ),
    "queens": ("--queens=5", "10 solutions, 53 placements visited"),
}
"""Arguments of each demo, and words that it prints."""


@pytest.mark.parametrize("name", DEMOS)
def test_every_demo_prints_its_result(name: str, capsys):
    arguments, words = SMALL[name]
    main([name, *arguments.split()])
    assert words in capsys.readouterr().out


def test_a_learned_policy_and_a_solution_are_drawn(capsys):
    main(["blackjack-exploring-starts", "--episodes=300000"])
    lines = capsys.readouterr().out.splitlines()
    assert "  21  . . . . . . . . . ." in lines[-10]  # without a usable ace
    assert lines[-1].startswith("  12  H")
    main(["queens", "--queens=4"])
    assert capsys.readouterr().out.endswith("  . Q . .\n  . . . Q\n  Q . . .\n  . . Q .\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["blackjack-prediction", "--episodes=0"], "episodes must be a whole number from 1 to"),
        (["blackjack-epsilon-soft", "--episodes=none"], "invalid int value: 'none'"),
        (["blackjack-epsilon-soft", "--epsilon=1.5"], "epsilon must lie from 0 to 1, got 1.5"),
        (["boarding-pass", "--passengers=1000001"], "1,000,000, got 1000001"),
        (["boarding-pass", "--flights=0"], "flights must be a whole number from 1 to"),
        (["queens", "--queens=13"], "queens must be a whole number from 1 to 12, got 13"),
        (["chess"], "invalid choice: 'chess'"),
        ([], "NAME"),
    ],
)
def test_a_wrong_argument_gets_one_line(arguments: list[str], complaint: str, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert complaint in error_line(capsys)
