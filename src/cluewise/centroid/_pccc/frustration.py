"""How much of the soft links no labels can satisfy: a lower bound from triangles that contradict themselves.

If i is attracted by j and j by l, but l repels i, one of the three links breaks whatever the labels; with two clusters
so does one of three nodes that all repel each other. Triangles that share no link (or share its weight) add up.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats
from cluewise.centroid._pccc.bonds import Bonds

__all__ = ["frustration"]

NODES = 1_000  # the table of links is square
LINKS = 30_000  # that repel; each takes some microseconds


def frustration(bonds: Bonds, k: int) -> float:
    """What labels cost at least in broken links; 0 is always right, and all that is said of many nodes.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.centroid._pccc.bonds import bonds_of
    >>> import numpy as np
    >>> soft = Clues(3, must=[(0, 1), (1, 2)], cannot=[(0, 2)], must_weight=[2.0, 0.7])
    >>> frustration(bonds_of(Clues(3), soft, np.arange(3)), 3)
    0.7
    """
    m = bonds.size
    if m > NODES or np.count_nonzero(bonds.pull > 0) > 2 * LINKS:
        return 0.0
    repels, attracts = np.zeros((m, m)), np.zeros((m, m))
    row = np.repeat(np.arange(m), np.diff(bonds.indptr))
    repels[row, bonds.indices] = np.maximum(bonds.pull, 0.0)
    attracts[row, bonds.indices] = np.maximum(-bonds.pull, 0.0)
    total = _packed(repels, attracts)
    return float(total + _packed(repels, repels) if k == 2 else total)


def _packed(repels: Floats, others: Floats) -> float:
    """Take triangles of one link of the first table and two of the second, the heaviest first, out of both."""
    total = 0.0
    for i, j in np.argwhere(np.triu(repels) > 0):
        weight = np.minimum(others[i], others[j])
        if repels is others:
            weight[[i, j]] = 0.0
        for third in np.argsort(-weight, kind="stable")[: np.count_nonzero(weight)]:
            share = min(repels[i, j], others[i, third], others[j, third])
            if share <= 0:
                break
            if np.isinf(share):  # hard links alone: nothing that can be paid for
                continue
            total += share
            for table, a, b in ((repels, i, j), (others, i, third), (others, j, third)):
                table[a, b] -= share
                table[b, a] = table[a, b]
    return total
