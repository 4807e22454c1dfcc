"""The Go Text Protocol front end."""
