"""Advice about clues: whether they are consistent and help, which are probably wrong, and which method to use."""

from cluewise.advice._check import Diagnosis, check
from cluewise.advice._clashes import Clash
from cluewise.advice._compare import Comparison, Outcome, compare
from cluewise.advice._propagate import propagate
from cluewise.advice._search import ClueSearchCV
from cluewise.advice._suggest import suggest
from cluewise.advice._suggestion import Suggestion
from cluewise.advice._suspects import Suspect, Suspects, format_doubt, suspects
from cluewise.advice._trials import Trial, Trials
from cluewise.advice.harm import Tryout

__all__ = [
    "Clash",
    "ClueSearchCV",
    "Comparison",
    "Diagnosis",
    "Outcome",
    "Suggestion",
    "Suspect",
    "Suspects",
    "Trial",
    "Trials",
    "Tryout",
    "check",
    "compare",
    "format_doubt",
    "propagate",
    "suggest",
    "suspects",
]
