"""Laws that every clusterer obeys, for testing the clusterers of this library and your own.

A law is a function ``law(estimator, X, clues, rng)`` that raises ``AssertionError`` with a sentence saying what went
wrong. Which laws a clusterer promises to obey is written on its `Card`.
"""

from cluewise.checks._examples import sample_clues
from cluewise.checks._table import check_clusterer, laws_for

__all__ = ["check_clusterer", "laws_for", "sample_clues"]
