"""The compiled kernels of the tree search."""
