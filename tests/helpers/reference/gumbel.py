"""A plain Gumbel root, as Danihelka et al. (2022) describe it."""

import numpy as np

from helpers.reference.search import PlainNode, PlainSearch


def halving(actions: int, simulations: int) -> list[int]:
    """Return, for each simulation of sequential halving, the visits its action already has."""
    phases = max(1, int(np.ceil(np.log2(actions))))
    visits, turns, left = np.zeros(actions, int), [], actions
    while len(turns) < simulations:
        for _ in range(max(1, simulations // (phases * left))):
            turns += visits[:left].tolist()
            visits[:left] += 1
        left = max(min(2, actions), left // 2)
    return turns[:simulations]


class PlainGumbelRoot(PlainSearch):
    """The plain PUCT search with Gumbel search at the root, whatever visits it has already."""

    def plan(self, simulations: int, draws: list[float]) -> None:
        """Search so often, with a draw for each legal action."""
        self.begin()
        self.kept = dict(self.root.visits)
        self.turns = halving(len(self.root.priors), simulations)
        self.draws = dict(zip(self.root.priors, draws, strict=True))
        self.search(simulations)

    def improved(self) -> dict[int, float]:
        """Return log P + sigma(completed q) of each action (equations 8, 10 and 33)."""
        root = self.root
        q = {a: root.value_sums[a] / count for a, count in root.visits.items() if count}
        mixed = root.value
        if q:
            visits, priors = sum(root.visits.values()), sum(root.priors[a] for a in q)
            mean = sum(root.priors[a] * value for a, value in q.items()) / priors
            mixed = (root.value + visits * mean) / (1 + visits)
        scale = 50 + max(root.visits.values())
        return {
            a: float(np.log(prior)) + scale * (q.get(a, mixed) + 1) / 2
            for a, prior in root.priors.items()
        }

    def root_value(self) -> float:
        """Return the mean of the visited actions' values under the improved policy."""
        logits = self.improved()
        highest = max(logits.values())
        seen = [action for action, count in self.root.visits.items() if count]
        shares = [float(np.exp(logits[a] - highest)) for a in seen]
        if not sum(shares):
            return super().root_value()
        means = [self.root.value_sums[a] / self.root.visits[a] for a in seen]
        return float(np.average(means, weights=shares))

    def best_action(self, node: PlainNode) -> int:
        if node is not self.root or not self.turns:
            return super().best_action(node)
        visits, logits = self.turns.pop(0), self.improved()
        considered = [a for a, n in node.visits.items() if n - self.kept[a] == visits]
        return max(considered, key=lambda a: (self.draws[a] + logits[a], -a))
