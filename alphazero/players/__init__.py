"""The players: random, search, solver, checkpoint, GTP and UCI; created from a player spec."""
