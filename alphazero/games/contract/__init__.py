"""The contract that every game keeps, and its check."""
