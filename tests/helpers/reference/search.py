"""A slow PUCT search, as the papers describe it: the twin of `alphazero.mcts`.

Nodes are objects that keep their own position, edges are entries of dictionaries, and a backup
asks of each edge which player chose it, so no sign is ever flipped. Only the rules of the games
and the keys of `SearchConfig` are shared with what it checks.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from alphazero.config.schema import SearchConfig
from alphazero.games import ONGOING, Game, State, to_play
from alphazero.mcts.evaluator import Evaluator


def seen_by(player: int, result: float) -> float:
    """Return a result for player 0 as `player` sees it; the same way leads back."""
    return result if player == 0 else -result


@dataclass
class PlainNode:
    """A position; its dictionaries have one entry for each legal action, in rising order."""

    state: State
    value: float
    priors: dict[int, float]
    visits: dict[int, int] = field(init=False)
    value_sums: dict[int, float] = field(init=False)
    under_way: dict[int, int] = field(init=False)
    children: dict[int, "PlainNode"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.visits = dict.fromkeys(self.priors, 0)
        self.value_sums = dict.fromkeys(self.priors, 0.0)
        self.under_way = dict.fromkeys(self.priors, 0)

    def size(self) -> int:
        """Return the number of nodes from here downwards."""
        return 1 + sum(child.size() for child in self.children.values())


Path = list[tuple[PlainNode, int]]


class PlainSearch:
    """One tree of at most `capacity` nodes, with `leaves` of it evaluated together."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        settings: SearchConfig,
        *,
        leaves: int = 1,
        capacity: int = 1_000_000,
    ) -> None:
        self.game = game
        self.evaluator = evaluator
        self.settings = settings
        self.leaves = leaves
        self.capacity = capacity
        self.root: PlainNode | None = None

    def start(self, state: State, noise: Sequence[float] = (), fraction: float = 0.0) -> None:
        """Take a new position; `noise` is one positive draw for each legal action, or none."""
        self.state = state
        self.root = None
        self.noise, self.fraction = noise, fraction

    def follow(self, action: int, noise: Sequence[float] = (), fraction: float = 0.0) -> None:
        """Play a move; with `reuse_tree` its child, if it has children to come, is the root."""
        child = self.root.children.get(action) if self.root else None
        self.start(self.game.play(self.state, action), noise, fraction)
        if self.settings.reuse_tree and child and child.priors:
            self.root = child

    def search(self, simulations: int) -> None:
        """Run simulations; the first evaluation of a root does not count as one."""
        if self.root is None:
            self.root = self._new_node(self.state)
        while simulations > 0 and self.root.priors:
            walks: list[tuple[Path, State]] = []
            while simulations > 0 and len(walks) < self.leaves:
                path, state = self._walk()
                last, action = path[-1]
                if self.game.outcome(state) != ONGOING:
                    self._hang(path, last.children.get(action) or self._new_node(state))
                elif last.under_way[action]:
                    break
                for node, each in path:
                    node.under_way[each] += 1
                walks.append((path, state))
                simulations -= 1
            for path, state in walks:
                for node, each in path:
                    node.under_way[each] -= 1
                last, action = path[-1]
                node = last.children.get(action) or self._new_node(state)
                self._hang(path, node)
                self._credit(path, node)

    def root_priors(self) -> dict[int, float]:
        """Return (1 - epsilon) p + epsilon eta, in single precision like every prior."""
        priors = self.root.priors
        if not self.noise:
            return priors
        shares = [draw / sum(self.noise) for draw in self.noise]
        mixed = [
            float(np.float32((1 - self.fraction) * prior + self.fraction * share))
            for prior, share in zip(priors.values(), shares, strict=True)
        ]
        return dict(zip(priors, mixed, strict=True))

    def root_value(self) -> float:
        """Return the mean of the root's own value and of every simulation's."""
        root = self.root
        total = root.value + sum(root.value_sums.values())
        return total / (1 + sum(root.visits.values()))

    def variation(self, action: int, length: int) -> list[int]:
        """Return the most visited line that begins with `action`."""
        line, node = [action], self.root.children.get(action)
        while len(line) < length and node and any(node.visits.values()):
            action = max(node.visits, key=lambda each: (node.visits[each], -each))
            line.append(action)
            node = node.children.get(action)
        return line

    def _walk(self) -> tuple[Path, State]:
        """Go from the root to a position that has no node, or to a finished one."""
        path: Path = []
        node = self.root
        while True:
            action = self._best_action(node)
            path.append((node, action))
            if action not in node.children:
                return path, self.game.play(node.state, action)
            node = node.children[action]
            if not node.priors:
                return path, node.state

    def _best_action(self, node: PlainNode) -> int:
        """Return the action with the highest PUCT score; pending simulations count as visits alone.

        Among equals the higher prior wins, then the earlier action.
        """
        settings = self.settings
        priors = self.root_priors() if node is self.root else node.priors
        counts = {a: node.visits[a] + node.under_way[a] for a in priors}
        total = sum(counts.values())
        constant = settings.c_puct
        if settings.c_puct_base:
            base = settings.c_puct_base
            constant += math.log((1 + total + base) / base)
        first_play = 0.0
        if settings.fpu == "parent":
            seen = sum(node.value_sums.values())
            first_play = (node.value + seen) / (1 + sum(node.visits.values()))
            first_play -= settings.fpu_reduction

        def score(action: int) -> float:
            count, visits = counts[action], node.visits[action]
            mean = node.value_sums[action] / visits if visits else first_play
            return mean + constant * priors[action] * math.sqrt(total) / (1 + count)

        return max(priors, key=lambda action: (score(action), priors[action], -action))

    def _new_node(self, state: State) -> PlainNode:
        """Return a node whose value is the finished game's or else the evaluator's."""
        outcome = self.game.outcome(state)
        if outcome != ONGOING:
            return PlainNode(state, seen_by(to_play(state), outcome), {})
        logits, values = self.evaluator.evaluate(self.game.observe(state)[None])
        legal = np.flatnonzero(self.game.legal_action_mask(state)).tolist()
        highest = max(float(logits[0, action]) for action in legal)
        weights = [math.exp(float(logits[0, action]) - highest) for action in legal]
        priors = [float(np.float32(weight / sum(weights))) for weight in weights]
        shares = dict(zip(legal, priors, strict=True))
        return PlainNode(state, float(values[0]), shares)

    def _hang(self, path: Path, node: PlainNode) -> None:
        """Put `node` at the end of `path`, unless it hangs there or the tree is full."""
        last, action = path[-1]
        if action not in last.children and self.root.size() < self.capacity:
            last.children[action] = node

    def _credit(self, path: Path, leaf: PlainNode) -> None:
        """Count a simulation that ends in `leaf` on every edge of its path."""
        result = seen_by(to_play(leaf.state), leaf.value)
        for node, action in path:
            node.visits[action] += 1
            node.value_sums[action] += seen_by(to_play(node.state), result)
