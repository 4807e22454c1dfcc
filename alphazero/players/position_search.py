"""The result of a search in one position, for people and programs."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphazero.errors import GameError, PlayerError
from alphazero.games.game import ONGOING, OUTCOME, Game, State
from alphazero.mcts.network_search import NetworkSearch
from alphazero.mcts.tree_reading import Proof, principal_variation, proof_of
from alphazero.players.budget import budget_of
from alphazero.players.end_prediction import NO_PREDICTION, EndPrediction, predict_end
from alphazero.players.search_player import SearchPlayer
from alphazero.utils.arrays import Float64Array, Int64Array
from alphazero.utils.tables import align, count_of

MOST_PRINTED: Final = 10
"""Maximum moves that a printed result shows."""

LONGEST_LINE: Final = 16
"""Maximum moves of a line."""

ALL_LINES: Final = 10**9


class Candidate(NamedTuple):
    """A search's result for one move."""

    action: int
    visits: int
    value: float
    """mean, in [-1, 1], for the player to move; the position's value if unvisited"""
    prior: float
    """the network's probability of the move; uniform without a network"""
    line: list[int]
    """most visited line, starting with the move"""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search in a position; the values are for the player to move."""

    game: Game
    state: State
    value: float
    """in [-1, 1], after the search"""
    network_value: float | None
    """in [-1, 1], of the network alone; None without a network, and once the end is proven"""
    simulations: int
    """the visits of all moves"""
    candidates: list[Candidate]
    """all legal moves, best first"""
    end: EndPrediction = NO_PREDICTION
    """for player 0: how the game will end, by the network's auxiliary heads, if it has any"""
    proof: Proof | None = None
    """the end that the search has proven"""
    action: int | None = None
    """the player's move; None while it searches"""

    @property
    def size(self) -> str:
        """Its number of simulations in words: `1 simulation`, `1,200 simulations`."""
        return count_of(self.simulations, "simulation")

    @property
    def visits(self) -> Int64Array:
        """The visits of each action [A]."""
        return self._by_action("visits", np.int64)

    @property
    def prior(self) -> Float64Array:
        """The network's policy over legal actions [A]; uniform without a network."""
        return self._by_action("prior", np.float64)

    def _by_action(self, name: str, kind: type[np.generic]) -> NDArray[Any]:
        by_action = np.zeros(self.game.num_actions, kind)
        for candidate in self.candidates:
            by_action[candidate.action] = getattr(candidate, name)
        return by_action

    def share(self, candidate: Candidate) -> float:
        """Return a move's share of the visits, in [0, 1]."""
        return candidate.visits / max(self.simulations, 1)

    def names(self, line: list[int]) -> list[str]:
        """Return the names of moves that follow the position."""
        return self.game.action_names(self.state, line)

    def __str__(self) -> str:
        lines = [f"value {self.value:+.3f} after {self.size}"]
        rows, replies = [("move", "visits", "value", "prior")], ["line"]
        for _, visits, value, prior, line in self.candidates[:MOST_PRINTED]:
            name, *rest = self.names(line)
            rows.append((name, f"{visits:,}", f"{value:+.3f}", f"{prior:.3f}"))
            replies.append(" ".join(rest))
        for row, reply in zip(align(rows).splitlines(), replies, strict=True):
            lines.append(f"{row}  {reply}".rstrip())
        if len(self.candidates) > MOST_PRINTED:
            lines.append(f"and {len(self.candidates) - MOST_PRINTED} more")
        return "\n".join(lines)


def read_result(
    player: SearchPlayer,
    slot: int,
    game: Game,
    state: State,
    end: EndPrediction,
    *,
    action: int | None = None,
    lines: int = ALL_LINES,
) -> SearchResult:
    """Return the result of the search of `slot` in `state`; its root must be evaluated.

    The first `lines` candidates get a principal variation; others hold only their move.
    """
    search = player.search
    roots = search.root_statistics(np.array([slot]))
    moves, visits, priors, values, policy = (
        numbers[0, : roots.counts[0]]
        for numbers in (
            roots.actions,
            roots.visits,
            roots.priors,
            np.where(roots.visits > 0, roots.action_values, roots.values[0]),
            roots.move_policies,
        )
    )
    candidates = []
    for rank, place in enumerate(np.lexsort((-priors, -visits, -policy))):
        move = int(moves[place])
        line = [move]
        if rank < lines and visits[place]:
            line = principal_variation(search, slot, move, LONGEST_LINE)
        candidates.append(
            Candidate(move, int(visits[place]), float(values[place]), float(priors[place]), line)
        )
    proof = proof_of(search, slot)
    # The value of a root is that of one rollout without a network, and exact once it is proven.
    has_network_value = isinstance(search, NetworkSearch) and proof is None
    return SearchResult(
        game,
        state.copy(),
        float(roots.values[0]),
        float(search.trees.nodes["value"][slot, 0]) if has_network_value else None,
        sum(candidate.visits for candidate in candidates),
        candidates,
        end,
        proof,
        action,
    )


def check_player(player: SearchPlayer) -> None:
    """Raise PlayerError for anything but a loaded player."""
    if not isinstance(player, SearchPlayer):
        raise PlayerError(f"expected the player that load_player returns, got {player!r:.80}")


def search(player: SearchPlayer, state: State, *, simulations: int | None = None) -> SearchResult:
    """Search one position `int64 [S]`, with the player's own budget or `simulations`.

    Raises GameError when the game is over, and for what is no state of the player's game. Raises
    PlayerError unless `player` is a loaded player, and `simulations` is a number for which the
    player, as it was loaded, has memory.
    """
    check_player(player)
    budget_of(simulations)
    room = len(player.search.trees.nodes[0]) - 1
    if simulations is not None and simulations > room and isinstance(player.search, NetworkSearch):
        raise PlayerError(
            f"the player was loaded with memory for {room:,} simulations; load it with "
            f"simulations={simulations}"
        )
    game, slot = player.game, np.array([0])
    game.check_state(state)
    if state[OUTCOME] != ONGOING:
        raise GameError("the game is over: there is no move to search")
    with player.lock:
        player.reset(slot, state[None])
        player.begin_moves(slot)
        if simulations is not None:
            player.search.begin_search(slot, simulations)
        while not len((decisions := player.take_decisions()).slots):
            player.step()
        end = predict_end(game, state, player)
        return read_result(player, 0, game, state, end, action=int(decisions.actions[0]))
