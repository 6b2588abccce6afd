"""K-means on memberships: the other way to a hard partition."""

from __future__ import annotations

from functools import partial

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core import centers, lloyd, loop
from cluewise.core.rows import rows_of
from cluewise.core.threads import one_blas_thread

__all__ = ["kmeans"]

MAX_ITER = 300


def kmeans(memberships: Floats) -> Ints:
    """Clusters of the rows of F by k-means, begun at the means of the rounded ones (at a corner where one is empty)."""
    rounded = memberships.argmax(axis=1).astype(np.int32)
    k = memberships.shape[1]
    rows = rows_of(memberships)
    sizes = np.bincount(rounded, minlength=k)
    sums = np.stack([np.bincount(rounded, weights=column, minlength=k) for column in memberships.T], axis=1)
    means = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], np.eye(k))
    start = lloyd.State(rounded, means - rows.shift)
    with one_blas_thread():
        move = partial(lloyd.step, rows=rows, total=centers.scatter(rows))
        result = loop.run(move, start, loop.Limits(MAX_ITER, 0.0))
    return result.state.labels
