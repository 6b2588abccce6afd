"""Which clues are certain, and which may be broken at a price; and the nodes that certain ones make of rows."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Bools, Floats
from cluewise.clues import Clues
from cluewise.core import seeding
from cluewise.core.nodes import Nodes
from cluewise.core.rows import Rows

__all__ = ["bound_nodes", "divided"]


def divided(clues: Clues, *, every: bool) -> tuple[Clues, Clues]:
    """Hard clues and soft ones. Labels and sizes are hard; links and groups where ``every`` one is or weights are ∞.

    Clues of weight 0 that are not hard say nothing and are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Clues
    >>> clues = Clues(4, must=[(0, 1), (1, 2), (2, 3)], must_weight=[np.inf, 0.5, 0.0])
    >>> divided(clues, every=False)
    (Clues(4 rows: 1 must-link), Clues(4 rows: 1 must-link))
    """

    def hard(weights: Floats) -> Bools:
        return np.isinf(weights) | every

    def soft(weights: Floats) -> Bools:
        return ~hard(weights) & (weights > 0)

    certain, doubtful = (
        clues.subset(
            must=among(clues.must_weight),
            cannot=among(clues.cannot_weight),
            together=[among(group.weights) for group in clues.together],
            apart=[among(group.weights) for group in clues.apart],
            labels=np.full(clues.n, among is hard),
            sizes=among is hard,
        )
        for among in (hard, soft)
    )
    return certain, doubtful


def bound_nodes(rows: Rows, hard: Clues, soft: Clues) -> Nodes:
    """Components of several rows, or with links to others; ``bound`` are those with links, hard or soft."""
    linked = hard.graph.indptr[1:] > hard.graph.indptr[:-1]
    linked[hard.cliques.members] = True
    linked[hard.components[soft.tied]] = True
    component = np.union1d(seeding.multiple(hard)[0], np.flatnonzero(linked))
    number = np.full(hard.n_components, -1, dtype=np.int32)
    number[component] = np.arange(len(component), dtype=np.int32)
    of_row = number[hard.components]
    means, mass = seeding.group_means(rows, of_row, len(component))
    tied = np.flatnonzero(of_row >= 0)
    return Nodes(
        Rows(means.astype(rows.dtype), mass.astype(rows.dtype), np.zeros(rows.d, dtype=rows.dtype)),
        rows.n,
        tied,
        of_row[tied],
        component,
        np.flatnonzero(linked[component]),
        np.flatnonzero(~linked[component]),
    )
