"""The configuration of a run: schema and YAML loader."""
