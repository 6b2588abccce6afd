"""Compiled loops: flat arrays in, flat arrays out, each with a plain twin in ``reference``."""
