"""The cheapest labels that keep every clue, given the cost of each cluster for each row: one assignment of PCCC."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.centroid._pccc.bonds import bonds_of
from cluewise.centroid._pccc.filling import fill, items_of, limits_of
from cluewise.centroid._pccc.mixed import settle
from cluewise.clues import Clues
from cluewise.core.rows import Rows
from cluewise.core.views import contract
from cluewise.exceptions import Infeasible
from cluewise.kernels import working_time

__all__ = ["cheapest_labels"]


def cheapest_labels(costs: Floats, clues: Clues, weight: Floats | None = None, seconds: float = 30.0) -> Ints:
    """Labels of the lowest total cost that keep links, groups and sizes; labels only say which rows are together.

    Clusters may stay empty. A search that takes more than ``seconds`` returns the best labels so far. ``weight`` of the
    rows matters for bounds in weight only.

    Raises
    ------
    Contradiction, Infeasible
        No labels keep the clues.
    Undecided
        The search ended without labels.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Clues
    >>> cheapest_labels(np.array([[0.0, 1.0], [0.0, 3.0], [0.0, 5.0]]), Clues(3, must=[(0, 1)], cannot=[(1, 2)]))
    array([1, 1, 0], dtype=int32)
    """
    n, k = costs.shape
    clues.require(k)
    deadline = working_time() + seconds
    rows = Rows(costs, weight)
    nodes, limits = contract(rows, clues), limits_of(clues, k, rows)
    every = np.arange(nodes.rows.n)
    of_node = np.zeros((len(every), k))
    np.add.at(of_node, nodes.of_tied, costs[nodes.tied])
    bonds = bonds_of(clues, Clues(n), nodes.component)
    free = np.flatnonzero(nodes.free)
    labels = costs.argmin(axis=1).astype(np.int32)
    if limits is None:
        found = settle(of_node, bonds, None, deadline, thorough=True).labels
    else:
        counted = np.ones(n) if limits.mass is None else limits.mass
        mass = np.bincount(nodes.of_tied, weights=counted[nodes.tied], minlength=len(every)).astype(np.float64)
        items = items_of(of_node, bonds, mass, costs[free], None if limits.mass is None else counted[free])
        try:
            filled = fill(items, limits, None, deadline, thorough=True)
        except Infeasible as error:
            raise Infeasible(str(error), clues) from None
        both = np.concatenate([filled.nodes, filled.free])
        found, labels[free] = both[: len(every)], both[len(every) :]
    labels[nodes.tied] = found[nodes.of_tied]
    return labels
