"""Methods that describe each cluster by a center."""

from cluewise.centroid._constrained import ConstrainedKMeans
from cluewise.centroid._cop import COPKMeans
from cluewise.centroid._pck import PCKMeans
from cluewise.centroid._seeded import SeededKMeans

__all__ = ["COPKMeans", "ConstrainedKMeans", "PCKMeans", "SeededKMeans"]
