"""Saved models: a fitted clusterer in one file that predicts as before, without pickles."""

from __future__ import annotations

from cluewise.models._files import Saved, load, read, save, write

__all__ = ["Saved", "load", "read", "save", "write"]
