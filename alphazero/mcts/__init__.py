"""Floor 2: from a state to a distribution over actions; `mcts.py` is the way in."""
