"""Mixtures: clusters as distributions, with clues as evidence about who belongs together."""

from cluewise.mixture._equivalence import EquivalenceGMM
from cluewise.mixture._feedback import FeedbackNaiveBayes
from cluewise.mixture._penalized import PenalizedGMM

__all__ = [
    "EquivalenceGMM",
    "FeedbackNaiveBayes",
    "PenalizedGMM",
]
