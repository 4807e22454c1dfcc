"""Bugs put into the code, and damage done to files."""
