"""The players: random, search, solver, checkpoint, other programs; created from a player spec."""
