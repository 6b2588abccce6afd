"""Sketches: a few thousand weighted points that stand for any number of rows."""

from cluewise.sketch._grains import Grains
from cluewise.sketch._then import GrainsThen

__all__ = ["Grains", "GrainsThen"]
