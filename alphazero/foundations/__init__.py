"""Tabular Monte Carlo and tree search, small enough to be checked exactly.

This package imports nothing else of `alphazero`. In the order of the path to tree search:

1. `boarding_pass.py`: a probability found by simulation, and why to skip work that cannot change
   the answer. A rollout is no more than this.
2. `blackjack.py`, `monte_carlo.py`: simulation under a policy estimates its value (prediction), and
   acting by the estimates improves it (control). `dynamic_programming.py` has the exact answers.
3. `queens.py`: a tree searched exhaustively, and how soon that becomes impossible.

Monte Carlo tree search joins them: it simulates where the tree is too large, and improves the
policy meanwhile. AlphaGo Zero then learns the policy and the value that the averages gave.

`alphazero foundations NAME` runs each; `demos.py` has the names.
"""
