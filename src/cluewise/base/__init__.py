"""The gate between users and the core: cards, checked parameters, checked data, published results."""

from cluewise.base._card import Card
from cluewise.base._centroid import CentroidClusterer
from cluewise.base._clusterer import Clusterer
from cluewise.base._given import as_clues, checked_data, class_clusters, generator
from cluewise.base._mixture import MixtureClusterer
from cluewise.base._started import Problem, StartedClusterer

__all__ = [
    "Card",
    "CentroidClusterer",
    "Clusterer",
    "MixtureClusterer",
    "Problem",
    "StartedClusterer",
    "as_clues",
    "checked_data",
    "class_clusters",
    "generator",
]
