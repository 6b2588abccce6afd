"""Compiled loops: flat arrays in, flat arrays out, each with a plain twin of its name in ``tests/twins``."""
