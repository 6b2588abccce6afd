"""Advice about clues: whether they make sense and help, which are probably wrong, and which method suits them."""

from cluewise.advice._compare import Comparison, Outcome, compare
from cluewise.advice._suspects import Suspect, Suspects, suspects
from cluewise.advice.choice._search import ClueSearchCV
from cluewise.advice.choice._suggest import suggest
from cluewise.advice.choice._suggestion import Suggestion
from cluewise.advice.choice._trials import Trial, Trials
from cluewise.advice.doctor._check import Diagnosis, check
from cluewise.advice.doctor._clashes import Clash
from cluewise.advice.doctor._tryout import Tryout
from cluewise.advice.propagation._propagate import propagate

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
    "propagate",
    "suggest",
    "suspects",
]
