"""What the contract requires of a game's rules; the other requirements depend on it.

A requirement is a function of random games that raises Fault if it is violated.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from alphazero.games.compiled_rules import (
    HEURISTIC_SCALE,
    UNKNOWN,
    RuleFunctions,
    Signature,
    no_heuristic,
)
from alphazero.games.contract.random_games import RandomGames
from alphazero.games.contract.watched_rules import Fault
from alphazero.games.game import HEADER, LAST, ONGOING, OUTCOME, PLY, to_play, value_of

Requirement = Callable[[RandomGames], None]

ENOUGH = 24
"""Number of won games, or of compared positions, that suffices for a conclusion."""


def has_valid_sizes(games: RandomGames) -> None:
    """`num_actions`, `max_moves` and `observation_shape` are positive integers."""
    for name in ("num_actions", "max_moves"):
        number = getattr(games.game, name)
        if type(number) is not int or number < 1:
            raise Fault(f"{name} is {number!r}; expected an int of at least 1")
    shape = games.game.observation_shape
    whole = isinstance(shape, tuple) and all(type(each) is int and each > 0 for each in shape)
    if not whole or len(shape) != 3 or shape[0] < 2:
        raise Fault(
            f"observation_shape is {shape!r}; expected (C, H, W), ints of at least 1, with C at "
            "least 2: own stones and the opponent's"
        )


def has_rules_compiled_for_their_signatures(games: RandomGames) -> None:
    """`rule_functions` has the rules, each compiled for its signature."""
    rules = getattr(games.game, "rule_functions", None)
    if not isinstance(rules, RuleFunctions):
        raise Fault(
            f"rule_functions is of type {type(rules).__name__}; expected RuleFunctions(legal, "
            "play, observe)"
        )
    for name, rule in rules._asdict().items():
        if getattr(Signature, name) not in getattr(rule, "nopython_signatures", ()):
            raise Fault(
                f"`{name}` is not compiled for its signature; expected @kernel(Signature.{name})"
            )


def has_a_valid_initial_state(games: RandomGames) -> None:
    """The initial state is a new row of int64 with its header."""
    first, second = games.game.initial_state(), games.game.initial_state()
    expect_state(first, "initial_state()")
    games.current = first
    reason = ": no moves played, ongoing, no last action"
    expect("the header of initial_state()", first[:HEADER].tolist(), [0, ONGOING, -1], reason)
    if first is second or np.shares_memory(first, second):
        raise Fault("initial_state() returns the same array each time; expected a new array")
    if not np.array_equal(first, second):
        raise Fault("initial_state() returns different positions; expected the same each time")


def expect(what: str, actual: object, expected: object, reason: str = "") -> None:
    """Raise Fault unless the two are equal."""
    if actual != expected:
        raise Fault(f"{what} is {actual}; expected {expected}{reason}")


def expect_state(state: Any, origin: str) -> None:
    """Raise Fault unless `state` is one contiguous row of int64 that owns its memory."""
    if not isinstance(state, np.ndarray):
        raise Fault(f"{origin} is of type {type(state).__name__}; expected a numpy array, int64")
    if state.dtype != np.int64 or state.ndim != 1 or len(state) < HEADER:
        raise Fault(
            f"{origin} is {state.dtype} {list(state.shape)}; expected int64 [S] with at least "
            f"{HEADER} entries"
        )
    if not state.flags.c_contiguous or not state.flags.owndata:
        raise Fault(f"{origin} is a view of another array; expected an array of its own")


def stays_within_its_arrays(games: RandomGames) -> None:
    """No rule uses an index outside its array, or does what `WatchedRules` forbids."""
    games.play()


def counts_every_move(games: RandomGames) -> None:
    """The ply is the number of moves played."""
    for record in games.records:
        for ply, position in enumerate(record):
            games.current = position.state
            reason = ", the number of moves played: `play` adds 1"
            expect(f"the ply, state[{PLY}],", position.state[PLY], ply, reason)


def stores_the_last_action(games: RandomGames) -> None:
    """The header holds the last action."""
    for record in games.records:
        for before, position in itertools.pairwise(record):
            games.current = position.state
            expect(f"the last action, state[{LAST}],", position.state[LAST], before.action)


def has_an_outcome_only_at_the_end(games: RandomGames) -> None:
    """The header's outcome is a result when the game is over, else ONGOING."""
    for position in games.positions():
        if position.outcome not in (1, 0, -1, ONGOING):
            raise Fault(
                f"the outcome is {position.outcome}; expected 1, 0 or -1 for player 0 when the "
                f"game is over, else ONGOING, {ONGOING}"
            )


def has_legal_moves_until_the_end(games: RandomGames) -> None:
    """There are legal actions exactly until the game is over; `legal` returns their number."""
    for position in games.positions():
        marked = int(position.mask.sum())
        if position.num_legal != marked:
            raise Fault(
                f"`legal` returns {position.num_legal} and marks {marked} actions; expected the "
                "number of marked actions"
            )
        if position.outcome == ONGOING and not marked:
            raise Fault("the game is not over and no action is legal; expected at least a pass")
        if position.outcome != ONGOING and marked:
            raise Fault(f"the game is over and {marked} actions are legal; expected none")


def ends_within_max_moves(games: RandomGames) -> None:
    """No game exceeds `max_moves`."""
    for position in games.last_positions():
        if position.outcome == ONGOING:
            raise Fault(
                f"the game is not over after {position.state[PLY]} moves and max_moves is "
                f"{games.game.max_moves}; expected a max_moves that no game exceeds"
            )
        if not position.state[PLY]:
            raise Fault("the game is over before its first move")


def keeps_estimates_below_a_certain_win(games: RandomGames) -> None:
    """An unfinished position's heuristic is strictly between -/+ HEURISTIC_SCALE."""
    for position in games.positions():
        if position.action >= 0:
            estimate = games.rules.ask("heuristic", position.state)
            if not -HEURISTIC_SCALE < estimate < HEURISTIC_SCALE:
                raise Fault(
                    f"the heuristic is {estimate}; expected a number between {-HEURISTIC_SCALE} "
                    f"and {HEURISTIC_SCALE}"
                )


def gives_the_outcome_for_player_0(games: RandomGames) -> None:
    """The outcome is not for the last mover or the player to move, and its sign is right.

    Two signs of a fault: one player wins every game, whoever makes its last move; or in final
    positions the game's heuristic favours the loser.
    """
    if not games.game.one_sided:
        _expect_wins_of_both(games)
    if games.game.rule_functions.heuristic is not no_heuristic:
        _expect_the_favourite_to_win(games)


def _expect_wins_of_both(games: RandomGames) -> None:
    won = []
    for state in games.endings():
        if state[OUTCOME] in (1, -1):
            won.append(state)
        if len({int(each[OUTCOME]) for each in won}) == 2:
            return
    winner = 1 if won and won[0][OUTCOME] == -1 else 0
    lost_by_last_mover = [state for state in won if to_play(state) == winner]
    if len(won) < ENOUGH or not ENOUGH // 4 <= len(lost_by_last_mover) < len(won):
        games.rules.notes.append(
            f"of the random games {len(won)} were won, none by player {1 - winner}; this does not "
            "show whether the outcome is that of player 0"
        )
        return
    raise Fault(
        f"player {winner} wins all {len(won)} random games that are not drawn, but the other "
        f"player makes the last move in {len(lost_by_last_mover)} of them, as here; expected the "
        "outcome for player 0: +1 if player 0 wins, -1 if player 1 wins, whoever moves (if one "
        "player can hardly win, set one_sided)",
        lost_by_last_mover[0],
    )


def _expect_the_favourite_to_win(games: RandomGames) -> None:
    right, wrong = 0, []
    for state in itertools.islice(games.endings(), ENOUGH):
        try:
            estimate = games.rules.ask("heuristic", state)
        except Fault:  # a heuristic need not accept finished positions
            return
        outcome = int(state[OUTCOME])
        product = estimate * value_of(outcome, to_play(state)) if outcome != ONGOING else 0
        right += product > 0
        if product < 0:
            wrong.append(state)
    if len(wrong) >= ENOUGH // 2 and len(wrong) > 2 * right:
        raise Fault(
            f"at the end of {len(wrong)} of {len(wrong) + right} random games the heuristic "
            f"favours the loser, as here with outcome {wrong[0][OUTCOME]}: the outcome or the "
            "heuristic has the wrong sign",
            wrong[0],
        )


def knows_its_wins_at_once(games: RandomGames) -> None:
    """`wins_at_once` of an unfinished position agrees with playing every legal move."""
    for position in games.positions():
        if position.outcome != ONGOING:
            continue
        answer = games.rules.ask("wins_at_once", position.state)
        if answer not in (0, 1, UNKNOWN):
            raise Fault(f"`wins_at_once` returns {answer}; expected 0, 1, or {UNKNOWN} for unknown")
        if answer == UNKNOWN:
            continue
        win = value_of(1, to_play(position.state))
        wins = any(
            games.game.play(position.state, action)[OUTCOME] == win
            for action in np.flatnonzero(position.mask).tolist()
        )
        if wins != answer:
            raise Fault(
                f"`wins_at_once` returns {answer}; expected {int(wins)}, as playing every legal "
                "move says"
            )


def gives_each_cell_to_a_player_or_nobody(games: RandomGames) -> None:
    """`owners` of a finished position writes 1, -1 or 0 for each cell."""
    for position in games.last_positions():
        owners = games.rules.write("owners", position.state)
        if (wrong := ~np.isin(owners, (-1, 0, 1))).any():
            raise Fault(
                f"`owners` writes {owners[wrong][0]} for cell {wrong.argmax()}; expected 1 for "
                "player 0, -1 for player 1 or 0 for nobody"
            )


def has_a_margin_with_the_sign_of_the_outcome(games: RandomGames) -> None:
    """`margin` of a finished position is by how much player 0 won."""
    for position in games.last_positions():
        margin = games.rules.ask("margin", position.state)
        if games.game.has_margin and not np.sign(margin) == position.outcome:
            raise Fault(
                f"`margin` returns {margin} and the outcome is {position.outcome}; expected equal "
                "signs"
            )


RULE_REQUIREMENTS: tuple[Requirement, ...] = (
    has_valid_sizes,
    has_rules_compiled_for_their_signatures,
    has_a_valid_initial_state,
    stays_within_its_arrays,
    counts_every_move,
    stores_the_last_action,
    has_an_outcome_only_at_the_end,
    has_legal_moves_until_the_end,
    ends_within_max_moves,
    keeps_estimates_below_a_certain_win,
    gives_the_outcome_for_player_0,
    knows_its_wins_at_once,
    gives_each_cell_to_a_player_or_nobody,
    has_a_margin_with_the_sign_of_the_outcome,
)
"""The check stops at the first of these that is violated."""
