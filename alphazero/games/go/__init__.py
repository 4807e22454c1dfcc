"""Go: board, rules and game."""
