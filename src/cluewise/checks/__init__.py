"""Laws that every clusterer obeys, to test the clusterers of this library and your own.

A law is a function ``law(estimator, X, clues, rng)`` that raises ``AssertionError`` with a sentence that says what went
wrong. The `Card` of a clusterer says which laws it promises to obey.
"""

from cluewise.checks._examples import sample_clues
from cluewise.checks._table import check_clusterer, laws_for

__all__ = ["check_clusterer", "laws_for", "sample_clues"]
