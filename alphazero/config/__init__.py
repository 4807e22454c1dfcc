"""The configuration of a run: its schema, and the reader of the YAML file."""
