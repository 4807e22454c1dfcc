"""Tabular Monte Carlo and tree search, small enough to be checked exactly.

This package imports nothing else of `alphazero`. Its functions raise FoundationsError for a number
out of its range. `README.md` shows the path from them to tree search.

`python -m alphazero.foundations NAME` runs each; `demos.py` has the names.
"""
