"""References: rows that carry features along the neighbor graph of rows, which is finer than that of the grains.

Grains are too coarse where clues are many. Features of the grains are given to all rows, or to a sample if there are
too many, and walk along the nearest rows: then they follow the shape of clusters within grains, too. A row that is no
reference has the mean of its nearest references.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cluewise._typing import Bools, Floats, Ints
from cluewise.core.chunks import Chunks
from cluewise.core.graphs.neighbors import nearest_rows
from cluewise.core.threads import map_blocks
from cluewise.kernels.neighbors import nearest_listed

__all__ = ["References", "average", "choose_references", "has_numbers", "search_graph"]

MOST = 60_000
"""References at most."""

NEIGHBORS = 8
"""Nearest references of a row; a reference is its own nearest."""

STEPS = 12
"""Steps that features walk."""

LISTED, VISITED = 96, 24
"""Grains around that of a row; those of them, nearest to the row, in which its references are looked for."""

BLOCK, MANY = 1024, 2**18
"""Rows whose references are found at once, and rows that are put in order for this."""

WIDE = 32
"""Features that walk at once."""


class References:
    """References among rows, and their features.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        All rows.
    grain : ndarray of shape (n,)
        The grain of each.
    centers : ndarray of shape (m, d)
        Centers of the grains.
    features : ndarray of shape (m, p)
        Features of the grains.
    chosen : ndarray of ints
        Numbers of the rows that are references; a grain without one adds its first row.
    chunks : Chunks, optional
        Where to look for the nearest references of each reference, if not in memory.
    """

    _is_short = False  # whether numbers and shares have two bytes each, which matters if most rows are no references

    def __init__(
        self,
        rows: Floats,
        grain: Ints,
        centers: Floats,
        features: Floats,
        chosen: Ints,
        chunks: Chunks | None = None,
    ) -> None:
        m = len(centers)
        self._is_short = len(rows) > 2 * len(chosen) and MOST + m <= np.iinfo(np.uint16).max
        # One row of each grain at least, so that no row is without references.
        missed = np.setdiff1d(grain, grain[chosen])
        first = np.unique(grain, return_index=True)
        chosen = np.union1d(chosen, first[1][np.isin(first[0], missed)])
        # Rows of a grain one after the other, as they look at the same references.
        self._chosen = chosen[np.argsort(grain[chosen], kind="stable")]
        self.grain = grain[self._chosen]
        self._centers = centers
        self._listed = np.column_stack([np.arange(m, dtype=np.int32), nearest_rows(centers, LISTED - 1).rows])
        self._first = np.searchsorted(self.grain, np.arange(m + 1))
        count = len(self._chosen)
        self._columns = np.empty((rows.shape[1], count), dtype=rows.dtype)
        for part in _cut(count):
            self._columns[:, part] = rows[self._chosen[part]].T
        near, squared = search_graph(rows, self) if chunks is None else chunks.call(search_graph, rows, self)
        far = np.sqrt(squared[:, -1])
        self._scale = np.maximum(far, far[far > 0].min()) if far.any() else np.ones(count)
        self._near, self._share = near, self._weigh(near, squared)
        self._walk(features)

    def _walk(self, features: Floats) -> None:
        """Features of the references, from those of the grains."""
        graph = _as_matrix(self._near, self._share, len(self._near))
        graph = graph + graph.T
        graph = csr_array(graph / graph.sum(axis=1)[:, None])
        self.features = np.empty((len(self._near), features.shape[1]), dtype=np.float32)
        for some in _cut(features.shape[1], WIDE):
            walking = features[:, some].astype(np.float32)[self.grain]
            for _ in range(STEPS):
                walking = graph @ walking
            self.features[:, some] = walking

    def _get_saved_state(self) -> dict[str, Any]:
        """What a saved model needs to find the references of new rows: the references themselves, which are rows."""
        return {name: value for name, value in vars(self).items() if name not in ("_near", "_share", "_chosen")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refuse what would lead compiled loops out of the arrays."""
        (m, d), count, first = state["_centers"].shape, len(state["grain"]), state["_first"]
        if not (
            len(state["_listed"]) == m
            and has_numbers(state["_listed"], m)
            and first.shape == (m + 1,)
            and has_numbers(first, count + 1)
            and (first[:-1] <= first[1:]).all()
            and state["_columns"].shape == (d, count)
            and len(state["_scale"]) == count
        ):
            raise ValueError("its references are not in its arrays")
        self.__dict__.update(state)

    def make_light(self) -> References:
        """A copy with what `find` needs."""
        light = References.__new__(References)
        light.__setstate__({name: value for name, value in self._get_saved_state().items() if name != "features"})
        return light

    @property
    def _width(self) -> int:
        """References of a row."""
        return min(NEIGHBORS, len(self.grain))

    def _make_room(self, n: int) -> tuple[Ints, Floats]:
        kinds = (np.uint16, np.float16) if self._is_short else (np.int32, np.float32)
        near, share = (np.empty((n, self._width), dtype=kind) for kind in kinds)
        return near, share

    def find_all(self, rows: Floats, grain: Ints) -> tuple[Ints, Floats]:
        """The nearest references of the rows from which references were taken, and their shares."""
        near, share = self._make_room(len(rows))
        near[self._chosen], share[self._chosen] = self._near, self._share
        is_open = np.ones(len(rows), dtype=bool)
        is_open[self._chosen] = False
        self._find(rows, grain, is_open, near, share)
        del self._near, self._share  # which the model now has with all others
        return near, share

    def find(self, rows: Floats, grain: Ints) -> tuple[Ints, Floats]:
        """The nearest references of other rows, and their shares."""
        near, share = self._make_room(len(rows))
        self._find(rows, grain, np.ones(len(rows), dtype=bool), near, share)
        return near, share

    def of_grains(self) -> Floats:
        """Mean features of the references of each grain."""
        count = np.maximum(np.diff(self._first), 1)
        member = csr_array((np.ones(len(self.grain)), np.arange(len(self.grain)), self._first))
        parts = [member @ self.features[:, some] for some in _cut(self.features.shape[1], WIDE)]
        return np.hstack(parts) / count[:, None]

    def _find(self, rows: Floats, grain: Ints, is_open: Bools, near: Ints, share: Floats) -> None:
        """Write the lines of some rows."""

        def work(here: Ints) -> None:
            near[here], squared = self._search(rows[here], grain[here])
            share[here] = self._weigh(near[here], squared)

        for part in _cut(len(rows), MANY):
            numbers = part.start + np.flatnonzero(is_open[part])
            # Rows of a grain one after the other, as they look at the same references.
            numbers = numbers[np.argsort(grain[numbers], kind="stable")]
            _do(work, [numbers[some] for some in _cut(len(numbers))])

    def _search(self, rows: Floats, grain: Ints) -> tuple[Ints, Floats]:
        near, squared = np.empty((len(rows), self._width), dtype=np.int32), np.empty((len(rows), self._width))
        nearest_listed(rows, grain, self._centers, self._listed, self._first, self._columns, VISITED, near, squared)
        return near, squared

    def _weigh(self, near: Ints, squared: Floats) -> Floats:
        """Shares by local scales, as in the graph of the grains."""
        gap, own = np.sqrt(squared), np.maximum(np.sqrt(squared[:, -1:]), self._scale.min())
        # One division after the other, as the product of two scales may be too small or too large for a number.
        far = (gap / own) * (gap / self._scale[near])
        share = np.exp(far.min(axis=1, keepdims=True) - far)  # of a row far from all, the nearest still counts
        return (share / share.sum(axis=1, keepdims=True)).astype(np.float32)


def search_graph(rows: Floats, references: References) -> tuple[Ints, Floats]:
    """The graph of the references, which are some of the rows: the nearest of each, and squared distances."""
    chosen, shape = references._chosen, (len(references.grain), references._width)
    near, squared = np.empty(shape, dtype=np.int32), np.empty(shape)

    def work(part: slice) -> None:
        near[part], squared[part] = references._search(rows[chosen[part]], references.grain[part])

    _do(work, _cut(len(chosen)))
    return near, squared


def choose_references(n: int, weight: Floats | None, rng: np.random.Generator) -> Ints:
    """Numbers of the rows that are references; none without weight."""
    if weight is None and n > MOST:  # without a list of all rows
        return np.sort(rng.choice(n, MOST, replace=False))
    chosen = np.arange(n) if weight is None else np.flatnonzero(weight)
    return chosen if len(chosen) <= MOST else np.sort(rng.choice(chosen, MOST, replace=False))


def has_numbers(array: Ints, count: int) -> bool:
    """Whether an array has no numbers but 0 to ``count`` − 1."""
    return not array.size or bool(array.min() >= 0 and array.max() < count)


def average(near: Ints, share: Floats, features: Floats) -> Floats:
    """Features of rows from those of their references."""
    return _as_matrix(near, share, len(features)) @ features


def _do(work: Callable[[Any], None], parts: Sequence[Any]) -> None:
    for _ in map_blocks(work, parts):
        pass


def _as_matrix(near: Ints, share: Floats, count: int) -> csr_array:
    n, width = near.shape
    share = share.astype(np.float32, copy=False)
    return csr_array((share.ravel(), near.ravel(), np.arange(0, n * width + 1, width)), shape=(n, count))


def _cut(n: int, size: int = BLOCK) -> list[slice]:
    return [slice(start, start + size) for start in range(0, n, size)]
