"""Clusters of one labeling matched with those of another."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Ints

__all__ = ["match_labels"]


def match_labels(labels: Ints, reference: Ints) -> Ints:
    """Renumber clusters to match those of the reference, one to one and with the largest overlap in all.

    Unmatched clusters get the remaining numbers; noise stays noise.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise.metrics.matching import match_labels
    >>> match_labels(np.array([1, 1, 0, 2]), np.array([0, 0, 1, 1])).tolist()
    [0, 0, 1, 2]
    """
    from scipy.optimize import linear_sum_assignment

    inside = (labels >= 0) & (reference >= 0)
    size = int(max(labels.max(initial=-1), reference.max(initial=-1))) + 1
    table = np.zeros((size, size))
    np.add.at(table, (labels[inside], reference[inside]), 1)
    partner = linear_sum_assignment(table, maximize=True)[1]
    return np.where(labels >= 0, np.append(partner, -1)[labels], labels)
