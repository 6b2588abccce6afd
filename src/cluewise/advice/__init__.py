"""Advice about clues: whether they help, and which of them are probably wrong."""

from cluewise.advice._compare import Comparison, Outcome, compare
from cluewise.advice._suspects import Suspect, Suspects, suspects

__all__ = ["Comparison", "Outcome", "Suspect", "Suspects", "compare", "suspects"]
