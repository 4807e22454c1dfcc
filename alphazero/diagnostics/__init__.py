"""Benchmarks, forecasts, and the analysis of a run's files."""
