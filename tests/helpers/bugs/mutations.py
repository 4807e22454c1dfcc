"""Thirty small bugs that are put into the package one at a time: do the tests notice them?

They are what `mutator.py` does not come up with.
"""

import re
from typing import NamedTuple


class Mutation(NamedTuple):
    """A bug, and the test that must notice it."""

    file: str
    """its path within the package"""
    bug: str
    old: str
    new: str
    test: str
    """a test, by its path within the folder of tests"""

    @property
    def name(self) -> str:
        """The text that `-k` selects it by."""
        return f"{self.file}: {self.bug}"

    def applied(self, source: str) -> str:
        """Return the file's text with the bug; raise ValueError unless `old` is there once."""
        count = source.count(self.old)
        if count != 1:
            raise ValueError(f"{self.name}: the old text occurs {count} times, not once")
        return source.replace(self.old, self.new)


BUGS = """
arena/elo.py: results are those of who moved first
    - return win_rate(value_of(self.outcome, self.pairing.players.index(player)))
    + return win_rate(self.outcome)
    arena/test_elo.py::test_wins_and_losses_are_those_of_the_first_player_on_both_sides
games/connect_four.py: the mirrored board has the policy of the other
    - actions=np.array([columns, columns[::-1]]),
    + actions=np.array([columns, columns]),
    games/test_contract.py::test_every_game_meets_every_requirement
games/game.py: values are player 0's
    - return outcome if player == 0 else -outcome
    + return outcome
    games/test_contract.py::test_a_value_is_the_outcome_seen_by_the_player
games/go/rules.py: ko is not looked for
    - if allowed and (not survives or bit_of(state, lost, point)):
    + if allowed and not survives:
    games/test_go.py::test_a_ko_may_be_taken_back_after_a_move_elsewhere
games/hex.py: a swapped stone is not reflected
    - cell = first % size * size + first // size
    + cell = first
    games/test_hex.py::test_the_swap_reflects_the_first_stone_and_changes_its_colour
games/line_games.py: lines go on at the other side of the board
    - while 0 <= r < rows and 0 <= c < columns and cells
    + while 0 <= r < rows and cells
    games/test_contract.py::test_rules_agree_with_the_plain_twin
mcts/evaluator.py: logits are not turned back
    - return np.take_along_axis(logits, self._actions[symmetries], axis=1), values
    + return logits, values
    mcts/test_evaluator.py::test_averaged_answers_move_with_the_board
mcts/kernels/gumbel.py: halving counts visits from before the search
    - if visited - trees.root_kept[slot, edge] == visits:
    + if visited == visits:
    mcts/kernels/test_gumbel.py::test_puct_below_the_root_builds_the_tree_of_the_plain_twin
mcts/kernels/puct.py: the root's noise is not used
    - prior = trees.root_prior[slot, edge - first]
    + prior = trees.edges[slot, edge].prior * 1
    mcts/test_network_search.py::test_the_fast_search_equals_the_reference_bit_for_bit
mcts/kernels/simulation.py: backup does not change sides
    - value = -value
    + value = value * 1
    mcts/test_network_search.py::test_search_wins_in_one_and_blocks_in_one
mcts/kernels/simulation.py: finished games are judged for player 0
    -                 value = value_of(outcome, trees.state[PLY] % 2)
    +                 value = outcome * 1
    mcts/test_network_search.py::test_search_wins_in_one_and_blocks_in_one
mcts/kernels/simulation.py: simulations stay pending
    - pending -= 1
    + pending -= 0
    mcts/test_network_search.py::test_every_combination_of_options_builds_the_tree_of_the_plain_twin
mcts/kernels/simulation.py: the cache holds the first row's logits for every row
    - put(cache, cache.row_keys[row], trees.leaf_logits[slot, leaf], count, value)
    + put(cache, cache.row_keys[row], logits[0], count, value)
    mcts/kernels/test_evaluation_cache.py::test_a_search_finds_the_same_whatever_was_searched_before
mcts/kernels/subtree.py: a kept tree has its root in the wrong place
    - if new_index[node] == 0 and node != root:
    + if new_index[node] == 0:
    mcts/test_network_search.py::test_the_fast_search_equals_the_reference_bit_for_bit
mcts/kernels/transpositions.py: positions that differ in their last move alone are two
    - if index != selection.ignored_state_index:
    + if index >= 0:
    mcts/kernels/test_transpositions.py::test_a_position_is_evaluated_once_in_a_graph
network/inference/batched_evaluator.py: an evaluator sees later training
    - self._network = fold_batch_norm(network)
    + self._network = network.eval()
    network/inference/test_batched_evaluator.py::test_later_training_is_not_seen
network/resnet.py: blocks have no connection around them
    - return relu(change.add_(features), inplace=True)
    + return relu(change, inplace=True)
    network/test_resnet.py::test_the_network_computes_what_the_papers_describe
mcts/kernels/moves.py: fast searches are learned from
    - state.full,
    + True,
    players/test_search_player.py::test_only_full_searches_are_learned_from_and_they_are_as_many_as_asked
training/data/game_shard.py: a resigned game is won by who resigned
    - value_of(outcome, state[PLY] % 2) != -1
    + value_of(outcome, state[PLY] % 2) == -1
    training/data/test_game_shard.py::test_a_resigned_game_is_lost_for_the_player_to_move_and_comes_back_as_it_was
training/data/replay_buffer.py: values are learned for player 0
    - signs * self.value_targets[positions]
    + self.value_targets[positions]
    training/data/test_replay_buffer.py::test_the_target_is_mixed_from_the_outcome_and_the_value_of_the_search
training/data/replay_buffer.py: policies are not turned with the board
    - self._symmetries.actions[symmetries[rows], self.games.policy_actions[shares]]
    + self.games.policy_actions[shares]
    training/data/test_replay_buffer.py::test_symmetries_move_planes_and_policy_together_and_all_occur
training/data/replay_buffer.py: the position shown is the one after the move
    - for move in range(starts[row], position):
    + for move in range(starts[row], position + 1):
    training/data/test_replay_buffer.py::test_symmetries_move_planes_and_policy_together_and_all_occur
training/data/replay_buffer.py: the window holds the oldest positions
    - return self._trainable[len(self._trainable) - self.window :]
    + return self._trainable[: self.window]
    training/data/test_replay_buffer.py::test_the_age_is_the_mean_over_the_window
training/gate.py: the gate gives the challenger's games to the best
    - for evaluator in (challenger, best)
    + for evaluator in (best, challenger)
    training/test_gate.py::test_a_gate_gives_the_challenger_the_wins_of_player_0_of_its_pairings
training/learning/learner.py: gradients of earlier steps are kept
    - self.network.zero_grad()
    + pass
    training/learning/test_learner.py::test_two_steps_of_adamw_follow_their_equations_with_l2_in_the_gradient
training/learning/losses.py: the value learns the opponent's outcome
    - ((batch.values - outputs.values) ** 2)
    + ((batch.values + outputs.values) ** 2)
    training/learning/test_losses.py::test_the_losses_are_those_computed_by_hand
training/learning/losses.py: the policy's loss is a mean over actions too
    - -(batch.policies * log_p).sum(dim=1).mean()
    + -(batch.policies * log_p).mean()
    training/learning/test_losses.py::test_the_losses_are_those_computed_by_hand
training/iteration.py: a resumed run has lost its optimizer and its step
    - self.learner.restore(self.run.load_learner(), state.step)
    + self.learner.network.load_state_dict(self.run.load_best().network().state_dict())
    training/test_resume.py::test_a_run_with_every_option_resumes_to_the_very_same_files
training/run_directory.py: every iteration has the same random numbers
    - return [self.config.run.seed, self.state.iteration, purpose]
    + return [self.config.run.seed, purpose]
    training/test_resume.py::test_no_two_purposes_and_no_two_iterations_have_random_numbers_in_common
training/selfplay.py: all workers draw the same random numbers
    - np.random.default_rng([*seed, worker]),
    + np.random.default_rng(seed),
    training/test_selfplay.py::test_each_worker_of_self_play_draws_numbers_of_its_own
"""
"""Of each bug its file and what it is, a text that occurs exactly once there, the text in its
place, and the test that must notice it, as quick as possible."""

MUTATIONS = [
    Mutation(*each)
    for each in re.findall(r"^(\S+): (.+)\n    - (.+)\n    \+ (.+)\n    (\S+)$", BUGS, re.MULTILINE)
]
