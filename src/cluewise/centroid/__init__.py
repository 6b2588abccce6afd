"""Methods that describe each cluster by a center."""

from cluewise.centroid._closure import ClosurePCKMeans
from cluewise.centroid._constrained import ConstrainedKMeans
from cluewise.centroid._cop.cop import COPKMeans
from cluewise.centroid._cvqe import CVQE
from cluewise.centroid._dp.dp import DPMeans
from cluewise.centroid._dp.rdp import RDPMeans
from cluewise.centroid._hmrf.cases import MKMeans, PKMeans
from cluewise.centroid._hmrf.hmrf import HMRFKMeans
from cluewise.centroid._hmrf.mpck import MPCKMeans
from cluewise.centroid._lcvqe import LCVQE
from cluewise.centroid._partition import PartitionKMeans
from cluewise.centroid._pccc.pccc import PCCC
from cluewise.centroid._pck import PCKMeans
from cluewise.centroid._seeded import SeededKMeans
from cluewise.centroid._sized.balanced import BalancedKMeans
from cluewise.centroid._sized.sized import SizedKMeans

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
