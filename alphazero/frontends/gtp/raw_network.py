"""KataGo's `kata-raw-nn`: the network's outputs for the position, without a search.

The values are for White, as the names say (KataGo, docs/GTP_Extensions.md). Those of heads that the
network lacks are left out.
"""

from collections.abc import Sequence

import numpy as np

from alphazero.frontends.gtp.engine import Engine, Handler
from alphazero.frontends.gtp.protocol import GtpError, expect
from alphazero.frontends.katago.report import policy
from alphazero.games.game import value_of, win_rate
from alphazero.mcts.network_search import network_statistics
from alphazero.utils.arrays import Float32Array


def _raw_network(engine: Engine, arguments: list[str]) -> str:
    """Return the network's win rate, margin, policy and ownership; symmetry 0 is the identity."""
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
    lines += ["policy", *_rows(engine, cells), f"policyPass {_word(passing)}"]
    if end.ownership is not None:
        lines += ["whiteOwnership", *_rows(engine, -end.ownership)]
    return "\n".join(lines)


def _rows(engine: Engine, cells: Float32Array) -> list[str]:
    """Format numbers by cell, a line for each row from the top."""
    columns = engine.position.vertices.columns
    words: Sequence[str] = [_word(number) for number in cells.tolist()]
    return [" ".join(words[start:][:columns]) for start in range(0, len(words), columns)]


def _word(number: float) -> str:
    return "NAN" if np.isnan(number) else f"{number:.6f}"


COMMANDS: dict[str, Handler] = {"kata-raw-nn": _raw_network}
