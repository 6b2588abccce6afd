"""Labelled data sets by name, and two-dimensional patterns to draw."""

from cluewise.datasets._dataset import Dataset, DatasetError, Listing
from cluewise.datasets._load import available, load
from cluewise.datasets._patterns import PATTERNS, make_pattern
from cluewise.datasets._two_sided import make_two_sided

__all__ = ["PATTERNS", "Dataset", "DatasetError", "Listing", "available", "load", "make_pattern", "make_two_sided"]
