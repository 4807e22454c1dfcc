"""Matches, tournaments, ratings and solved positions."""
