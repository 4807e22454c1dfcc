"""Thirty small bugs that are put into the package one at a time: do the tests notice them?

Each is a text that occurs exactly once in its file, its replacement, what the bug is, and the test
that must notice it, as quick as possible. They are what `mutator.py` does not come up with.
"""

from typing import NamedTuple


class Mutation(NamedTuple):
    """A bug, and the test that must notice it."""

    file: str
    """its path within the package"""
    old: str
    new: str
    bug: str
    test: str
    """a file or test, within the folder of tests"""

    @property
    def name(self) -> str:
        """The text that `-k` selects it by."""
        return f"{self.file}: {self.bug}"

    def applied(self, source: str) -> str:
        """Return the file's text with the bug in it.

        Raises:
            ValueError: when the old text does not occur exactly once.
        """
        count = source.count(self.old)
        if count != 1:
            raise ValueError(f"{self.name}: the old text occurs {count} times, not once")
        return source.replace(self.old, self.new)


MUTATIONS = (
    Mutation(
        "arena/elo.py",
        "return win_rate(value_of(self.outcome, self.pairing.players.index(player)))",
        "return win_rate(self.outcome)",
        "results are those of who moved first",
        "arena/test_elo.py::test_wins_and_losses_are_those_of_the_first_player_on_both_sides",
    ),
    Mutation(
        "games/connect_four.py",
        "actions=np.array([columns, columns[::-1]]),",
        "actions=np.array([columns, columns]),",
        "the mirrored board has the policy of the other",
        "games/test_contract.py::test_every_game_meets_every_requirement",
    ),
    Mutation(
        "games/game.py",
        "return outcome if player == 0 else -outcome",
        "return outcome",
        "values are player 0's",
        "games/test_contract.py::test_a_value_is_the_outcome_seen_by_the_player",
    ),
    Mutation(
        "games/go/rules.py",
        "if allowed and (not survives or bit_of(state, lost, point)):",
        "if allowed and not survives:",
        "ko is not looked for",
        "games/test_go.py::test_a_ko_may_be_taken_back_after_a_move_elsewhere",
    ),
    Mutation(
        "games/hex.py",
        "cell = first % size * size + first // size",
        "cell = first",
        "a swapped stone is not reflected",
        "games/test_hex.py::test_the_swap_reflects_the_first_stone_and_changes_its_colour",
    ),
    Mutation(
        "games/line_games.py",
        "while 0 <= r < rows and 0 <= c < columns and cells",
        "while 0 <= r < rows and cells",
        "lines go on at the other side of the board",
        "games/test_contract.py::test_rules_agree_with_the_plain_twin",
    ),
    Mutation(
        "mcts/evaluator.py",
        "return np.take_along_axis(logits, self._actions[symmetries], axis=1), values",
        "return logits, values",
        "logits are not turned back",
        "mcts/test_evaluator.py::test_averaged_answers_move_with_the_board",
    ),
    Mutation(
        "mcts/kernels/gumbel.py",
        "if visited - trees.root_kept[slot, edge] == visits:",
        "if visited == visits:",
        "halving counts visits from before the search",
        "mcts/kernels/test_gumbel.py::test_puct_below_the_root_builds_the_tree_of_the_plain_twin",
    ),
    Mutation(
        "mcts/kernels/puct.py",
        "            prior = trees.root_prior[slot, edge - first]\n",
        "            prior = trees.edges[slot, edge].prior * 1\n",
        "the root's noise is not used",
        "mcts/test_network_search.py::test_the_fast_search_equals_the_reference_bit_for_bit",
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "        value = -value\n",
        "        value = value * 1\n",
        "backup does not change sides",
        "mcts/test_network_search.py::test_search_wins_in_one_and_blocks_in_one",
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "                value = value_of(outcome, trees.state[PLY] % 2)\n",
        "                value = outcome * 1\n",
        "finished games are judged for player 0",
        "mcts/test_network_search.py::test_search_wins_in_one_and_blocks_in_one",
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "pending -= 1",
        "pending -= 0",
        "simulations stay pending",
        "mcts/test_network_search.py::test_every_combination_of_options_builds_the_tree_of_the_plain_twin",
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "put(cache, cache.row_keys[row], trees.leaf_logits[slot, leaf], count, value)",
        "put(cache, cache.row_keys[row], logits[0], count, value)",
        "the cache holds the first row's logits for every row",
        "mcts/kernels/test_evaluation_cache.py::test_a_search_finds_the_same_whatever_was_searched_before",
    ),
    Mutation(
        "mcts/kernels/subtree.py",
        "        if new_index[node] == 0 and node != root:\n",
        "        if new_index[node] == 0:\n",
        "a kept tree has its root in the wrong place",
        "mcts/test_network_search.py::test_the_fast_search_equals_the_reference_bit_for_bit",
    ),
    Mutation(
        "mcts/kernels/transpositions.py",
        "if index != selection.ignored_state_index:",
        "if index >= 0:",
        "positions that differ in their last move alone are two",
        "mcts/kernels/test_transpositions.py::test_a_position_is_evaluated_once_in_a_graph",
    ),
    Mutation(
        "network/inference/batched_evaluator.py",
        "self._network = fold_batch_norm(network)",
        "self._network = network.eval()",
        "an evaluator sees later training",
        "network/inference/test_batched_evaluator.py::test_later_training_is_not_seen",
    ),
    Mutation(
        "network/resnet.py",
        "return relu(change.add_(features), inplace=True)",
        "return relu(change, inplace=True)",
        "blocks have no connection around them",
        "network/test_resnet.py::test_the_network_computes_what_the_papers_describe",
    ),
    Mutation(
        "mcts/kernels/moves.py",
        "            state.full,\n",
        "            True,\n",
        "fast searches are learned from",
        "players/test_search_player.py::test_only_full_searches_are_learned_from_and_they_are_as_many_as_asked",
    ),
    Mutation(
        "training/data/game_shard.py",
        "value_of(outcome, state[PLY] % 2) != -1",
        "value_of(outcome, state[PLY] % 2) == -1",
        "a resigned game is won by who resigned",
        "training/data/test_game_shard.py::test_a_resigned_game_is_lost_for_the_player_to_move_and_comes_back_as_it_was",
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "signs * self.value_targets[positions]",
        "self.value_targets[positions]",
        "values are learned for player 0",
        "training/data/test_replay_buffer.py::test_the_value_is_the_outcome_for_the_player_to_move",
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "self._symmetries.actions[symmetries[rows], self.games.policy_actions[shares]]",
        "self.games.policy_actions[shares]",
        "policies are not turned with the board",
        "training/data/test_replay_buffer.py::test_symmetries_move_planes_and_policy_together_and_all_occur",
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "for move in range(starts[row], position):",
        "for move in range(starts[row], position + 1):",
        "the position shown is the one after the move",
        "training/data/test_replay_buffer.py::test_the_value_is_the_outcome_for_the_player_to_move",
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "return self._trainable[len(self._trainable) - self.window :]",
        "return self._trainable[: self.window]",
        "the window holds the oldest positions",
        "training/data/test_replay_buffer.py::test_the_age_is_the_mean_over_the_window",
    ),
    Mutation(
        "training/gate.py",
        "for evaluator in (challenger, best)",
        "for evaluator in (best, challenger)",
        "the gate gives the challenger's games to the best",
        "training/test_gate.py::test_a_gate_gives_the_challenger_the_wins_of_player_0_of_its_pairings",
    ),
    Mutation(
        "training/learning/learner.py",
        "        self.network.zero_grad()\n",
        "",
        "gradients of earlier steps are kept",
        "training/learning/test_learner.py::test_two_steps_of_adamw_follow_their_equations_with_l2_in_the_gradient",
    ),
    Mutation(
        "training/learning/losses.py",
        "((targets.values - outputs.values) ** 2)",
        "((targets.values + outputs.values) ** 2)",
        "the value learns the opponent's outcome",
        "training/learning/test_losses.py::test_the_losses_are_those_computed_by_hand",
    ),
    Mutation(
        "training/learning/losses.py",
        "-(targets.policies * log_p).sum(dim=1).mean()",
        "-(targets.policies * log_p).mean()",
        "the policy's loss is a mean over actions too",
        "training/learning/test_losses.py::test_the_losses_are_those_computed_by_hand",
    ),
    Mutation(
        "training/iteration.py",
        "self.learner.restore(self.run.load_learner(), state.step)",
        "self.learner.network.load_state_dict(self.run.load_best().network().state_dict())",
        "a resumed run has lost its optimizer and its step",
        "training/test_resume.py::test_a_continued_run_equals_one_that_had_the_larger_budget_from_the_start",
    ),
    Mutation(
        "training/run_directory.py",
        "return [self.config.run.seed, self.state.iteration, purpose]",
        "return [self.config.run.seed, purpose]",
        "every iteration has the same random numbers",
        "training/test_resume.py::test_no_two_purposes_and_no_two_iterations_have_random_numbers_in_common",
    ),
    Mutation(
        "training/selfplay.py",
        "np.random.default_rng([*seed, worker]),",
        "np.random.default_rng(seed),",
        "all workers draw the same random numbers",
        "training/test_selfplay.py::test_each_worker_of_self_play_draws_numbers_of_its_own",
    ),
)
