"""Optimizer steps: losses, optimizers, several processes."""
