"""What self-play's roots look at beyond what they believe, and how positions are shown."""

import math
from pathlib import Path

import numpy as np
import pytest
from helpers.searches import CONNECT_FOUR, FIRST, GAMES, HashedEvaluator, finish, random_position
from helpers.tiny_run import tiny_config

from alphazero.arena.match import Match
from alphazero.config.schema import SearchConfig
from alphazero.games import make_game
from alphazero.mcts.evaluator import Evaluator, SymmetricEvaluator, UniformEvaluator
from alphazero.mcts.exploration import Exploration
from alphazero.mcts.network_search import NetworkSearch
from alphazero.players.base import Decisions
from alphazero.records.game_record import GameRecord
from alphazero.training.selfplay import play_games
from alphazero.utils.arrays import Float32Array

# Forced playouts


def plain_pruning(visits: list[int], values: list[float], priors: list[float]) -> list[float]:
    """Return visits without what was only forced, k = 2 and c = 1.25, tried one by one."""
    total, best = sum(visits), int(np.argmax(visits))

    def score(edge: int, count: int) -> float:
        return values[edge] + 1.25 * priors[edge] * math.sqrt(total) / (1 + count)

    kept = []
    for edge, count in enumerate(visits):
        least = count
        if edge != best and count:
            for taken in range(1, min(int(math.sqrt(2 * priors[edge] * total)), count) + 1):
                if score(edge, count - taken) >= score(best, visits[best]):
                    break
                least = count - taken
            least = 0 if least == 1 else least
        kept.append(least)
    return [each / sum(kept) for each in kept]


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "mnk 4x4x3"])
def test_forced_visits_are_given_and_taken_out_of_what_is_learned(name: str) -> None:
    game, pruned = GAMES[name], 0
    for seed in range(12):
        state = random_position(game, seed % 4, np.random.default_rng(seed))
        search = NetworkSearch(
            game,
            HashedEvaluator(game, seed),
            SearchConfig(simulations=150),
            exploration=Exploration(0.25, 1.0, forced_playouts_k=2.0),
            rng=np.random.default_rng(seed),
        )
        search.reset(FIRST, state[None])
        search.begin_search(FIRST)
        roots = finish(search)
        legal = np.flatnonzero(game.legal_action_mask(state))
        visits = roots.visits[0, legal]
        priors = search.trees.root_prior[0, : len(legal)].astype(float)
        owed = np.sqrt(2 * priors * (visits.sum() - 1))
        assert (visits[visits > 0] >= np.floor(owed)[visits > 0]).all()
        values = np.nan_to_num(roots.action_values[0, legal])
        expected = plain_pruning(visits.tolist(), values.tolist(), priors.tolist())
        assert np.allclose(roots.policy_targets[0, legal], expected)
        assert np.allclose(roots.move_policies[0, legal], visits / visits.sum())
        pruned += not np.allclose(roots.policy_targets, roots.move_policies)
    assert pruned >= 6


def test_without_exploration_nothing_is_forced() -> None:
    game = CONNECT_FOUR
    found = []
    for exploration in (None, Exploration(0.5, 1.0, forced_playouts_k=2.0)):
        search = NetworkSearch(game, HashedEvaluator(game), SearchConfig(), exploration=exploration)
        search.reset(FIRST, game.initial_state()[None])
        search.begin_search(FIRST, explore=False)
        found.append(finish(search))
    assert (found[0].visits == found[1].visits).all()
    assert (found[0].policy_targets == found[1].policy_targets).all()


# Symmetries at leaves


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four"])
def test_averaged_answers_move_with_the_board(name: str) -> None:
    game, rng = GAMES[name], np.random.default_rng(2)
    raw = HashedEvaluator(game)
    averaged = SymmetricEvaluator(game, raw)
    symmetries = game.symmetries()
    boards = np.array([game.observe(random_position(game, 3, rng)) for _ in range(5)])
    logits, values = averaged.evaluate(boards)
    images = []
    for actions, cells in zip(*symmetries, strict=True):
        turned = np.empty_like(boards)
        turned.reshape(5, -1, len(cells))[:, :, cells] = boards.reshape(5, -1, len(cells))
        images.append((raw.evaluate(turned)[0][:, actions], raw.evaluate(turned)[1]))
        turned_logits, turned_values = averaged.evaluate(turned)
        assert np.allclose(turned_logits[:, actions], logits, atol=1e-6)
        assert np.allclose(turned_values, values, atol=1e-6)
    assert np.allclose(logits, np.mean([each for each, _ in images], axis=0), atol=1e-6)
    assert np.allclose(values, np.mean([each for _, each in images], axis=0), atol=1e-6)


def test_random_symmetries_are_all_drawn() -> None:
    game = GAMES["tic_tac_toe"]
    raw, board = HashedEvaluator(game), game.observe(game.play(game.initial_state(), 1))[None]
    shown = SymmetricEvaluator(game, raw, np.random.default_rng(0))
    possible = set()
    for cells in game.symmetries().cells:
        turned = np.empty_like(board)
        turned.reshape(-1, 9)[:, cells] = board.reshape(-1, 9)
        possible.add(float(raw.evaluate(turned)[1][0]))
    drawn = {float(shown.evaluate(board)[1][0]) for _ in range(200)}
    assert drawn == possible
    assert len(possible) == 4, "a stone in the middle of an edge has four places"


@pytest.mark.parametrize("symmetry", ["random", "average"])
def test_a_search_may_show_positions_under_symmetries(symmetry: str) -> None:
    game = GAMES["tic_tac_toe"]
    settings = SearchConfig(simulations=50, leaf_symmetry=symmetry, evaluation_cache_mib=0)
    search = NetworkSearch(game, HashedEvaluator(game), settings)
    search.reset(FIRST, game.initial_state()[None])
    search.begin_search(FIRST)
    roots = finish(search)
    assert roots.visits.sum() == 50
    corners = roots.priors[0, [0, 2, 6, 8]]
    assert np.allclose(corners, corners[0]) == (symmetry == "average")


# Random starts


def games_with(
    share: float,
    tmp_path_factory: pytest.TempPathFactory,
    *options: str,
    evaluator: Evaluator | None = None,
) -> list[GameRecord]:
    config = tiny_config(
        tmp_path_factory.mktemp("runs"),
        "selfplay.games_per_iteration=200",
        f"selfplay.random_opening_probability={share}",
        "selfplay.random_opening_max_moves=4",
        "selfplay.dirichlet_fraction=0.0",
        *options,
    )
    game = make_game("tic_tac_toe")
    return play_games(game, config, evaluator or UniformEvaluator(9), [1]).finished


def test_so_many_games_begin_with_random_moves_that_are_not_learned(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    lengths = []
    for record in games_with(0.5, tmp_path_factory):
        searched = record.policies.any(axis=1)
        opening = int(searched.argmax())
        assert searched[opening:].all()
        lengths.append(opening)
    counts = np.bincount(lengths, minlength=5)
    assert len(counts) == 5, "never more than four"
    # Of 200 games 100 +- 28 (four deviations) are asked to begin so, a fifth of them with none.
    assert 52 < counts[1:].sum() < 108
    assert (counts[1:] > 4).all()


def test_without_random_starts_every_move_is_searched(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    assert all(record.policies.any(axis=1).all() for record in games_with(0.0, tmp_path_factory))


class LikesCorners:
    """Values a position at 1 less a tenth for each corner that is taken, for player 0."""

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return equal logits [R, 9] and values [R]."""
        taken = observations[:, :2].any(axis=1).reshape(-1, 9)
        corners = taken[:, [0, 2, 6, 8]].sum(axis=1)
        to_play = 1 - 2 * (taken.sum(axis=1) % 2)
        return np.zeros((len(taken), 9), np.float32), (to_play - 0.1 * to_play * corners).astype(
            np.float32
        )


@pytest.mark.parametrize("choices", [1, 2, 8])
def test_of_several_random_openings_the_most_open_begins(
    choices: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Corners taken: the greatest of so many draws from a hypergeometric distribution."""
    corners: list[list[int]] = [[] for _ in range(5)]
    option = f"selfplay.random_opening_candidates={choices}"
    for record in games_with(1.0, tmp_path_factory, option, evaluator=LikesCorners()):
        opening = record.actions[: int(record.policies.any(axis=1).argmax())]
        corners[len(opening)].append(int(np.isin(opening, [0, 2, 6, 8]).sum()))
    for length, taken in enumerate(corners):
        # The length is drawn before, so that short openings, being open, do not crowd out others:
        # a fifth of 200 games each, +- 23 (four deviations).
        assert 17 < len(taken) < 63
        ways = [math.comb(4, many) * math.comb(5, length - many) for many in range(length + 1)]
        below = (np.cumsum(ways) / math.comb(9, length)) ** choices
        shares = np.diff(below, prepend=0.0)
        mean = shares @ np.arange(length + 1)
        deviation = math.sqrt(shares @ (np.arange(length + 1) - mean) ** 2 / len(taken))
        assert abs(np.mean(taken) - mean) <= 4 * deviation + 1e-9


@pytest.mark.parametrize("choices", [1, 3, 200])
def test_every_position_asked_of_the_network_is_counted(choices: int, tmp_path: Path) -> None:
    class Counts(UniformEvaluator):
        asked = 0

        def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
            self.asked += len(observations)
            return super().evaluate(observations)

    evaluator = Counts(9)
    option = f"selfplay.random_opening_candidates={choices}"
    config = tiny_config(tmp_path, "selfplay.random_opening_probability=1", option)
    played = play_games(make_game("tic_tac_toe"), config, evaluator, [1])
    assert 0 < evaluator.asked == played.work.evaluations <= played.work.places


def test_full_batches_wait_for_no_move_and_moves_are_made_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[int] = []
    play = Match.play

    def count_and_play(match: Match, decisions: Decisions) -> None:
        made.append(len(decisions.slots))
        play(match, decisions)

    monkeypatch.setattr(Match, "play", count_and_play)
    config = tiny_config(
        tmp_path,
        "selfplay.parallel_games=64",
        "selfplay.games_per_iteration=500",
        "search.simulations=60",
        "search.evaluation_cache_mib=0",
        "selfplay.full_search_probability=0.5",
        "selfplay.fast_simulations=20",
    )
    played = play_games(CONNECT_FOUR, config, UniformEvaluator(7), [1])
    assert played.work.batch_fill > 0.99
    # 60 rows of about 40 simulations each end 1.5 searches a turn; four tables are to spare.
    assert np.mean(made) > 3
