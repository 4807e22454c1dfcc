"""Playing and analysing in a terminal."""
