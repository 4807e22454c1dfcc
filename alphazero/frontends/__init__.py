"""Front ends: terminal, web page and GTP."""
