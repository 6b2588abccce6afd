"""The nodes of PCCC: what hard clues join, and whatever a hard or soft link mentions."""

from __future__ import annotations

import numpy as np

from cluewise.clues import Clues
from cluewise.core import seeding
from cluewise.core.nodes import Nodes
from cluewise.core.rows import Rows

__all__ = ["bound_nodes"]


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
