"""Pictures of positions and boards."""
