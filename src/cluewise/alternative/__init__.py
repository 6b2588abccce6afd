"""Clusterings that differ from what is known already."""

from cluewise.alternative._cond_ens import CondEns
from cluewise.alternative._conditional_ib import ConditionalIB
from cluewise.alternative._coordinated_ib import CoordinatedConditionalIB
from cluewise.alternative._ib import InformationBottleneck

__all__ = ["CondEns", "ConditionalIB", "CoordinatedConditionalIB", "InformationBottleneck"]
