"""The ideas that came before: tabular Monte Carlo, small enough to be checked to the last digit.

They stand apart and import nothing of the house. In the order of the path to the tree search:

1. `boarding.py`: a probability found by playing out, and why work that cannot change the answer is
   best not done. A rollout is no more than this.
2. `blackjack.py`, `monte_carlo.py`: playing out under a policy tells what it is worth
   (prediction), and acting by what was told improves it (control). `exact.py` knows the answers.
3. `queens.py`: a tree searched by trying everything, and how soon that ends.

A tree search joins them: playing out where the tree cannot be tried whole, improving the policy
while it plays. AlphaGo Zero then learns the policy and the value that the averages gave.

`alphazero foundations NAME` runs each; `exhibits.py` has the names.
"""
