"""Labeled data sets by name, and generators: patterns to draw, two-sided data, records of people."""

from cluewise.datasets._dataset import Dataset, DatasetError, Listing
from cluewise.datasets._entities import Entities, make_entities
from cluewise.datasets._load import available, load
from cluewise.datasets._patterns import PATTERNS, make_pattern
from cluewise.datasets._two_sided import make_two_sided

__all__ = [
    "PATTERNS",
    "Dataset",
    "DatasetError",
    "Entities",
    "Listing",
    "available",
    "load",
    "make_entities",
    "make_pattern",
    "make_two_sided",
]
