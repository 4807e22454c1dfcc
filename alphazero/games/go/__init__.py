"""Go: the board, the rules and the game."""
