"""Input from users: data, weights, clues and seeds, checked once for everything below."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from cluewise._dask import is_dask, is_frame
from cluewise._elsewhere import is_elsewhere, is_tensor
from cluewise._masked import refuse_masked
from cluewise._sklearn import check_sample_weight
from cluewise._squares import largest, require_squares
from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.chunks import Chunks, read_chunks
from cluewise.core.tensors import send
from cluewise.exceptions import ClueError, Infeasible, UnusedClueWarning

__all__ = [
    "as_clues",
    "checked_chunks",
    "checked_data",
    "checked_weight",
    "class_clusters",
    "count_rows",
    "depth_of_user",
    "generator",
    "map_new_chunks",
    "seed_steps",
    "send_rows",
    "warn_of_ignored",
]


_MOST_INDEX = np.iinfo(np.int32).max


def checked_data(estimator: Any, X: Any, *, reset: bool, sparse: bool = True) -> Any:
    """X as a dense or CSR matrix of floats, finite like their squares; an error names the row and column."""
    if is_dask(X):  # scikit-learn would bring all of it into memory without a word
        raise TypeError(_describe_refusal(estimator, "dask arrays", "X.compute()"))
    if is_tensor(X):  # which scikit-learn would bring into memory, and results would not be on its device
        raise TypeError(_describe_refusal(estimator, "tensors", "X as a NumPy array"))
    refuse_masked(X, "X")
    try:
        X = validate_data(
            estimator,
            _narrow_indices(X) if sparse else X,
            reset=reset,
            accept_sparse="csr" if sparse else False,
            dtype=[np.float64, np.float32],
            accept_large_sparse=False,
            ensure_all_finite=False,
        )
    except (TypeError, ValueError) as error:
        why = _not_a_table(X)
        if why is None:
            raise
        raise type(error)(why) from None
    values = X if isinstance(X, np.ndarray) else X.data
    size = largest(values)
    if not np.isfinite(size):
        _refuse_infinite(X, values)
    # New rows may all be zero, for example at the mean of centered training rows.
    require_squares(size, X.dtype, "X", small=reset)
    return X


def _narrow_indices(X: Any) -> Any:
    """A sparse matrix as CSR with 32-bit indices if it has wider ones and they fit; anything else as it is.

    Graphs of neighbors and files of scikit-learn often have 64-bit indices; the kernels count in 32 bits.
    """
    from scipy.sparse import issparse

    if not issparse(X) or X.ndim != 2 or X.format not in ("csr", "csc", "coo", "bsr"):
        return X
    wide = any(part.dtype.itemsize > 4 for part in (X.coords if X.format == "coo" else (X.indices, X.indptr)))
    if not wide or max(*X.shape, X.nnz) > _MOST_INDEX:
        return X
    rows = X.tocsr()
    indices, indptr = (part.astype(np.int32, copy=False) for part in (rows.indices, rows.indptr))
    return type(rows)((rows.data, indices, indptr), shape=rows.shape)


def count_rows(estimator: Any, X: Any, clues: Any) -> int:
    """The number of rows of X, which is checked, or of the clues if X is None; for methods that do not look at X."""
    if X is not None:
        return int(checked_data(estimator, X, reset=True).shape[0])
    if clues is None:
        raise ValueError(f"{type(estimator).__name__} needs clues, or X for the number of rows.")
    return len(clues)


def _describe_refusal(estimator: Any, what: str, whole: str) -> str:
    """Say that a method does not take rows that are not in memory, and what does."""
    name, way = type(estimator).__name__, ""
    if hasattr(estimator, "fit_predict"):
        way = f"cluster their grains by Grains().then({name}(...)), or "
    elif hasattr(estimator, "then"):  # a metric
        way = f"cluster their grains by Grains().then({name}(...).then(clusterer)), or "
    return f"{name} does not take {what}; {way}pass {whole} if X fits into memory."


def checked_chunks(estimator: Any, X: Any, *, reset: bool = True, sample_weight: Any = None) -> Chunks:
    """Rows of a dask array or data frame, or of a tensor, for a fit, and their weights, each checked in one pass.

    An error names the row and column.
    """
    chunks = _read_columns(estimator, X, reset=reset)
    found = chunks.scan()
    if not found.n:
        where = f" in {len(chunks.sizes)} chunks" if is_dask(X) else ""
        raise ValueError(f"X has 0 rows{where}; at least one row is needed.")
    if not chunks.d:
        raise ValueError("X has 0 columns; at least one column is needed.")
    if found.bad is not None:
        number, row, column, value = found.bad
        raise ValueError(_describe_infinite(int(chunks.starts[number]) + row, column, value, found.n_bad))
    require_squares(float(np.maximum(-found.low, found.high).max()), chunks.dtype, "X")
    if sample_weight is not None:
        _weigh_chunks(chunks, sample_weight)
    return chunks


def send_rows(estimator: Any, X: Any, *, reset: bool, sample_weight: Any = None) -> Any:
    """Rows on the device that the parameter ``device`` names, checked; X as it is without one, or if X is elsewhere."""
    device = getattr(estimator, "device", None)  # models of older versions have none
    if device is None or is_elsewhere(X):
        return X
    rows = checked_data(estimator, X, reset=reset)
    if not isinstance(rows, np.ndarray):
        raise TypeError(f"device={device!r} needs dense rows; X is sparse.")
    if sample_weight is not None:
        raise ValueError(f"device={device!r} does not work with sample_weight.")
    sent = send(rows, device)
    return X if sent is None else sent


def map_new_chunks(
    estimator: Any, X: Any, function: Any, *shared: Any, dtype: Any = None, width: int | None = None
) -> Any:
    """A dask array of what ``function(chunk, *shared)`` returns for new rows, which are checked when it is computed.

    If X is a tensor, a tensor, which is computed at once. ``dtype`` None: that of X.
    """
    chunks = _read_columns(estimator, X, reset=False)
    dtype = chunks.dtype if dtype is None else dtype
    starts: list[int | None] = chunks.starts[:-1].tolist() if chunks.n >= 0 else [None] * len(chunks.sizes)
    each = [(start, number) for number, start in enumerate(starts)]
    return chunks.map(_check_and_call, function, shared, dtype=dtype, width=width, each=each)


def _check_and_call(chunk: Floats, function: Any, shared: tuple[Any, ...], start: int | None, number: int) -> Any:
    size = largest(chunk)
    if not np.isfinite(size):
        row, column = (int(i) for i in np.argwhere(~np.isfinite(chunk))[0])
        where = f"{row} of chunk {number}" if start is None else start + row
        raise ValueError(_describe_infinite(where, column, chunk[row, column], int((~np.isfinite(chunk)).sum())))
    require_squares(size, chunk.dtype, "X", small=False)
    return function(chunk, *shared)


def _read_columns(estimator: Any, X: Any, *, reset: bool) -> Chunks:
    chunks = read_chunks(X)
    if chunks is X:  # checked before they were sent to a device
        return chunks
    # An empty frame or array has all that scikit-learn wants to know about the columns.
    empty = X._meta if is_frame(X) else np.empty((0, chunks.d))
    validate_data(estimator, empty, reset=reset, skip_check_array=True)
    return chunks


def _weigh_chunks(chunks: Chunks, sample_weight: Any) -> None:
    """Give rows in chunks one non-negative weight each, checked in one pass over the weights."""
    found = chunks.weigh(sample_weight)
    if found.low[0] < 0:
        raise ValueError(f"sample_weight holds {found.low[0]:g}; weights must not be negative.")
    if found.high[0] == 0:
        raise ValueError("sample_weight is zero for every row.")
    require_squares(float(found.high[0]), chunks.dtype, "sample_weight")


def checked_weight(sample_weight: Any, X: Any) -> Floats:
    """One non-negative weight per row of X, finite like its products with squares of X."""
    refuse_masked(sample_weight, "sample_weight")
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    size = largest(weight)
    if size == 0:
        raise ValueError("sample_weight is zero for every row.")
    require_squares(size, X.dtype, "sample_weight")
    return weight


def _refuse_infinite(X: Any, values: Any) -> None:
    bad = ~np.isfinite(values)
    if isinstance(X, np.ndarray):
        row, column = (int(i) for i in np.argwhere(bad)[0])
    else:
        place = int(np.flatnonzero(bad)[0])
        row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    raise ValueError(_describe_infinite(row, column, values[bad][0], int(bad.sum())))


def _describe_infinite(row: int | str, column: int, value: float, count: int) -> str:
    what = "NaN" if np.isnan(value) else "infinity (inf)"
    return (
        f"X holds {what} in row {row}, column {column}; cells that are not finite numbers: {count}. "
        "Impute them, drop those rows, or encode X with cluewise.Rows, which fills them in."
    )


def _not_a_table(X: Any) -> str | None:
    """Say which row or column keeps X from being a table of numbers; None if it is something else."""
    if isinstance(X, (list, tuple)) and X and all(isinstance(row, (list, tuple, np.ndarray)) for row in X):
        width = len(X[0])
        for i, row in enumerate(X):
            if len(row) != width:
                return f"rows of X differ in length: row {i} has {len(row)} values, row 0 has {width}."
    try:
        cells = np.asarray(X, dtype=object)
    except ValueError:
        return None
    if cells.ndim != 2:
        return None
    for (i, j), cell in np.ndenumerate(cells):
        if isinstance(cell, str):
            try:
                float(cell)
            except ValueError:
                names = getattr(X, "columns", None)
                column = f"column {j}" if names is None else f"column {list(names)[j]!r}"
                return (
                    f"X holds the text {cell!r} in row {i}, {column}, but must hold numbers; "
                    "cluewise.Rows makes numbers of any table."
                )
    return None


def seed_steps(random_state: Any, *steps: Any) -> None:
    """Draw every ``random_state`` among the parameters of some steps from one; with None, they keep their own."""
    if random_state is None:
        return
    rng = generator(random_state)
    for step in steps:
        names = sorted(name for name in step.get_params() if name.rpartition("__")[2] == "random_state")
        step.set_params(**{name: int(rng.integers(2**31)) for name in names})


def generator(random_state: Any) -> np.random.Generator:
    """A generator from any ``random_state`` that scikit-learn accepts."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    if random_state is None:
        # Follow scikit-learn: without a seed, numpy's global state decides.
        return np.random.default_rng(check_random_state(None).randint(2**31))
    return np.random.default_rng(random_state)


def as_clues(clues: Any, n: int) -> Clues:
    """Clues for n rows from `Clues`, partial labels or None; an error explains how to pass pairs."""
    if clues is None:
        return Clues(n)
    if isinstance(clues, str | PathLike):
        raise ClueError(f"clues must be a Clues object, not a path; read the file: Clues.read({str(clues)!r}, n={n}).")
    if isinstance(clues, Mapping):
        raise ClueError(f"clues must be a Clues object, not a mapping; make one of it: Clues({n}, **clues).")
    if not isinstance(clues, Clues):
        shape = _shape(clues)
        if shape is None or len(shape) != 1:
            found = "lists of pairs" if shape is None else f"an array of shape {shape}"
            raise ClueError(
                f"clues must be a Clues object or one partial label per row, not {found}; "
                "pass pairs as clues=Clues.from_pairs(n, must, cannot)."
            )
        clues = Clues.from_labels(clues)
    if clues.n != n:
        raise ClueError(f"the clues are for {clues.n} rows, but X has {n}.")
    return clues


def warn_of_ignored(y: Any, name: str, *, labels: bool = True) -> None:
    """Warn if ``y``, which is ignored, holds clues or looks like a labeling: new users mean it as clues.

    In labels of -1 and 1 only, -1 is a class. ``labels``: whether the method takes labels.
    """
    if isinstance(y, Clues):
        why = "which holds clues; pass them as clues=..."
        warnings.warn(f"{name} ignores y, {why}", UnusedClueWarning, stacklevel=depth_of_user())
    if y is None or not labels:
        return
    try:
        known = Clues.from_labels(y)
    except (ClueError, TypeError, ValueError):
        return
    missing = np.flatnonzero(known.labels < 0)
    partial = len(missing) and not (list(known.classes_) == [1] and all(value in (-1, 1) for value in y))
    if partial:
        what = f"partial labels (row {missing[0]} has none); pass them"
    elif len(known.classes_) < len(known):  # numbers that all differ are measurements
        what = "labels of all rows; if the clusterer should know them, pass them"
    else:
        return
    warnings.warn(
        f"{name} ignores y, which looks like {what} as clues=Clues.from_labels(y).",
        UnusedClueWarning,
        stacklevel=depth_of_user(),
    )


def depth_of_user() -> int:
    """Stack level of the code that called the library, as counted by `warnings.warn` in the function above."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("cluewise", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level


def _shape(given: Any) -> tuple[int, ...] | None:
    """Shape of an array, a data frame or nested lists; None for lists of unequal length."""
    try:
        return tuple(given.shape) if hasattr(given, "shape") else np.shape(given)
    except ValueError:
        return None


def class_clusters(clues: Clues, k: int) -> Ints:
    """Cluster of each label class: integers below k keep their number, other classes are numbered in order."""
    classes = list(clues.classes_)
    if all(isinstance(c, (int, np.integer)) and not isinstance(c, bool) and 0 <= c < k for c in classes):
        return np.array(classes, dtype=np.int32)
    if len(classes) <= k:
        return np.arange(len(classes), dtype=np.int32)
    present = np.unique(clues.labels[clues.labels >= 0])  # a slice of the clues may have lost some classes
    if len(present) > k:
        raise Infeasible(f"the labels have {len(present)} classes, more than n_clusters={k}.", clues.only(["labels"]))
    clusters = np.full(len(classes), UNASSIGNED, dtype=np.int32)
    clusters[present] = np.arange(len(present))
    return clusters
