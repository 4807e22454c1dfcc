"""Slow searches without a network, as the survey describes them: the twin of `RolloutSearch`.

Browne et al., *A Survey of Monte Carlo Tree Search Methods* (2012), algorithms 2 and 3. Nodes are
objects that keep their own position; a result is for player 0 and credited to whoever chose, so
no sign is ever flipped. It draws the same random numbers in the same order as the fast one.
"""

import math
from dataclasses import dataclass, field

from alphazero.games import ONGOING, Game, State, to_play

BITS = 2**64 - 1


class SplitMix:
    """Random numbers by Steele, Lea & Flood, *Fast splittable pseudorandom number generators*."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def bits(self) -> int:
        """Return the next 64 bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & BITS
        bits = self.state
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & BITS
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & BITS
        return bits ^ bits >> 31

    def below(self, limit: int) -> int:
        """Return a number from 0 to `limit` - 1."""
        return (self.bits() >> 32) * limit >> 32


@dataclass
class RolloutNode:
    """A position that was reached `visits` times, with the sum of the results for player 0."""

    state: State
    actions: list[int]
    visits: int = 0
    total: float = 0.0
    children: dict[int, "RolloutNode"] = field(default_factory=dict)
    """Every action that was tried; those below the tree's depth have no actions of their own."""

    def mean(self, player: int) -> float:
        """Return the mean result as `player` sees it."""
        return (self.total if player == 0 else -self.total) / self.visits

    def size(self) -> int:
        """Return how many nodes the tree has from here, those with visits alone not counted."""
        return 1 + sum(child.size() for child in self.children.values())


class PlainRollouts:
    """One tree; `even` shares in place of UCB1, and a `depth` of 1, make it flat."""

    def __init__(self, game: Game, seed: int, constant: float, even: bool, depth: int) -> None:
        self.game, self.random = game, SplitMix(seed)
        self.constant, self.even, self.depth = constant, even, depth

    def start(self, state: State) -> None:
        """Take a position and look at it once."""
        self.root = self._new_node(state)
        self._credit([self.root], self._play_out(state, self.root.actions))

    def follow(self, action: int) -> None:
        """Go on from the child, if it was looked at as a node of the tree."""
        child = self.root.children.get(action)
        state = self.game.play(self.root.state, action)
        if child is not None and self.depth > 1 and self.game.outcome(state) == ONGOING:
            self.root = child
        else:
            self.start(state)

    def search(self, simulations: int) -> None:
        """Run simulations."""
        for _ in range(simulations):
            path = [self.root]
            while len(path) <= self.depth and path[-1].actions:
                node = path[-1]
                action = self._choose(node)
                new = action not in node.children
                if new:
                    node.children[action] = self._new_node(self.game.play(node.state, action))
                path.append(node.children[action])
                if new:
                    break
            leaf = path[-1]
            outcome = self.game.outcome(leaf.state)
            if outcome == ONGOING:
                outcome = self._play_out(leaf.state, leaf.actions)
            self._credit(path, outcome)

    def _choose(self, node: RolloutNode) -> int:
        """Return an untried action, or the one with the highest score; chance decides ties."""
        untried = [action for action in node.actions if action not in node.children]
        if untried:
            return untried[self.random.below(len(untried))]
        best, highest, equals = -1, -math.inf, 1
        for action in node.actions:
            score = self._score(node, node.children[action])
            if score > highest:
                best, highest, equals = action, score, 1
            elif score == highest:
                equals += 1
                if self.random.below(equals) == 0:
                    best = action
        return best

    def _score(self, node: RolloutNode, child: RolloutNode) -> float:
        if self.even:
            return -child.visits
        # The same sums in the same order: a tie that rounding breaks is broken the same way.
        total = child.total if to_play(node.state) == 0 else -child.total
        width = self.constant * math.sqrt(2 * math.log(node.visits))
        return (total + width * math.sqrt(child.visits)) / child.visits

    def _play_out(self, state: State, actions: list[int]) -> int:
        """Play at random to the end; return the outcome for player 0."""
        while True:
            state = self.game.play(state, actions[self.random.below(len(actions))])
            if self.game.outcome(state) != ONGOING:
                return self.game.outcome(state)
            actions = self._legal(state)

    def _credit(self, path: list[RolloutNode], outcome: int) -> None:
        for node in path:
            node.visits += 1
            node.total += outcome

    def _new_node(self, state: State) -> RolloutNode:
        return RolloutNode(state, self._legal(state))

    def _legal(self, state: State) -> list[int]:
        return self.game.legal_action_mask(state).nonzero()[0].tolist()  # type: ignore[no-any-return]
