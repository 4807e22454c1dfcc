"""Self-play by actors on several machines, through Ray."""
