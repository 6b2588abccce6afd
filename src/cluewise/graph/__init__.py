"""Groups from scored pairs, without a table of rows."""

from cluewise.graph._correlation import CorrelationClusterer

__all__ = ["CorrelationClusterer"]
