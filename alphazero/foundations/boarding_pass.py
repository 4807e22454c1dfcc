"""The lost boarding pass: one probability by simulation, by recurrence and in closed form.

Passengers 1 to n board an aircraft of n seats, and seat i is passenger i's own. The first has lost
the boarding pass and takes a random seat. Each later one takes the own seat or, if it is taken, a
random free one. How likely is it that the last one gets the own seat? (Winkler, *Mathematical
Puzzles: A Connoisseur's Collection*, 2004, "The Lost Boarding Pass".)

The three simulations draw from the same distribution, each with less work than the previous one:
the second rejects no draws, and the third skips all steps that cannot change the answer. The
recurrence and the closed form are exact.

In the code passengers, 1 to 1,000,000, and seats are numbered from 0.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from alphazero.foundations.common import Progress, check_number, compiled, pieces

MOST_PASSENGERS = 1_000_000
MOST_FLIGHTS = 10**9

PIECE = 20_000_000
"""Seats filled between two updates of the bar, in about a tenth of a second."""

Seats: TypeAlias = npt.NDArray[np.int64]


@compiled
def _board_by_trial(passengers: int, flights: int, rng: np.random.Generator, seats: Seats) -> int:
    """Draw seats until one is free; return how many last passengers got their own.

    `seats` [2, n] is scratch memory, initially zero. Its first row has the flight that last filled
    each seat, so nothing needs clearing between flights.
    """
    taken, hits = seats[0], 0
    for flight in range(1, flights + 1):
        for passenger in range(passengers):
            seat = passenger
            if passenger == 0:
                seat = int(rng.random() * passengers)
            while taken[seat] == flight:
                seat = int(rng.random() * passengers)
            taken[seat] = flight
        hits += seat == passengers - 1
    return hits


@compiled
def _board_from_list(passengers: int, flights: int, rng: np.random.Generator, seats: Seats) -> int:
    """Draw from a list of the free seats, so that no draw is rejected.

    `seats` [2, n] is scratch memory: the free seats in the first `n - passenger` entries, and the
    index of each seat there.
    """
    free, index_of, hits = seats[0], seats[1], 0
    for _ in range(flights):
        for seat in range(passengers):
            free[seat], index_of[seat] = seat, seat
        for passenger in range(passengers):
            left = passengers - passenger
            index = index_of[passenger]
            if passenger == 0 or index >= left:
                index = int(rng.random() * left)
            seat, moved = free[index], free[left - 1]
            free[index], index_of[moved] = moved, index  # the last one fills the gap
            free[left - 1], index_of[seat] = seat, left - 1
        hits += seat == passengers - 1
    return hits


@compiled
def _follow_displaced(passengers: int, flights: int, rng: np.random.Generator, _: Seats) -> int:
    """Follow only the displaced passenger.

    A displaced passenger takes seat 0, which ends the chain, or a later seat, whose owner is
    displaced next. The seats before the own one, except seat 0, are taken.
    """
    hits = 0
    for _flight in range(flights):
        displaced = 0
        while True:
            drawn = int(rng.random() * (passengers - displaced))
            if drawn == 0:
                hits += 1
                break
            displaced += drawn
            if displaced == passengers - 1:
                break
    return hits


Simulation: TypeAlias = Callable[[int, int, np.random.Generator, Seats], int]

SIMULATIONS: Final[dict[str, Simulation]] = {
    "brute force": _board_by_trial,
    "without rejected draws": _board_from_list,
    "the displaced alone": _follow_displaced,
}
"""Simplest to fastest."""


def simulate(
    method: str,
    passengers: int,
    flights: int,
    rng: np.random.Generator,
    show: Progress | None = None,
) -> float:
    """Return the share of `flights` on which the last passenger got the own seat.

    `method` is one of SIMULATIONS, `flights` 1 to 1,000,000,000. The standard error is at most
    0.5 / sqrt(flights).
    """
    check_number("passengers", passengers, 1, MOST_PASSENGERS)
    check_number("flights", flights, 1, MOST_FLIGHTS)
    hits = 0
    for piece in pieces(flights, max(1, PIECE // passengers), show):
        seats = np.zeros((2, passengers), np.int64)
        hits += SIMULATIONS[method](passengers, piece, rng, seats)
    return hits / flights


def recurrence(passengers: int) -> float:
    """Return the exact probability, as a sum over the first choice.

    With n passengers the first sits in seat 0 (the last gets the own seat), in the last seat (the
    last does not), or displaces a passenger with n - k seats to choose from, k = 1 … n - 2, who
    then faces the problem of the first of n - k passengers:

        p(1) = 1,    p(n) = (1 + p(n - 1) + p(n - 2) + … + p(2)) / n
    """
    check_number("passengers", passengers, 1, MOST_PASSENGERS)
    probability, total = 1.0, 0.0
    for count in range(2, passengers + 1):
        probability = (1 + total) / count
        total += probability
    return probability


def closed_form(passengers: int) -> float:
    """Return the exact probability: 1 for one passenger, else a half.

    Each earlier passenger is as likely to take seat 0 as the last seat; the last passenger gets the
    one that is left.
    """
    check_number("passengers", passengers, 1, MOST_PASSENGERS)
    return 1.0 if passengers == 1 else 0.5


class Answer(NamedTuple):
    """The result of one method for one number of passengers."""

    method: str
    passengers: int
    probability: float
    error: float
    """standard error of the probability; 0 for the exact methods"""
    seconds: float
    """per flight, or in total for an exact answer"""


def compare(
    sizes: Sequence[int], flights: int, seed: int, show: Progress | None = None
) -> list[Answer]:
    """Run every method for each number of passengers; show the flights."""
    rng, answers = np.random.default_rng(seed), []
    for method in SIMULATIONS:
        simulate(method, 1, 1, rng)  # compiles
    exact = {"recurrence": recurrence, "closed form": closed_form}
    for passengers in sizes:
        for method in [*SIMULATIONS, *exact]:
            begin, error = time.perf_counter(), 0.0
            if method in exact:
                probability, work = exact[method](passengers), 1
            else:
                probability, work = simulate(method, passengers, flights, rng, show), flights
                error = 0.5 / flights**0.5 if passengers > 1 else 0.0
            seconds = (time.perf_counter() - begin) / work
            answers.append(Answer(method, passengers, probability, error, seconds))
    return answers
