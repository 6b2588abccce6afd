"""Trees of clusters."""

from cluewise.hierarchy._agglomerative import ConstrainedAgglomerative

__all__ = ["ConstrainedAgglomerative"]
