"""cluewise: clustering with what people already know about their data.

Public names are loaded when they are first used, so that ``import cluewise`` stays light.
"""

from __future__ import annotations

from importlib import import_module

from cluewise._homes import HOMES
from cluewise._version import __version__

TYPE_CHECKING = False  # nor is typing imported: the command line wants to answer Ctrl-C from its first moment
if TYPE_CHECKING:
    from typing import Any

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


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"cluewise.{name}")
    raise AttributeError(f"module 'cluewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
