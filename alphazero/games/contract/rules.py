"""Promises of every game's rules, on which the other promises depend.

A promise is a function of a trial that raises Breach if the promise is broken.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from alphazero.games.compiled_rules import (
    HEURISTIC_SCALE,
    UNKNOWN,
    RuleFunctions,
    Signature,
    no_heuristic,
)
from alphazero.games.contract.guarded import Breach
from alphazero.games.contract.trial import PlayedPosition, Trial
from alphazero.games.game import HEADER, LAST, ONGOING, OUTCOME, PLY, Game, State, value_of

Promise = Callable[[Trial], None]

ENOUGH = 24
"""Number of won games, or of compared positions, that suffices for a conclusion."""


def has_valid_sizes(trial: Trial) -> None:
    """`num_actions`, `max_moves` and `observation_shape` are positive integers."""
    game = trial.game
    for name in ("num_actions", "max_moves"):
        number = getattr(game, name)
        if type(number) is not int or number < 1:
            raise Breach(f"{name} is {number!r}; expected an int of at least 1")
    shape = game.observation_shape
    whole = isinstance(shape, tuple) and all(type(each) is int and each > 0 for each in shape)
    if not whole or len(shape) != 3 or shape[0] < 2:
        raise Breach(
            f"observation_shape is {shape!r}; expected (C, H, W), ints of at least 1, with C at "
            "least 2: own stones and the opponent's"
        )


def has_rules_compiled_for_their_signatures(trial: Trial) -> None:
    """`rule_functions` has the rules, each compiled for its signature."""
    functions = getattr(trial.game, "rule_functions", None)
    if not isinstance(functions, RuleFunctions):
        raise Breach(
            f"rule_functions is of type {type(functions).__name__}; expected "
            "RuleFunctions(legal, play, observe)"
        )
    for name, rule in functions._asdict().items():
        if getattr(Signature, name) not in getattr(rule, "nopython_signatures", ()):
            raise Breach(
                f"`{name}` is not compiled for its signature; expected @kernel(Signature.{name})"
            )


def has_a_valid_initial_state(trial: Trial) -> None:
    """The initial state is a new row of int64 with its header."""
    first, second = trial.game.initial_state(), trial.game.initial_state()
    expect_state(first, "initial_state()")
    trial.current = first
    header = first[:HEADER].tolist()
    if header != [0, ONGOING, -1]:
        raise Breach(
            f"initial_state() starts with {header}; expected [0, {ONGOING}, -1]: no moves played, "
            "ongoing, no last action"
        )
    if first is second or np.shares_memory(first, second):
        raise Breach("initial_state() returns the same array each time; expected a new array")
    if not np.array_equal(first, second):
        raise Breach("initial_state() returns different positions; expected the same each time")


def expect_state(state: Any, origin: str) -> None:
    """Raise Breach unless `state` is one contiguous row of int64 that owns its memory."""
    if not isinstance(state, np.ndarray):
        raise Breach(f"{origin} is of type {type(state).__name__}; expected a numpy array, int64")
    if state.dtype != np.int64 or state.ndim != 1 or len(state) < HEADER:
        raise Breach(
            f"{origin} is {state.dtype} {list(state.shape)}; expected int64 [S] with at least "
            f"{HEADER} entries"
        )
    if not state.flags.c_contiguous or not state.flags.owndata:
        raise Breach(f"{origin} is a view of another array; expected an array of its own")


def stays_within_its_arrays(trial: Trial) -> None:
    """No rule uses an index outside its array or breaks another rule of `guarded.py`."""
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


def stores_the_last_action(trial: Trial) -> None:
    """The header holds the last action."""
    for record in trial.records:
        for before, position in itertools.pairwise(record):
            trial.current = position.state
            if position.state[LAST] != before.action:
                raise Breach(
                    f"after action {before.action} the last action, state[{LAST}], is "
                    f"{position.state[LAST]}; expected {before.action}"
                )


def has_an_outcome_only_at_the_end(trial: Trial) -> None:
    """The header's outcome is a result when the game is over, else ONGOING."""
    for position in trial.positions():
        outcome = position.outcome
        if outcome not in (1, 0, -1, ONGOING):
            raise Breach(
                f"the outcome is {outcome}; expected 1, 0 or -1 for player 0 when the game is "
                f"over, else ONGOING, {ONGOING}"
            )


def has_legal_moves_until_the_end(trial: Trial) -> None:
    """There are legal actions exactly until the game is over; `legal` returns their number."""
    for position in trial.positions():
        marked = int(position.mask.sum())
        if position.num_legal != marked:
            raise Breach(
                f"`legal` returns {position.num_legal} and marks {marked} actions; expected the "
                "number of marked actions"
            )
        if position.outcome == ONGOING and not marked:
            raise Breach("the game is not over and no action is legal; expected at least a pass")
        if position.outcome != ONGOING and marked:
            raise Breach(f"the game is over and {marked} actions are legal; expected none")


def ends_within_max_moves(trial: Trial) -> None:
    """No game exceeds `max_moves`."""
    for record in trial.whole_records:
        trial.current = record[-1].state
        if record[-1].outcome == ONGOING:
            raise Breach(
                f"the game is not over after {len(record) - 1} moves and max_moves is "
                f"{trial.game.max_moves}; expected a max_moves that no game exceeds"
            )
        if len(record) == 1:
            raise Breach("the game is over before its first move")


def keeps_estimates_below_a_certain_win(trial: Trial) -> None:
    """An unfinished position's heuristic is strictly between -/+ HEURISTIC_SCALE."""
    for position in trial.positions():
        if position.action >= 0:
            estimate = trial.rules.estimate(position.state)
            if not -HEURISTIC_SCALE < estimate < HEURISTIC_SCALE:
                raise Breach(
                    f"the heuristic is {estimate}; expected a number between "
                    f"{-HEURISTIC_SCALE} and {HEURISTIC_SCALE}"
                )


def gives_the_outcome_for_player_0(trial: Trial) -> None:
    """The outcome is not for the last mover or the player to move, and its sign is right.

    Two signs of a fault: one player wins every game, whoever makes its last move; or in final
    positions the game's heuristic favours the loser.
    """
    _expect_wins_of_both(trial)
    if trial.game.rule_functions.heuristic is not no_heuristic:
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
            f"of the random games {len(won)} were won, none by player {1 - winner}; this "
            "does not show whether the outcome is that of player 0"
        )
        return
    raise Breach(
        f"player {winner} wins all {len(won)} random games that are not drawn, but the other "
        f"player makes the last move in {len(odd)} of them, as here; expected the outcome for "
        "player 0: +1 if player 0 wins, -1 if player 1 wins, whoever moves (if one player can "
        "hardly win, set one_sided)",
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
            f"favours the loser, as here with outcome {wrong[0].outcome}: the outcome or the "
            "heuristic has the wrong sign",
            wrong[0].after,
        )


def knows_its_wins_at_once(trial: Trial) -> None:
    """`wins_at_once` of an unfinished position agrees with playing every legal move."""
    for position in trial.positions():
        if position.outcome != ONGOING:
            continue
        known = trial.rules.wins_at_once(position.state)
        if known not in (0, 1, UNKNOWN):
            raise Breach(f"`wins_at_once` returns {known}; expected 0, 1, or {UNKNOWN} for unknown")
        if known == UNKNOWN:
            continue
        wins = any(
            _wins(trial.game, position.state, action)
            for action in np.flatnonzero(position.mask).tolist()
        )
        if wins != known:
            raise Breach(
                f"`wins_at_once` returns {known}; expected {int(wins)}, as playing every legal "
                "move says"
            )


def _wins(game: Game, state: State, action: int) -> bool:
    """Whether a legal action wins at once."""
    after = state.copy()
    game.rule_functions.play(after, action)
    outcome = int(after[OUTCOME])
    return outcome != ONGOING and value_of(outcome, int(state[PLY]) % 2) == 1


def gives_each_cell_to_a_player_or_nobody(trial: Trial) -> None:
    """`owners` of a finished position writes 1, -1 or 0 for each cell."""
    for position in _ends(trial):
        owners, _ = trial.read_end(position)
        if (wrong := ~np.isin(owners, (-1, 0, 1))).any():
            raise Breach(
                f"`owners` writes {owners[wrong][0]} for cell {wrong.argmax()}; expected 1 for "
                "player 0, -1 for player 1 or 0 for nobody"
            )


def has_a_margin_with_the_sign_of_the_outcome(trial: Trial) -> None:
    """`margin` of a finished position is by how much player 0 won."""
    for position in _ends(trial):
        _, margin = trial.read_end(position)
        if trial.game.has_margin and not np.sign(margin) == position.outcome:
            raise Breach(
                f"`margin` returns {margin} and the outcome is {position.outcome}; expected equal "
                "signs"
            )


def _ends(trial: Trial) -> Iterator[PlayedPosition]:
    """Yield the finished positions of the random games."""
    for record in trial.whole_records:
        trial.current = record[-1].state
        yield record[-1]


FIRST: tuple[Promise, ...] = (
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
"""The check stops at the first of these that is broken."""
