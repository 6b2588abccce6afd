"""Rows in chunks: a dask array, read chunk by chunk, here or on other machines.

A pass sends a function to the chunks and brings back what it returns, which is small. What all chunks need, such as
centers, is one task of the graph, so that it can be made again if a worker is lost. Results are combined in the order
of the chunks, by a tree that depends on their number alone: the result is the same, bit for bit, on any number of
workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cluewise._dask import compute, is_dask, is_frame, refuse_others
from cluewise._elsewhere import is_tensor
from cluewise._typing import Array, Floats, Ints
from cluewise.core.rows import shift_of
from cluewise.core.threads import one_blas_thread, threads
from cluewise.kernels import columns

__all__ = ["Chunks", "Scan", "read_chunks", "read_column"]

T = TypeVar("T")

FAN = 16
"""Results that are combined at once."""

BLOCK = 8192
"""Rows that are looked at together."""


class Scan(NamedTuple):
    """What one pass over rows tells about their columns."""

    n: int
    mean: Floats
    squares: Floats  # summed squared distances to the mean
    low: Floats
    high: Floats
    bad: tuple[int, int, int, float] | None  # chunk, row in it, column and value of the first number that is not finite
    n_bad: int


class Chunks:
    """Rows of a dask array with one chunk of columns; sizes of chunks are −1 until `scan` if dask does not know them.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> chunks = read_chunks(da.from_array(np.arange(10.0).reshape(5, 2), chunks=(3, 1)))
    >>> chunks.n, chunks.take(np.array([1, 4])).tolist()
    (5, [[2.0, 3.0], [8.0, 9.0]])
    """

    elsewhere = True  # for `is_elsewhere`
    keeps = False  # whether `keep` keeps anything
    two_levels = True  # whether rows find the nearest of many points in two steps, which saves work but may miss it

    def __init__(self, array: Any, sizes: Ints) -> None:
        self.array = array
        self.sizes = sizes
        self.d = int(array.shape[1])
        self.dtype = np.dtype(array.dtype)
        self.found: Scan | None = None
        self.weight: Chunks | None = None  # a column with the weight of each row
        self._blocks = list(array.to_delayed().ravel())

    @property
    def n(self) -> int:
        """Number of rows; −1 if it is not known yet."""
        return -1 if (self.sizes < 0).any() else int(self.sizes.sum())

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n, self.d

    @property
    def starts(self) -> Ints:
        """Number of the first row of each chunk, and the number of rows."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def scan(self) -> Scan:
        """Look at all rows once: how many there are, and what is in their columns."""
        if self.found is None:
            counts, found = self.reduce(_scan, _merge_scans, each=[(number,) for number in range(len(self.sizes))])
            self.sizes, self.found = np.array(counts, dtype=np.int64), found
        return self.found

    @property
    def shift(self) -> Floats:
        """The shift that `Rows` would have for the same rows in memory."""
        n, mean, squares, low, high, *_ = self.scan()
        return shift_of(n, self.dtype, mean, squares / max(n, 1), low, high)

    def reduce(
        self,
        function: Callable[..., T],
        combine: Callable[[Sequence[T]], T],
        *shared: Any,
        each: Sequence[tuple[Any, ...]] | None = None,
    ) -> T:
        """One pass: ``function(chunk, *shared, *each[number])`` of every chunk, combined in the order of the chunks.

        If rows have weights, the function gets those of the chunk as ``weight``.
        """
        from dask.array import Array as DaskArray
        from dask.base import tokenize
        from dask.highlevelgraph import HighLevelGraph

        # Each result is an array of one object, so that dask reads and works on a chunk in one task.
        count = len(self.sizes)
        weight = () if self.weight is None else (self.weight.array,)
        ones = ((1,) * count, (1,))
        boxes = self._map_blocks(_box, shared, each, *weight, function=function, dtype=object, chunks=ones)
        name, tasks = boxes.name, {}
        while count > 1:
            parts = [(name, number, 0) for number in range(count)]
            name = "fold-" + tokenize(name, combine)
            for number, start in enumerate(range(0, count, FAN)):
                tasks[name, number, 0] = (_fold_boxes, combine, parts[start : start + FAN])
            count = -(-count // FAN)
        if tasks:
            graph = HighLevelGraph.from_collections(name, tasks, dependencies=[boxes])
            boxes = DaskArray(graph, name, ((1,), (1,)), meta=boxes._meta)
        return compute(boxes)[0].item()

    def take(self, rows: Ints) -> Array:
        """Some rows, by their numbers, in the given order; only chunks that have some of them are read."""
        from dask import delayed

        wanted, place = np.unique(rows, return_inverse=True)
        local = self.split(wanted)
        call = delayed(_call, traverse=False)
        parts = [call(_pick, block, self.dtype, (), (mine,)) for block, mine in zip(self._blocks, local) if len(mine)]
        return np.concatenate([np.empty((0, self.d), dtype=self.dtype), *compute(*parts)])[place]

    def gather(self, rows: Ints) -> Any:
        """Some rows, where `call` works on them: of a dask array, in memory."""
        return self.take(rows)

    def call(self, function: Callable[..., T], rows: Any, *arguments: Any) -> T:
        """What ``function(rows, *arguments)`` returns for rows that were gathered or are in memory."""
        return function(rows, *arguments)

    def keep(
        self, function: Callable[..., Array], *shared: Any, each: Sequence[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        """What `map` would return, for each chunk, if it can stay where the chunks are; else None for each."""
        return [None] * len(self.sizes)

    def gather_kept(self, kept: Sequence[Any], rows: Ints) -> Any:
        """Entries of some rows, ascending, of what `keep` returned; None if nothing is kept."""
        return None

    def weigh(self, weight: Any) -> Scan:
        """Give each row a weight, from an array or a dask array of them; returns what there is to know about them."""
        parts = read_column(weight, "sample_weight", self.sizes)
        found = parts.scan()
        if found.bad is not None:
            row = int(parts.starts[found.bad[0]]) + found.bad[1]
            raise ValueError(f"sample_weight is {found.bad[3]} in row {row}; weights must be finite.")
        if found.n != self.n:
            raise ValueError(f"sample_weight is about {found.n} rows, but X has {self.n}.")
        if not np.array_equal(parts.sizes, self.sizes):
            parts = read_chunks(parts.with_sizes().rechunk({0: tuple(self.sizes.tolist())}))
        parts = read_chunks(parts.array.astype(self.dtype))
        parts.sizes, self.weight = self.sizes, parts
        return found

    def with_sizes(self) -> Any:
        """The dask array, of which dask knows the sizes of the chunks after a `scan`."""
        from dask.array import Array as DaskArray

        array, sizes = self.array, tuple(self.sizes.tolist())
        return DaskArray(array.dask, array.name, (sizes, (self.d,)), meta=array._meta)

    def load_weight(self) -> Floats | None:
        """Weights of all rows, brought into memory; None if all rows count alike."""
        return None if self.weight is None else compute(self.weight.array)[0][:, 0]

    def take_weight(self, rows: Ints) -> Floats | None:
        """Weights of some rows; None if all rows count alike."""
        return None if self.weight is None else self.weight.take(rows)[:, 0]

    def split(self, rows: Ints) -> list[Ints]:
        """Row numbers, ascending, as numbers within each chunk."""
        starts = self.starts
        cuts = np.searchsorted(rows, starts)
        return [rows[a:b] - start for a, b, start in zip(cuts[:-1], cuts[1:], starts[:-1])]

    def map(
        self,
        function: Callable[..., Array],
        *shared: Any,
        dtype: Any,
        each: Sequence[tuple[Any, ...]] | None = None,
        width: int | None = None,
    ) -> Any:
        """A dask array of what ``function(chunk, *shared, *each[number])`` returns, with the chunks of the rows.

        One number for each row, or ``width`` numbers, whatever the row weighs. Nothing is computed yet.
        """
        known = self.n >= 0
        sizes = tuple(self.sizes.tolist()) if known else self.array.chunks[0]
        # A column for one number, as dask would copy each chunk to drop its columns.
        call, wide = (_call_column, 1) if width is None else (_call, width)
        made = self._map_blocks(call, shared, each, function=function, dtype=dtype, chunks=(sizes, (wide,)))
        return made[:, 0] if width is None else made

    def derive(self, function: Callable[..., Array], *shared: Any, dtype: Any, width: int) -> Chunks:
        """The rows that ``function(chunk, *shared)`` makes of these, ``width`` numbers each, with the same weights."""
        made = read_chunks(self.map(function, *shared, dtype=dtype, width=width))
        made.weight = self.weight
        return made

    def _map_blocks(
        self, call: Any, shared: Any, each: Any, *weight: Any, dtype: Any, chunks: tuple[Any, ...], function: Any
    ) -> Any:
        from dask import delayed

        return self.array.map_blocks(
            _call_numbered,
            *weight,
            call=call,
            precision=self.dtype,
            given=delayed((shared, None if each is None else list(each)), traverse=False),
            chunks=chunks,
            dtype=dtype,
            meta=np.empty((0,) * len(chunks), dtype=dtype),
            function=function,
        )


def read_chunks(X: Any) -> Chunks:
    """The chunks of a dask array, or of a dask data frame of numbers; a tensor is one chunk."""
    if isinstance(X, Chunks):
        return X
    if is_tensor(X):
        from cluewise.core.tensors import read_tensor

        return read_tensor(X)
    refuse_others(X)
    if is_frame(X):
        X = _as_array(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns; it has {X.ndim}.")
    if not isinstance(X._meta, np.ndarray) or X.dtype.kind not in "biuf":
        kind = f"{type(X._meta).__name__} of {X.dtype}"
        raise TypeError(f"chunks of X must be NumPy arrays of numbers; they are {kind}.")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return Chunks(X, np.array([-1 if np.isnan(size) else size for size in X.chunks[0]], dtype=np.int64))


def read_column(values: Any, name: str, sizes: Ints) -> Chunks:
    """A number for each row, as one column: from an array, a dask array or a column of one of dask's data frames.

    An array is cut into chunks of these sizes, if it has as many numbers.
    """
    from dask.array import from_array

    if is_dask(values):
        column = values.to_dask_array() if hasattr(values, "to_dask_array") else values
    else:
        values = np.asarray(values)
        fits = values.ndim == 1 and len(values) == sizes.sum()
        column = from_array(values, chunks=(tuple(sizes.tolist()),) if fits else "auto")
    if column.ndim != 1:
        raise ValueError(f"{name} must have one dimension; it has {column.ndim}.")
    return read_chunks(column[:, None])


def _as_array(frame: Any) -> Any:
    """A data frame of dask as an array; its columns may be of any kind of numbers that pandas has, and of bools."""
    kinds = [_kind_of(kind) for kind in frame.dtypes]
    words = [str(name) for name, kind in zip(frame.columns, kinds) if kind.kind not in "biuf"]
    if words:
        raise TypeError(f"column {words[0]!r} of X does not hold numbers; dask data frames must hold numbers only.")
    if all(isinstance(kind, np.dtype) and kind.kind != "b" for kind in frame.dtypes):
        return frame.to_dask_array()
    # Pandas would make objects of the others, and knows no NaN among its own integers.
    single = all(kind == np.float32 for kind in kinds)
    return frame.map_partitions(_as_floats, np.float32 if single else np.float64).to_dask_array()


def _kind_of(kind: Any) -> Any:
    """NumPy's type for that of a column of a data frame; that of objects if there is none."""
    found = getattr(kind, "numpy_dtype", kind)
    try:
        return np.dtype(found)
    except TypeError:
        return np.dtype("O")


# --- what runs where the chunks are -----------------------------------------------------------------------------


def _as_floats(part: Any, dtype: Any) -> Any:
    found = np.empty(part.shape, dtype=dtype)
    for j in range(part.shape[1]):
        found[:, j] = part.iloc[:, j].to_numpy(dtype=dtype, na_value=np.nan)
    return type(part)(found, columns=part.columns, index=part.index)


def _call(
    function: Callable[..., T], chunk: Any, dtype: Any, shared: tuple[Any, ...], own: tuple[Any, ...], **more: Any
) -> T:
    # The chunks are worked on in parallel, so that each uses one thread only.
    with one_blas_thread(), threads(1):
        return function(np.asarray(chunk, dtype=dtype), *shared, *own, **more)


def _call_numbered(
    chunk: Any,
    weight: Any = None,
    *,
    call: Any,
    function: Any,
    precision: Any,
    given: Any,
    block_id: tuple[int, ...] | None = None,
) -> Any:
    (shared, each), number = given, 0 if block_id is None else block_id[0]
    more = {} if weight is None else {"weight": np.ascontiguousarray(np.asarray(weight, dtype=precision)[:, 0])}
    return call(function, chunk, precision, shared, () if each is None else each[number], **more)


def _call_column(*arguments: Any, **more: Any) -> Array:
    return _call(*arguments, **more)[:, None]


def _box(*arguments: Any, **more: Any) -> Array:
    box = np.empty((1, 1), dtype=object)
    box[0, 0] = _call(*arguments, **more)
    return box


def _fold_boxes(combine: Callable[[Sequence[Any]], Any], boxes: Sequence[Array]) -> Array:
    box = np.empty((1, 1), dtype=object)
    box[0, 0] = combine([one.item() for one in boxes])
    return box


def _pick(chunk: Array, rows: Ints) -> Array:
    return chunk[rows]


def _scan(chunk: Floats, number: int, **weight: Floats) -> tuple[list[int], Scan]:
    n, d = chunk.shape
    found = Scan(0, np.zeros(d), np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf), None, 0)
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is counted
        for start in range(0, n, BLOCK):
            found = _add_scan(found, _scan_block(chunk[start : start + BLOCK], start, number))
    return [n], found


def _scan_block(x: Floats, start: int, number: int) -> Scan:
    (n, d), bad, n_bad = x.shape, None, 0
    mean, squares = np.zeros(d), np.zeros(d)
    low, high = np.full(d, np.inf, dtype=x.dtype), np.full(d, -np.inf, dtype=x.dtype)
    columns.scan(np.ascontiguousarray(x), mean, squares, low, high)
    if not (np.isfinite(mean).all() and np.isfinite(squares).all()):  # numbers that are too large may be finite
        rows, wide = np.nonzero(~np.isfinite(x))
        n_bad = len(rows)
        bad = (number, start + int(rows[0]), int(wide[0]), float(x[rows[0], wide[0]])) if n_bad else None
    return Scan(n, mean, squares, low.astype(np.float64), high.astype(np.float64), bad, n_bad)


def _merge_scans(parts: Sequence[tuple[list[int], Scan]]) -> tuple[list[int], Scan]:
    counts, found = list(parts[0][0]), parts[0][1]
    for more, scan in parts[1:]:
        counts += more
        found = _add_scan(found, scan)
    return counts, found


def _add_scan(one: Scan, two: Scan) -> Scan:
    """Both together, as in Chan et al. (1983): no difference of large numbers."""
    n = one.n + two.n
    share = two.n / n if n else 0.0
    gap = two.mean - one.mean
    return Scan(
        n,
        one.mean + share * gap,
        one.squares + two.squares + gap**2 * (one.n * share),
        np.minimum(one.low, two.low),
        np.maximum(one.high, two.high),
        one.bad or two.bad,
        one.n_bad + two.n_bad,
    )
