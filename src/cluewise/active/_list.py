"""All strategies, for the command line and for laws."""

from __future__ import annotations

from cluewise.active._random import RandomPairs
from cluewise.active._strategy import Strategy

__all__ = ["strategies"]

_ALL: tuple[type[Strategy], ...] = (RandomPairs,)


def strategies() -> tuple[type[Strategy], ...]:
    """The strategies of the library, by name.

    Returns
    -------
    tuple of type
        Classes; each has a ``card`` that says what it asks.

    Examples
    --------
    >>> from cluewise.active import strategies
    >>> [strategy.__name__ for strategy in strategies() if not strategy.card.paper]
    ['RandomPairs']
    """
    return tuple(sorted(_ALL, key=lambda strategy: strategy.__name__))
