"""Clusters that wide margins separate."""

from cluewise.margin._max_margin import MaxMarginClusterer

__all__ = ["MaxMarginClusterer"]
