"""Compiled loops: flat arrays in, flat arrays out, each with a plain twin of its name in ``tests/twins``."""

from cluewise.kernels._compilation import watch_compilation, working_time

__all__ = ["watch_compilation", "working_time"]
