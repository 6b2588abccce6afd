"""Density-based methods: clusters of any shape, as many as there are, and noise."""

from cluewise.density._dbscan import ConstrainedDBSCAN
from cluewise.density._hdbscan import ConstrainedHDBSCAN

__all__ = ["ConstrainedDBSCAN", "ConstrainedHDBSCAN"]
