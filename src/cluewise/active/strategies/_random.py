"""Pairs drawn at random: what every other strategy has to beat."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

import numpy as np

from cluewise.active._card import StrategyCard
from cluewise.active._dialog import Question
from cluewise.active._strategy import Scene, Strategy

__all__ = ["RandomPairs", "open_pairs"]

TRIES = 1000
"""Pairs drawn in vain, for each that is wanted, before all pairs that are open are listed."""

LISTED = 1500
"""Components up to which all pairs of them are listed."""


class RandomPairs(Strategy):
    """Ask about pairs of rows drawn at random.

    Pairs whose answer is known or follows from others are left out. Most pairs of a random draw are from different
    classes, so that such questions teach little: this is the baseline.

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
        return [Question("pair", pair, "drawn at random.") for pair in open_pairs(scene, size, rng)]


def open_pairs(scene: Scene, size: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Up to ``size`` pairs drawn at random from those whose answer is not known."""
    found: dict[tuple[str, tuple[int, ...]], tuple[int, int]] = {}
    for _ in range(TRIES * size if scene.n > 1 else 0):
        i, j = (int(row) for row in rng.choice(scene.n, 2, replace=False))
        question = Question("pair", (i, j))
        if scene.known.open(question):
            found[question.key] = (i, j)
            if len(found) == size:
                return list(found.values())
    return _listed(scene, size, rng)


def _listed(scene: Scene, size: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """The same when open pairs are rare: all of them are listed, one for each two components."""
    first: dict[int, int] = {}
    for row in range(scene.n):
        first.setdefault(scene.known.root(row), row)
    if len(first) > LISTED:
        return []  # nearly everything is known, or was asked in vain
    pairs = [pair for pair in combinations(first.values(), 2) if scene.known.open(Question("pair", pair))]
    return [pairs[i] for i in rng.permutation(len(pairs))[:size]]
