"""Mixtures: clusters are distributions, and clues are evidence about which rows belong together."""

from cluewise.mixture._equivalence import EquivalenceGMM
from cluewise.mixture._feedback import FeedbackNaiveBayes
from cluewise.mixture._penalized import PenalizedGMM
from cluewise.mixture._tvclust.priors import DirichletMultinomial, NormalInverseWishart
from cluewise.mixture._tvclust.tvclust import TVClust

__all__ = [
    "DirichletMultinomial",
    "EquivalenceGMM",
    "FeedbackNaiveBayes",
    "NormalInverseWishart",
    "PenalizedGMM",
    "TVClust",
]
