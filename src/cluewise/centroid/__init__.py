"""Methods that describe each cluster by a center."""

from cluewise.centroid._closure import ClosurePCKMeans
from cluewise.centroid._constrained import ConstrainedKMeans
from cluewise.centroid._cvqe import CVQE
from cluewise.centroid._lcvqe import LCVQE
from cluewise.centroid._partition import PartitionKMeans
from cluewise.centroid._pck import PCKMeans
from cluewise.centroid._seeded import SeededKMeans
from cluewise.centroid.cop.cop import COPKMeans
from cluewise.centroid.dp.dp import DPMeans
from cluewise.centroid.dp.rdp import RDPMeans
from cluewise.centroid.hmrf.cases import MKMeans, PKMeans
from cluewise.centroid.hmrf.hmrf import HMRFKMeans
from cluewise.centroid.hmrf.mpck import MPCKMeans
from cluewise.centroid.pccc.pccc import PCCC
from cluewise.centroid.sized.balanced import BalancedKMeans
from cluewise.centroid.sized.sized import SizedKMeans

__all__ = [
    "BalancedKMeans",
    "COPKMeans",
    "CVQE",
    "ClosurePCKMeans",
    "ConstrainedKMeans",
    "DPMeans",
    "HMRFKMeans",
    "LCVQE",
    "MKMeans",
    "MPCKMeans",
    "PCCC",
    "PCKMeans",
    "PKMeans",
    "PartitionKMeans",
    "RDPMeans",
    "SeededKMeans",
    "SizedKMeans",
]
