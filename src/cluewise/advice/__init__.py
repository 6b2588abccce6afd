"""Advice about clues: whether they help."""

from cluewise.advice._compare import Comparison, Outcome, compare

__all__ = ["Comparison", "Outcome", "compare"]
