"""The front end for the Universal Chess Interface."""
