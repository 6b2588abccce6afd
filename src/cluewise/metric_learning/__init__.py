"""Distances that are learned from clues: transformers whose output any clusterer can take."""

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
