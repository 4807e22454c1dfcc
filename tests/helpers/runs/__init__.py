"""Small runs, learners, records and curves."""
