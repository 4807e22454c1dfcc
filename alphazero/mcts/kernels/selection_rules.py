"""The constants of `SelectionParams`; importing this compiles nothing."""

PUCT, GUMBEL, UCB1, UNIFORM = 0, 1, 2, 3
"""Selection rules."""

UNLIMITED_DEPTH = 2**30
"""Sentinel for "no depth limit"."""
