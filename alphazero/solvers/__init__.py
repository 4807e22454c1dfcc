"""Exact answers: alpha-beta search and solvers."""
