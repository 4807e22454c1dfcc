"""Floor 5: faces for people and programs."""
