"""cluewise: clustering with what people already know about their data.

Public names are loaded when they are first used, so that ``import cluewise`` stays light.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cluewise._version import __version__

if TYPE_CHECKING:
    from cluewise import active, checks, datasets, exceptions, metrics, plots, store
    from cluewise.advice import ClueSearchCV, check, compare, propagate, suggest, suspects
    from cluewise.alternative import (
        CondEns,
        ConditionalIB,
        CoordinatedConditionalIB,
        InformationBottleneck,
    )
    from cluewise.base import Card
    from cluewise.boosting import (
        BoostCluster,
        DistBoost,
    )
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
    from cluewise.density import (
        ConstrainedDBSCAN,
        ConstrainedHDBSCAN,
    )
    from cluewise.ensemble import (
        KCC,
        SCSC,
        ApproxKernelKMeans,
    )
    from cluewise.exceptions import Contradiction, Infeasible, Undecided
    from cluewise.hierarchy import (
        ConstrainedAgglomerative,
    )
    from cluewise.margin import (
        MaxMarginClusterer,
    )
    from cluewise.metric_learning import (
        DCA,
        ITML,
        LMNN,
        RCA,
        PropagatedDistances,
        XingMetric,
    )
    from cluewise.mixture import (
        EquivalenceGMM,
        FeedbackNaiveBayes,
        PenalizedGMM,
        TVClust,
    )
    from cluewise.spectral import (
        E2CP,
        FlexibleSpectral,
        RelationalSpectral,
        SpectralKernelKMeans,
    )

_HOMES = {
    "ApproxKernelKMeans": "cluewise.ensemble",
    "BalancedKMeans": "cluewise.centroid",
    "BoostCluster": "cluewise.boosting",
    "COPKMeans": "cluewise.centroid",
    "CVQE": "cluewise.centroid",
    "Card": "cluewise.base",
    "ClosurePCKMeans": "cluewise.centroid",
    "ClueSearchCV": "cluewise.advice",
    "Clues": "cluewise.clues",
    "CondEns": "cluewise.alternative",
    "ConditionalIB": "cluewise.alternative",
    "ConstrainedAgglomerative": "cluewise.hierarchy",
    "ConstrainedDBSCAN": "cluewise.density",
    "ConstrainedHDBSCAN": "cluewise.density",
    "ConstrainedKMeans": "cluewise.centroid",
    "Contradiction": "cluewise.exceptions",
    "CoordinatedConditionalIB": "cluewise.alternative",
    "DCA": "cluewise.metric_learning",
    "DPMeans": "cluewise.centroid",
    "DistBoost": "cluewise.boosting",
    "E2CP": "cluewise.spectral",
    "EquivalenceGMM": "cluewise.mixture",
    "FeedbackNaiveBayes": "cluewise.mixture",
    "FlexibleSpectral": "cluewise.spectral",
    "HMRFKMeans": "cluewise.centroid",
    "ITML": "cluewise.metric_learning",
    "Infeasible": "cluewise.exceptions",
    "InformationBottleneck": "cluewise.alternative",
    "KCC": "cluewise.ensemble",
    "LCVQE": "cluewise.centroid",
    "LMNN": "cluewise.metric_learning",
    "MKMeans": "cluewise.centroid",
    "MPCKMeans": "cluewise.centroid",
    "MaxMarginClusterer": "cluewise.margin",
    "PCCC": "cluewise.centroid",
    "PCKMeans": "cluewise.centroid",
    "PKMeans": "cluewise.centroid",
    "PartitionKMeans": "cluewise.centroid",
    "PenalizedGMM": "cluewise.mixture",
    "PropagatedDistances": "cluewise.metric_learning",
    "RCA": "cluewise.metric_learning",
    "RDPMeans": "cluewise.centroid",
    "RelationalSpectral": "cluewise.spectral",
    "SCSC": "cluewise.ensemble",
    "SeededKMeans": "cluewise.centroid",
    "SizedKMeans": "cluewise.centroid",
    "SpectralKernelKMeans": "cluewise.spectral",
    "TVClust": "cluewise.mixture",
    "Undecided": "cluewise.exceptions",
    "XingMetric": "cluewise.metric_learning",
    "check": "cluewise.advice",
    "clusterers": "cluewise.catalogue",
    "compare": "cluewise.advice",
    "propagate": "cluewise.advice",
    "suggest": "cluewise.advice",
    "suspects": "cluewise.advice",
    "threads": "cluewise.core.threads",
}
_ROOMS = ("active", "checks", "datasets", "exceptions", "metrics", "plots", "store")

__all__ = [
    "ApproxKernelKMeans",
    "BalancedKMeans",
    "BoostCluster",
    "COPKMeans",
    "CVQE",
    "Card",
    "ClosurePCKMeans",
    "ClueSearchCV",
    "Clues",
    "CondEns",
    "ConditionalIB",
    "ConstrainedAgglomerative",
    "ConstrainedDBSCAN",
    "ConstrainedHDBSCAN",
    "ConstrainedKMeans",
    "Contradiction",
    "CoordinatedConditionalIB",
    "DCA",
    "DPMeans",
    "DistBoost",
    "E2CP",
    "EquivalenceGMM",
    "FeedbackNaiveBayes",
    "FlexibleSpectral",
    "HMRFKMeans",
    "ITML",
    "Infeasible",
    "InformationBottleneck",
    "KCC",
    "LCVQE",
    "LMNN",
    "MKMeans",
    "MPCKMeans",
    "MaxMarginClusterer",
    "PCCC",
    "PCKMeans",
    "PKMeans",
    "PartitionKMeans",
    "PenalizedGMM",
    "PropagatedDistances",
    "RCA",
    "RDPMeans",
    "RelationalSpectral",
    "SCSC",
    "SeededKMeans",
    "SizedKMeans",
    "SpectralKernelKMeans",
    "TVClust",
    "Undecided",
    "XingMetric",
    "__version__",
    "active",
    "check",
    "checks",
    "clusterers",
    "compare",
    "datasets",
    "exceptions",
    "metrics",
    "plots",
    "propagate",
    "store",
    "suggest",
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
