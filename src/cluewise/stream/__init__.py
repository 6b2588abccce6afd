"""Clues that arrive over time: written to a journal, applied in batches, each exactly once."""

from cluewise.stream._lines import Aside
from cluewise.stream._rescue import rescue
from cluewise.stream._stores import has_journal, has_model
from cluewise.stream._stream import Batch, StreamingClues

__all__ = ["Aside", "Batch", "StreamingClues", "has_journal", "has_model", "rescue"]
