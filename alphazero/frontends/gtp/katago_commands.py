"""KataGo's GTP extensions for rules, parameters, caches and the network alone.

KataGo, docs/GTP_Extensions.md.
"""

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from alphazero.errors import GameError, did_you_mean
from alphazero.frontends.clock import MIN_SECONDS
from alphazero.frontends.gtp.engine import Engine, Handler
from alphazero.frontends.gtp.protocol import GtpError, expect, read_integer, read_number
from alphazero.frontends.katago.report import policy
from alphazero.frontends.katago.rules import KGS_NAMES, read_rules, rules_of, with_rules
from alphazero.games.game import value_of, win_rate
from alphazero.mcts.network_search import network_statistics
from alphazero.utils.arrays import Float32Array

NO_VISIT_LIMIT: Final = 1 << 50
"""KataGo's number for no limit of visits or playouts."""

NO_TIME_LIMIT: Final = 1e20
"""KataGo's number of seconds for no limit of time."""


def _get_rules(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 0)
    return json.dumps(_rules(engine), separators=(",", ":"), sort_keys=True)


def _rules(engine: Engine) -> dict[str, Any]:
    try:
        return rules_of(engine.game)
    except GameError as error:
        raise GtpError(str(error)) from None


def _set_rules(engine: Engine, arguments: list[str]) -> str:
    """Set the rules of ko and suicide, by the name of a rule set or as JSON."""
    if not arguments:
        raise GtpError("expected the name of a rule set, or JSON")
    return _take_rules(engine, " ".join(arguments))


def _take_rules(engine: Engine, rules: str | dict[str, Any]) -> str:
    try:
        game, refused = with_rules(engine.game, read_rules(rules))
    except GameError as error:
        raise GtpError(str(error)) from None
    if refused:
        raise GtpError("; ".join(refused))
    engine.change(game)
    return ""


def _set_rule(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 2, what="a rule and a value")
    name, value = arguments
    known = {"true": True, "false": False}
    return _take_rules(engine, {name: known.get(value.lower(), value)})


def _kgs_rules(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 1, what=f"one of {', '.join(KGS_NAMES)}")
    if arguments[0] not in KGS_NAMES:
        raise GtpError(f"expected one of {', '.join(KGS_NAMES)}, got {arguments[0][:20]!r}")
    return _take_rules(engine, KGS_NAMES[arguments[0]])


class Parameter(NamedTuple):
    """A parameter that `kata-set-param` changes."""

    read: Callable[[Engine], float | bool]
    write: Callable[[Engine, str], None]


def _set_visits(engine: Engine, text: str) -> None:
    engine.analyzer.max_visits = _read_limit(text, "maxVisits")


def _set_playouts(engine: Engine, text: str) -> None:
    engine.analyzer.simulations = _read_limit(text, "maxPlayouts")
    engine.analyzer.has_fixed_simulations = engine.analyzer.simulations is not None


def _set_time(engine: Engine, text: str) -> None:
    no_limit = text in (str(NO_TIME_LIMIT), "1e20")
    seconds = 0.0 if no_limit else read_number(text, "maxTime", least=MIN_SECONDS)
    engine.analyzer.seconds = seconds or None


def _set_pondering(engine: Engine, text: str) -> None:
    if text.lower() not in ("true", "false"):
        raise GtpError(f"ponderingEnabled must be true or false, got {text[:20]!r}")
    engine.ponders = text.lower() == "true"


def _read_limit(text: str, name: str) -> int | None:
    """Parse a number of simulations; None for no limit."""
    if text == str(NO_VISIT_LIMIT):
        return None
    return read_integer(text, name, 1)


def _get_playouts(engine: Engine) -> int:
    simulations = engine.analyzer.simulations  # 0: the network alone
    return NO_VISIT_LIMIT if simulations is None else simulations


PARAMETERS: Final = {
    "maxVisits": Parameter(
        lambda engine: engine.analyzer.max_visits or NO_VISIT_LIMIT, _set_visits
    ),
    "maxPlayouts": Parameter(_get_playouts, _set_playouts),
    "maxTime": Parameter(lambda engine: engine.analyzer.seconds or NO_TIME_LIMIT, _set_time),
    "ponderingEnabled": Parameter(lambda engine: engine.ponders, _set_pondering),
}
"""Limits of a move, by KataGo's names.

`maxVisits` counts the visits that the tree keeps from earlier searches, `maxPlayouts` does not.
"""


def _parameter(engine: Engine, name: str) -> Parameter:
    if name not in PARAMETERS:
        hint = did_you_mean(name, PARAMETERS)
        raise GtpError(f"no parameter {name[:30]!r}{hint} (known: {', '.join(PARAMETERS)})")
    _ = engine.analyzer.search  # raises when the player has no search
    return PARAMETERS[name]


def _get_parameter(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 1, what="a parameter")
    return json.dumps(_parameter(engine, arguments[0]).read(engine))


def _set_parameter(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 2, what="a parameter and a value")
    _parameter(engine, arguments[0]).write(engine, arguments[1])
    return ""


def _get_parameters(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 0)
    values = {name: _parameter(engine, name).read(engine) for name in PARAMETERS}
    return json.dumps(values, separators=(",", ":"))


def _list_parameters(_: Engine, arguments: list[str]) -> str:
    expect(arguments, 0)
    return " ".join(PARAMETERS)


def _clear_cache(engine: Engine, arguments: list[str]) -> str:
    """Forget the search tree and the network's evaluations."""
    expect(arguments, 0)
    engine.analyzer.clear_cache()
    return ""


def _raw_network(engine: Engine, arguments: list[str]) -> str:
    """Return the network's win rate, margin, policy and ownership; symmetry 0 is the identity.

    The values are for White, as the names say. Those of heads that the network lacks are left out.
    """
    expect(arguments, 1, what="a symmetry")
    if arguments[0] != "0":
        raise GtpError(f"not supported: symmetry {arguments[0][:20]!r}; only 0")
    position, network = engine.position, engine.analyzer.network
    if network is None:
        raise GtpError("not supported: this player has no network")
    if position.is_over or not position.vertices.has_cells:
        raise GtpError("no evaluation: the game is over, or its moves are not cells")
    own = engine.analyzer.search.game  # it observes by its own rules
    roots = network_statistics(own, network, position.state[None])
    black = win_rate(value_of(1, position.to_play) * float(roots.values[0]))
    lines = ["symmetry 0", f"whiteWin {1 - black:.6f}", f"whiteLoss {black:.6f}"]
    lines.append(f"noResult {0:.6f}")
    end = engine.analyzer.predict_end(position.state)
    if end.margin is not None and end.margin_spread is not None:
        lead, square = -end.margin, end.margin**2 + end.margin_spread**2
        lines += [f"whiteLead {lead:.6f}", f"whiteScoreSelfplay {lead:.6f}"]
        lines.append(f"whiteScoreSelfplaySq {square:.6f}")
    cells, passing = policy(position.vertices, position.state, roots.priors[0])
    lines += ["policy", *position.rows_of(_words(cells)), f"policyPass {_word(passing)}"]
    if end.ownership is not None:
        lines += ["whiteOwnership", *position.rows_of(_words(-end.ownership))]
    return "\n".join(lines)


def _words(numbers: Float32Array) -> list[str]:
    return [_word(number) for number in numbers.tolist()]


def _word(number: float) -> str:
    return "NAN" if np.isnan(number) else f"{number:.6f}"


COMMANDS: dict[str, Handler] = {
    "kata-get-rules": _get_rules,
    "kata-set-rules": _set_rules,
    "kata-set-rule": _set_rule,
    "kgs-rules": _kgs_rules,
    "kata-get-param": _get_parameter,
    "kata-set-param": _set_parameter,
    "kata-get-params": _get_parameters,
    "kata-list-params": _list_parameters,
    "clear_cache": _clear_cache,
    "kata-raw-nn": _raw_network,
}
