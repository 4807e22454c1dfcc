"""The constants of `SelectionParams`; importing this compiles nothing."""

PUCT, GUMBEL, UCB1, UNIFORM = 0, 1, 2, 3
"""Selection rules."""

UNLIMITED = 2**31 - 1
"""No limit of simulations or of depth, as a number for kernels; also the most visits of an edge."""
