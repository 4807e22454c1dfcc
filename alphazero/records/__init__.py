"""Played games as files: SGF, and one JSON line a game."""
