"""How good a clustering is: agreement with a truth, satisfaction of clues; and what clues are worth."""

from cluewise.metrics._agreement import accuracy, ari, nmi, pairwise_f, rand, variation_of_information
from cluewise.metrics._satisfaction import broken, satisfaction
from cluewise.metrics._scoring import clue_score
from cluewise.metrics._utility import (
    coherence,
    informativeness,
    metric_agreement,
    overlap,
    predictability,
    redundancy,
)

__all__ = [
    "accuracy",
    "ari",
    "broken",
    "clue_score",
    "coherence",
    "informativeness",
    "metric_agreement",
    "nmi",
    "overlap",
    "pairwise_f",
    "predictability",
    "rand",
    "redundancy",
    "satisfaction",
    "variation_of_information",
]
