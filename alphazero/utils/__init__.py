"""Utilities for every package: files, interrupts, parallel jobs, compilation, arrays."""
