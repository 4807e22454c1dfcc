"""The Go Text Protocol, for Go programs."""
