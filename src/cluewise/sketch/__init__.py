"""Sketches: a few thousand weighted points that stand for any number of rows."""

from cluewise.sketch._grains import Grains

__all__ = ["Grains"]
