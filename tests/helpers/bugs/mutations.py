"""Small bugs that are put into the package one at a time, to see whether the tests notice them.

Each is a text that occurs exactly once in its file, its replacement, what the bug is, and the tests
that must notice it: as few and as quick as possible. `test_mutations.py` tries them. A bug that no
test could notice has no place here.
"""

from typing import NamedTuple


class Mutation(NamedTuple):
    """A bug, and the tests that must notice it."""

    file: str
    """its path within the package"""
    old: str
    new: str
    bug: str
    tests: tuple[str, ...]
    """files or tests, within the folder of tests"""

    @property
    def name(self) -> str:
        """The text that `-k` selects it by."""
        return f"{self.file}: {self.bug}"

    def applied(self, source: str) -> str:
        """Return the file's text with the bug in it.

        Raises:
            ValueError: when the old text does not occur exactly once.
        """
        found = source.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: the old text occurs {found} times, not once")
        return source.replace(self.old, self.new)


VARIED_OPTIONS = (
    Mutation(
        "arena/match.py",
        "first = game.variant(self.game).initial_state()",
        "first = self.game.initial_state()",
        "a game of other options is played as that of the match",
        ("training/test_selfplay.py::test_every_game_has_a_komi_of_its_own_by_which_it_ends",),
    ),
    Mutation(
        "games/game.py",
        "free = (*self.observation_options, *self.variable_options)",
        "free = (*game.observation_options, *game.variable_options)",
        "a player that sees komi plays its own komi only",
        ("players/test_registry.py::test_players_of_other_planes_and_other_komi_share_a_game",),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "state = first_states[firsts[position]].copy()",
        "state = first_states[0].copy()",
        "samples are replayed with the options of another game",
        ("training/data/test_replay_buffer.py::test_each_game_is_replayed_with_its_own_options",),
    ),
    Mutation(
        "training/data/game_shard.py",
        "state = first_states[indices[game]].copy()",
        "state = first_states[0].copy()",
        "games from a file are checked with the options of another game",
        (
            "training/data/test_game_shard.py::"
            "test_games_come_back_with_the_options_that_they_were_played_with",
        ),
    ),
)

NETWORK = (
    Mutation(
        "network/resnet.py",
        "torch.tanh(self.value_output(value).float()).squeeze(1)",
        "self.value_output(value).float().squeeze(1)",
        "the value has no bounds",
        ("network/test_resnet.py::test_the_network_computes_what_the_papers_describe",),
    ),
    Mutation(
        "network/resnet.py",
        "return relu(change.add_(features), inplace=True)",
        "return relu(change, inplace=True)",
        "blocks have no connection around them",
        ("network/test_resnet.py::test_the_network_computes_what_the_papers_describe",),
    ),
    Mutation(
        "network/resnet.py",
        "self.tower(relu(self.stem(observations), inplace=True))",
        "self.tower(self.stem(observations))",
        "the stem has no relu",
        ("network/test_resnet.py::test_the_network_computes_what_the_papers_describe",),
    ),
    Mutation(
        "network/resnet.py",
        "pooled.mean((2, 3)), pooled.amax((2, 3))",
        "pooled.mean((2, 3)), pooled.mean((2, 3))",
        "global pooling has no maxima",
        ("network/test_resnet.py::test_the_network_computes_what_the_papers_describe",),
    ),
    Mutation(
        "network/resnet.py",
        "if index % POOLING_INTERVAL == 1 else 0",
        "if index % POOLING_INTERVAL == 0 else 0",
        "global pooling is in other blocks",
        (
            "network/test_resnet.py::test_global_pooling_is_in_the_second_block_and_every_third_from_there",
        ),
    ),
    Mutation(
        "network/resnet.py",
        "cast(nn.BatchNorm2d, last).weight.zero_()",
        "cast(nn.BatchNorm2d, last).bias.zero_()",
        "new blocks are not the identity",
        ("network/test_resnet.py::test_each_block_starts_as_the_identity",),
    ),
    Mutation(
        "network/resnet.py",
        "gain = math.sqrt(2.0) if module in before_relu else HEAD_INIT_STD",
        "gain = math.sqrt(2.0)",
        "the last layers of the heads do not start small",
        (
            "network/test_resnet.py::test_an_untrained_network_is_nearly_uniform_and_nearly_indifferent",
        ),
    ),
    Mutation(
        "network/resnet.py",
        "module.weight.normal_(0.0, scale, generator=generator)",
        "module.weight.normal_(0.0, scale)",
        "dense layers draw from the global generator",
        (
            "network/test_resnet.py::test_the_same_seed_gives_the_same_weights_and_the_global_"
            "generator_is_not_touched",
        ),
    ),
    Mutation(
        "network/resnet.py",
        "duplicate = copy.deepcopy(network).eval().requires_grad_(False)",
        "duplicate = network.eval().requires_grad_(False)",
        "folding changes the network itself",
        (
            "network/test_resnet.py::test_folding_changes_nothing_but_the_last_digits_and_leaves_"
            "the_original",
        ),
    ),
    Mutation(
        "network/heads.py",
        "- REFERENCE_WIDTH) / WIDTH_SCALE",
        ") / WIDTH_SCALE",
        "the means are scaled by another width",
        ("network/test_heads.py::test_only_the_board_s_width_scales_the_means",),
    ),
    Mutation(
        "network/heads.py",
        "scale * means, features.amax((2, 3))], 1)",
        "scale * means, means], 1)",
        "convolutional heads have no maxima",
        ("network/test_heads.py::test_the_heads_compute_what_the_paper_describes",),
    ),
    Mutation(
        "network/heads.py",
        "local = relu(local + self.bias(summary)[:, :, None, None])",
        "local = relu(local)",
        "the logits of the cells do not depend on the pooled features",
        ("network/test_heads.py::test_the_heads_compute_what_the_paper_describes",),
    ),
    Mutation(
        "network/heads.py",
        ".permute(0, 3, 1, 2).flatten(1)",
        ".flatten(1)",
        "logits of several planes are in another order than the actions",
        ("network/test_heads.py::test_the_heads_compute_what_the_paper_describes",),
    ),
    Mutation(
        "network/inference/torch_evaluator.py",
        "with at_most_threads(self._threads):",
        "with at_most_threads(ALL_CORES):",
        "a small batch is computed by all cores",
        ("network/test_resnet.py::test_a_small_batch_is_computed_by_one_thread",),
    ),
    Mutation(
        "network/inference/torch_evaluator.py",
        "return logits[:positions].cpu().numpy(), values[:positions].cpu().numpy()",
        "return logits[-positions:].cpu().numpy(), values[-positions:].cpu().numpy()",
        "answers are those of the padding",
        (
            "network/test_resnet.py::test_the_evaluator_answers_as_the_plain_network_at_every_batch_size",
        ),
    ),
    Mutation(
        "network/inference/batched_evaluator.py",
        "yield slice(start, min(start + BATCH_SIZES[-1], positions))",
        "yield slice(0, min(BATCH_SIZES[-1], positions))",
        "of a large batch only the first piece is answered",
        (
            "network/test_resnet.py::test_a_batch_larger_than_any_size_is_cut_and_an_empty_one_is_answered",
        ),
    ),
    Mutation(
        "network/inference/batched_evaluator.py",
        "return next((size for size in BATCH_SIZES if size >= positions), BATCH_SIZES[-1])",
        "return next((size for size in BATCH_SIZES if size > positions), BATCH_SIZES[-1])",
        "batches that would fit are padded",
        (
            "network/test_resnet.py::test_batch_sizes_hold_what_they_are_asked_for_and_waste_less_"
            "than_half",
        ),
    ),
    Mutation(
        "network/inference/batched_evaluator.py",
        "good = np.isfinite(logits).all(axis=1) & np.isfinite(values)",
        "good = np.isfinite(logits).all(axis=1)",
        "values that are not numbers pass",
        ("network/test_resnet.py::test_weights_that_are_not_numbers_stop_the_run",),
    ),
    Mutation(
        "network/inference/batched_evaluator.py",
        "self._network = fold_batch_norm(network)",
        "self._network = network.eval()",
        "an evaluator sees later training",
        ("network/test_resnet.py::test_an_evaluator_does_not_see_later_training",),
    ),
    Mutation(
        "utils/jobs.py",
        "        torch.set_num_threads(before)\n",
        "        torch.set_num_threads(threads)\n",
        "the number of threads is not put back",
        ("network/test_resnet.py::test_threads_are_set_and_put_back",),
    ),
    Mutation(
        "network/inference/quantization.py",
        "inputs[0].max().clamp_min(_LEAST)",
        "inputs[0].mean().clamp_min(_LEAST)",
        "int8 ranges end at the mean input",
        (
            "network/inference/test_openvino_evaluator.py::test_int8_stays_close_on_positions_like_those_it_was_calibrated_on",
            "network/inference/test_openvino_evaluator.py::test_int8_computes_what_rounding_in_torch_computes",
        ),
    ),
    Mutation(
        "network/inference/quantization.py",
        "return weight.abs().amax(dim=(1, 2, 3), keepdim=True).clamp_min(_LEAST)",
        "return weight.amax(dim=(1, 2, 3), keepdim=True).clamp_min(_LEAST)",
        "int8 ranges of weights forget the negative ones",
        (
            "network/inference/test_openvino_evaluator.py::test_int8_stays_close_on_positions_like_those_it_was_calibrated_on",
            "network/inference/test_openvino_evaluator.py::test_int8_computes_what_rounding_in_torch_computes",
        ),
    ),
    Mutation(
        "network/inference/onnx_graph.py",
        "self._weight(greatest.reshape(()) / (UNSIGNED_LEVELS - 1))",
        "self._weight(greatest.reshape(()) / UNSIGNED_LEVELS)",
        "int8 of ONNX has other levels",
        (
            "network/inference/test_onnx_graph.py::test_int8_computes_what_rounding_in_torch_computes",
        ),
    ),
    Mutation(
        "network/inference/backend.py",
        "    return forced, BACKEND_VARIABLE\n",
        "    return settings.backend, BACKEND_VARIABLE\n",
        "the variable does not override the configuration",
        ("network/inference/test_backend.py::test_the_variable_overrides_the_configuration",),
    ),
    Mutation(
        "network/onnx_export.py",
        "return max(self.logit_error, self.value_error) <= TOLERANCE",
        "return self.value_error <= 2.0",
        "a model that differs from torch is written",
        ("network/test_onnx_export.py::test_a_model_that_differs_too_much_is_refused",),
    ),
    Mutation(
        "network/inference/device_check.py",
        "if not max(agreement.policy, agreement.value) <= agreement.tolerance:",
        "if not agreement.policy <= agreement.tolerance:",
        "the self-check does not look at values",
        (
            "network/inference/test_device_check.py::test_wrong_answers_are_noticed_of_new_and_trained_networks",
            "network/inference/test_device_check.py::test_the_answers_of_other_weights_are_noticed",
        ),
    ),
    Mutation(
        "network/inference/device_check.py",
        'return distance if np.isfinite(distance) else float("inf")',
        "return distance if np.isfinite(distance) else 0.0",
        "the self-check takes NaN for no distance",
        (
            "network/inference/test_device_check.py::test_wrong_answers_are_noticed_of_new_and_trained_networks",
        ),
    ),
    Mutation(
        "network/inference/device_check.py",
        "spread = max(_root_mean_square(exact - exact.mean(axis=0)), _LEAST_SPREAD)",
        "spread = max(_root_mean_square(exact), _LEAST_SPREAD)",
        "a bias that all positions have in common hides wrong answers",
        (
            "network/inference/test_device_check.py::test_another_position_s_policy_is_noticed_beside_a_bias_that_all_have_in_common",
        ),
    ),
)

TRAINING = (
    Mutation(
        "training/learning/losses.py",
        "value=((outcomes - values) ** 2).mean()",
        "value=((outcomes + values) ** 2).mean()",
        "the value learns the opponent's outcome",
        ("training/learning/test_losses.py::test_the_losses_are_those_computed_by_hand",),
    ),
    Mutation(
        "training/learning/losses.py",
        "policy=-(policies * log_p).sum(dim=1).mean(),",
        "policy=-(policies * log_p).mean(),",
        "the policy's loss is a mean over actions too",
        ("training/learning/test_losses.py::test_the_losses_are_those_computed_by_hand",),
    ),
    Mutation(
        "training/learning/losses.py",
        "entropy=-(log_p.exp() * log_p).sum(dim=1).mean(),",
        "entropy=-(policies * log_p).sum(dim=1).mean(),",
        "the entropy reported is the policy's loss",
        ("training/learning/test_losses.py::test_the_losses_are_those_computed_by_hand",),
    ),
    Mutation(
        "training/learning/losses.py",
        "wins = (1 + values.clamp(-1, 1)) / 2",
        "wins = (1 - values.clamp(-1, 1)) / 2",
        "cells are learned as the opponent's",
        ("training/learning/test_losses.py::test_the_auxiliary_losses_are_those_computed_by_hand",),
    ),
    Mutation(
        "training/learning/losses.py",
        "(weights * _POSITION_LOSSES[head](output, values)).mean()",
        "_POSITION_LOSSES[head](output, values).mean()",
        "unknown targets are learned",
        ("training/learning/test_losses.py::test_the_auxiliary_losses_are_those_computed_by_hand",),
    ),
    Mutation(
        "training/learning/objective.py",
        "each.copy_(before[name])",
        "pass",
        "recording a step on a GPU changes the statistics of normalisation",
        ("training/learning/test_objective.py::test_recording_leaves_the_network_as_it_was",),
    ),
    Mutation(
        "training/data/auxiliary_targets.py",
        "return value_signs(self.plies[positions]).astype(np.float32)",
        "return np.ones(len(positions), np.float32)",
        "owners and margins are learned for player 0",
        ("training/data/test_auxiliary_targets.py::test_targets_are_those_of_a_slow_replay",),
    ),
    Mutation(
        "training/data/auxiliary_targets.py",
        "np.put_along_axis(moved, symmetries.cells[chosen], owners, 1)",
        "moved[:] = owners",
        "owners are not turned with the board",
        ("training/data/test_auxiliary_targets.py::test_targets_are_those_of_a_slow_replay",),
    ),
    Mutation(
        "training/data/auxiliary_targets.py",
        "value = value_of(search_values[begin + ply], ply % 2)",
        "value = search_values[begin + ply]",
        "the values a few moves on are not turned to one player",
        ("training/data/test_auxiliary_targets.py::test_targets_are_those_of_a_slow_replay",),
    ),
    Mutation(
        "training/learning/learner.py",
        "weight_decay=2 * settings.l2_penalty",
        "weight_decay=settings.l2_penalty",
        "SGD decays weights half as much",
        (
            "training/learning/test_learner.py::test_a_step_of_sgd_descends_the_gradient_of_the_whole_loss",
        ),
    ),
    Mutation(
        "training/learning/learner.py",
        "each.grad.add_(each.detach(), alpha=2 * settings.l2_penalty)",
        "each.grad.sub_(each.detach(), alpha=2 * settings.l2_penalty)",
        "weights grow by l2 with AdamW and Muon",
        (
            "training/learning/test_learner.py::"
            "test_two_steps_of_adamw_follow_their_equations_with_l2_in_the_gradient",
        ),
    ),
    Mutation(
        "training/learning/learner.py",
        '[{"params": matrices, "weight_decay": decay}, vectors]',
        '[{"params": matrices, "weight_decay": decay}, {**vectors, "weight_decay": decay}]',
        "AdamW decays biases too",
        (
            "training/learning/test_learner.py::"
            "test_two_steps_of_adamw_follow_their_equations_with_l2_in_the_gradient",
        ),
    ),
    Mutation(
        "training/learning/learner.py",
        "        self.network.zero_grad()\n",
        "",
        "gradients of earlier steps are kept",
        (
            "training/learning/test_learner.py::"
            "test_two_steps_of_adamw_follow_their_equations_with_l2_in_the_gradient",
            "training/learning/test_learner.py::test_momentum_adds_the_steps_before",
        ),
    ),
    Mutation(
        "training/learning/learner.py",
        'group["lr"] = settings.rate_at(self.step)',
        'group["lr"] = settings.rate_at(self.step + 1)',
        "the learning rate changes a step early",
        ("training/learning/test_learner.py::test_the_learning_rate_changes_at_its_very_step",),
    ),
    Mutation(
        "training/learning/learner.py",
        'limit = settings.max_grad_norm or float("inf")',
        'limit = float("inf")',
        "gradients are not clipped",
        (
            "training/learning/test_learner.py::test_clipping_limits_the_norm_and_keeps_the_direction",
        ),
    ),
    Mutation(
        "training/learning/learner.py",
        "decay = min(self.settings.ema_decay, (1 + self.step) / (10 + self.step))",
        "decay = self.settings.ema_decay",
        "the average starts as slowly as it goes on",
        (
            "training/learning/test_learner.py::test_the_player_is_the_running_average_of_the_weights",
        ),
    ),
    Mutation(
        "network/widening.py",
        "torch.arange(len(between) - more, filters)",
        "torch.arange(filters - len(between) + more)",
        "a larger network pools other filters",
        ("network/test_widening.py::test_the_outputs_are_those_of_the_smaller_network",),
    ),
    Mutation(
        "training/learning/learner.py",
        "for name, each in averages.items() if each.is_floating_point()]",
        'for name, each in averages.items() if each.is_floating_point() and "running" not in name]',
        "statistics of normalisation are copied, not averaged",
        (
            "training/learning/test_learner.py::test_the_player_is_the_running_average_of_the_weights",
        ),
    ),
    Mutation(
        "training/learning/learner.py",
        "name: each.detach().cpu().clone(memory_format=torch.contiguous_format)",
        "name: each.detach().cpu()",
        "a saved state changes with later steps",
        ("training/learning/test_learner.py::test_a_state_is_a_copy_that_later_steps_leave_alone",),
    ),
    Mutation(
        "training/learning/learner.py",
        "moments.setdefault(int(index), {})[part] = copied",
        "moments.setdefault(0, {})[part] = copied",
        "a restored optimizer has the moments of the first weights alone",
        (
            "training/learning/test_learner.py::test_a_restored_learner_goes_on_to_the_very_same_bits",
        ),
    ),
    Mutation(
        "training/learning/learner.py",
        "    self.network.train()\n",
        "    self.network.eval()\n",
        "normalisation does not learn its statistics",
        (
            "training/learning/test_learner.py::test_a_step_of_sgd_descends_the_gradient_of_the_whole_loss",
        ),
    ),
    Mutation(
        "training/learning/muon.py",
        "ahead = torch._foreach_lerp(gradients, means, momentum)  # Nesterov's",
        "ahead = means",
        "Muon's momentum is not Nesterov's",
        (
            "training/learning/test_learner.py::test_two_steps_of_muon_follow_their_equations_with_l2_in_the_gradient",
        ),
    ),
    Mutation(
        "training/learning/muon.py",
        "return wide.mT if tall else wide",
        "return wide",
        "Muon leaves tall matrices turned",
        (
            "training/learning/test_muon.py::"
            "test_muon_brings_the_singular_values_near_one_and_keeps_the_singular_vectors",
        ),
    ),
    Mutation(
        "training/learning/muon.py",
        "length = 0.2 * max(shape) ** 0.5",
        "length = 0.2 * min(shape) ** 0.5",
        "Muon's steps are too short",
        (
            "training/learning/test_learner.py::test_two_steps_of_muon_follow_their_equations_with_l2_in_the_gradient",
        ),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "value_signs(positions - self._starts[positions]) * self.value_targets[positions]",
        "self.value_targets[positions]",
        "values are learned for player 0",
        (
            "training/data/test_replay_buffer.py::test_the_value_is_the_outcome_for_the_player_to_move",
        ),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "np.put_along_axis(policies, images, self._policies[positions], 1)",
        "policies[:] = self._policies[positions]",
        "policies are not turned with the board",
        (
            "training/data/test_replay_buffer.py::test_symmetries_move_planes_and_policy_together_and_all_occur",
        ),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "(1 - search_value_weight) * outcomes",
        "search_value_weight * outcomes",
        "outcome and search value are mixed the other way round",
        (
            "training/data/test_replay_buffer.py::test_the_value_is_the_outcome_for_the_player_to_move",
        ),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "for move in range(starts[position], position):",
        "for move in range(starts[position], position + 1):",
        "the position shown is the one after the move",
        (
            "training/data/test_replay_buffer.py::test_the_value_is_the_outcome_for_the_player_to_move",
        ),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "games.values[:-1] + games.values[1:], 0)",
        "games.values[:-1] - games.values[1:], 0)",
        "blunders are looked for from one player's view",
        (
            "training/data/test_replay_buffer.py::test_before_a_blunder_the_value_thrown_away_takes_the_outcome_s_place",
        ),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "np.where(ends[:-1] == ends[1:], games",
        "np.where(ends[:-1] >= 0, games",
        "a blunder is seen between two games",
        (
            "training/data/test_replay_buffer.py::test_before_a_blunder_the_value_thrown_away_takes_the_outcome_s_place",
        ),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "bounded = max(self.settings.window_minimum, min(wanted, self.settings.window_maximum))",
        "bounded = min(self.settings.window_maximum, wanted)",
        "the window has no minimum",
        (
            "training/data/test_replay_buffer.py::test_the_window_is_a_share_of_all_positions_between_its_bounds",
        ),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "np.flatnonzero(games.policies.any(axis=1)),",
        "np.arange(len(games.policies)),",
        "moves that nobody searched are learned from",
        (
            "training/data/test_replay_buffer.py::test_moves_of_openings_are_never_drawn_nor_counted",
        ),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "return self._trainable[len(self._trainable) - self.window :]",
        "return self._trainable[: self.window]",
        "the window holds the oldest positions",
        ("training/data/test_replay_buffer.py::test_the_age_is_the_mean_over_the_window",),
    ),
    Mutation(
        "training/data/replay_buffer.py",
        "return iteration - float(self._iterations[self._newest].mean())",
        "return iteration - float(self._iterations.mean())",
        "the age is that of all games, not of the window",
        ("training/data/test_replay_buffer.py::test_the_age_is_the_mean_over_the_window",),
    ),
    Mutation(
        "training/loop.py",
        "rating = state.rating + result.elo",
        "rating = result.elo",
        "the gate's rating is not added up",
        ("training/test_resume.py::test_a_rating_is_the_best_player_s_plus_the_gate_s_difference",),
    ),
    Mutation(
        "training/random_streams.py",
        "return [config.run.seed, iteration, purpose]",
        "return [config.run.seed, purpose]",
        "every iteration has the same random numbers",
        (
            "training/test_resume.py::test_no_two_purposes_and_no_two_iterations_have_random_numbers_in_common",
        ),
    ),
    Mutation(
        "training/learning/step_schedule.py",
        "due = self._config.steps_due(now) - self._config.steps_due(before)",
        "due = self._config.steps_due(now - before)",
        "what is left of a step is lost in each iteration",
        (
            "training/test_resume.py::"
            "test_the_learner_does_the_steps_that_the_positions_are_good_for_and_no_more",
        ),
    ),
    Mutation(
        "training/loop.py",
        "        self.unfinished = games.unfinished\n",
        "",
        "games under way are not carried over",
        (
            "training/test_resume.py::test_games_under_way_go_on_in_the_next_iteration_and_after_a_resume",
        ),
    ),
    Mutation(
        "training/loop.py",
        "self.learner.restore(self.run.load_learner(), state.step)",
        "self.learner.network.load_state_dict(self.run.load_best().network().state_dict())",
        "a resumed run has lost its optimizer and its step",
        (
            "training/test_resume.py::test_a_continued_run_equals_one_that_had_the_larger_budget_from_the_start",
        ),
    ),
    Mutation(
        "training/loop.py",
        "settings.batch_size, rng, settings.augment_symmetries, settings.search_value_weight",
        "settings.batch_size, rng, False, settings.search_value_weight",
        "nothing is augmented",
        (
            "training/learning/test_learner.py::test_the_loop_augments_by_symmetries_when_it_is_asked_to",
        ),
    ),
    Mutation(
        "training/run_directory.py",
        "(state.positions, budget.samples),",
        "(state.games, budget.samples),",
        "a budget of samples counts games",
        (
            "training/test_resume.py::"
            "test_a_budget_of_samples_ends_the_run_at_the_first_iteration_that_reaches_it",
        ),
    ),
    Mutation(
        "training/run_directory.py",
        "(state.seconds / 60, budget.minutes),",
        "(state.seconds, budget.minutes),",
        "a budget of minutes counts seconds",
        ("training/test_resume.py::test_a_budget_of_minutes_ends_the_run_by_the_clock",),
    ),
    Mutation(
        "training/gate.py",
        "for evaluator in (challenger, best)",
        "for evaluator in (best, challenger)",
        "the gate gives the challenger's games to the best",
        (
            "training/test_gate.py::test_a_gate_gives_the_challenger_the_wins_of_player_0_of_its_pairings",
        ),
    ),
    Mutation(
        "training/gate.py",
        "config.search, config.gate.simulations or None, num_games)",
        "config.search, None, num_games)",
        "the gate's own simulations are not used",
        ("training/test_gate.py::test_a_gate_may_have_simulations_of_its_own",),
    ),
    Mutation(
        "training/loop.py",
        "                settings.resign_threshold_max,\n",
        "                -0.5,\n",
        "the key of the highest resignation threshold has no effect",
        ("training/test_loop.py::test_each_key_of_search_and_selfplay_reaches_what_plays",),
    ),
    Mutation(
        "training/selfplay.py",
        "np.random.default_rng([*seed, worker]),",
        "np.random.default_rng(seed),",
        "all workers draw the same random numbers",
        ("training/test_selfplay.py::test_each_worker_of_self_play_draws_numbers_of_its_own",),
    ),
    Mutation(
        "training/selfplay.py",
        "unfinished[worker :: len(targets)]",
        "unfinished",
        "every worker goes on with all games under way",
        (
            "training/test_selfplay.py::test_games_under_way_are_carried_over_and_none_is_lost_or_counted_twice",
        ),
    ),
    Mutation(
        "training/selfplay.py",
        "return [*under_way, *self._waiting]",
        "return under_way",
        "games that found no slot are lost",
        (
            "training/test_selfplay.py::test_games_under_way_that_find_no_slot_wait_for_the_next_iteration",
        ),
    ),
    Mutation(
        "training/selfplay.py",
        "chosen = np.abs(values).reshape(ahead, choices).argmin(axis=1)",
        "chosen = values.reshape(ahead, choices).argmin(axis=1)",
        "the worst opening for the mover begins, not the most open",
        ("training/test_selfplay.py::test_of_several_random_openings_the_most_open_begins",),
    ),
    Mutation(
        "config/schema.py",
        'return replace(self, transpositions="never", backup_value_weighting=0.0)',
        "return replace(self, backup_value_weighting=0.0)",
        "self-play searches graphs where plain trees are asked for",
        (
            "training/test_selfplay.py::test_selfplay_searches_plain_trees_if_graphs_are_for_play_only",
        ),
    ),
    Mutation(
        "training/resignation.py",
        "return value_of(outcome, ply % 2) >= 0",
        "return value_of(outcome, ply % 2) > 0",
        "a draw that was given up is no mistake",
        (
            "training/test_resignation.py::"
            "test_a_draw_that_is_given_up_is_wrong_and_the_first_move_below_counts",
        ),
    ),
    Mutation(
        "training/resignation.py",
        "enough and mistaken < false_positives * resigned",
        "enough and mistaken <= false_positives * resigned",
        "as many mistakes as the limit are permitted",
        ("training/test_resignation.py::test_the_threshold_is_the_highest_that_brute_force_finds",),
    ),
    Mutation(
        "training/resignation.py",
        "if not record.pairing.may_resign)\n",
        "if record.pairing.may_resign)\n",
        "the threshold is learned from games that were resigned",
        ("training/test_resignation.py::test_only_games_that_were_played_out_are_asked",),
    ),
    Mutation(
        "training/data/game_shard.py",
        "value_of(outcome, state[PLY] % 2) != -1",
        "value_of(outcome, state[PLY] % 2) == -1",
        "a resigned game is won by who resigned",
        (
            "training/data/test_game_shard.py::"
            "test_a_resigned_game_is_lost_for_the_player_to_move_and_comes_back_as_it_was",
        ),
    ),
    Mutation(
        "training/data/game_shard.py",
        "            if not mask[move]:\n                return game\n",
        "",
        "games with illegal moves are read",
        (
            "training/data/test_game_shard.py::test_a_stone_on_a_taken_cell_is_refused_although_the_game_ends_as_it_says",
        ),
    ),
    Mutation(
        "training/monitoring/holdout.py",
        "np.square(batch.values - values, dtype=np.float64)",
        "np.square(batch.values + values, dtype=np.float64)",
        "the value's error on new games has the wrong sign",
        (
            "training/monitoring/test_holdout.py::test_the_holdout_loss_exposes_a_network_that_knows_its_games_by_heart",
        ),
    ),
    Mutation(
        "training/int8.py",
        "return distinct[:border], distinct[border:]",
        "return distinct[:border], distinct",
        "int8 is checked on what it was calibrated on",
        (
            "training/test_int8.py::"
            "test_positions_to_calibrate_and_to_check_on_are_distinct_ones_of_the_window",
        ),
    ),
)

PLAYERS = (
    Mutation(
        "arena/match.py",
        "outcome = value_of(-1, int(self.states[slot, PLY]) % 2)",
        "outcome = value_of(1, int(self.states[slot, PLY]) % 2)",
        "who resigns wins",
        (
            "training/test_resignation.py::"
            "test_a_player_resigns_in_place_of_its_move_where_the_game_allows_it",
        ),
    ),
    Mutation(
        "arena/match.py",
        "if not (may_resign[slot] and best_value < resign_below):",
        "if not best_value < resign_below:",
        "players resign where they may not",
        (
            "training/test_resignation.py::"
            "test_a_player_resigns_in_place_of_its_move_where_the_game_allows_it",
            "training/test_resignation.py::"
            "test_the_share_of_games_that_may_be_resigned_is_the_one_asked_for_and_is_"
            "carried_over",
        ),
    ),
    Mutation(
        "arena/match.py",
        "lost = value_of(-1, loser)",
        "lost = value_of(1, loser)",
        "who forfeits a game wins it",
        (
            "players/test_gtp_player.py::test_a_program_that_resigns_has_lost_and_its_process_plays_on",
        ),
    ),
    Mutation(
        "arena/openings.py",
        "pairings += [Pairing((0, 1), opening, pair), Pairing((1, 0), opening, pair)]",
        "pairings += [Pairing((0, 1), opening, pair), Pairing((0, 1), opening, pair)]",
        "colours are not swapped",
        (
            "arena/test_openings.py::"
            "test_paired_openings_are_legal_unfinished_and_played_once_in_each_colour",
        ),
    ),
    Mutation(
        "arena/match.py",
        "to_move = self._player_indices[slots, self.states[slots, PLY] % 2]",
        "to_move = self._player_indices[slots, 1 - self.states[slots, PLY] % 2]",
        "the other player is asked",
        ("arena/test_match.py::test_two_scripted_players_play_the_known_game",),
    ),
    Mutation(
        "arena/openings.py",
        "remaining = int(points[row, move] * rules.legal(state, mask))",
        "remaining = int(points[row, move] ** 2 * rules.legal(state, mask))",
        "random openings prefer the first actions",
        ("arena/test_openings.py::test_every_opening_of_legal_moves_is_drawn_equally_often",),
    ),
    Mutation(
        "arena/openings.py",
        "                lengths[game] = -1\n",
        "",
        "openings end games",
        (
            "arena/test_openings.py::"
            "test_paired_openings_are_legal_unfinished_and_played_once_in_each_colour",
            "arena/test_openings.py::test_every_opening_of_legal_moves_is_drawn_equally_often",
            "arena/test_openings.py::test_an_opening_longer_than_every_game_becomes_shorter",
        ),
    ),
    Mutation(
        "arena/match.py",
        "        move_data.values[slot, ply] = decisions.values[index]\n",
        "        move_data.values[slot, ply] = decisions.values[0]\n",
        "all slots note the value of the first",
        (
            "arena/test_match.py::test_hundreds_of_parallel_games_are_the_same_game_as_one_alone",
            "arena/test_match.py::test_games_do_not_depend_on_the_number_of_parallel_games",
        ),
    ),
    Mutation(
        "arena/match.py",
        "            self._may_resign[slot] = game.pairing.may_resign\n",
        "",
        "a game may be resigned if the one before it could",
        (
            "training/test_resignation.py::"
            "test_a_player_resigns_in_place_of_its_move_where_the_game_allows_it",
        ),
    ),
    Mutation(
        "arena/match.py",
        "self._move_data.policies[slot, :length].copy(),",
        "self._move_data.policies[slot, :length],",
        "a record's policies change with the next game in its slot",
        (
            "arena/test_match.py::test_games_do_not_depend_on_the_number_of_parallel_games",
            "arena/test_match.py::test_hundreds_of_parallel_games_are_the_same_game_as_one_alone",
        ),
    ),
    Mutation(
        "players/search_player.py",
        "early = self._plies[slots] < self.temperature.moves",
        "early = self._plies[slots] <= self.temperature.moves",
        "the early temperature lasts a ply too long",
        ("training/test_selfplay.py::test_the_early_temperature_ends_after_its_moves",),
    ),
    Mutation(
        "players/search_player.py",
        "self._plies[slots] = states[:, PLY]",
        "self._plies[slots] = 0",
        "a loaded game begins its temperatures anew",
        (
            "training/test_selfplay.py::test_a_game_carried_over_keeps_its_place_in_the_temperature_schedule",
        ),
    ),
    Mutation(
        "players/search_player.py",
        "temperatures = np.where(early, self.temperature.early, self.temperature.late)",
        "temperatures = np.where(early, self.temperature.early, 0.0)",
        "the final temperature is 0",
        ("training/test_selfplay.py::test_the_final_temperature_holds_for_the_moves_after",),
    ),
    Mutation(
        "players/search_player.py",
        "targets[row, action] = target[action]",
        "targets[row, action] = policy[action]",
        "the policy recorded is the one that moves are drawn by",
        (
            "mcts/kernels/test_gumbel.py::test_a_player_records_the_improved_policy_not_the_move_it_plays",
        ),
    ),
    Mutation(
        "players/search_player.py",
        "self.search.begin_search(slots, simulations, full)",
        "self.search.begin_search(slots, simulations)",
        "fast searches explore",
        ("players/test_search_player.py::test_fast_searches_have_no_noise",),
    ),
    Mutation(
        "players/search_player.py",
        "target[action] if learns[row] else 0.0",
        "target[action]",
        "fast searches are learned from",
        (
            "players/test_search_player.py::"
            "test_only_full_searches_are_learned_from_and_they_are_as_many_as_asked",
        ),
    ),
    Mutation(
        "players/base.py",
        "self._asked = np.setdiff1d(self._asked, slots)",
        "self._asked = self._asked",
        "the random player answers questions that are void",
        (
            "players/test_base.py::test_a_question_to_the_random_player_is_void_when_its_slot_begins_anew",
        ),
    ),
    Mutation(
        "arena/elo.py",
        "value = value_of(record.outcome, record.pairing.players.index(0))",
        "value = record.outcome",
        "results are those of who moved first",
        ("arena/test_elo.py::test_wins_and_losses_are_those_of_the_first_player_on_both_sides",),
    ),
    Mutation(
        "arena/elo.py",
        "return 400 * math.log10(score / (1 - score))",
        "return 400 * math.log(score / (1 - score))",
        "Elo is of another logarithm",
        ("arena/test_elo.py::test_elo_is_the_logistic_of_the_score",),
    ),
    Mutation(
        "arena/elo.py",
        "return (self.wins + self.draws / 2) / self.games",
        "return self.wins / self.games",
        "draws count nothing",
        ("arena/test_elo.py::test_the_score_counts_a_draw_half",),
    ),
    Mutation(
        "arena/elo.py",
        "means = np.array([np.mean(pair) for pair in pairs.values()])",
        "means = np.array(scores)",
        "the games of a pair are taken for independent",
        ("arena/test_elo.py::test_pairs_that_always_cancel_say_more_than_games_without_pairs",),
    ),
    Mutation(
        "arena/elo.py",
        "score = (sum(scores) + 0.5) / (games + 1)",
        "score = sum(scores) / games",
        "a clean sweep is infinitely stronger",
        ("arena/test_elo.py::test_a_match_that_always_ends_alike_has_a_finite_interval",),
    ),
    Mutation(
        "arena/sprt.py",
        "return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)",
        "return math.log(self.alpha / (1 - self.beta)), math.log((1 - self.alpha) / self.beta)",
        "the two errors of the sequential test are exchanged",
        ("arena/test_sprt.py::test_the_bounds_are_walds",),
    ),
    Mutation(
        "arena/sprt.py",
        "        if len(scores) == 2:\n            counts[round(2 * sum(scores))] += 1",
        "        counts[round(4 * sum(scores) / len(scores))] += 1",
        "half a pair counts as a pair",
        ("arena/test_sprt.py::test_only_whole_pairs_are_counted_by_the_sum_of_their_scores",),
    ),
    Mutation(
        "arena/sprt.py",
        "low, high = (middle, high) if slope > 0 else (low, middle)",
        "low, high = (middle, high) if slope < 0 else (low, middle)",
        "the likeliest distribution is looked for on the wrong side",
        (
            "arena/test_sprt.py::test_the_ratio_is_that_of_the_likeliest_distributions_of_the_two_means",
        ),
    ),
    Mutation(
        "arena/bradley_terry.py",
        "gap = parameters[first] - parameters[second] + parameters[-2]",
        "gap = parameters[first] - parameters[second] - parameters[-2]",
        "the first move's advantage is given to the second player",
        (
            "arena/test_bradley_terry.py::"
            "test_games_that_the_first_always_wins_are_its_advantage_and_not_strength",
        ),
    ),
    Mutation(
        "arena/bradley_terry.py",
        "return 2 * (peak - model.likelihood(parameters)) - DEVIANCE",
        "return peak - model.likelihood(parameters) - DEVIANCE",
        "intervals are too wide",
        (
            "arena/test_bradley_terry.py::"
            "test_the_ends_of_an_interval_are_where_the_best_of_the_rest_is_as_much_less_"
            "likely",
        ),
    ),
    Mutation(
        "arena/bradley_terry.py",
        "        tie / (2 + tie),",
        "        tie / (1 + tie),",
        "the share of draws is too high",
        ("arena/test_bradley_terry.py::test_nothing_near_the_ratings_is_likelier",),
    ),
    Mutation(
        "arena/grade.py",
        "mistakes = np.flatnonzero(reached < solution.values)",
        "mistakes = np.flatnonzero(reached < 0)",
        "every move of a lost position is a mistake, and none that gives a win away",
        (
            "solvers/test_exhaustive.py::"
            "test_a_player_that_errs_whenever_it_can_is_right_only_where_every_move_is",
            "solvers/test_exhaustive.py::test_a_player_that_knows_the_answers_gets_full_marks",
        ),
    ),
    Mutation(
        "arena/tournament.py",
        "totals = counts.sum(axis=1) + counts.sum(axis=0)[:, ::-1]",
        "totals = counts.sum(axis=1) + counts.sum(axis=0)",
        "a game won moving second is counted as lost",
        (
            "arena/test_tournament.py::test_wins_draws_and_losses_are_counted_from_each_players_view",
        ),
    ),
    Mutation(
        "arena/tournament.py",
        "if done.count(pair) < 2]",
        "if done.count(pair) < 1]",
        "half a pair is left as it is",
        ("arena/test_tournament.py::test_half_a_pair_is_played_again",),
    ),
    Mutation(
        "players/solver_players.py",
        "return search.best_action(), _value_of_score(search.score)\n\n\nclass SolverPlayer",
        "return search.best_action(), -_value_of_score(search.score)\n\n\nclass SolverPlayer",
        "minimax returns the opponent's value",
        ("players/test_solver_players.py::test_values_are_the_movers",),
    ),
    Mutation(
        "utils/jobs.py",
        "(index < total % number)",
        "(index <= total % number)",
        "shares add up to too much",
        ("utils/test_jobs.py::test_shares_are_fair_whole_and_never_empty",),
    ),
    Mutation(
        "utils/jobs.py",
        "number = max(1, min(total, workers))",
        "number = max(1, workers)",
        "shares may be empty",
        ("utils/test_jobs.py::test_shares_are_fair_whole_and_never_empty",),
    ),
    Mutation(
        "games/grid.py",
        "return row + 1 if self.from_top else self.rows - row",
        "return row + 1",
        "rows of GTP are counted from the top",
        (
            "frontends/gtp/test_gtp.py::test_columns_have_no_letter_i_and_rows_count_as_the_game_counts_them",
        ),
    ),
    Mutation(
        "records/sgf_import.py",
        '(stones_by_player(game, state) == wanted).all():\n        raise GameError("they capture',
        'True:\n        raise GameError("they capture',
        "stones that capture one another are set up",
        ("records/test_sgf.py::test_stones_that_would_take_one_another_cannot_be_set_up",),
    ),
)

GAMES = (
    Mutation(
        "games/game.py",
        "return outcome if player == 0 else -outcome",
        "return outcome",
        "values are player 0's",
        ("games/test_contract.py::test_a_value_is_the_outcome_seen_by_the_player",),
    ),
    Mutation(
        "games/line_games.py",
        "if run >= length:",
        "if run == length:",
        "a line that is too long does not win",
        ("games/test_contract.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/line_games.py",
        "(0, 1, 1, 1)[step], (1, 0, 1, -1)[step]\n        run = 1",
        "(0, 1, 1, 1)[step], (1, 0, 1, 1)[step]\n        run = 1",
        "one diagonal does not win",
        ("games/test_contract.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/line_games.py",
        "state[OUTCOME] = 1 - 2 * player",
        "state[OUTCOME] = 2 * player - 1",
        "who completes a line loses",
        ("games/test_contract.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/line_games.py",
        "while 0 <= r < rows and 0 <= c < columns and cells",
        "while 0 <= r < rows and cells",
        "lines go on at the other side of the board",
        ("games/test_contract.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/line_games.py",
        "ply >= 2 * (length - 1) and completes_line",
        "ply > 2 * (length - 1) and completes_line",
        "the quickest win is not seen",
        (
            "games/test_contract.py::test_tic_tac_toe_has_its_known_positions_and_games",
            "games/test_contract.py::test_rules_agree_with_the_plain_twin",
        ),
    ),
    Mutation(
        "games/line_games.py",
        "    elif ply + 1 == rows * columns:\n",
        "    if ply + 1 == rows * columns:\n",
        "a win with the last stone is a draw",
        ("games/test_contract.py::test_the_last_stone_of_a_full_board_may_still_win",),
    ),
    Mutation(
        "games/line_games.py",
        "elif other > 0 and own == 0:",
        "elif other > 0:",
        "the heuristic counts lines that are closed",
        ("solvers/test_alphabeta.py::test_the_heuristic_is_what_its_twin_says",),
    ),
    Mutation(
        "games/connect_four.py",
        "planes[2] = 1 - player",
        "planes[2] = player",
        "the colour plane is the other way round in Connect Four",
        ("games/test_contract.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/connect_four.py",
        "mask[column] = state[OUTCOME] == ONGOING and state[CELLS + column] == 0",
        "mask[column] = state[CELLS + column] == 0",
        "Connect Four goes on after a win",
        ("games/test_contract.py::test_every_game_meets_every_requirement",),
    ),
    Mutation(
        "games/connect_four.py",
        "actions=np.array([columns, columns[::-1]]),",
        "actions=np.array([columns, columns]),",
        "the mirrored board has the policy of the other",
        ("games/test_contract.py::test_every_game_meets_every_requirement",),
    ),
    Mutation(
        "games/mnk.py",
        "planes[2, state[LAST] // columns, state[LAST] % columns] = 1",
        "planes[2, state[LAST] % columns, state[LAST] // columns] = 1",
        "the last move is shown on the other diagonal's side",
        (
            "games/test_contract.py::test_rules_agree_with_the_plain_twin",
            "games/test_contract.py::test_every_game_meets_every_requirement",
        ),
    ),
    Mutation(
        "games/nim.py",
        "mask[action] = action < state[LEFT]",
        "mask[action] = action <= state[LEFT]",
        "more chips than are left may be taken",
        ("games/test_contract.py::test_every_game_meets_every_requirement",),
    ),
    Mutation(
        "games/nim.py",
        "state[OUTCOME] = 1 - 2 * (state[PLY] % 2)",
        "state[OUTCOME] = 2 * (state[PLY] % 2) - 1",
        "who takes the last chip loses",
        ("games/test_nim.py::test_the_player_who_takes_the_last_chip_wins",),
    ),
    Mutation(
        "games/hex.py",
        "column = cell % size + (0, 1, -1, 1, -1, 0)[direction]",
        "column = cell % size + (0, -1, -1, 1, 1, 0)[direction]",
        "the cells of Hex lean the other way",
        ("games/test_hex.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/hex.py",
        "cell = first % size * size + first // size",
        "cell = first",
        "a swapped stone is not reflected",
        ("games/test_hex.py::test_the_swap_reflects_the_first_stone_and_changes_its_colour",),
    ),
    Mutation(
        "games/hex.py",
        "                queue[count] = other\n                count += 1\n",
        "",
        "a chain of Hex learns of a side no farther than one stone",
        ("games/test_hex.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/hex.py",
        "mask[area] = state[PLY] == 1\n",
        "mask[area] = state[PLY] >= 1\n",
        "the swap may come later",
        ("games/test_hex.py::test_the_swap_is_the_second_move_or_none",),
    ),
    Mutation(
        "games/hex.py",
        "nearest += stones[cell] == 0",
        "nearest += 1",
        "the distance in Hex counts stones that are there",
        ("games/test_hex.py::test_the_distance_is_that_of_the_shortest_way",),
    ),
    Mutation(
        "games/othello.py",
        "inner, found = other & inner_columns(size), Bits(0)",
        "inner, found = other, Bits(0)",
        "discs of Othello are enclosed around the edge",
        ("games/test_othello.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/othello.py",
        "state[DISCS + 1 - player] = other & ~turned",
        "state[DISCS + 1 - player] = other",
        "enclosed discs have both colours",
        ("games/test_othello.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/othello.py",
        "if not placeable(first, second, size) and not placeable(second, first, size):",
        "if not placeable(first, second, size) or not placeable(second, first, size):",
        "Othello ends where a player would have to pass",
        ("games/test_othello.py::test_a_player_who_encloses_nothing_passes",),
    ),
    Mutation(
        "games/othello.py",
        "state[OUTCOME] = np.sign(difference)",
        "state[OUTCOME] = -np.sign(difference)",
        "fewer discs win",
        ("games/test_othello.py::test_the_second_player_wins_on_four_by_four",),
    ),
    Mutation(
        "games/othello.py",
        "mask[size * size] = ongoing and count == 0",
        "mask[size * size] = ongoing",
        "a player of Othello may always pass",
        ("games/test_othello.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/othello.py",
        "= through & disc << step, through & disc >> step\n        for _ in range(size - 3):",
        "= through & disc << step, through & disc >> step\n        for _ in range(size - 4):",
        "the longest rows are not turned over",
        ("games/test_othello.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/go/rules.py",
        "if reached in (BLACK, WHITE):",
        "if reached > 0:",
        "neutral points belong to a player",
        ("games/test_go.py::test_the_board_is_counted_by_area",),
    ),
    Mutation(
        "games/go/rules.py",
        "if (passes and state[LAST] == action) or state[PLY] + 1 == move_limit(state):",
        "if passes or state[PLY] + 1 == move_limit(state):",
        "one pass ends the game",
        ("games/test_go.py::test_two_passes_in_a_row_end_the_game_and_two_of_one_player_do_not",),
    ),
    Mutation(
        "games/go/rules.py",
        "np.sign(2 * area(state) - state[KOMI])",
        "np.sign(2 * area(state) + state[KOMI])",
        "komi is Black's",
        ("games/test_go.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/go/rules.py",
        "if allowed and (not survives or bit_of(state, lost, point)):",
        "if allowed and not survives:",
        "ko is not looked for",
        ("games/test_go.py::test_a_ko_may_be_taken_back_after_a_move_elsewhere",),
    ),
    Mutation(
        "games/go/rules.py",
        "allowed = survives or suicide",
        "allowed = True",
        "suicide is always allowed",
        ("games/test_go.py::test_suicide_is_forbidden",),
    ),
    Mutation(
        "games/go/rules.py",
        "planes[2 * HISTORY] = 2 - own",
        "planes[2 * HISTORY] = own - 1",
        "the colour plane is the other way round in Go",
        (
            "games/test_go.py::"
            "test_the_observation_is_eight_positions_of_each_colour_and_the_colour_to_move",
        ),
    ),
    Mutation(
        "games/go/rules.py",
        "state[PREVIOUS] = state[KEY]\n    if not passes",
        "if not passes",
        "simple ko remembers no position",
        ("games/test_go.py::test_a_ko_may_be_taken_back_after_a_move_elsewhere",),
    ),
    Mutation(
        "games/go/features.py",
        "or beside in (first, second, third):",
        "or beside == first:",
        "a chain's liberties are counted several times",
        ("games/go/test_features.py::test_every_plane_agrees_with_the_plain_twin",),
    ),
    Mutation(
        "games/go/life.py",
        "vital[first + 1] = before if before != above else 0",
        "vital[first + 1] = before",
        "an eye counts twice for a chain on two sides",
        ("games/go/test_features.py::test_every_plane_agrees_with_the_plain_twin",),
    ),
    Mutation(
        "games/go/life.py",
        "if state[point] >= EMPTY or state[SUICIDE] != 0:",
        "if state[point] >= EMPTY:",
        "suicide cannot empty an eye",
        ("games/go/test_life.py::test_suicide_can_empty_a_point_away_from_one_of_two_chains",),
    ),
    Mutation(
        "games/go/life.py",
        "if not _open_regions(state, colour, points, ends, count, vital, lives):",
        "if True:",
        "a chain lives by eyes that border on dead chains",
        ("games/go/test_life.py::test_life_by_bensons_theorem",),
    ),
    Mutation(
        "games/go/life.py",
        "before, after = sets[which, word], np.uint64(0), np.uint64(0)\n    if word > 0:",
        "before, after = sets[which, word], np.uint64(0), np.uint64(0)\n    if False:",
        "sets of points end at the first 64",
        ("games/go/test_life.py::test_life_by_bensons_theorem",),
    ),
    Mutation(
        "games/go/features.py",
        "komi if own == WHITE else -komi",
        "komi",
        "White's komi is shown to Black as its own",
        ("games/go/test_features.py::test_komi_is_that_of_the_player_to_move_and_bounded",),
    ),
    Mutation(
        "games/go/board.py",
        "return key ^ _WHITE_TO_PLAY if state[SUPERKO] == SITUATIONAL and colour == BLACK else key",
        "return key",
        "situational superko is positional",
        (
            "games/test_go.py::test_send_two_return_one",
            "games/test_go.py::test_rules_agree_with_the_plain_twin",
        ),
    ),
    Mutation(
        "games/go/board.py",
        "place = (state[NEWEST] - age) % HISTORY",
        "place = (state[NEWEST] + age) % HISTORY",
        "earlier positions are shown in the wrong order",
        (
            "games/test_go.py::"
            "test_the_observation_is_eight_positions_of_each_colour_and_the_colour_to_move",
        ),
    ),
    Mutation(
        "games/go/board.py",
        "state[head + LIBERTIES] += state[gone + LIBERTIES]",
        "state[head + LIBERTIES] = state[gone + LIBERTIES]",
        "joined chains have the liberties of one",
        ("games/test_go.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/go/board.py",
        "state[state[beside + HEAD] + LIBERTIES] += as_liberty(stone)",
        "state[state[beside + HEAD] + LIBERTIES] += 0",
        "captured stones leave no liberties",
        ("games/test_go.py::test_rules_agree_with_the_plain_twin",),
    ),
    Mutation(
        "games/go/board.py",
        "if state[beside] < WALL and (state[beside] == colour) != in_atari(state, beside):",
        "if state[beside] == colour and not in_atari(state, beside):",
        "a stone that captures may not be laid without a liberty",
        ("games/test_go.py::test_a_stone_without_liberties_may_be_laid_where_it_captures",),
    ),
)

SEARCH = (
    Mutation(
        "mcts/move_selection.py",
        "math.exp(math.log(policy[action] / highest) / temperature)",
        "math.exp(math.log(policy[action] / highest) * temperature)",
        "the temperature is its inverse",
        (
            "mcts/test_move_selection.py::"
            "test_tempered_policies_are_visits_to_the_power_of_one_over_the_temperature",
        ),
    ),
    Mutation(
        "mcts/move_selection.py",
        "if shares[action] > 0 and passed <= point * total:",
        "if shares[action] > 0 and passed < point * total:",
        "the draw 0 takes the first action whatever its probability",
        (
            "mcts/test_move_selection.py::test_not_even_the_extreme_draw_takes_an_action_of_no_probability",
        ),
    ),
    Mutation(
        "mcts/move_selection.py",
        "points = np.where(temperatures > 0, rng.random(len(policies)), 0.0)",
        "points = rng.random(len(policies))",
        "chance chooses among the most visited",
        ("mcts/test_move_selection.py::test_temperature_zero_takes_the_first_of_the_most_visited",),
    ),
    Mutation(
        "mcts/move_selection.py",
        "values = np.where(visits > 0, action_values, -np.inf)",
        "values = np.where(visits > 0, -action_values, -np.inf)",
        "the max child is the worst one",
        ("mcts/test_move_selection.py::test_the_final_move_has_the_highest_value",),
    ),
    Mutation(
        "mcts/evaluator.py",
        "return np.take_along_axis(logits, self._actions[symmetries], axis=1), values",
        "return logits, values",
        "logits are not turned back",
        ("mcts/test_evaluator.py::test_averaged_answers_move_with_the_board",),
    ),
    Mutation(
        "mcts/evaluator.py",
        "self._cells = np.argsort(symmetries.cells, axis=1)",
        "self._cells = symmetries.cells",
        "boards are turned the other way than policies",
        ("mcts/test_evaluator.py::test_averaged_answers_move_with_the_board",),
    ),
    Mutation(
        "players/search_player.py",
        "best if best > roots.values[row] else",
        "best if best < roots.values[row] else",
        "best values are the worse of two values",
        (
            "training/test_resignation.py::"
            "test_best_values_are_the_better_of_the_root_s_value_and_that_of_its_best_action",
        ),
    ),
    Mutation(
        "mcts/search.py",
        '            edge = below[below["visits"].argmax()]\n',
        '            edge = below[below["prior"].argmax()]\n',
        "the variation follows priors",
        ("mcts/test_network_search.py::test_variation_follows_the_most_visited_line",),
    ),
    Mutation(
        "mcts/network_search.py",
        "        self._cache.keys[:] = 0\n",
        "",
        "evaluations of another network are not forgotten",
        ("mcts/kernels/test_evaluation_cache.py::test_what_is_forgotten_is_evaluated_again",),
    ),
    Mutation(
        "mcts/network_search.py",
        "explores[:] = explore if self.exploration else False",
        "explores[:] = self.exploration is not None",
        "searches without exploration explore",
        ("players/test_search_player.py::test_fast_searches_have_no_noise",),
    ),
    Mutation(
        "mcts/rollout_search.py",
        "wanted + threads - 1 - index) // threads",
        "wanted + threads - 1) // threads",
        "threads search more than was asked",
        ("mcts/test_rollout_search.py::test_threads_search_different_trees_whose_visits_add_up",),
    ),
    Mutation(
        "solvers/exact.py",
        "value_of(outcome, to_play(state)) if over else -solver.value(child)",
        "value_of(outcome, to_play(state)) if over else solver.value(child)",
        "the exact value of a move is the opponent's",
        (
            "arena/test_solved_positions.py::test_made_positions_have_the_answers_of_exhaustive_search",
        ),
    ),
    Mutation(
        "solvers/exact.py",
        "return (cells + 1 - ply) // 2",
        "return (cells - ply) // 2",
        "a win at once has another score",
        ("solvers/test_exact.py::test_answers_are_those_of_brute_force",),
    ),
    Mutation(
        "mcts/kernels/rollouts.py",
        "value = float(value_of(_play_out(rules, trees, slot), player))",
        "value = float(_play_out(rules, trees, slot))",
        "rollouts are judged for player 0",
        ("mcts/test_rollout_search.py::test_games_are_searched_as_by_the_plain_twin",),
    ),
    Mutation(
        "mcts/kernels/ucb.py",
        "if random_below(trees, slot, equals) == 0:",
        "if random_below(trees, slot, 2) == 0:",
        "of many equal moves the last is taken too often",
        ("mcts/test_rollout_search.py::test_games_are_searched_as_by_the_plain_twin",),
    ),
    Mutation(
        "mcts/kernels/evaluation_cache.py",
        "    if cache.keys[place] != key:\n        return -1\n",
        "    if cache.keys[place] == 0:\n        return -1\n",
        "another position's evaluation is taken",
        (
            "mcts/kernels/test_evaluation_cache.py::test_memory_is_bounded_and_an_entry_gives_way_to_a_newer_one",
        ),
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "        value = -value",
        "        value = value * 1",
        "backup does not change sides",
        ("mcts/test_network_search.py::test_search_wins_in_one_and_blocks_in_one",),
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "put(cache, cache.row_keys[row], logits[row], value)",
        "put(cache, cache.row_keys[row], logits[0], value)",
        "the cache holds the first row's logits for every row",
        (
            "mcts/kernels/test_evaluation_cache.py::test_each_position_of_a_batch_is_remembered_with_its_own_evaluation",
        ),
    ),
    Mutation(
        "mcts/kernels/puct.py",
        "if score > best_score or (score == best_score and prior > best_prior):",
        "if score >= best_score:",
        "of equal moves the last is searched",
        ("mcts/test_network_search.py::test_the_fast_search_equals_the_reference_bit_for_bit",),
    ),
    Mutation(
        "mcts/kernels/puct.py",
        "        observed += trees.edges[slot, edge].visits\n",
        "        observed += trees.edges[slot, edge].visits + trees.edges[slot, edge].pending\n",
        "the mean below a node counts pending simulations",
        (
            "mcts/test_network_search.py::test_every_combination_of_options_builds_the_tree_of_the_plain_twin",
        ),
    ),
    Mutation(
        "mcts/kernels/puct.py",
        "            prior = trees.root_prior[slot, edge - first]\n",
        "            prior = trees.edges[slot, edge].prior * 1\n",
        "the root's noise is not used",
        (
            "mcts/test_network_search.py::test_noise_changes_the_visits_and_no_noise_leaves_the_priors_alone",
        ),
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "                value = value_of(outcome, trees.state[PLY] % 2)\n",
        "                value = outcome * 1\n",
        "finished games are judged for player 0",
        (
            "mcts/test_network_search.py::test_the_root_value_of_a_settled_position_converges_to_its_outcome",
        ),
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "            highest = max(highest, logits[action])\n",
        "            highest = 0.0\n",
        "large logits overflow",
        ("mcts/test_network_search.py::test_logits_may_be_as_large_as_they_like",),
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "pending -= 1",
        "pending -= 0",
        "simulations stay pending",
        (
            "mcts/test_network_search.py::test_every_combination_of_options_builds_the_tree_of_the_plain_twin",
        ),
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "        if slots[place] > last:\n",
        "        if slots[place] >= last:\n",
        "a slot is served twice where a batch is too small for all",
        ("mcts/test_network_search.py::test_slots_take_turns_where_a_batch_is_too_small_for_all",),
    ),
    Mutation(
        "mcts/kernels/simulation.py",
        "            if outcome != ONGOING and value_of(outcome, trees.state[PLY] % 2) == 1:",
        "            if outcome != ONGOING:",
        "every move that ends the game is taken for a win",
        (
            "mcts/kernels/test_proofs.py::test_the_rule_of_wins_at_once_finds_what_trying_every_move_finds",
        ),
    ),
    Mutation(
        "games/line_games.py",
        "cell, length, ply % 2 + 1)",
        "cell, length, 2 - ply % 2)",
        "the opponent's lines count as wins at once",
        (
            "mcts/kernels/test_proofs.py::test_the_rule_of_wins_at_once_finds_what_trying_every_move_finds",
        ),
    ),
    Mutation(
        "mcts/kernels/proofs.py",
        "trees.nodes[slot, child].lower == 1  # type",
        "trees.nodes[slot, child].lower >= 0  # type",
        "draws are taken for losses",
        (
            "mcts/kernels/test_proofs.py::test_only_moves_that_lose_are_walked_no_more_not_those_that_draw",
        ),
    ),
    Mutation(
        "mcts/kernels/proofs.py",
        "upper = max(upper, -trees.nodes[slot, child].lower if child >= 0 else 1)",
        "upper = max(upper, -trees.nodes[slot, child].lower if child >= 0 else -1)",
        "moves that were not looked at bring nothing",
        (
            "mcts/kernels/test_proofs.py::test_bounds_hold_everywhere_and_a_proven_root_plays_an_optimal_move",
        ),
    ),
    Mutation(
        "mcts/kernels/transpositions.py",
        "if index != selection.ignored_state_index:",
        "if index >= 0:",
        "positions that differ in their last move alone are two",
        ("mcts/kernels/test_transpositions.py::test_a_position_is_evaluated_once_in_a_graph",),
    ),
    Mutation(
        "mcts/kernels/transpositions.py",
        "weights, total = 1.0, trees.nodes[slot, node].value",
        "weights, total = 0.0, 0.0",
        "a node's own evaluation counts nothing",
        ("mcts/kernels/test_transpositions.py::test_every_graph_is_the_one_of_the_plain_twin",),
    ),
    Mutation(
        "mcts/kernels/gumbel.py",
        "score = trees.root_noise[slot, edge] + trees.policy[edge]",
        "score = trees.policy[edge]",
        "Gumbel draws decide nothing",
        ("mcts/kernels/test_gumbel.py::test_mctx_finds_the_same",),
    ),
    Mutation(
        "mcts/kernels/gumbel.py",
        "score = trees.policy[index] / weights - share / (1 + visits)",
        "score = trees.policy[index] / weights - share / max(1, visits)",
        "below the root Gumbel search divides by the visits, not by one more",
        ("mcts/kernels/test_gumbel.py::test_mctx_finds_the_same",),
    ),
    Mutation(
        "mcts/kernels/gumbel.py",
        "if seen - trees.root_kept[slot, edge] == visits:",
        "if seen == visits:",
        "halving counts visits from before the search",
        (
            "mcts/kernels/test_gumbel.py::test_puct_below_the_root_builds_the_tree_of_the_plain_twin",
        ),
    ),
    Mutation(
        "mcts/kernels/gumbel.py",
        "            visited_prior += prior\n",
        "            visited_prior += 1\n",
        "the mixed value weighs all visited actions alike",
        ("mcts/kernels/test_gumbel.py::test_mctx_finds_the_same",),
    ),
    Mutation(
        "mcts/kernels/equations.py",
        "return value + c_puct * prior * math.sqrt(total_visits) / (1 + visits)",
        "return value + c_puct * prior * math.sqrt(total_visits) / max(1, visits)",
        "PUCT divides by visits, not by one more",
        ("mcts/kernels/test_equations.py::test_puct_adds_exploration_to_the_action_value",),
    ),
    Mutation(
        "mcts/kernels/equations.py",
        "return math.log((1 + total_visits + base) / base) + c_puct",
        "return math.log((total_visits + base) / base) + c_puct",
        "PUCT's constant grows a visit late",
        (
            "mcts/kernels/test_equations.py::test_the_exploration_constant_grows_with_the_logarithm_of_the_visits",
        ),
    ),
    Mutation(
        "mcts/kernels/equations.py",
        "return (node_value + total_value) / (1 + total_visits) - reduction",
        "return (node_value + total_value) / (1 + total_visits) + reduction",
        "unvisited actions are favoured",
        (
            "mcts/kernels/test_equations.py::"
            "test_an_unvisited_action_is_worth_zero_or_the_mean_below_its_node_less_a_reduction",
        ),
    ),
    Mutation(
        "mcts/kernels/equations.py",
        "return c * math.sqrt(2 * math.log(reached))",
        "return c * math.sqrt(math.log(reached))",
        "UCB1 explores too little",
        (
            "mcts/kernels/test_equations.py::"
            "test_ucb1_is_the_equation_of_the_survey_and_twice_the_constant_suits_values",
        ),
    ),
    Mutation(
        "mcts/kernels/equations.py",
        "return (gumbel_maxvisit_init + most_visits) * scale * (value + 1) / 2",
        "return (gumbel_maxvisit_init + most_visits) * scale * value",
        "Gumbel search has values of another width",
        ("mcts/kernels/test_equations.py::test_the_equations_have_the_values_computed_by_hand",),
    ),
    Mutation(
        "mcts/kernels/equations.py",
        "return (node_value + visits * visited_value / visited_prior) / (1 + visits)",
        "return (node_value + visited_value / visited_prior) / (1 + visits)",
        "the mixed value forgets the number of visits",
        ("mcts/kernels/test_equations.py::test_the_equations_have_the_values_computed_by_hand",),
    ),
    Mutation(
        "mcts/kernels/equations.py",
        "begin, visits = begin + rounds * actions, visits + rounds",
        "begin, visits = begin + rounds * actions, visits + 1",
        "halving loses count of its rounds",
        ("mcts/kernels/test_equations.py::test_halving_gives_each_phase_its_share",),
    ),
    Mutation(
        "mcts/kernels/equations.py",
        "return 1 / (1 + weighting * shortfall)",
        "return 1 / (1 + shortfall)",
        "how much bad moves count cannot be set",
        ("mcts/kernels/test_equations.py::test_a_worse_move_counts_less_the_worse_it_is",),
    ),
    Mutation(
        "mcts/kernels/root.py",
        "noise[row, action] if explores_here else 0.0",
        "noise[row, action] if explores_here else trees.root_noise[slot, action]",
        "fast searches keep the draws of the last full one",
        (
            "mcts/kernels/test_gumbel.py::"
            "test_a_fast_search_draws_nothing_and_forgets_the_draws_of_the_search_before",
        ),
    ),
    Mutation(
        "mcts/kernels/root.py",
        "prior = (1 - fraction) * prior + fraction * (trees.root_noise[slot, index] / noise)",
        "prior = (1 - fraction) * prior + fraction * trees.root_noise[slot, index]",
        "noise does not add up to 1",
        ("mcts/test_network_search.py::test_noise_has_the_moments_of_a_dirichlet_distribution",),
    ),
    Mutation(
        "mcts/kernels/subtree.py",
        "        if new_index[node] == 0 and node != root:\n",
        "        if new_index[node] == 0:\n",
        "a kept tree has its root in the wrong place",
        ("mcts/test_network_search.py::test_the_fast_search_equals_the_reference_bit_for_bit",),
    ),
    Mutation(
        "mcts/kernels/subtree.py",
        "if place == 0 and prior != CREATED:",
        "if False:",
        "a root's lazy edges stay unwritten",
        ("mcts/test_network_search.py::test_the_fast_search_equals_the_reference_bit_for_bit",),
    ),
    Mutation(
        "mcts/kernels/edges.py",
        "created_places[slot, first + index] = place\n    _find_next(trees, slot, node)\n",
        "created_places[slot, first + index] = place\n",
        "an edge is created twice",
        ("mcts/test_network_search.py::test_the_fast_search_equals_the_reference_bit_for_bit",),
    ),
    Mutation(
        "mcts/kernels/edges.py",
        "while index > 0 and trees.created_places[slot, first + index - 1] > place:",
        "while False:",
        "created edges are in the order of their creation",
        ("mcts/test_network_search.py::test_the_fast_search_equals_the_reference_bit_for_bit",),
    ),
    Mutation(
        "mcts/kernels/proofs.py",
        "lower, upper = -1, -1 if complete else 1",
        "lower, upper = -1, -1",
        "lazy edges bring nothing",
        ("mcts/kernels/test_proofs.py::test_a_node_is_not_lost_while_it_has_lazy_edges",),
    ),
    Mutation(
        "mcts/kernels/root.py",
        "return upper >= guaranteed and (lower == guaranteed or not is_solved(trees, slot, 0))",
        "return upper >= guaranteed",
        "a proven root plays moves that are not proven",
        (
            "mcts/kernels/test_proofs.py::test_bounds_hold_everywhere_and_a_proven_root_plays_an_optimal_move",
        ),
    ),
    Mutation(
        "mcts/kernels/root.py",
        "value += target[action] * values[action]",
        "value += visits[action] * values[action]",
        "the root's value under Gumbel search is not that of its policy",
        ("mcts/kernels/test_gumbel.py::test_the_roots_value_is_that_of_its_improved_policy",),
    ),
)

MUTATIONS = (*VARIED_OPTIONS, *NETWORK, *TRAINING, *PLAYERS, *GAMES, *SEARCH)
