"""AlphaGo Zero in plain Python: the whole method in one file, to be read from top to bottom.

    python -m alphazero.reference    # trains tic-tac-toe to perfect play, in minutes on two cores

"The paper" is Silver et al., *Mastering the game of Go without human knowledge*, Nature 550 (2017);
its sections stand beside the code. Resignation and symmetries in the search are left out. The rest
of the package does the same for every game, faster and with more options; its tests compare it with
this file.

An outcome is absolute: +1, 0 or -1 for player 0, who moves first. A value is relative: what the
player to move in a position may expect, from -1 to 1. Letters: A actions, B positions in a batch,
[C, H, W] the observation of a position, F filters; s, a, p, v, N, W, Q, P, pi, z as in the paper.
"""

import argparse
import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor, nn
from torch.nn.functional import log_softmax, relu
from tqdm import tqdm

from alphazero.games import ONGOING, Game, State, make_game, to_play, value_of
from alphazero.utils.arrays import Float32Array, Float64Array


@dataclass(frozen=True)
class Settings:
    """All constants; the defaults are for tic-tac-toe, the paper's values stand beside them."""

    filters: int = 32  # paper: 256
    blocks: int = 2  # paper: 19 or 39
    simulations: int = 50  # for each move; paper: 1,600
    c_puct: float = 1.25  # weight of priors against values; the paper does not state its own
    noise_alpha: float = 1.0  # about 10 / legal actions; paper: 0.03, for 361 actions
    noise_fraction: float = 0.25  # epsilon; paper: 0.25
    temperature_moves: int = 9  # drawn with temperature 1, here all of a game; paper: 30
    random_moves: int = 6  # at most, before a game, to learn what good players avoid; paper: 0
    iterations: int = 30
    games: int = 250  # in an iteration, side by side; paper: 25,000
    window: int = 12_000  # newest positions to learn from; paper: those of 500,000 games
    steps: int = 200  # of the optimizer in an iteration; paper: 1,000
    batch_size: int = 128  # paper: 2,048
    learning_rates: tuple[float, ...] = (0.05, 0.05, 0.01, 0.002)  # in turn; paper: 0.01 to 0.0001
    momentum: float = 0.9  # paper: 0.9
    l2: float = 1e-4  # c; paper: 1e-4
    gate_games: int = 40  # paper: 400
    gate_score: float = 0.5  # half, as perfect players draw; paper: above 0.55


# The network: Methods, "Neural network architecture"


class Network(nn.Module):
    """A residual tower with two heads, which computes f(s) = (p, v)."""

    def __init__(self, game: Game, filters: int, blocks: int) -> None:
        super().__init__()
        planes, rows, columns = game.observation_shape
        self.stem = nn.Sequential(*_convolution(planes, filters, 3), nn.ReLU())
        self.tower = nn.Sequential(*(_Residual(filters) for _ in range(blocks)))
        policy = [nn.ReLU(), nn.Flatten(), nn.Linear(2 * rows * columns, game.num_actions)]
        self.policy_head = nn.Sequential(*_convolution(filters, 2, 1), *policy)
        value = [nn.ReLU(), nn.Flatten(), nn.Linear(rows * columns, filters)]
        value += [nn.ReLU(), nn.Linear(filters, 1), nn.Tanh()]
        self.value_head = nn.Sequential(*_convolution(filters, 1, 1), *value)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return policy logits [B, A] and values [B] of observations [B, C, H, W]."""
        features = self.tower(self.stem(observations))  # [B, F, H, W]
        return self.policy_head(features), self.value_head(features).squeeze(1)

    @torch.inference_mode()
    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Do as `forward` in arrays, with the running statistics of batch normalisation."""
        logits, values = self.eval()(torch.from_numpy(observations))
        return logits.numpy(), values.numpy()


class _Residual(nn.Module):
    def __init__(self, filters: int) -> None:
        super().__init__()
        first, second = _convolution(filters, filters, 3), _convolution(filters, filters, 3)
        self.change = nn.Sequential(*first, nn.ReLU(), *second)

    def forward(self, features: Tensor) -> Tensor:
        return relu(features + self.change(features))


def _convolution(inputs: int, outputs: int, size: int) -> list[nn.Module]:
    return [nn.Conv2d(inputs, outputs, size, padding="same", bias=False), nn.BatchNorm2d(outputs)]


# The search: Methods, "Search algorithm"

Evaluate = Callable[[Float32Array], tuple[Float32Array, Float32Array]]  # as `Network.evaluate`


@dataclass
class Node:
    """A position with an edge for each legal action, in rising order; a finished one has none."""

    state: State
    value: float = 0.0  # v, or the result of a finished game, for the player to move
    priors: dict[int, float] = field(default_factory=dict)  # P(s,a)
    visits: dict[int, int] = field(default_factory=dict)  # N(s,a)
    value_sums: dict[int, float] = field(default_factory=dict)  # W(s,a), for the player to move
    children: dict[int, "Node"] = field(default_factory=dict)


Path = list[tuple[Node, int]]  # the edges from the root to a leaf: nodes, and actions there


class Tree:
    """The search tree of one game."""

    def __init__(self, game: Game, state: State, c_puct: float) -> None:
        self.game, self.c_puct = game, c_puct
        self.root = Node(state)
        self.root_priors: dict[int, float] = {}  # as selection uses them: noisy in self-play

    def select(self) -> tuple[Path, Node]:
        """Return the path to a leaf, and the leaf: a new node or a finished game (Fig. 2a)."""
        path, node = Path(), self.root
        while node.priors:
            action = self.best_action(node)
            path.append((node, action))
            if action not in node.children:
                node.children[action] = Node(self.game.play(node.state, action))
            node = node.children[action]
        return path, node

    def best_action(self, node: Node) -> int:
        """Return the action of the highest score; among equals the highest prior, the earliest."""
        priors = self.root_priors if node is self.root else node.priors
        total = sum(node.visits.values())

        def score(action: int) -> float:
            visits = node.visits[action]
            mean = node.value_sums[action] / visits if visits else 0.0  # Q(s,a)
            return puct(mean, priors[action], visits, total, self.c_puct)

        return max(priors, key=lambda action: (score(action), priors[action], -action))

    def back_up(self, path: Path, leaf: Node) -> None:
        """Add a visit and the leaf's value to every edge of the path (Fig. 2c).

        The leaf's value is for the player to move there, W(s,a) for the player to move in s.
        """
        for node, action in path:
            same = to_play(node.state) == to_play(leaf.state)
            node.visits[action] += 1
            node.value_sums[action] += leaf.value if same else -leaf.value

    def mix_noise(self, noise: Sequence[float], fraction: float) -> None:
        """Let P(s,a) = (1 - epsilon) p_a + epsilon eta_a at the root: Methods, "Self-play"."""
        for (action, prior), eta in zip(self.root.priors.items(), noise, strict=True):
            self.root_priors[action] = float(np.float32((1 - fraction) * prior + fraction * eta))

    def search_policy(self) -> Float64Array:
        """Return pi [A]: the root's visits divided by their sum (Fig. 2d)."""
        policy: Float64Array = np.zeros(self.game.num_actions)
        policy[list(self.root.visits)] = list(self.root.visits.values())
        policy /= policy.sum()
        return policy

    def play(self, action: int) -> None:
        """Make the child of an action the root, with all that is below it: Methods, "Play"."""
        state = self.game.play(self.root.state, action)
        self.root = self.root.children.get(action, Node(state))


def puct(value: float, prior: float, visits: int, total_visits: int, c_puct: float) -> float:
    """Return Q(s,a) + c_puct P(s,a) sqrt(sum_b N(s,b)) / (1 + N(s,a)): Methods, "Select"."""
    return value + c_puct * prior * math.sqrt(total_visits) / (1 + visits)


def expand(game: Game, leaves: Sequence[Node], evaluate: Evaluate) -> None:
    """Give leaves their value, and edges if unfinished: "Expand and evaluate" (Fig. 2b)."""
    unfinished = []
    for leaf in leaves:
        outcome = game.outcome(leaf.state)
        if outcome == ONGOING:
            unfinished.append(leaf)
        else:
            leaf.value = float(value_of(outcome, to_play(leaf.state)))
    if not unfinished:
        return
    logits, values = evaluate(np.stack([game.observe(leaf.state) for leaf in unfinished]))
    for leaf, row, value in zip(unfinished, logits.tolist(), values.tolist(), strict=True):
        legal = np.flatnonzero(game.legal_action_mask(leaf.state)).tolist()
        leaf.value = value
        leaf.priors = dict(zip(legal, softmax([row[action] for action in legal]), strict=True))
        leaf.visits = dict.fromkeys(legal, 0)
        leaf.value_sums = dict.fromkeys(legal, 0.0)


def softmax(logits: Sequence[float]) -> list[float]:
    """Return exp(x_i) / sum_j exp(x_j), in single precision like all priors of the package."""
    highest = max(logits)
    weights = [math.exp(logit - highest) for logit in logits]
    total = sum(weights)
    return [float(np.float32(weight / total)) for weight in weights]


def search(
    game: Game,
    trees: Sequence[Tree],
    evaluate: Evaluate,
    settings: Settings,
    rng: Generator | None = None,
) -> None:
    """Run simulations in trees of unfinished games; with `rng`, noise is mixed in at the roots.

    The leaves of all trees are evaluated together. A root's evaluation is no simulation.
    """
    expand(game, [tree.root for tree in trees if not tree.root.priors], evaluate)
    for tree in trees:
        tree.root_priors = dict(tree.root.priors)
        if rng is not None:
            noise = rng.dirichlet([settings.noise_alpha] * len(tree.root.priors))
            tree.mix_noise(noise.tolist(), settings.noise_fraction)
    for _ in range(settings.simulations):
        walks = [tree.select() for tree in trees]
        expand(game, [leaf for _, leaf in walks], evaluate)
        for tree, (path, leaf) in zip(trees, walks, strict=True):
            tree.back_up(path, leaf)


# Games: Methods, "Self-play" and "Evaluator"


class Sample(NamedTuple):
    """A triple (s, pi, z)."""

    state: State
    policy: Float64Array  # pi [A]
    value: int  # z, the result of the game for the player to move in s


def opening(game: Game, moves: int, rng: Generator) -> State:
    """Return the unfinished position after up to `moves` random moves."""
    state = game.initial_state()
    for _ in range(rng.integers(moves + 1)):
        after = game.play(state, rng.choice(np.flatnonzero(game.legal_action_mask(state))))
        state = after if game.outcome(after) == ONGOING else state
    return state


def self_play(game: Game, network: Network, settings: Settings, rng: Generator) -> list[Sample]:
    """Play games of a network against itself, side by side; return a sample of each position."""
    starts = [opening(game, settings.random_moves, rng) for _ in range(settings.games)]
    trees = [Tree(game, start, settings.c_puct) for start in starts]
    moves: dict[Tree, list[tuple[State, Float64Array]]] = {tree: [] for tree in trees}
    while playing := [tree for tree in trees if game.outcome(tree.root.state) == ONGOING]:
        search(game, playing, network.evaluate, settings, rng)
        for tree in playing:
            policy = tree.search_policy()
            moves[tree].append((tree.root.state, policy))
            drawn = len(moves[tree]) <= settings.temperature_moves  # temperature 1, then 0
            tree.play(int(rng.choice(len(policy), p=policy) if drawn else policy.argmax()))
    return [
        Sample(s, pi, value_of(game.outcome(tree.root.state), to_play(s)))
        for tree in trees
        for s, pi in moves[tree]
    ]


def match(
    game: Game, challenger: Network, best: Network, settings: Settings, rng: Generator
) -> float:
    """Return the challenger's score, a draw counted half; it is player 0 in the even games."""
    openings = [opening(game, settings.random_moves, rng) for _ in range(settings.gate_games // 2)]
    states = [state for state in openings for _ in range(2)]
    while playing := [n for n, state in enumerate(states) if game.outcome(state) == ONGOING]:
        movers = {number: (to_play(states[number]) + number) % 2 for number in playing}
        for side, network in enumerate((challenger, best)):
            numbers = [number for number in playing if movers[number] == side]
            trees = [Tree(game, states[number], settings.c_puct) for number in numbers]
            search(game, trees, network.evaluate, settings)
            for number, tree in zip(numbers, trees, strict=True):
                states[number] = game.play(states[number], int(tree.search_policy().argmax()))
    values = [value_of(game.outcome(state), number % 2) for number, state in enumerate(states)]
    return float(1 + np.mean(values)) / 2


# Learning: equation 1 of the paper; Methods, "Optimization"

Batch = tuple[Tensor, Tensor, Tensor]  # observations [B, C, H, W], pi [B, A], z [B]


def draw_batch(game: Game, window: Sequence[Sample], size: int, rng: Generator) -> Batch:
    """Draw samples, each turned by a random symmetry: Methods, "Domain knowledge"."""
    symmetries = game.symmetries()
    observations = np.empty((size, *game.observation_shape), np.float32)
    policies = np.empty((size, game.num_actions), np.float32)
    samples = [window[index] for index in rng.integers(len(window), size=size)]
    for row, sample in enumerate(samples):
        kind = rng.integers(len(symmetries.actions))
        planes = game.observe(sample.state).reshape(game.observation_shape[0], -1)  # [C, H * W]
        observations[row].reshape(planes.shape)[:, symmetries.cells[kind]] = planes
        policies[row, symmetries.actions[kind]] = sample.policy
    values = np.array([sample.value for sample in samples], np.float32)
    return torch.from_numpy(observations), torch.from_numpy(policies), torch.from_numpy(values)


def loss(network: nn.Module, batch: Batch, c: float) -> Tensor:
    """Return l = (z - v)^2 - pi . log p + c |theta|^2, the mean over a batch: equation 1."""
    observations, pi, z = batch
    logits, v = network(observations)
    squared_error = (z - v) ** 2  # [B]
    cross_entropy = -(pi * log_softmax(logits, dim=1)).sum(dim=1)  # [B]
    squared_norm = torch.stack([(theta**2).sum() for theta in network.parameters()]).sum()
    total: Tensor = (squared_error + cross_entropy).mean() + c * squared_norm
    return total


def update(network: Network, optimizer: torch.optim.Optimizer, batch: Batch, c: float) -> float:
    """Take one step of gradient descent; return the loss before it."""
    before = loss(network.train(), batch, c)
    optimizer.zero_grad()
    before.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return before.item()


# The whole: Methods, "Self-play training pipeline"


def train(game: Game, settings: Settings, seed: int) -> Network:
    """Train a network from random weights; return the best one."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    challenger = Network(game, settings.filters, settings.blocks)
    best = copy.deepcopy(challenger)
    optimizer = torch.optim.SGD(challenger.parameters(), momentum=settings.momentum)
    window: list[Sample] = []
    progress = tqdm(range(settings.iterations), desc="training", unit=" iterations")
    for iteration in progress:
        window = (window + self_play(game, best, settings, rng))[-settings.window :]
        part = iteration * len(settings.learning_rates) // settings.iterations
        optimizer.param_groups[0]["lr"] = settings.learning_rates[part]
        losses = []
        for _ in range(settings.steps):
            batch = draw_batch(game, window, settings.batch_size, rng)
            losses.append(update(challenger, optimizer, batch, settings.l2))
        score = match(game, challenger, best, settings, rng)
        if score >= settings.gate_score:
            best = copy.deepcopy(challenger)
        progress.set_postfix(loss=f"{np.mean(losses):.3f}", gate=f"{score:.0%}")
    return best


def solve(game: Game, state: State, solutions: dict[bytes, tuple[State, int]]) -> int:
    """Return a position's value by plain minimax; add unfinished ones from it to `solutions`."""
    outcome = game.outcome(state)
    if outcome != ONGOING:
        return value_of(outcome, to_play(state))
    if state.tobytes() not in solutions:
        legal = np.flatnonzero(game.legal_action_mask(state)).tolist()
        value = max(-solve(game, game.play(state, action), solutions) for action in legal)
        solutions[state.tobytes()] = state, value
    return solutions[state.tobytes()][1]


def optimal_share(game: Game, network: Network, settings: Settings) -> float:
    """Return in which share of all reachable positions the search finds an optimal move."""
    solutions: dict[bytes, tuple[State, int]] = {}
    solve(game, game.initial_state(), solutions)
    positions, optimal = list(solutions.values()), 0
    for first in tqdm(range(0, len(positions), 1000), desc="checking", unit="000 positions"):
        part = positions[first : first + 1000]
        trees = [Tree(game, state, settings.c_puct) for state, _ in part]
        search(game, trees, network.evaluate, settings)
        for tree, (state, value) in zip(trees, part, strict=True):
            action = int(tree.search_policy().argmax())
            optimal += -solve(game, game.play(state, action), solutions) == value
    return optimal / len(positions)


def main() -> None:
    """Train tic-tac-toe, then compare the player with minimax in every position."""
    parser = argparse.ArgumentParser(prog="python -m alphazero.reference", description=main.__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of all random numbers (default: 1)")
    seed = parser.parse_args().seed
    if seed < 0:
        parser.error(f"--seed must be at least 0, got {seed}")
    game, settings = make_game("tic_tac_toe"), Settings()
    network = train(game, settings, seed)
    share = optimal_share(game, network, settings)
    print(f"An optimal move in {share:.2%} of all reachable positions")


if __name__ == "__main__":
    main()
