"""The batch sizes of a network's evaluator."""

from helpers.networks import scrambled

from alphazero.config.schema import InferenceConfig
from alphazero.network.inference.backend import make_evaluator
from alphazero.network.inference.batched_evaluator import rows_in_match


def test_a_batch_of_a_match_is_always_full_except_on_a_gpu_where_padding_is_free() -> None:
    evaluator = make_evaluator(scrambled(), InferenceConfig(device="cpu", backend="torch"))
    assert [rows_in_match(games, evaluator) for games in (1, 20, 40, 256)] == [1, 4, 8, 96]
    evaluator.device = "cuda"
    assert [rows_in_match(games, evaluator) for games in (1, 20, 40, 256)] == [1, 20, 40, 256]
