"""cluewise: clustering with what people already know about their data.

Public names are loaded when they are first used, so that ``import cluewise`` stays light.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cluewise._version import __version__

if TYPE_CHECKING:
    from cluewise import checks, datasets, exceptions, metrics, plots
    from cluewise.advice import compare, suspects
    from cluewise.base import Card
    from cluewise.catalogue import clusterers
    from cluewise.centroid import (
        CVQE,
        LCVQE,
        PCCC,
        BalancedKMeans,
        ClosurePCKMeans,
        ConstrainedKMeans,
        COPKMeans,
        DPMeans,
        HMRFKMeans,
        MKMeans,
        MPCKMeans,
        PartitionKMeans,
        PCKMeans,
        PKMeans,
        RDPMeans,
        SeededKMeans,
        SizedKMeans,
    )
    from cluewise.clues import Clues
    from cluewise.core.threads import threads
    from cluewise.ensemble import (
        KCC,
        SCSC,
        ApproxKernelKMeans,
    )
    from cluewise.exceptions import Contradiction, Infeasible, Undecided
    from cluewise.mixture import (
        EquivalenceGMM,
        FeedbackNaiveBayes,
        PenalizedGMM,
        TVClust,
    )

_HOMES = {
    "ApproxKernelKMeans": "cluewise.ensemble",
    "BalancedKMeans": "cluewise.centroid",
    "COPKMeans": "cluewise.centroid",
    "CVQE": "cluewise.centroid",
    "Card": "cluewise.base",
    "ClosurePCKMeans": "cluewise.centroid",
    "Clues": "cluewise.clues",
    "ConstrainedKMeans": "cluewise.centroid",
    "Contradiction": "cluewise.exceptions",
    "DPMeans": "cluewise.centroid",
    "EquivalenceGMM": "cluewise.mixture",
    "FeedbackNaiveBayes": "cluewise.mixture",
    "HMRFKMeans": "cluewise.centroid",
    "Infeasible": "cluewise.exceptions",
    "KCC": "cluewise.ensemble",
    "LCVQE": "cluewise.centroid",
    "MKMeans": "cluewise.centroid",
    "MPCKMeans": "cluewise.centroid",
    "PCCC": "cluewise.centroid",
    "PCKMeans": "cluewise.centroid",
    "PKMeans": "cluewise.centroid",
    "PartitionKMeans": "cluewise.centroid",
    "PenalizedGMM": "cluewise.mixture",
    "RDPMeans": "cluewise.centroid",
    "SCSC": "cluewise.ensemble",
    "SeededKMeans": "cluewise.centroid",
    "SizedKMeans": "cluewise.centroid",
    "TVClust": "cluewise.mixture",
    "Undecided": "cluewise.exceptions",
    "clusterers": "cluewise.catalogue",
    "compare": "cluewise.advice",
    "suspects": "cluewise.advice",
    "threads": "cluewise.core.threads",
}
_ROOMS = ("checks", "datasets", "exceptions", "metrics", "plots")

__all__ = [
    "ApproxKernelKMeans",
    "BalancedKMeans",
    "COPKMeans",
    "CVQE",
    "Card",
    "ClosurePCKMeans",
    "Clues",
    "ConstrainedKMeans",
    "Contradiction",
    "DPMeans",
    "EquivalenceGMM",
    "FeedbackNaiveBayes",
    "HMRFKMeans",
    "Infeasible",
    "KCC",
    "LCVQE",
    "MKMeans",
    "MPCKMeans",
    "PCCC",
    "PCKMeans",
    "PKMeans",
    "PartitionKMeans",
    "PenalizedGMM",
    "RDPMeans",
    "SCSC",
    "SeededKMeans",
    "SizedKMeans",
    "TVClust",
    "Undecided",
    "__version__",
    "checks",
    "clusterers",
    "compare",
    "datasets",
    "exceptions",
    "metrics",
    "plots",
    "suspects",
    "threads",
]

logging.getLogger("cluewise").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"cluewise.{name}")
    raise AttributeError(f"module 'cluewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
