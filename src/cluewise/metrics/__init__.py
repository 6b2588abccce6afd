"""How good a clustering is: agreement with a truth, and satisfaction of clues."""

from cluewise.metrics.agreement import accuracy, ari, nmi, pairwise_f, rand, variation_of_information
from cluewise.metrics.satisfaction import broken, satisfaction
from cluewise.metrics.scoring import clue_score

__all__ = [
    "accuracy",
    "ari",
    "broken",
    "clue_score",
    "nmi",
    "pairwise_f",
    "rand",
    "satisfaction",
    "variation_of_information",
]
