"""The search of `alphazero.reference` with more options of `SearchConfig`: the twin of the kernels.

A backup asks of each edge which player chose it, so no sign is ever flipped.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from alphazero.config.schema import SearchConfig
from alphazero.games import ONGOING, Game, State
from alphazero.mcts.evaluator import Evaluator
from alphazero.reference import Node, Path, Tree, expand, puct


def seen_by(player: int, result: float) -> float:
    """Return a result for player 0 as `player` sees it; the same way leads back."""
    return result if player == 0 else -result


@dataclass
class PlainNode(Node):
    """A position, with the simulations under way on each edge."""

    pending: dict[int, int] = field(default_factory=dict)

    def size(self) -> int:
        """Return the number of nodes from here downwards."""
        return 1 + sum(child.size() for child in self.children.values())


class PlainSearch(Tree):
    """One tree of at most `capacity` nodes, with `leaves` of it evaluated together."""

    root: PlainNode

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        settings: SearchConfig,
        *,
        leaves: int = 1,
        capacity: int = 1_000_000,
    ) -> None:
        super().__init__(game, game.initial_state(), settings.c_puct)
        self.evaluator, self.settings = evaluator, settings
        self.leaves, self.capacity = leaves, capacity
        self.noise: Sequence[float] = ()
        """one positive draw for each legal action of the root, or none"""
        self.fraction = 0.0

    def start(self, state: State) -> None:
        """Take a new position."""
        self.root = PlainNode(state)

    def follow(self, action: int) -> None:
        """Play a move; with `reuse_tree` its child, if it has children to come, is the root."""
        child = self.root.children.get(action)
        self.start(self.game.play(self.root.state, action))
        if self.settings.reuse_tree and child and child.priors:
            self.root = child

    def search(self, simulations: int) -> None:
        """Run simulations; the first evaluation of a root does not count as one."""
        self.begin()
        while simulations > 0 and self.root.priors:
            walks: list[tuple[Path, PlainNode]] = []
            while simulations > 0 and len(walks) < self.leaves:
                path, leaf = self.select()
                last, action = path[-1]
                if self.game.outcome(leaf.state) != ONGOING:
                    leaf = self.attach(path, leaf)
                elif last.pending[action]:
                    break
                for node, each in path:
                    node.pending[each] += 1
                walks.append((path, leaf))
                simulations -= 1
            for path, leaf in walks:
                for node, each in path:
                    node.pending[each] -= 1
                self.back_up(path, self.attach(path, leaf))

    def begin(self) -> None:
        """Evaluate a new root, and mix the noise into its priors."""
        if not self.root.priors:
            self.expand(self.root)
        self.root_priors = dict(self.root.priors)
        if self.noise:
            self.mix_noise([draw / sum(self.noise) for draw in self.noise], self.fraction)

    def select(self) -> tuple[Path, PlainNode]:
        path, node = Path(), self.root
        while node.priors:
            action = self.best_action(node)
            path.append((node, action))
            child = self.child(node, action)
            if child is None:
                return path, PlainNode(self.game.play(node.state, action))
            node = child
        return path, node

    def child(self, node: PlainNode, action: int) -> PlainNode | None:
        """Return the node that an action leads to, if there is one."""
        return node.children.get(action)

    def best_action(self, node: Node) -> int:
        """Return the action of the highest score; pending simulations count as visits alone."""
        settings, priors = self.settings, self.root_priors if node is self.root else node.priors
        counts = {a: node.visits[a] + node.pending[a] for a in priors}
        total, constant, first_play = sum(counts.values()), settings.c_puct, 0.0
        if settings.c_puct_base:
            base = settings.c_puct_base
            constant += math.log((1 + total + base) / base)
        if settings.fpu_reduction is not None:
            seen = sum(node.value_sums.values())
            first_play = (node.value + seen) / (1 + sum(node.visits.values()))
            first_play -= settings.fpu_reduction

        def score(action: int) -> float:
            visits = node.visits[action]
            mean = node.value_sums[action] / visits if visits else first_play
            return puct(mean, priors[action], counts[action], total, constant)

        return max(priors, key=lambda action: (score(action), priors[action], -action))

    def attach(self, path: Path, leaf: PlainNode) -> PlainNode:
        """Return the node at the end of `path`: the leaf, if none is there; keep it if room is."""
        last, action = path[-1]
        if action not in last.children:
            self.expand(leaf)
            if self.root.size() >= self.capacity:
                return leaf
            last.children[action] = leaf
        return last.children[action]

    def expand(self, node: PlainNode) -> None:
        """Give a new node its values and edges."""
        expand(self.game, [node], self.evaluator.evaluate)
        node.pending = dict.fromkeys(node.priors, 0)

    def root_value(self) -> float:
        """Return the mean of the root's own value and of every simulation's."""
        root = self.root
        return (root.value + sum(root.value_sums.values())) / (1 + sum(root.visits.values()))

    def variation(self, action: int, length: int) -> list[int]:
        """Return the most visited line that begins with `action`."""
        line, node = [action], self.root.children.get(action)
        while len(line) < length and node and any(node.visits.values()):
            action = max(node.visits, key=lambda each: (node.visits[each], -each))
            line.append(action)
            node = node.children.get(action)
        return line
