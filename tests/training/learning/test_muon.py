"""The orthogonalization of Muon; `test_learner.py` tests its steps."""

import pytest
import torch
from helpers.runs.learners import assert_near_orthogonal

from alphazero.training.learning.muon import orthogonalized


@pytest.mark.parametrize("shape", [(3, 5, 40), (2, 40, 5), (1, 16, 16), (2, 1, 9), (2, 9, 1)])
def test_muon_brings_the_singular_values_near_one_and_keeps_the_singular_vectors(shape):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(4))
    assert_near_orthogonal(orthogonalized(matrices), matrices)
    assert_near_orthogonal(orthogonalized(1e-6 * matrices), matrices)
