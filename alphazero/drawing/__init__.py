"""Pictures of positions and boards, and charts."""
