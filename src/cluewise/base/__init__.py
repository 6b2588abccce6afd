"""The gate between users and the core: cards, checked parameters, checked data, published results."""

from cluewise.base._card import Card
from cluewise.base._centroid import CentroidClusterer
from cluewise.base._clusterer import Clusterer, FitPredictMixin
from cluewise.base._given import as_clues, checked_data, checked_weight, class_clusters, generator
from cluewise.base._informed import Informed
from cluewise.base._metric import MetricLearner
from cluewise.base._mixture import MixtureClusterer
from cluewise.base._started import Problem, StartedClusterer
from cluewise.base._then import MetricThen

__all__ = [
    "Card",
    "CentroidClusterer",
    "Clusterer",
    "FitPredictMixin",
    "Informed",
    "MetricLearner",
    "MetricThen",
    "MixtureClusterer",
    "Problem",
    "StartedClusterer",
    "as_clues",
    "checked_data",
    "checked_weight",
    "class_clusters",
    "generator",
]
