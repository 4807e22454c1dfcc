"""The optimizer steps: losses, optimizers, several processes."""
