"""Pictures of positions, boards and curves."""
