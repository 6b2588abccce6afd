"""Which clues are certain, and which may be broken at a price."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Bools, Floats
from cluewise.clues._clues import Clues

__all__ = ["divide"]


def divide(clues: Clues, *, every: bool) -> tuple[Clues, Clues]:
    """Hard clues and soft ones: labels and sizes are hard, links and groups when ``every`` is set or their weight is ∞.

    Soft clues of weight 0 say nothing and are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Clues
    >>> from cluewise.clues.certainty import divide
    >>> clues = Clues(4, must=[(0, 1), (1, 2), (2, 3)], must_weight=[np.inf, 0.5, 0.0])
    >>> divide(clues, every=False)
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
