"""The contract that every game keeps, and the check of it."""
