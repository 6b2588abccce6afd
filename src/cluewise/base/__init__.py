"""Base classes of the estimators: they check the input, run the starts and publish the results."""

from cluewise.base._card import Card
from cluewise.base._centroid import CentroidClusterer, new_rows
from cluewise.base._clusterer import Attributes, ClueEstimator, Clusterer, FitPredictMixin, Problem
from cluewise.base._input import (
    as_clues,
    checked_chunks,
    checked_data,
    checked_weight,
    class_clusters,
    count_rows,
    depth_of_user,
    generator,
    map_new_chunks,
    seed_steps,
    send_rows,
    warn_of_ignored,
)
from cluewise.base._metric import MetricLearner, from_components
from cluewise.base._then import MetricThen

__all__ = [
    "Attributes",
    "Card",
    "CentroidClusterer",
    "Clusterer",
    "ClueEstimator",
    "FitPredictMixin",
    "MetricLearner",
    "MetricThen",
    "Problem",
    "as_clues",
    "checked_chunks",
    "checked_data",
    "checked_weight",
    "class_clusters",
    "count_rows",
    "depth_of_user",
    "from_components",
    "generator",
    "map_new_chunks",
    "new_rows",
    "seed_steps",
    "send_rows",
    "warn_of_ignored",
]
