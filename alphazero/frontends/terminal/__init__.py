"""Play and analysis in a terminal."""
