"""Benchmarks, forecasts, and what the files of a run tell."""
