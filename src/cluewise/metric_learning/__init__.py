"""Distances learned from clues: transformers whose output works with any clusterer."""

from cluewise.metric_learning._dca import DCA
from cluewise.metric_learning._itml import ITML
from cluewise.metric_learning._lmnn import LMNN
from cluewise.metric_learning._propagated import PropagatedDistances
from cluewise.metric_learning._rca import RCA
from cluewise.metric_learning._xing import XingMetric

__all__ = [
    "DCA",
    "ITML",
    "LMNN",
    "PropagatedDistances",
    "RCA",
    "XingMetric",
]
