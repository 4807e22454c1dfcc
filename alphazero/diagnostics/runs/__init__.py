"""Runs read from their folders: curves, games, figures, comparisons and sweeps."""
