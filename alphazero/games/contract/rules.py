"""The promises of every game's rules, on which the other promises depend.

Each promise is a function of a trial, which raises Breach if the promise is broken.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from alphazero.games.contract.guarded import RULES, Breach
from alphazero.games.contract.trial import Trial
from alphazero.games.game import (
    HEADER,
    HEURISTIC_RULE,
    HEURISTIC_SCALE,
    LAST,
    LEGAL_RULE,
    OBSERVE_RULE,
    ONGOING,
    OUTCOME,
    OUTCOME_RULE,
    PLAY_RULE,
    PLY,
    no_heuristic,
    value_of,
)

Promise = Callable[[Trial], None]

ENOUGH = 24
"""Games won, or positions compared, that suffice for a conclusion despite chance."""


def says_its_sizes(trial: Trial) -> None:
    """`num_actions`, `max_moves` and `observation_shape` are positive integers."""
    game = trial.game
    for name in ("num_actions", "max_moves"):
        number = getattr(game, name)
        if type(number) is not int or number < 1:
            raise Breach(f"{name} is {number!r}; expected a whole number (int) from 1 on")
    shape = game.observation_shape
    whole = isinstance(shape, tuple) and all(type(each) is int and each > 0 for each in shape)
    if not whole or len(shape) != 3 or shape[0] < 2:
        raise Breach(
            f"observation_shape is {shape!r}; expected (C, H, W), whole numbers (int) from 1 on, "
            "C at least 2: own stones, the opponent's"
        )


def has_rules_compiled_for_their_signatures(trial: Trial) -> None:
    """There are four rules and the heuristic, each compiled for its signature."""
    functions = tuple(getattr(trial.game, "rule_functions", ()))
    if len(functions) != 4:
        raise Breach(
            f"rule_functions holds {len(functions)} functions; expected (legal, play, outcome, "
            "observe)"
        )
    signatures = (LEGAL_RULE, PLAY_RULE, OUTCOME_RULE, OBSERVE_RULE, HEURISTIC_RULE)
    rules = (*functions, trial.game.heuristic)
    for name, rule, signature in zip(RULES, rules, signatures, strict=True):
        if signature not in getattr(rule, "nopython_signatures", ()):
            raise Breach(
                f"`{name}` is not compiled for its signature; expected @kernel({name.upper()}_RULE)"
            )


def begins_in_a_row_of_integers(trial: Trial) -> None:
    """The initial state is a new row of int64 with its header."""
    first, second = trial.game.initial_state(), trial.game.initial_state()
    expect_state(first, "initial_state()")
    trial.current = first
    header = first[:HEADER].tolist()
    if header != [0, ONGOING, -1]:
        raise Breach(
            f"initial_state() begins with {header}; expected [0, {ONGOING}, -1]: no moves played, "
            "ongoing, no last action"
        )
    if first is second or np.shares_memory(first, second):
        raise Breach("initial_state() returns the same array each time; expected a new one")
    if not np.array_equal(first, second):
        raise Breach("initial_state() returns another position each time; expected the same")


def expect_state(state: Any, origin: str) -> None:
    """Raise Breach unless `state` is one contiguous row of int64 that owns its memory."""
    if not isinstance(state, np.ndarray):
        raise Breach(f"{origin} is of type {type(state).__name__}; expected a numpy array, int64")
    if state.dtype != np.int64 or state.ndim != 1 or len(state) < HEADER:
        raise Breach(
            f"{origin} is {state.dtype} {list(state.shape)}; expected int64 [S], a row of at least "
            f"{HEADER} entries"
        )
    if not state.flags.c_contiguous or not state.flags.owndata:
        raise Breach(f"{origin} is a view of another array; expected an array of its own")


def stays_within_its_arrays(trial: Trial) -> None:
    """No rule uses an index outside its array or does anything else that `guarded.py` forbids."""
    if trial.records and trial.breach:
        raise trial.breach


def counts_every_move(trial: Trial) -> None:
    """The ply is the number of moves played."""
    for record in trial.records:
        for ply, position in enumerate(record):
            trial.current = position.state
            if position.state[PLY] != ply:
                raise Breach(
                    f"the ply, state[{PLY}], is {position.state[PLY]}; expected {ply}, the number "
                    "of moves played: `play` adds 1"
                )


def remembers_the_last_action(trial: Trial) -> None:
    """The header holds the last action."""
    for record in trial.records:
        for before, position in itertools.pairwise(record):
            trial.current = position.state
            if position.state[LAST] != before.action:
                raise Breach(
                    f"after action {before.action} the last action, state[{LAST}], is "
                    f"{position.state[LAST]}; expected {before.action}"
                )


def has_an_outcome_at_the_end_only(trial: Trial) -> None:
    """`outcome` returns the header's entry: a result when the game is over, else ONGOING."""
    for position in trial.positions():
        told = position.outcome
        if told not in (1, 0, -1, ONGOING):
            raise Breach(
                f"the outcome is {told}; expected 1, 0 or -1 where the game is over, for player 0, "
                f"else ONGOING, {ONGOING}"
            )
        if told != position.state[OUTCOME]:
            raise Breach(
                f"`outcome` tells {told} and state[{OUTCOME}] holds {position.state[OUTCOME]}; "
                "expected the same in both"
            )


def has_legal_moves_until_the_end(trial: Trial) -> None:
    """An action is legal exactly while the game goes on, and `legal` returns the number."""
    for position in trial.positions():
        marked = int(position.mask.sum())
        if position.told != marked:
            raise Breach(
                f"`legal` returns {position.told} and marks {marked} actions; expected the number "
                "of those it marks"
            )
        if position.outcome == ONGOING and not marked:
            raise Breach("the game goes on and no action is legal; expected one at least: a pass")
        if position.outcome != ONGOING and marked:
            raise Breach(f"the game is over and {marked} actions are legal; expected none")


def ends_within_max_moves(trial: Trial) -> None:
    """No game exceeds `max_moves`."""
    for record in trial.whole_records:
        trial.current = record[-1].state
        if record[-1].outcome == ONGOING:
            raise Breach(
                f"the game goes on after {len(record) - 1} moves, though max_moves is "
                f"{trial.game.max_moves}; expected a max_moves that no game exceeds"
            )
        if len(record) == 1:
            raise Breach("the game is over before its first move")


def estimates_less_than_a_sure_win(trial: Trial) -> None:
    """An unfinished position's heuristic is strictly between -/+ HEURISTIC_SCALE."""
    for position in trial.positions():
        if position.action >= 0:
            estimate = trial.rules.estimate(position.state)
            if not -HEURISTIC_SCALE < estimate < HEURISTIC_SCALE:
                raise Breach(
                    f"the heuristic is {estimate}; expected a number between "
                    f"{-HEURISTIC_SCALE} and {HEURISTIC_SCALE}"
                )


def tells_the_outcome_for_player_0(trial: Trial) -> None:
    """The outcome is not for the player who moved last or is to move, nor of the opposite sign.

    Two signs of such a fault: one player wins every game, whoever makes its last move; or in final
    positions the game's heuristic favours the loser.
    """
    _expect_wins_of_both(trial)
    if trial.game.heuristic is not no_heuristic:
        _expect_the_favourite_to_win(trial)


def _expect_wins_of_both(trial: Trial) -> None:
    if trial.game.one_sided:
        return
    won = []
    for ending in trial.endings():
        if ending.outcome in (1, -1):
            won.append(ending)
        if len({each.outcome for each in won}) == 2:
            return
    winner = 1 if won and won[0].outcome == -1 else 0
    odd = [each for each in won if each.last_player != winner]
    if len(won) < ENOUGH or not ENOUGH // 4 <= len(odd) < len(won):
        trial.rules.notes.append(
            f"of the random games {len(won)} were won, none by player {1 - winner}; that tells "
            "too little to know whether the outcome is told for player 0"
        )
        return
    raise Breach(
        f"in {len(won)} random games player {winner} wins each that is not drawn, though the other "
        f"player makes the last move in {len(odd)} of them, as here; expected the outcome for "
        "player 0: +1 where player 0 wins, -1 where player 1 does, whoever moves (where one player "
        "can hardly win, the game says so: one_sided)",
        odd[0].after,
    )


def _expect_the_favourite_to_win(trial: Trial) -> None:
    right, wrong = 0, []
    for ending in itertools.islice(trial.endings(), ENOUGH):
        mover = int(ending.after[PLY]) % 2
        try:
            estimate = trial.rules.estimate(ending.after)
        except Breach:  # a heuristic need not accept finished positions
            return
        product = estimate * value_of(ending.outcome, mover) if ending.outcome != ONGOING else 0
        right += product > 0
        if product < 0:
            wrong.append(ending)
    if len(wrong) >= ENOUGH // 2 and len(wrong) > 2 * right:
        raise Breach(
            f"at the end of {len(wrong)} of {len(wrong) + right} random games the heuristic "
            f"favours the player who lost, as here, where the outcome is {wrong[0].outcome}; "
            "expected the winner: the outcome or the heuristic has the wrong sign",
            wrong[0].after,
        )


FIRST: tuple[Promise, ...] = (
    says_its_sizes,
    has_rules_compiled_for_their_signatures,
    begins_in_a_row_of_integers,
    stays_within_its_arrays,
    counts_every_move,
    remembers_the_last_action,
    has_an_outcome_at_the_end_only,
    has_legal_moves_until_the_end,
    ends_within_max_moves,
    estimates_less_than_a_sure_win,
    tells_the_outcome_for_player_0,
)
"""In the order of the check, which stops at the first broken promise."""
