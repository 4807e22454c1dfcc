"""Exact solvers and alpha-beta search."""
