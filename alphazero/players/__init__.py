"""The players: random, search, solver, checkpoint and GTP; created from a player spec."""
