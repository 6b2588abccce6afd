"""What all clusterers have in common: clues are told to them, and rows are what they put into clusters."""

from __future__ import annotations

from sklearn.base import ClusterMixin

from cluewise.base._informed import Informed

__all__ = ["Clusterer"]


class Clusterer(ClusterMixin, Informed):
    """Base of all clusterers; a subclass has a ``card`` and a ``fit`` that calls the checks of `Informed` first."""
