"""The search for a winning move that plays every legal one."""

from typing import Any

from numba import types

from alphazero.games.compiled_rules import RulesType
from alphazero.games.game import ONGOING, PLY, Mask, State, value_of
from alphazero.utils.jit import kernel


@kernel(types.boolean(RulesType, types.int64[::1], types.boolean[::1]))
def has_winning_move(rules: Any, state: State, mask: Mask) -> bool:
    """Whether one of the legal actions in `mask` [A] wins at once."""
    for action in range(len(mask)):
        if mask[action]:
            after = state.copy()
            rules.play(after, action)
            outcome = rules.outcome(after)
            if outcome != ONGOING and value_of(outcome, state[PLY] % 2) == 1:
                return True
    return False
