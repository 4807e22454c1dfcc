"""What the contract requires of a game's rules; the other requirements depend on it.

A requirement is a function of random games that raises Fault if it is violated.
"""

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
from alphazero.games.game import (
    HEADER,
    LAST,
    MOST_ACTIONS,
    ONGOING,
    OUTCOME,
    PLY,
    State,
    to_play,
    value_of,
)

Requirement = Callable[[RandomGames], None]

ENOUGH = 24
"""Number of won games, or of compared positions, that suffices for a conclusion."""


def expect(what: str, actual: object, expected: object, reason: str = "") -> None:
    """Raise Fault unless the two are equal."""
    if actual != expected:
        raise Fault(f"{what} is {actual}; expected {expected}{reason}")


def expect_one_of(what: str, actual: object, *allowed: object) -> None:
    """Raise Fault unless `actual` is one of those allowed."""
    if actual not in allowed:
        raise Fault(f"{what} is {actual}; expected one of {', '.join(map(str, allowed))}")


def expect_state(state: Any, origin: str) -> None:
    """Raise Fault unless `state` is one contiguous row of int64 that owns its memory."""
    if not isinstance(state, np.ndarray):
        raise Fault(f"{origin} is of type {type(state).__name__}; expected a numpy array, int64")
    if state.dtype != np.int64 or state.ndim != 1 or len(state) < HEADER:
        form = f"{state.dtype} {list(state.shape)}"
        raise Fault(f"{origin} is {form}; expected int64 [S] with at least {HEADER} entries")
    if not state.flags.c_contiguous or not state.flags.owndata:
        raise Fault(f"{origin} is a view of another array; expected an array of its own")


def has_valid_sizes_and_rules(games: RandomGames) -> None:
    """The sizes are positive integers; `rule_functions` has rules compiled for their signatures."""
    for name in ("num_actions", "max_moves", "most_legal", "edges_per_node"):
        number = getattr(games.game, name)
        if type(number) is not int or number < 1:
            raise Fault(f"{name} is {number!r}; expected an int of at least 1")
    if (number := games.game.num_actions) > MOST_ACTIONS:
        raise Fault(f"num_actions is {number}; a search takes {MOST_ACTIONS} at most")
    if not games.game.edges_per_node <= games.game.most_legal <= games.game.num_actions:
        raise Fault("expected edges_per_node <= most_legal <= num_actions")
    shape = games.game.observation_shape
    whole = isinstance(shape, tuple) and all(type(item) is int and item > 0 for item in shape)
    if not whole or len(shape) != 3 or shape[0] < 2:
        raise Fault(f"observation_shape is {shape!r}; expected (C, H, W), positive ints, C >= 2")
    rules = getattr(games.game, "rule_functions", None)
    if not isinstance(rules, RuleFunctions):
        kind = type(rules).__name__
        raise Fault(f"rule_functions is of type {kind}; expected RuleFunctions(legal, play, ...)")
    for name, rule in rules._asdict().items():
        if getattr(rule, "signature", None) != getattr(Signature, name):
            decorator = f"@kernel(Signature.{name})"
            raise Fault(f"`{name}` is not compiled for its signature; expected {decorator}")


def has_a_valid_initial_state(games: RandomGames) -> None:
    """The initial state is a new row of int64 with its header, which the options follow."""
    first, second = games.game.initial_state(), games.game.initial_state()
    expect_state(first, "initial_state()")
    games.current = first
    reason = ": no moves played, ongoing, no last action"
    expect("the header of initial_state()", first[:HEADER].tolist(), [0, ONGOING, -1], reason)
    options = games.game.state_options
    stored, reason = first[HEADER : HEADER + len(options)].tolist(), f": {', '.join(options)}"
    expect(f"the start of state[{HEADER}:]", stored, [*options.values()], reason)
    if first is second or np.shares_memory(first, second):
        raise Fault("initial_state() returns the same array each time; expected a new array")
    if not np.array_equal(first, second):
        raise Fault("initial_state() returns different positions; expected the same each time")


def stays_within_its_arrays(games: RandomGames) -> None:
    """No rule uses an index outside its array, or does what `WatchedRules` forbids."""
    games.play()


def keeps_its_header(games: RandomGames) -> None:
    """The header has the number of moves, an outcome, and the last action."""
    for record in games.records:
        last = -1
        for ply, position in enumerate(record):
            games.current = state = position.state
            reason = ", the number of moves played: `play` adds 1"
            expect(f"the ply, state[{PLY}],", state[PLY], ply, reason)
            expect(f"the last action, state[{LAST}],", state[LAST], last)
            expect_one_of(
                f"the outcome (ONGOING is {ONGOING})", position.outcome, 1, 0, -1, ONGOING
            )
            last = position.action


def has_legal_moves_until_the_end(games: RandomGames) -> None:
    """There are legal actions until the game is over, at `max_moves` at the latest."""
    for position in games.positions():
        marked, ply = int(position.mask.sum()), int(position.state[PLY])
        expect("the answer of `legal`", position.num_legal, marked, ", the marked actions")
        if marked > games.game.most_legal:
            raise Fault(f"{marked} actions are legal; most_legal is {games.game.most_legal}")
        if position.outcome != ONGOING and marked:
            raise Fault(f"the game is over and {marked} actions are legal; expected none")
        if position.outcome != ONGOING and not ply:
            raise Fault("the game is over before its first move")
        if position.outcome == ONGOING and not marked:
            raise Fault(
                "the game is not over and no action is legal; expected at least a pass, or an "
                "outcome written by `play`"
            )
        if position.outcome == ONGOING and ply == games.game.max_moves:
            raise Fault(
                f"the game is not over after max_moves, {ply}; expected an outcome written by "
                "`play`, or a larger max_moves"
            )


def has_right_optional_rules(games: RandomGames) -> None:
    """Estimates are below a certain win, `wins_at_once` is what playing shows, the end has owners
    and a margin with the outcome's sign.
    """
    game, rules = games.game, games.rules
    for position in games.positions():
        state, player = position.state, to_play(position.state)
        if position.outcome != ONGOING:
            for cell, owner in enumerate(rules.read("owners", state).written):
                expect_one_of(f"the owner of cell {cell}", owner, 1, -1, 0)
            if game.has_margin:
                margin = np.sign(rules.read("margin", state).result)
                expect("the sign of `margin`", margin, position.outcome, ", the outcome")
            continue
        estimate, answer = (
            rules.read(name, state).result for name in ("heuristic", "wins_at_once")
        )
        if abs(estimate) >= HEURISTIC_SCALE:
            raise Fault(f"the heuristic is {estimate}; expected less than {HEURISTIC_SCALE}")
        expect_one_of("the answer of `wins_at_once`", answer, 0, 1, UNKNOWN)
        if answer != UNKNOWN:
            actions = np.flatnonzero(position.mask).tolist()
            ends = {int(game.play(state, action)[OUTCOME]) for action in actions}
            reason = ", as playing every move says"
            expect("the answer of `wins_at_once`", answer, int(value_of(1, player) in ends), reason)


def gives_the_outcome_for_player_0(games: RandomGames) -> None:
    """The outcome is not for the last mover or the player to move, and its sign is right.

    Two signs of a fault: one player wins every game, whoever makes its last move; or in final
    positions the game's heuristic favours the loser.
    """
    won = [state for state in games.endings if state[OUTCOME] in (1, -1)]
    if not games.game.one_sided and len({int(state[OUTCOME]) for state in won}) < 2:
        _expect_the_last_mover_to_win(games, won)
    if games.game.rule_functions.heuristic is not no_heuristic:
        _expect_the_favourite_to_win(games, won[:ENOUGH])


def _expect_the_last_mover_to_win(games: RandomGames, won: list[State]) -> None:
    """Raise Fault if too many of the games, all won by one player, end with the other's move."""
    winner = 1 if won and won[0][OUTCOME] == -1 else 0
    lost_by_last_mover = [state for state in won if to_play(state) == winner]
    if len(won) >= ENOUGH and ENOUGH // 4 <= len(lost_by_last_mover) < len(won):
        raise Fault(
            f"player {winner} wins all {len(won)} random games that are not drawn, also those that "
            "the opponent's move ends, as here; expected +1 if player 0 wins, -1 if player 1 "
            "wins, whoever moves (if one player can hardly win, set one_sided)",
            lost_by_last_mover[0],
        )
    games.rules.notes.append(
        f"none of {len(won)} random games was won by player {1 - winner}, which leaves open "
        "whether the outcome is that of player 0"
    )


def _expect_the_favourite_to_win(games: RandomGames, won: list[State]) -> None:
    try:
        estimates = [games.rules.read("heuristic", state).result for state in won]
    except Fault:  # a heuristic need not accept finished positions
        return
    signs = [
        np.sign(estimate) * value_of(int(state[OUTCOME]), to_play(state))
        for estimate, state in zip(estimates, won, strict=True)
    ]
    wrong = signs.count(-1)
    if wrong >= ENOUGH // 2 and wrong > 2 * signs.count(1):
        state, turning = won[signs.index(-1)], "`play` does not turn the board, or "
        raise Fault(
            f"at the end of {wrong} of {len(won)} random games the heuristic favours the loser, as "
            f"here with outcome {state[OUTCOME]}: {turning if games.game.is_turned else ''}the "
            "outcome or the heuristic has the wrong sign",
            state,
        )


RULE_REQUIREMENTS: tuple[Requirement, ...] = (
    has_valid_sizes_and_rules,
    has_a_valid_initial_state,
    stays_within_its_arrays,
    keeps_its_header,
    has_legal_moves_until_the_end,
    has_right_optional_rules,
    gives_the_outcome_for_player_0,
)
"""The check stops at the first of these that is violated."""
