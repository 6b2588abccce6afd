"""What a strategy is and asks; read by documentation and command line."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["StrategyCard"]


@dataclass(frozen=True, kw_only=True)
class StrategyCard:
    """What a strategy is, asks and costs.

    Parameters
    ----------
    paper : str
        Key in ``references.bib``; "" for one of our own.
    title : str
        The strategy in a few words.
    asks : frozenset of str
        Kinds of questions that it may ask.
    cost : str
        Cost of the next question, and of what is prepared once.
    sparse : bool
        Whether sparse X is taken.

    Examples
    --------
    >>> from cluewise.active import RandomPairs
    >>> RandomPairs.card.title
    'pairs drawn at random'
    """

    paper: str
    title: str
    asks: frozenset[str]
    cost: str
    sparse: bool = False
