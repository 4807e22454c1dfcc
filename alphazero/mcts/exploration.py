"""Root exploration in self-play: Dirichlet noise and forced playouts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Exploration:
    """Parameters of root exploration.

    Root priors become (1 - `dirichlet_fraction`) p + `dirichlet_fraction` Dir(`dirichlet_alpha`),
    and each visited action gets at least sqrt(`forced_playouts_k` P sum N) visits.
    """

    dirichlet_fraction: float = 0.0
    dirichlet_alpha: float = 0.3
    forced_playouts_k: float = 0.0


NO_EXPLORATION = Exploration()
