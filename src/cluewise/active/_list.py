"""All strategies, for the command line and for laws."""

from __future__ import annotations

from cluewise.active._boundary import BoundaryDBSCAN
from cluewise.active._committee import Committee
from cluewise.active._composite import CompositeQuestions
from cluewise.active._dense import DenseSeeds
from cluewise.active._explore import ExploreConsolidate
from cluewise.active._information_gain import InformationGain
from cluewise.active._minmax import ExploreMinMax
from cluewise.active._pairs_at_stake import PairsAtStake
from cluewise.active._random import RandomPairs
from cluewise.active._strategy import Strategy
from cluewise.active._super_instances import SuperInstances
from cluewise.active._uncertainty import NeighborhoodUncertainty

__all__ = ["strategies"]

_ALL: tuple[type[Strategy], ...] = (
    BoundaryDBSCAN,
    Committee,
    CompositeQuestions,
    DenseSeeds,
    ExploreConsolidate,
    ExploreMinMax,
    InformationGain,
    NeighborhoodUncertainty,
    PairsAtStake,
    RandomPairs,
    SuperInstances,
)


def strategies() -> tuple[type[Strategy], ...]:
    """The strategies of the library, by name.

    Returns
    -------
    tuple of type
        Classes; each has a ``card`` that says what it asks.

    Examples
    --------
    >>> from cluewise.active import strategies
    >>> [strategy.__name__ for strategy in strategies() if "label" not in strategy.card.asks]
    ['InformationGain', 'PairsAtStake', 'RandomPairs', 'SuperInstances']
    """
    return tuple(sorted(_ALL, key=lambda strategy: strategy.__name__))
