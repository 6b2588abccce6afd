"""All strategies, for the command line and for laws."""

from __future__ import annotations

from cluewise.active._strategy import Strategy
from cluewise.active.strategies._boundary import BoundaryDBSCAN
from cluewise.active.strategies._committee import Committee
from cluewise.active.strategies._composite import CompositeQuestions
from cluewise.active.strategies._dense import DenseSeeds
from cluewise.active.strategies._explore import ExploreConsolidate
from cluewise.active.strategies._information_gain import InformationGain
from cluewise.active.strategies._minmax import ExploreMinMax
from cluewise.active.strategies._pairs_at_stake import PairsAtStake
from cluewise.active.strategies._random import RandomPairs
from cluewise.active.strategies._super_instances import SuperInstances
from cluewise.active.strategies._uncertainty import NeighborhoodUncertainty

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
