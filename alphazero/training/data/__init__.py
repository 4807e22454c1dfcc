"""Recorded games: files of them, the replay buffer and its targets."""
