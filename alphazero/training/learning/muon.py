"""Muon: steps of equal length in every direction of a weight matrix.

The gradient of a matrix points mostly along a few directions, and Adam's scaling of single weights
does not change that. Muon takes the matrix of the momentum, U S V^T, and steps along U V^T:
directions with a weak gradient are learned as fast as those with a strong one.

`torch.optim.Muon` handles one matrix at a time, in bf16, and took 1.9 times as long on a CPU with
AMX, and 3.5 times with AVX2 alone.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""Coefficients of the odd polynomial that moves singular values towards 1 (Jordan et al.)"""

ITERATIONS = 5
"""of that polynomial; singular values between 0.01 and 1 end between 0.7 and 1.2"""


def orthogonalized(matrices: Tensor) -> Tensor:
    """Return approximately U V^T of each matrix U S V^T of a batch [N, R, C], whatever its norm."""
    tall = matrices.shape[1] > matrices.shape[2]
    wide: Tensor = matrices.mT if tall else matrices
    wide = wide / (torch.linalg.matrix_norm(wide, keepdim=True) + 1e-7)
    linear, cubic, quintic = NEWTON_SCHULZ
    for _ in range(ITERATIONS):
        square = wide @ wide.mT
        slope = torch.baddbmm(square, square, square, beta=cubic, alpha=quintic)
        wide = torch.baddbmm(wide, slope, wide, beta=linear)  # linear * wide + slope @ wide
    return wide.mT if tall else wide


class Muon(torch.optim.Optimizer):
    """Momentum with orthogonalised steps and decoupled weight decay; for matrices only.

    A convolution [O, I, H, W] is treated as the matrix [O, I H W]. A step has the length of the
    learning rate times 0.2 sqrt(max(R, C)). Its entries then have the mean square of Adam's, so
    AdamW's rates and decays are a fair start.

    Jordan et al., Muon: an optimizer for hidden layers in neural networks (2024);
    Liu et al., Muon is scalable for LLM training, arXiv 2502.16982, section 2.2 (length, decay).
    """

    def __init__(
        self, parameters: Iterable[Tensor], rate: float, momentum: float, weight_decay: float
    ) -> None:
        super().__init__(
            parameters, {"lr": rate, "momentum": momentum, "weight_decay": weight_decay}
        )

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        for group in self.param_groups:
            rate, momentum = group["lr"], group["momentum"]
            learned = [parameter for parameter in group["params"] if parameter.grad is not None]
            gradients = [parameter.grad.flatten(1) for parameter in learned]
            for parameter, gradient in zip(learned, gradients, strict=True):
                if not self.state[parameter]:
                    self.state[parameter]["momentum"] = torch.zeros_like(gradient)
            # One call for all matrices: on a GPU each costs more to start than to do.
            means = [self.state[parameter]["momentum"] for parameter in learned]
            torch._foreach_lerp_(means, gradients, 1 - momentum)
            ahead = torch._foreach_lerp(gradients, means, momentum)  # Nesterov's
            torch._foreach_mul_(learned, 1 - rate * group["weight_decay"])
            for shape in {update.shape for update in ahead}:
                alike = [index for index, update in enumerate(ahead) if update.shape == shape]
                steps = orthogonalized(torch.stack([ahead[index] for index in alike]))
                length = 0.2 * max(shape) ** 0.5
                moved = [learned[index] for index in alike]
                shaped = [step.view_as(to) for step, to in zip(steps, moved, strict=True)]
                torch._foreach_add_(moved, shaped, alpha=-rate * length)
