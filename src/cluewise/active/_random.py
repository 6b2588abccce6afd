"""Pairs drawn at random: what every other strategy has to beat."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cluewise.active._dialog import Question
from cluewise.active._known import open_pairs
from cluewise.active._strategy import Scene, Strategy, StrategyCard

__all__ = ["RandomPairs"]


class RandomPairs(Strategy):
    """Ask about pairs of rows drawn at random.

    Pairs whose answer is known or follows from others are left out. Most random pairs are of different classes and
    teach little: this is the baseline.

    See Also
    --------
    ExploreConsolidate : Finds one row of each class first.

    Examples
    --------
    >>> from cluewise.active import RandomPairs
    >>> strategy, X = RandomPairs(), [[0.0], [1.0], [8.0], [9.0]]
    >>> state = strategy.start(X, budget=3, random_state=0)
    >>> [question.rows for question in strategy.ask(state, X, size=2)]
    [(1, 3), (2, 3)]
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="",
        title="pairs drawn at random",
        asks=frozenset({"pair"}),
        sparse=True,
        cost="constant",
    )

    def _choose(self, scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
        return [Question("pair", pair, "drawn at random.") for pair in open_pairs(scene.known, scene.n, size, rng)]
