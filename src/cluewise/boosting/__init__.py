"""Boosting: each round concentrates on the pairs of rows that earlier rounds got wrong."""

from cluewise.boosting._boost_cluster import BoostCluster
from cluewise.boosting._dist_boost import DistBoost

__all__ = ["BoostCluster", "DistBoost"]
