"""Tabular Monte Carlo and tree search, small enough to be checked exactly.

This package imports nothing else of `alphazero`. Its functions raise FoundationsError for a number
out of its range. On the path to tree search:

1. `boarding_pass.py`: simulation estimates a probability, as rollouts do, and need not do work that
   cannot change the result.
2. `blackjack.py`, `monte_carlo.py`: simulation under a policy estimates its value (prediction), and
   acting by the estimates improves it (control). `dynamic_programming.py` has the exact answers.
3. `queens.py`: exhaustive tree search, and how soon it becomes impossible.

Monte Carlo tree search combines them: it simulates where the tree is too large, and improves the
policy meanwhile. AlphaGo Zero learns the policy and the value that the averages gave.

`python -m alphazero.foundations NAME` runs each; `demos.py` has the names.
"""
