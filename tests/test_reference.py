"""The plain method against hand computations; `mcts/` compares the kernels with its search."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.games import CONNECT_FOUR_4X5X3, TIC_TAC_TOE
from helpers.searches import UniformEvaluator
from torch import Tensor, nn

from alphazero.games import ONGOING, Game, to_play
from alphazero.games.game import LAST, PLY
from alphazero.reference import (
    Network,
    Sample,
    Settings,
    draw_batch,
    loss,
    main,
    match,
    opening,
    optimal_share,
    self_play,
    solve,
    train,
    update,
)
from alphazero.utils.arrays import Float32Array

TINY = Settings(filters=4, blocks=1, simulations=10, iterations=1, games=6, steps=2, gate_games=4)


@pytest.mark.parametrize("game", [TIC_TAC_TOE, CONNECT_FOUR_4X5X3], ids=["3x3", "4x5x3"])
def test_samples_are_whole_games_with_search_policies_and_results(game: Game):
    torch.manual_seed(0)
    samples = self_play(
        game, Network(game, 4, 1), replace(TINY, random_moves=0), np.random.default_rng(0)
    )
    firsts = [index for index, each in enumerate(samples) if each.state[PLY] == 0]
    assert len(firsts) == TINY.games
    for first, end in zip(firsts, [*firsts[1:], len(samples)], strict=True):
        played = samples[first:end]
        for before, after in itertools.pairwise(played):
            action = int(after.state[LAST])
            assert (after.state == game.play(before.state, action)).all()
            assert before.policy[action] > 0
        for sample in played:
            assert sample.policy.sum() == pytest.approx(1)
            assert not sample.policy[~game.legal_action_mask(sample.state)].any()
        last = played[-1]
        outcomes = {
            game.outcome(game.play(last.state, int(action)))
            for action in np.flatnonzero(last.policy)
        } - {ONGOING}
        result = last.value if to_play(last.state) == 0 else -last.value
        assert result in outcomes
        assert [each.value for each in played] == [
            result if each.state[PLY] % 2 == 0 else -result for each in played
        ]


class Fixed(nn.Module):
    """Answers the same of every observation, by two weights."""

    def __init__(self) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.tensor([0.0, np.log(3.0)]))
        self.value = nn.Parameter(torch.tensor(0.5))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        return self.logits.expand(len(observations), 2), self.value.expand(len(observations))


def test_the_loss_is_the_one_computed_by_hand():
    batch = torch.zeros(2, 1, 1, 1), torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([1.0, -1])
    # p = (1/4, 3/4); errors 0.5^2 and 1.5^2; |theta|^2 = (log 3)^2 + 0.5^2
    cross_entropy = (np.log(4) + (np.log(4) + np.log(4 / 3)) / 2) / 2
    expected = (0.25 + 2.25) / 2 + cross_entropy + 0.1 * (np.log(3) ** 2 + 0.25)
    assert loss(Fixed(), batch, 0.1).item() == pytest.approx(expected)


def test_a_batch_turns_positions_and_policies_together():
    game, rng = CONNECT_FOUR_4X5X3, np.random.default_rng(0)
    state = game.play(game.initial_state(), 0, 1, 0)
    sample = Sample(state, np.array([0.5, 0.3, 0.2, 0, 0]), -1)
    observations, policies, values = draw_batch(game, [sample], 50, rng)
    plain, mirrored = torch.from_numpy(game.observe(state)), 0
    for planes, policy in zip(observations, policies, strict=True):
        is_mirrored = bool(policy[4])
        mirrored += is_mirrored
        assert torch.equal(planes, plain.flip(2) if is_mirrored else plain)
        expected = torch.tensor([0.5, 0.3, 0.2, 0, 0])
        assert torch.equal(policy, expected.flip(0) if is_mirrored else expected)
    assert 10 < mirrored < 40
    assert (values == -1).all()


def test_steps_lower_the_loss():
    torch.manual_seed(0)
    rng, network = np.random.default_rng(0), Network(TIC_TAC_TOE, 8, 1)
    samples = self_play(TIC_TAC_TOE, network, TINY, rng)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    batch = draw_batch(TIC_TAC_TOE, samples, 32, rng)
    losses = [update(network, optimizer, batch, 1e-4) for _ in range(20)]
    assert losses[-1] < 0.9 * losses[0]


def test_a_match_counts_wins_for_the_side_that_wins():
    """One player searches, the other plays the last legal move."""
    searcher = UniformEvaluator(9)

    class Last(UniformEvaluator):
        def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
            logits, values = super().evaluate(observations)
            return logits + 50 * np.arange(9, dtype=np.float32), values

    settings = Settings(simulations=200, gate_games=8, random_moves=0)
    rng = np.random.default_rng(0)
    good = match(TIC_TAC_TOE, searcher, Last(9), settings, rng)
    bad = match(TIC_TAC_TOE, Last(9), searcher, settings, rng)
    assert good > 0.5 > bad
    assert good + bad == pytest.approx(1)


def test_openings_are_unfinished_and_of_every_length():
    rng = np.random.default_rng(0)
    states = [opening(TIC_TAC_TOE, 8, rng) for _ in range(200)]
    assert {TIC_TAC_TOE.outcome(state) for state in states} == {ONGOING}
    assert {int(state[PLY]) for state in states} == set(range(9))
    assert opening(TIC_TAC_TOE, 0, rng)[PLY] == 0


def test_minimax_solves_tic_tac_toe():
    known: dict = {}
    assert solve(TIC_TAC_TOE, TIC_TAC_TOE.initial_state(), known) == 0
    assert len(known) == 13_306
    diagram = TIC_TAC_TOE.parse("X X .\nO O .\n. . .")
    assert solve(TIC_TAC_TOE, diagram, known) == 1


def test_one_seed_gives_one_network():
    first, second, other = (train(TIC_TAC_TOE, TINY, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_a_negative_seed_is_refused_before_anything_runs(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["reference", "--seed", "-1"])
    with pytest.raises(SystemExit):
        main()
    assert "error: --seed must be at least 0, got -1" in capsys.readouterr().err


@pytest.mark.slow
def test_tic_tac_toe_is_learned_to_perfection():
    settings = Settings()
    network = train(TIC_TAC_TOE, settings, seed=1)
    assert optimal_share(TIC_TAC_TOE, network, settings) == 1
