"""Played games as files: SGF and JSON lines."""
