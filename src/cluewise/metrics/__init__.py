"""How good a clustering is (agreement with true classes, satisfaction of clues), and how useful clues are."""

from cluewise.metrics._agreement import accuracy, ari, b_cubed, nmi, pairwise_f, rand, variation_of_information
from cluewise.metrics._redundancy import redundancy
from cluewise.metrics._satisfaction import broken, informativeness, satisfaction
from cluewise.metrics._scoring import clue_score
from cluewise.metrics.segments import coherence, metric_agreement, overlap, predictability

__all__ = [
    "accuracy",
    "ari",
    "b_cubed",
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
