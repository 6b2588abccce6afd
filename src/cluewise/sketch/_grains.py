"""`Grains`: any number of rows as a few thousand weighted points."""

from __future__ import annotations

from math import sqrt
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from cluewise._docs import documented
from cluewise._elsewhere import is_elsewhere
from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Array, Floats, Ints
from cluewise.base import (
    checked_chunks,
    checked_data,
    checked_weight,
    generator,
    map_new_chunks,
    send_rows,
)
from cluewise.core import centers
from cluewise.core.chunks import Chunks
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import map_blocks, one_blas_thread
from cluewise.sketch._cells import Cells, divide, find_grains
from cluewise.sketch._chunks import (
    Places,
    Summary,
    count_distinct,
    find_distinct_in_chunks,
    find_places,
    learn_codebook,
    place_points,
    summarize_chunks,
)
from cluewise.sketch._codebook import draw_sample, find_distinct, learn, take_rows
from cluewise.sketch._then import GrainsThen

__all__ = ["Grains"]

DISTINCT = 1500
"""Up to this many distinct rows, each is a grain of its own."""

FEW, MANY = 1000, 3000
"""Grains for up to `CROWD` rows, and at most."""

CROWD = 100_000
"""Rows beyond which the number of grains grows."""

PER_GRAIN = (32, 64)
"""Rows of the sample for each grain, at least and at most; half as many leave 1 or 2 % more scatter."""

SAMPLE = 2**16
"""Rows of the sample, as far as these bounds allow."""


@documented
class Grains(TransformerMixin, BaseEstimator):
    r"""A sketch of the rows: many small groups of similar rows, each with its mean and its size.

    Any method can cluster the centers of a few thousand grains instead of millions of rows, and every row gets the
    cluster of its grain; `then` makes a clusterer that does this. Sketches can be merged, so data can come in chunks
    and from several machines.

    Parameters
    ----------
    n_grains : int or "auto", default="auto"
        Maximum number of grains. "auto": every distinct row up to 1,500 of them, else 1,000 for up to 100,000 rows,
        growing with the square root of the number of rows to 3,000.
    {device}
    {random_state}

    Attributes
    ----------
    centers_ : ndarray of shape (m, d)
        Mean of each grain.
    sizes_ : ndarray of shape (m,)
        Number of rows of each grain, or their summed weight.
    scatter_ : ndarray of shape (m,)
        Sum of squared distances of the rows of each grain to its center.
    codebook_ : ndarray of shape (m, d)
        The points that define the grains: a row belongs to the grain of its nearest one.
    labels_ : ndarray of shape (n,)
        Grain of each row; only after `fit`.
    n_samples_seen_ : int
        Number of rows in the sketch.
    {columns_}

    Notes
    -----
    If there are no more distinct rows than grains, each distinct row is a grain. Otherwise the codebook is learned on
    a sample of 65,536 rows (but at least 32 and at most 64 per grain): random distinct rows, improved by four steps of
    k-means. Then every row goes to the nearest point of the codebook. This takes two levels if the rows cluster: first
    the nearest of some :math:`\sqrt{m}` coarse cells, then the nearest of the points that sampled rows of this cell
    belong to. Two levels are used only if at most 1.5 % of the rows are expected to miss their nearest point; they get
    another one close by.

    The number of grains trades resolution for robustness: with more grains, many correct clues help more; with fewer,
    wrong clues do less harm, because each grain averages over more of them. 3,000 grains also keep methods whose time
    grows with the square of the rows at about a second.

    Rows with weight 0 do not influence the grains. Centers are dense, even if X is sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Grains
    >>> X = np.random.default_rng(0).normal(size=(10_000, 2))
    >>> grains = Grains(100, random_state=0).fit(X)
    >>> grains.centers_.shape, int(grains.sizes_.sum())
    ((100, 2), 10000)
    >>> grains.transform(X[:3]).tolist() == grains.labels_[:3].tolist()
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_grains": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "device": [str, None],
        "random_state": ["random_state", np.random.Generator],
    }

    centers_: Floats
    sizes_: Floats
    scatter_: Floats
    codebook_: Floats
    labels_: Ints
    n_samples_seen_: int
    n_features_in_: int
    feature_names_in_: Array

    def __init__(self, n_grains: int | str = "auto", *, device: str | None = None, random_state: Any = None) -> None:
        self.n_grains = n_grains
        self.device = device
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Divide the rows of X into grains.

        Parameters
        ----------
        {X}
        {y}
        {sample_weight}

        Returns
        -------
        {self}
        """
        X = send_rows(self, X, reset=True, sample_weight=sample_weight)
        if is_elsewhere(X):
            self._fit_chunks(checked_chunks(self, X, sample_weight=sample_weight))
            return self
        rows = self._check(X, sample_weight, reset=True)
        with one_blas_thread():
            self._set(*self._sketch(rows))
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a chunk of rows to the sketch: the rows become grains of their own, which are then merged.

        Parameters
        ----------
        {X}
        {y}
        {sample_weight}

        Returns
        -------
        {self}
        """
        if is_elsewhere(X):
            raise TypeError("partial_fit takes one chunk after the other; fit takes dask arrays and tensors.")
        first = not hasattr(self, "centers_")
        rows = self._check(X, sample_weight, reset=first)
        with one_blas_thread():
            sketch = self._sketch(rows)[0]
            self._set(sketch if first else self._merge(self._get(), sketch))
        return self

    def merge(self, other: Grains) -> Grains:
        """Combine two sketches of different rows with the same columns.

        The sum of the sizes, the mean of all rows and their total scatter are exact, in whatever order sketches are
        merged. The grains themselves depend on the order: where there are more than ``n_grains``, k-means joins them,
        weighted by their sizes. To merge many sketches, merge those of similar size first.

        Parameters
        ----------
        other : Grains
            Another fitted sketch.

        Returns
        -------
        Grains
            A new sketch with the parameters of this one; both others stay as they are.

        Examples
        --------
        >>> import numpy as np
        >>> from cluewise import Grains
        >>> X = np.random.default_rng(0).normal(size=(10_000, 2))
        >>> halves = [Grains(100, random_state=0).fit(half) for half in (X[:5000], X[5000:])]
        >>> both = halves[0].merge(halves[1])
        >>> both.n_samples_seen_, len(both.centers_) <= 100
        (10000, True)
        """
        for one in (self, other):
            check_is_fitted(one)
        if other.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"sketches of {self.n_features_in_} and of {other.n_features_in_} columns cannot be merged."
            )
        merged = type(self)(**self.get_params())
        with one_blas_thread():
            merged._set(self._merge(self._get(), other._get()))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(merged, name, getattr(self, name))
        return merged

    def transform(self, X: Any) -> Ints:
        """Find the grain of each row.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m,)
            Number of the grain, int32; after ``set_output``, a data frame with the column ``grain``.
        """
        check_is_fitted(self)
        X = send_rows(self, X, reset=False)
        if is_elsewhere(X):
            return map_new_chunks(self, X, _find_in_chunk, self.codebook_, self._cells, dtype=np.int32)
        rows = rows_of(checked_data(self, X, reset=False))
        with one_blas_thread():
            return find_grains(rows, self.codebook_, self._cells)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Ints:
        """Divide the rows of X into grains and return the grain of each.

        Parameters
        ----------
        {X}
        {y}
        {sample_weight}

        Returns
        -------
        ndarray of shape (n,)
            ``labels_``.
        """
        return self.fit(X, y, sample_weight).labels_

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Name the column that `transform` returns after ``set_output``.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns of X; they have no influence.

        Returns
        -------
        ndarray of shape (1,)
            ``["grain"]``.
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.array(["grain"], dtype=object)

    def then(self, clusterer: Any, random_state: Any = None) -> GrainsThen:
        """Chain this sketch and a clusterer of the grains into one estimator.

        Parameters
        ----------
        clusterer : estimator
            Any clusterer; if its ``fit`` accepts clues, it gets them, lifted from rows to grains.
        random_state : int, numpy Generator or RandomState, default=None
            Seed from which those of both steps are drawn. None: each step uses its own ``random_state``.

        Returns
        -------
        GrainsThen
            A clusterer with the parameters ``grains``, ``clusterer`` and ``random_state``; ``fit(X, clues=...)`` fits
            copies of both.
        """
        return GrainsThen(self, clusterer, random_state)

    def _check(self, X: Any, sample_weight: Any, reset: bool) -> Rows:
        X = checked_data(self, X, reset=reset)
        weight = None if sample_weight is None else checked_weight(sample_weight, X).astype(X.dtype, copy=False)
        return rows_of(X, weight)

    def _limits(self, n: int) -> tuple[int, int]:
        """Up to how many distinct rows each is a grain, and the number of grains otherwise."""
        if isinstance(self.n_grains, str):
            count = round(min(max(FEW * sqrt(n / CROWD), FEW), MANY))
            return max(DISTINCT, count), count
        return self.n_grains, self.n_grains

    def _sketch(self, rows: Rows) -> tuple[Summary, Ints, Cells | None]:
        """Summary of the grains, the grain of each row, and cells for a fast search."""
        most, count = self._limits(rows.n)
        rng = generator(self.random_state)
        size = int(np.clip(SAMPLE, PER_GRAIN[0] * count, PER_GRAIN[1] * count))
        drawn = draw_sample(rows.n, rows.weight, size, rng) if rows.n > size else None
        first, code = find_distinct(rows.X, drawn)
        if len(first) <= most:  # perhaps all rows have no more than the sample
            found = _keep_distinct(rows, most)
            if found is not None:
                return *found, None
        mass = np.bincount(code, weights=rows.weight if drawn is None else None).astype(np.float64)
        used = np.flatnonzero(mass)
        sample = take_rows(rows, (first if drawn is None else drawn[first])[used], mass[used])
        points, known = learn(sample, count, rng)
        cells = None if drawn is None else divide(sample, points, known, rng)
        codebook, cells = place_points(sample, points, cells)
        labels = find_grains(rows, codebook, cells)
        return _summarize(rows, codebook, labels), labels, cells

    def _fit_chunks(self, chunks: Chunks) -> Places:
        """The same for rows in chunks; returns where to find the grain of a row, and the rows that were drawn."""
        n, shift, weight = chunks.n, chunks.shift, chunks.load_weight()
        most, count = self._limits(n)
        rng = generator(self.random_state)
        size = int(np.clip(SAMPLE, PER_GRAIN[0] * count, PER_GRAIN[1] * count))
        drawn = draw_sample(n, weight, size, rng) if n > size else np.arange(n)
        with one_blas_thread():
            sample = chunks.gather(drawn)
            first, mass = chunks.call(count_distinct, sample, None if n > size else weight)
            codebook = find_distinct_in_chunks(chunks, most) if len(first) <= most else None
            cells, distinct = None, codebook is not None
            if codebook is None:
                whole = n <= size or not chunks.two_levels
                codebook, cells = chunks.call(learn_codebook, sample, first, mass, shift, count, rng, whole)
        table = codebook, cells, shift, distinct
        places = Places(*table, drawn, sample, chunks.keep(find_places, *table))
        found, self._first_rows = summarize_chunks(chunks, places)
        each = [(known,) for known in places.grains]
        self._set(found, chunks.map(find_places, *table, each=each, dtype=np.int32), cells)
        return places

    def _merge(self, one: Summary, two: Summary) -> Summary:
        """Put the grains of two sketches together; join them if there are too many."""
        n = one.n + two.n
        most, count = self._limits(n)
        means = np.concatenate([one.centers, two.centers])
        sizes, scatter = np.concatenate([one.sizes, two.sizes]), np.concatenate([one.scatter, two.scatter])
        rows = Rows(means, sizes)
        first, labels = find_distinct(means)
        if len(first) > most:
            _, labels = learn(rows, count, generator(self.random_state))
        found = centers.tally(rows, labels, int(labels.max()) + 1)
        moved = centers.means(found, found.sums)
        spread: Floats = scatter + sizes * rows.to_own(rows.take(slice(0, rows.n)), moved, labels)
        within = np.bincount(labels, weights=spread).astype(np.float64)
        pooled = (moved + rows.shift).astype(means.dtype)
        return Summary(n, pooled, found.mass, within, pooled)

    def _get(self) -> Summary:
        return Summary(self.n_samples_seen_, self.centers_, self.sizes_, self.scatter_, self.codebook_)

    def _set(self, found: Summary, labels: Ints | None = None, cells: Cells | None = None) -> None:
        self.n_samples_seen_, self.centers_, self.sizes_, self.scatter_, self.codebook_ = found
        self._cells = cells
        if labels is not None:
            self.labels_ = labels
        elif hasattr(self, "labels_"):
            del self.labels_  # of an earlier fit

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []  # grains are whole numbers
        return tags


def _find_in_chunk(chunk: Floats, codebook: Floats, cells: Cells | None) -> Ints:
    return find_grains(rows_of(chunk), codebook, cells)


def _keep_distinct(rows: Rows, most: int) -> tuple[Summary, Ints] | None:
    """Every distinct row as a grain; None if there are more than ``most``."""
    first, labels = find_distinct(rows.X)
    sizes = np.bincount(labels, weights=rows.weight).astype(np.float64)
    if np.count_nonzero(sizes) > most:
        return None
    used = np.flatnonzero(sizes)
    codebook = rows.X[first[used]]
    codebook = codebook if isinstance(codebook, np.ndarray) else codebook.toarray()
    if len(used) < len(first):  # rows without weight go to the grain nearest to them
        labels = find_grains(rows, codebook, None)
    return Summary(rows.n, codebook, sizes[used], np.zeros(len(used)), codebook), labels


def _summarize(rows: Rows, codebook: Floats, labels: Ints) -> Summary:
    """Means, sizes and scatter of the grains."""
    points = codebook.astype(np.float64) - rows.shift
    found = centers.tally(rows, labels, len(codebook))
    means = centers.means(found, points)

    def work(block: slice) -> Floats:
        squared = rows.to_own(rows.take(block), means, labels[block])
        squared = squared if rows.weight is None else squared * rows.weights(block)
        return np.bincount(labels[block], weights=squared, minlength=len(means)).astype(np.float64)

    scatter = np.zeros(len(means))
    for part in map_blocks(work, rows.blocks(1)):
        scatter += part
    return Summary(rows.n, (means + rows.shift).astype(rows.dtype), found.mass, scatter, codebook)
