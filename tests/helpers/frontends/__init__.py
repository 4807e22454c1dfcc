"""Clients of the front ends, and a GTP program that misbehaves when asked to."""
