"""Slow, plain versions of the rules and searches, and what mctx finds."""
