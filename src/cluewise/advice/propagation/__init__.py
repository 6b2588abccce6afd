"""Guarded propagation of clues: `propagate`."""
