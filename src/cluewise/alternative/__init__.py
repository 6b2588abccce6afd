"""Clusterings that differ from what is known already."""

from cluewise.alternative._cond_ens import CondEns
from cluewise.alternative._ib.conditional import ConditionalIB
from cluewise.alternative._ib.coordinated import CoordinatedConditionalIB
from cluewise.alternative._ib.ib import InformationBottleneck

__all__ = ["CondEns", "ConditionalIB", "CoordinatedConditionalIB", "InformationBottleneck"]
