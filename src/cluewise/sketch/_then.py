"""A sketch followed by a clusterer of its grains, made by `Grains.then`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from cluewise._docs import documented
from cluewise._elsewhere import is_elsewhere
from cluewise._typing import Floats, Ints
from cluewise.base import (
    ClueEstimator,
    FitPredictMixin,
    as_clues,
    checked_chunks,
    checked_data,
    checked_weight,
    class_clusters,
    map_new_chunks,
    seed_steps,
    warn_of_ignored,
)
from cluewise.clues import Clues
from cluewise.core.chunks import Chunks
from cluewise.core.rows import rows_of
from cluewise.core.threads import one_blas_thread
from cluewise.exceptions import ClueError, UnusedClueWarning
from cluewise.metrics import broken
from cluewise.sketch._cells import Cells, find_grains
from cluewise.sketch._chunks import Places, divide_in_chunks
from cluewise.sketch._lift import lift
from cluewise.sketch._parts import Parts, divide_grains

__all__ = ["GrainsThen"]

OTHER_KIND = "refit needs the X of the last fit: an array in memory, a dask array or a tensor, as it was then."


@documented
class GrainsThen(MetaEstimatorMixin, FitPredictMixin, BaseEstimator):
    """Cluster the grains of a sketch instead of the rows, with clues about rows.

    Made by ``grains.then(clusterer)``. The clusterer gets the centers of the grains, their sizes as ``sample_weight``
    if it accepts that, and the clues, lifted from rows to grains. Every row gets the cluster of its grain. So any
    method can cluster any number of rows, and clues reach the rows around those that they mention.

    Parameters
    ----------
    grains : Grains
        The sketch.
    clusterer : estimator
        Any clusterer with ``fit_predict``.
    random_state : int, numpy Generator or RandomState, default=None
        Seed from which those of both steps are drawn. None: each step uses its own ``random_state``.

    Attributes
    ----------
    {labels_}
    grains_ : Grains
        The fitted sketch.
    clusterer_ : estimator
        The fitted clusterer; its rows are parts.
    parts_ : ndarray of shape (n,)
        Part of each row: its grain, or a piece of it where clues divide the grain.
    part_centers_, part_sizes_ : ndarrays of shape (m, d) and (m,)
        What the clusterer gets: the mean of each part, and its number of rows or their summed weight.
    part_clues_ : Clues
        The clues that the clusterer gets.
    margin_ : ndarray of shape (n,)
        Margin of the part of each row, if the clusterer has this attribute.
    n_clusters_ : int
        Number of clusters, if the clusterer has this attribute.
    {broken_}
    {columns_}

    Notes
    -----
    How clues are lifted:

    ================== ===========================================================================================
    must, cannot       the weights of all must-links between two grains minus those of all cannot-links; the sign
                       decides which link there is
    labels, partitions the class that most labeled rows of a grain have; none on ties
    together, apart    up to 16 grains: as the links between their rows; more: as a group of grains, with the mean
                       weight of its links between two grains
    avoid              as labels
    sizes              as bounds on summed weight; refused if the clusterer requires rows of equal weight
    ================== ===========================================================================================

    A must-link inside a grain always holds. A cannot-link inside a grain divides it, by 2-means that starts from its
    two rows; soft cannot-links divide at most as many grains as there are.

    Hard clues are those that the card of the clusterer promises to keep: all clues, those of infinite weight, or
    must-links. They never cancel. The rows that they mention leave their grains and become parts of their own, one
    for each component in each grain. So hard clues hold on rows, and can hold on parts if they can hold on rows; many
    of them make many parts.

    A clusterer that uses ``sample_weight`` gives a grain the weight of all its rows, which a clue has to outweigh.
    Clusterers without weights, such as `E2CP`, follow clues more closely.

    ``predict`` returns the cluster of the grain of each row; for a divided grain, that of its largest part.

    If X is a dask array or a tensor, the estimator keeps the sample of its rows that grains were learned from, and for
    a tensor the grain of each row, for `refit`. Files that `cluewise.save` writes have neither.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Clues, Grains, PCKMeans
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=5000)
    >>> X = rng.normal(size=(5000, 2)) + 6 * y[:, None]
    >>> clues = Clues.sample(y, pairs=50, random_state=0)
    >>> model = Grains(100, random_state=0).then(PCKMeans(2, random_state=0)).fit(X, clues=clues)
    >>> model.part_centers_.shape, model.labels_.shape
    ((100, 2), (5000,))
    >>> sorted(model.broken_.kinds)
    []
    """

    __metadata_request__fit = {"clues": True}

    labels_: Ints
    parts_: Ints
    _places: Places | None = None  # of rows in chunks

    def __init__(self, grains: Any, clusterer: Any, random_state: Any = None) -> None:
        self.grains = grains
        self.clusterer = clusterer
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> Self:
        """Fit the sketch, then the clusterer on its grains.

        Parameters
        ----------
        {X}
        {y}
        {clues}
        {sample_weight}

        Returns
        -------
        {self}
        """
        if clues is None:
            warn_of_ignored(y, type(self).__name__)
        grains, clusterer = self._new_steps()
        if is_elsewhere(X):
            return self._fit_chunks(checked_chunks(self, X, sample_weight=sample_weight), grains, clusterer, clues)
        X = checked_data(self, X, reset=True)
        known = self._check_clues(clusterer, clues, X.shape[0])
        self._places = None
        self.grains_ = grains.fit(X, sample_weight=sample_weight)
        return self._cluster(X, clusterer, known, sample_weight)

    def refit(self, X: Any, *, clues: Any = None, sample_weight: Any = None) -> Self:
        """Fit the clusterer to other clues, with the grains of the last fit.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array, tensor} of shape (n, d)
            The data of the last fit.
        {clues}
            All of them, not only the new ones.
        sample_weight : array-like of shape (n,), optional
            The weights of the last fit.

        Returns
        -------
        {self}
        """
        check_is_fitted(self)
        if not hasattr(self, "parts_"):
            raise ValueError("a model that was loaded has no rows to refit; fit it first.")
        _, clusterer = self._new_steps()
        if is_elsewhere(X) != (self._places is not None):
            raise TypeError(OTHER_KIND)
        if self._places is not None:
            chunks = checked_chunks(self, X, reset=False, sample_weight=sample_weight)
            self._check_rows(chunks.n)
            if self._places.is_kept != chunks.keeps:
                raise TypeError(OTHER_KIND)
            if not chunks.keeps:  # so that chunks may differ
                self._places = self._places._replace(grains=[None] * len(chunks.sizes))
            return self._cluster_chunks(chunks, clusterer, self._check_for_chunks(clusterer, clues, chunks.n))
        X = checked_data(self, X, reset=False)
        self._check_rows(X.shape[0])
        return self._cluster(X, clusterer, self._check_clues(clusterer, clues, X.shape[0]), sample_weight)

    def _check_rows(self, n: int) -> None:
        if n != len(self.parts_):
            raise ValueError(f"refit needs the {len(self.parts_)} rows of the last fit; X has {n}.")

    def _new_steps(self) -> tuple[Any, Any]:
        if not hasattr(self.clusterer, "fit_predict"):
            raise TypeError(f"clusterer={self.clusterer!r} has no fit_predict.")
        grains, clusterer = clone(self.grains), clone(self.clusterer)
        seed_steps(self.random_state, grains, clusterer)
        return grains, clusterer

    def _check_clues(self, clusterer: Any, clues: Any, n: int) -> Clues:
        """The clues of the kinds that the clusterer uses; all of them if it has no card."""
        if hasattr(clusterer, "card"):
            return ClueEstimator._check_clues(clusterer, clues, n)  # some methods check more, about rows or parameters
        known = as_clues(clues, n)
        if known.kinds and not has_fit_parameter(clusterer, "clues"):
            message = f"{type(clusterer).__name__} does not use clues; they are ignored."
            warnings.warn(message, UnusedClueWarning, stacklevel=3)
        return known

    def _cluster(self, X: Any, clusterer: Any, known: Clues, sample_weight: Any) -> Self:
        """Divide the grains, lift the clues, cluster the parts and publish the results."""
        weight = None if sample_weight is None else checked_weight(sample_weight, X).astype(X.dtype, copy=False)
        used, hard, soft = _sort_clues(clusterer, known)
        if used.sizes is not None and used.size_unit == "points" and weight is not None:
            raise ClueError(
                "grains cannot keep bounds on the number of rows if rows have weights; "
                'bound the summed weight instead, with size_unit="weight".'
            )
        grains = self.grains_
        whole = Parts(grains.labels_, np.arange(len(grains.sizes_)), grains.centers_, grains.sizes_)
        with one_blas_thread():
            parts = divide_grains(rows_of(X, weight), whole, hard, soft)
        lifted = _lift(clusterer, used, hard, soft, parts)
        labels = _fit_parts(clusterer, parts, lifted)
        self._publish(parts, lifted, clusterer, labels, lambda values: values[parts.of_row])
        self.broken_ = _find_broken(clusterer, labels[parts.of_row], known, weight)
        return self

    def _fit_chunks(self, chunks: Chunks, grains: Any, clusterer: Any, clues: Any) -> Self:
        """The same for rows in chunks, of which those with clues and a sample are in memory."""
        known = self._check_for_chunks(clusterer, clues, chunks.n)
        places = grains._fit_chunks(chunks)
        grains.n_features_in_ = chunks.d
        self.grains_, self._places = grains, places
        return self._cluster_chunks(chunks, clusterer, known)

    def _check_for_chunks(self, clusterer: Any, clues: Any, n: int) -> Clues:
        known = self._check_clues(clusterer, clues, n)
        if known.sizes is not None:
            raise ClueError("bounds on sizes cannot be kept if X is a dask array or a tensor.")
        try:  # before the work
            _sort_clues(clusterer, known[known.tied])
        except ClueError:
            _sort_clues(clusterer, known)  # whose error has the numbers of the rows
        return known

    def _cluster_chunks(self, chunks: Chunks, clusterer: Any, known: Clues) -> Self:
        grains, places = self.grains_, self._places
        assert places is not None
        # The rest is about rows with clues, and those of the sample if there is a clustering that is to be avoided.
        rows = np.union1d(known.tied, places.drawn) if known.avoid else known.tied
        few = known[rows]
        used, hard, soft = _sort_clues(clusterer, few)
        whole = Parts(rows, np.arange(len(grains.sizes_)), grains.centers_, grains.sizes_)
        with one_blas_thread():
            found = divide_in_chunks(chunks, places, whole, rows, hard, soft)
        lifted = _lift(clusterer, used, hard, soft, found.parts)
        labels = _fit_parts(clusterer, found.parts, lifted)
        self._publish(found.parts, lifted, clusterer, labels, lambda values: found.spread(chunks, values))
        self.broken_ = _find_broken(clusterer, labels[found.parts.of_row], few, None).at(rows, chunks.n)
        return self

    def _publish(self, parts: Parts, lifted: Clues, clusterer: Any, labels: Ints, spread: Callable[[Any], Any]) -> None:
        """Set the results; ``spread`` turns a value of each part into one of each row."""
        self.clusterer_, self.part_clues_ = clusterer, lifted
        self.part_centers_, self.part_sizes_ = parts.centers, parts.sizes
        self.parts_ = spread(np.arange(len(parts.sizes), dtype=np.int32))
        self.labels_ = spread(labels)
        # Of the parts of a grain, its largest comes last and decides.
        order = np.argsort(parts.sizes, kind="stable")
        self._label_of_grain = np.empty(len(self.grains_.sizes_), dtype=labels.dtype)
        self._label_of_grain[parts.grain[order]] = labels[order]
        for name in ("n_clusters_", "margin_"):
            if hasattr(clusterer, name):
                found = getattr(clusterer, name)
                setattr(self, name, spread(found) if name == "margin_" else found)
            elif hasattr(self, name):
                delattr(self, name)  # of an earlier fit

    def predict(self, X: Any) -> Ints:
        """Predict the cluster of each row of X: that of its grain.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        check_is_fitted(self)
        if is_elsewhere(X):
            grains = self.grains_
            shared = self._label_of_grain, grains.codebook_, grains._cells
            return map_new_chunks(self, X, _predict_chunk, *shared, dtype=self._label_of_grain.dtype)
        return self._label_of_grain[self.grains_.transform(checked_data(self, X, reset=False))]

    def _get_saved_state(self) -> dict[str, Any]:
        return vars(self) | {"_places": None}  # a model without its rows is not fitted again

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _promised(clusterer: Any, card: Any, known: Clues) -> tuple[Clues, Clues]:
    """Labels, links and groups that the clusterer promises to keep, and the other links and groups."""
    if card is not None and card.hard:
        given = known.only(known.kinds - {"sizes", "partitions", "avoid"})
        every = getattr(clusterer, "hard", "all") == "all"  # PCCC leaves it to the user
        return (given, Clues(known.n)) if every else given.divide()
    if card is not None and card.joins:
        return known.only(["must", "together", "labels"]), known.only(["cannot", "apart"])
    return known.only(["must", "cannot", "together", "apart"]).divide()


def _sort_clues(clusterer: Any, known: Clues) -> tuple[Clues, Clues, Clues]:
    """The clues that the clusterer gets, those of them that it promises to keep, and other links and groups."""
    card: Any = getattr(clusterer, "card", None)
    k: Any = getattr(clusterer, "n_clusters", None)
    used = known if has_fit_parameter(clusterer, "clues") else Clues(known.n)
    hard, soft = _promised(clusterer, card, used)
    if hard.kinds:  # here, where the error can name rows
        hard.require(int(k) if card is not None and card.hard and _is_fixed(card, k) else known.n)
    return used, hard, soft


def _is_fixed(card: Any, k: Any) -> bool:
    """Whether the number of clusters is known before the fit."""
    return card is not None and not card.finds and isinstance(k, Integral)


def _lift(clusterer: Any, used: Clues, hard: Clues, soft: Clues, parts: Parts) -> Clues:
    card = getattr(clusterer, "card", None)
    # Methods that take all links or must-links as hard complain about weights that differ, unless they mix.
    plain = card is not None and (card.hard or card.joins) and not card.mixes
    return lift(used, hard, soft, parts.of_row, len(parts.sizes), 1.0 if plain else np.inf)


def _find_broken(clusterer: Any, labels: Ints, known: Clues, weight: Floats | None) -> Clues:
    card: Any = getattr(clusterer, "card", None)
    k: Any = getattr(clusterer, "n_clusters", None)
    return broken(
        labels,
        known,
        clusters_of_classes=class_clusters(known, k) if card is not None and card.named else None,
        n_clusters=int(k) if _is_fixed(card, k) else None,
        sample_weight=weight,
    )


def _predict_chunk(chunk: Floats, label_of_grain: Ints, codebook: Floats, cells: Cells | None) -> Ints:
    return label_of_grain[find_grains(rows_of(chunk), codebook, cells)]


def _fit_parts(clusterer: Any, parts: Parts, lifted: Clues) -> Ints:
    """Cluster of each part."""
    card = getattr(clusterer, "card", None)
    more: dict[str, Any] = {}
    if has_fit_parameter(clusterer, "sample_weight") and (card is None or card.weights):
        more["sample_weight"] = parts.sizes
    if has_fit_parameter(clusterer, "clues"):
        more["clues"] = lifted
    try:
        labels = clusterer.fit_predict(parts.centers, **more)
    except ClueError as error:
        if lifted.sizes is None or type(error) is not ClueError:  # infeasible bounds are reported as such
            raise
        name = type(clusterer).__name__
        raise ClueError(f"{name} cannot bound the sizes of clusters of grains, which differ in weight.") from error
    return np.asarray(getattr(clusterer, "labels_", labels))  # mixtures and pipelines have none
