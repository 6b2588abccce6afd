"""Mixtures: clusters as distributions, with clues as evidence about who belongs together."""

from cluewise.mixture._feedback import FeedbackNaiveBayes

__all__ = [
    "FeedbackNaiveBayes",
]
