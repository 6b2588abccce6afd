"""Frustration: a lower bound on the weight of soft links that any labels break, from contradictory triangles.

If i attracts j and j attracts l, but l repels i, then any labels break one of the three links. With two clusters, the
same holds for three nodes that all repel each other. Triangles without common links (or that share their weight) add
up.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats
from cluewise.centroid._pccc.bonds import Bonds

__all__ = ["bound_frustration"]

NODES = 1_000  # maximum number of nodes: the table of links is square
LINKS = 30_000  # maximum number of repelling links: each takes some microseconds


def bound_frustration(bonds: Bonds, k: int) -> float:
    """Lower bound on the cost of broken links; 0, which is always valid, for large problems.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.centroid._pccc.bonds import bonds_of
    >>> import numpy as np
    >>> soft = Clues(3, must=[(0, 1), (1, 2)], cannot=[(0, 2)], must_weight=[2.0, 0.7])
    >>> bound_frustration(bonds_of(Clues(3), soft, np.arange(3)), 3)
    0.7
    """
    m = bonds.size
    if m > NODES or np.count_nonzero(bonds.pull > 0) > 2 * LINKS:
        return 0.0
    repels, attracts = np.zeros((m, m)), np.zeros((m, m))
    row = np.repeat(np.arange(m), np.diff(bonds.indptr))
    repels[row, bonds.indices] = np.maximum(bonds.pull, 0.0)
    attracts[row, bonds.indices] = np.maximum(-bonds.pull, 0.0)
    total = _pack_triangles(repels, attracts)
    return float(total + _pack_triangles(repels, repels) if k == 2 else total)


def _pack_triangles(repels: Floats, others: Floats) -> float:
    """Remove triangles of one link of the first table and two of the second, heaviest first; return their weight."""
    total = 0.0
    for i, j in np.argwhere(np.triu(repels) > 0):
        weight = np.minimum(others[i], others[j])
        if repels is others:
            weight[[i, j]] = 0.0
        for third in np.argsort(-weight, kind="stable")[: np.count_nonzero(weight)]:
            share = min(repels[i, j], others[i, third], others[j, third])
            if share <= 0:
                break
            if np.isinf(share):  # only hard links, which have no price
                continue
            total += share
            for table, a, b in ((repels, i, j), (others, i, third), (others, j, third)):
                table[a, b] -= share
                table[b, a] = table[a, b]
    return total
