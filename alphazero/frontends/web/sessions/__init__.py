"""The sessions of the page: their games, searches, reviews and commands."""
