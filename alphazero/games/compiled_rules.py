"""A game's compiled rules as one argument of a kernel, and calls of them.

numba spends two locked instructions per array on each call of a function with reference counting,
a fifth of the time of a search's kernels. `call_rule` lends the arrays instead.

Shapes: S state size, A actions, [C, H, W] the observation.
"""

from typing import Any, NamedTuple

from numba import types
from numba.core import cgutils
from numba.experimental import structref
from numba.extending import intrinsic

from alphazero.utils.jit import inline_kernel, kernel, shared_kernel

_state = types.int64[::1]
LEGAL_RULE = types.int64(_state, types.boolean[::1])
PLAY_RULE = types.void(_state, types.int64)
OUTCOME_RULE = types.int64(_state)
OBSERVE_RULE = types.void(_state, types.float32[:, :, ::1])
HEURISTIC_RULE = types.int64(_state)
WINS_AT_ONCE_RULE = types.int64(_state)
OWNERS_RULE = types.void(_state, types.int8[::1])
MARGIN_RULE = types.float64(_state)


@structref.register
class _RulesTypeClass(types.StructRef):  # type: ignore[misc]
    """The numba type of `Rules`."""


class Rules(structref.StructRefProxy):  # type: ignore[misc]
    """A game's rules in one struct, so that kernels take one argument instead of seven."""


structref.define_boxing(_RulesTypeClass, Rules)
RulesType = _RulesTypeClass(
    [
        ("legal", types.FunctionType(LEGAL_RULE)),
        ("play", types.FunctionType(PLAY_RULE)),
        ("outcome", types.FunctionType(OUTCOME_RULE)),
        ("observe", types.FunctionType(OBSERVE_RULE)),
        ("heuristic", types.FunctionType(HEURISTIC_RULE)),
        ("wins_at_once", types.FunctionType(WINS_AT_ONCE_RULE)),
        ("margin", types.FunctionType(MARGIN_RULE)),
    ]
)


@kernel(RulesType(*[function for _, function in RulesType._fields]))
def gather_rules(
    legal: Any,
    play: Any,
    outcome: Any,
    observe: Any,
    heuristic: Any,
    wins_at_once: Any,
    margin: Any,
) -> Any:
    """Return the functions as `Rules`."""
    rules = structref.new(RulesType)
    rules.legal = legal
    rules.play = play
    rules.outcome = outcome
    rules.observe = observe
    rules.heuristic = heuristic
    rules.wins_at_once = wins_at_once
    rules.margin = margin
    return rules


class RuleFunctions(NamedTuple):
    """The functions of `Rules`, for the functions below."""

    legal: Any
    play: Any
    outcome: Any
    observe: Any
    heuristic: Any
    wins_at_once: Any
    margin: Any


@shared_kernel
def unpack_rules(rules: Any) -> RuleFunctions:
    """Return the functions of `rules`. A kernel unpacks them once, for its inline kernels."""
    return RuleFunctions(
        rules.legal,
        rules.play,
        rules.outcome,
        rules.observe,
        rules.heuristic,
        rules.wins_at_once,
        rules.margin,
    )


@intrinsic  # type: ignore[untyped-decorator]
def call_rule(_typing: Any, rule: Any, arguments: Any) -> Any:
    """Call a first-class function with a tuple of `arguments`, without reference counting.

    Its arrays are lent: they have no owner during the call, so a rule cannot keep them.
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

    return signature.return_type(rule, arguments), generate


@inline_kernel
def mark_legal(rules: RuleFunctions, state: Any, mask: Any) -> int:
    """Mark the legal actions in `mask` [A] and return their number."""
    return call_rule(rules.legal, (state, mask))  # type: ignore[no-any-return]


@inline_kernel
def play_move(rules: RuleFunctions, state: Any, action: int) -> None:
    """Make a move in `state` [S]."""
    call_rule(rules.play, (state, action))


@inline_kernel
def outcome_of(rules: RuleFunctions, state: Any) -> int:
    """Return the outcome of `state` [S]."""
    return call_rule(rules.outcome, (state,))  # type: ignore[no-any-return]


@inline_kernel
def write_observation(rules: RuleFunctions, state: Any, planes: Any) -> None:
    """Write the observation of `state` [S] to `planes` [C, H, W]."""
    call_rule(rules.observe, (state, planes))


@inline_kernel
def estimate_of(rules: RuleFunctions, state: Any) -> int:
    """Return the heuristic of `state` [S]."""
    return call_rule(rules.heuristic, (state,))  # type: ignore[no-any-return]


@inline_kernel
def wins_at_once(rules: RuleFunctions, state: Any) -> int:
    """Return 1 if a move of `state` [S] wins at once, 0 if none does, UNKNOWN (-1) to try them."""
    return call_rule(rules.wins_at_once, (state,))  # type: ignore[no-any-return]


@inline_kernel
def margin_of(rules: RuleFunctions, state: Any) -> float:
    """Return by how much player 0 won the finished game `state` [S]."""
    return call_rule(rules.margin, (state,))  # type: ignore[no-any-return]


@kernel(types.void(RulesType, types.int64[:, ::1], types.float32[:, :, :, ::1]))
def observe_all(rules: Any, states: Any, planes: Any) -> None:
    """Write the observations of `states` [n, S] to `planes` [n, C, H, W]."""
    functions = unpack_rules(rules)
    for index in range(len(states)):
        write_observation(functions, states[index], planes[index])
