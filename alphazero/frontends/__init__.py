"""Front ends: terminal, web page, GTP and UCI."""
