"""The rules of a game: their signatures, and the struct of them that kernels take.

numba spends two locked instructions per array on each call of a function with reference counting,
a fifth of the time of a search's kernels. `call_rule` lends the arrays instead.

Shapes: S state size, A actions, [C, H, W] the observation.
"""

from typing import Any, NamedTuple

from numba import types
from numba.core import cgutils
from numba.experimental import structref
from numba.extending import intrinsic

from alphazero.utils.jit import kernel

HEURISTIC_SCALE = 1_000_000
"""The heuristic value of a certain win, which no estimate reaches."""

UNKNOWN = -1
"""The answer of `wins_at_once` when the moves must be tried."""

_state = types.int64[::1]


class Signature:
    """The numba signature of each rule, for `kernel`; `RuleFunctions` describes the rules."""

    legal = types.int64(_state, types.boolean[::1])
    play = types.void(_state, types.int64)
    observe = types.void(_state, types.float32[:, :, ::1])
    heuristic = types.int64(_state)
    wins_at_once = types.int64(_state)
    owners = types.void(_state, types.int8[::1])
    margin = types.float64(_state)


@kernel(Signature.heuristic)
def no_heuristic(state: Any) -> int:  # noqa: ARG001
    """Return 0: the heuristic of games that define none."""
    return 0


@kernel(Signature.wins_at_once)
def unknown(state: Any) -> int:  # noqa: ARG001
    """Return UNKNOWN: the `wins_at_once` of games that define none."""
    return UNKNOWN


@kernel(Signature.owners)
def no_owners(state: Any, cells: Any) -> None:  # noqa: ARG001
    """Give no cell to anybody: the `owners` of games that define none."""
    cells[:] = 0


@kernel(Signature.margin)
def no_margin(state: Any) -> float:  # noqa: ARG001
    """Return 0: the `margin` of games that define none."""
    return 0.0


class RuleFunctions(NamedTuple):
    """The rules of a game, each compiled by `kernel` for its `Signature`; three are required."""

    legal: Any
    """(state, mask) -> number of legal actions: write to `mask` [A] which are legal; none when the
    game is over"""
    play: Any
    """(state, action): play a legal action; write the ply, the last action and the outcome to the
    header"""
    observe: Any
    """(state, planes): write what the player to move sees to `planes` [C, H, W]"""
    heuristic: Any = no_heuristic
    """(state) -> estimate of an unfinished position's value for the player to move, in units of
    1 / HEURISTIC_SCALE, strictly between -HEURISTIC_SCALE and HEURISTIC_SCALE; for alpha-beta"""
    wins_at_once: Any = unknown
    """(state) -> 1 if the player to move of an unfinished position can win with one move, 0 if not,
    UNKNOWN: then the search with `search.mcts_solver` tries every move, which takes longer"""
    owners: Any = no_owners
    """(state, cells): write who owns each cell of a finished position to `cells` [H * W], row by
    row: 1 player 0, -1 player 1, 0 nobody; for `network.auxiliary: [ownership]`"""
    margin: Any = no_margin
    """(state) -> by how much player 0 won a finished game, with the outcome's sign; for
    `network.auxiliary: [margin]`"""


_FunctionsType = types.NamedTuple(
    [types.FunctionType(getattr(Signature, name)) for name in RuleFunctions._fields], RuleFunctions
)


@structref.register
class _RulesTypeClass(types.StructRef):  # type: ignore[misc]
    """The numba type of `Rules`."""


class Rules(structref.StructRefProxy):  # type: ignore[misc]
    """`RuleFunctions` as an argument of kernels, which read its `functions`.

    numba takes 25 µs to unbox each function, but less than 1 µs for this struct.
    """


structref.define_boxing(_RulesTypeClass, Rules)
RulesType = _RulesTypeClass([("functions", _FunctionsType)])


@kernel(RulesType(*_FunctionsType.types))
def gather_rules(
    legal: Any, play: Any, observe: Any, heuristic: Any, wins_at_once: Any, owners: Any, margin: Any
) -> Any:
    """Return the functions of `RuleFunctions` as `Rules`; numba unboxes no tuple of functions."""
    rules = structref.new(RulesType)
    rules.functions = RuleFunctions(legal, play, observe, heuristic, wins_at_once, owners, margin)
    return rules


@intrinsic  # type: ignore[untyped-decorator]
def call_rule(_typing: Any, rule: Any, *arguments: Any) -> Any:
    """Call one of `RuleFunctions` from an inline kernel, without reference counting.

    The arrays among the `arguments` are lent: they have no owner during the call, so a rule cannot
    keep them.
    """
    signature = rule.signature

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        function = cgutils.create_struct_proxy(rule)(context, builder, values[0])
        convention, lent = context.call_conv, []
        for expected, given, value in zip(
            signature.args, arguments, cgutils.unpack_tuple(builder, values[1]), strict=True
        ):
            if isinstance(expected, types.Array):
                array = context.make_array(expected)(context, builder, value)
                array.meminfo = cgutils.get_null_value(array.meminfo.type)
                lent.append(array._getvalue())
            else:
                lent.append(context.cast(builder, value, given, expected))
        pointer = convention.get_function_type(signature.return_type, signature.args).as_pointer()
        status, result = convention.call_function(
            builder,
            builder.bitcast(function.jit_addr, pointer),
            signature.return_type,
            signature.args,
            lent,
        )
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    return signature.return_type(rule, types.StarArgTuple.from_types(arguments)), generate


@kernel(types.void(RulesType, types.int64[:, ::1], types.float32[:, :, :, ::1]))
def observe_all(rules: Any, states: Any, planes: Any) -> None:
    """Write the observations of `states` [n, S] to `planes` [n, C, H, W]."""
    for index in range(len(states)):
        rules.functions.observe(states[index], planes[index])
