"""Many partitions of the same rows, and clusterers that combine them."""

from cluewise.ensemble._kcc import KCC
from cluewise.ensemble._kernel_kmeans import ApproxKernelKMeans
from cluewise.ensemble._partitions import partitions
from cluewise.ensemble._scsc import SCSC

__all__ = [
    "ApproxKernelKMeans",
    "KCC",
    "SCSC",
    "partitions",
]
