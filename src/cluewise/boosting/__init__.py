"""Partitions in rounds: each looks where the ones before it got pairs of rows wrong."""

from cluewise.boosting._boost_cluster import BoostCluster
from cluewise.boosting._dist_boost import DistBoost

__all__ = ["BoostCluster", "DistBoost"]
