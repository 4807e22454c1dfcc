"""Nim against its closed form, and what is typed and drawn."""

import numpy as np
import pytest

from alphazero.errors import GameError
from alphazero.games import game_options, make_game
from alphazero.games.nim import LEFT, Nim
from alphazero.solvers.exhaustive import solve_all_positions


@pytest.mark.parametrize(("heap", "most"), [(15, 3), (1, 1), (7, 1), (12, 5), (6, 6), (20, 4)])
def test_the_mover_loses_exactly_when_the_chips_are_a_multiple_of_most_plus_one(
    heap: int, most: int
) -> None:
    solution = solve_all_positions(Nim(heap, most))
    assert len(solution.states) >= heap
    for state, value, optimal in zip(
        solution.states, solution.values, solution.optimal, strict=True
    ):
        remainder = int(state[LEFT]) % (most + 1)
        assert value == (-1 if remainder == 0 else 1)
        if remainder:
            assert np.flatnonzero(optimal).tolist() == [remainder - 1]
        else:
            assert optimal.sum() == min(most, state[LEFT])


def test_by_default_there_are_fifteen_chips_and_a_turn_takes_at_most_three() -> None:
    assert game_options("nim") == {"heap": 15, "most": 3}


def test_chips_are_drawn_with_the_moves_counted() -> None:
    game = make_game("nim", heap=7)
    state = game.from_moves(["3", "1"])
    assert game.render(state) == "o o o . . . .\n3 left after 2 moves"
    assert game.parse(game.render(state))[:3].tolist() == [2, 2, -1]


def test_the_player_who_takes_the_last_chip_wins() -> None:
    game = make_game("nim", heap=7)
    assert game.outcome(game.from_moves(["3", "1", "3"])) == 1
    assert game.outcome(game.from_moves(["3", "1", "2", "1"])) == -1


@pytest.mark.parametrize("text", ["", "0", "4", "-1", "one", "1.0", "9" * 10_000, "²"])
def test_a_text_that_is_no_number_of_chips_is_answered_with_the_range(text: str) -> None:
    game = Nim()
    with pytest.raises(GameError, match=r" is no number of chips; type 1 to 3$"):
        game.parse_action(game.initial_state(), text)


def test_more_chips_than_are_left_cannot_be_taken() -> None:
    game = Nim(5)
    with pytest.raises(GameError, match=r"^only 2 left; type 1 to 2$"):
        game.parse_action(game.from_moves(["3"]), "3")
    with pytest.raises(GameError, match=r"^the game is over$"):
        game.parse_action(game.from_moves(["3", "2"]), "1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heap": 0}, "heap must be 1 to 1000, got 0"),
        ({"heap": 1001}, "heap must be 1 to 1000, got 1001"),
        ({"most": 0}, "most must be 1 to 15, the whole heap, got 0"),
        ({"most": 16}, "most must be 1 to 15, the whole heap, got 16"),
    ],
)
def test_a_heap_that_cannot_be_is_explained(options: dict[str, int], message: str) -> None:
    with pytest.raises(GameError) as error:
        make_game("nim", **options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("diagram", "message"),
    [
        ("", "a diagram needs a line of 4 signs"),
        ("o o o o", "a diagram needs a line of 4 signs"),
        ("o o . .\n3 left after 1 moves", "a diagram needs a line of 4 signs"),
        (". . o o\n2 left after 1 moves", "a diagram needs a line of 4 signs"),
        ("o o o\n3 left after 0 moves", "a diagram needs a line of 4 signs"),
        ("o o . .\n2 left after 3 moves", "3 moves of 1 to 3 chips cannot have taken 2"),
        (". . . .\n0 left after 1 moves", "1 moves of 1 to 3 chips cannot have taken 4"),
    ],
)
def test_a_heap_that_is_drawn_wrongly_is_explained(diagram: str, message: str) -> None:
    with pytest.raises(GameError) as error:
        Nim(4).parse(diagram)
    assert str(error.value).startswith(message)
