"""Played games as files: SGF, PGN and JSON lines."""
