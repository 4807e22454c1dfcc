"""One position searched by a player, for Python programs and notebooks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alphazero.errors import GameError, PlayerError
from alphazero.games.game import ONGOING, OUTCOME, Game, State
from alphazero.games.registry import write_game
from alphazero.players.candidates import Candidate, candidates_of
from alphazero.players.end_prediction import EndPrediction, predict_end
from alphazero.players.search_player import SearchPlayer
from alphazero.utils.arrays import Float64Array, Int64Array
from alphazero.utils.tables import align

MOST_PRINTED = 10
"""Maximum moves that a printed result shows."""


@dataclass(frozen=True, eq=False)
class SearchedPosition:
    """What a search has found in a position; the values are for the player to move."""

    game: Game
    state: State
    action: int
    """the player's move"""
    value: float
    """in [-1, 1], after the search"""
    network_value: float
    """in [-1, 1], before the search; exact once solved"""
    candidates: list[Candidate]
    """action, visits, value, prior and line of each legal move, best first"""
    end: EndPrediction
    """for player 0: how the game will end, by the network's auxiliary heads, if it has any"""

    @property
    def simulations(self) -> int:
        """The visits of all moves."""
        return sum(candidate.visits for candidate in self.candidates)

    @property
    def visits(self) -> Int64Array:
        """The visits of each action [A]."""
        return self._by_action([each.visits for each in self.candidates], np.int64)

    @property
    def prior(self) -> Float64Array:
        """The network's policy over legal actions [A]; uniform without a network."""
        return self._by_action([each.prior for each in self.candidates], np.float64)

    def _by_action(self, numbers: list[Any], kind: type[np.generic]) -> NDArray[Any]:
        found = np.zeros(self.game.num_actions, kind)
        found[[each.action for each in self.candidates]] = numbers
        return found

    def names(self, line: list[int]) -> list[str]:
        """Return the names of moves that follow the position."""
        return self.game.action_names(self.state, line)

    def __str__(self) -> str:
        lines = [f"value {self.value:+.3f} after {self.simulations:,} simulations"]
        rows, replies = [("move", "visits", "value", "prior")], ["line"]
        for each in self.candidates[:MOST_PRINTED]:
            name, *rest = self.names(each.line)
            rows.append((name, f"{each.visits:,}", f"{each.value:+.3f}", f"{each.prior:.3f}"))
            replies.append(" ".join(rest))
        for row, line in zip(align(rows).splitlines(), replies, strict=True):
            lines.append(f"{row}  {line}".rstrip())
        if len(self.candidates) > MOST_PRINTED:
            lines.append(f"and {len(self.candidates) - MOST_PRINTED} more")
        return "\n".join(lines)


def search(
    player: SearchPlayer, state: State, *, simulations: int | None = None
) -> SearchedPosition:
    """Search one position `int64 [S]`, with the player's own budget or `simulations`.

    Raises:
        GameError: when the game is over.
        PlayerError: when the state is of another game, as far as its size shows.
    """
    game, slot = player.search.game, np.array([0])
    if len(state) != game.state_size:
        raise PlayerError(
            f"the player plays {write_game(game)}, with states of {game.state_size} numbers, "
            f"not of {len(state)}"
        )
    if state[OUTCOME] != ONGOING:
        raise GameError("the game is over: there is no move to search")
    player.reset(slot, state[None])
    player.begin_moves(slot)
    if simulations is not None:
        player.search.begin_search(slot, simulations)
    while not len((decisions := player.take_decisions()).slots):
        player.step()
    roots = player.search.root_statistics(slot)
    legal = np.flatnonzero(game.legal_action_mask(state))
    return SearchedPosition(
        game,
        state.copy(),
        int(decisions.actions[0]),
        float(roots.values[0]),
        player.search.root_network_value(0),
        candidates_of(player.search, 0, roots, legal, roots.priors[0]),
        predict_end(game, state, player),
    )
