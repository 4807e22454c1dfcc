"""Root exploration in self-play: Dirichlet noise."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Exploration:
    """Parameters of root exploration.

    Root priors become (1 - `dirichlet_fraction`) p + `dirichlet_fraction` Dir(`dirichlet_alpha`).
    """

    dirichlet_fraction: float = 0.0
    dirichlet_alpha: float = 0.3


NO_EXPLORATION = Exploration()
