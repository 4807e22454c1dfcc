"""Floor 3: players, matches between them, ratings."""
