"""Rows in parts: files that need not fit into memory, read chunk by chunk where dask runs, here or on a cluster.

What each pass brings here is small: a sample of the rows, by which the
columns are recognized and standardized; the numbers of the rows that clues name; and how many rows each cluster has.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cluewise import tables
from cluewise._dask import compute
from cluewise._extras import install
from cluewise._texts import short
from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues, files
from cluewise.core.chunks import read_chunks
from cluewise.exceptions import ClueError
from cluewise.rows import Rows
from cluewise.tables.parts import (
    PARQUET,
    Part,
    check_same_columns,
    find_parts,
    look_into,
    read_rows,
    write_part,
)
from cluewise.workspace.data import Data
from cluewise.workspace.names import split_kinds, split_names

__all__ = ["InParts", "Written", "on_scheduler", "open_new_parts", "open_parts", "read_clues"]

CHUNK = 2**25
"""Bytes that a chunk of numbers has."""

SAMPLE = 100_000
"""Rows from which columns are recognized and standardized."""

MOST = 2**31 - 1
"""Rows that clues can number."""

PATIENCE = 10.0
"""Seconds in which a scheduler has to answer."""

TOPIC = "cluewise-chunks"
"""Under which workers tell that they have read a chunk."""

_watchers: list[Callable[[], None]] = []


class Piece(NamedTuple):
    """Consecutive rows of a part: a chunk."""

    part: Part
    start: int
    stop: int


class Written(NamedTuple):
    """What is known after the clusters of all rows are written."""

    counts: Ints  # rows in each cluster
    noise: int
    tied: Ints  # clusters of the rows with clues


class InParts(NamedTuple):
    """Rows of several files with the same columns, and how to read them."""

    name: str
    parts: list[Part]
    ids: str | None
    columns: list[str]  # to cluster by
    kinds: dict[str, str | list[str]]
    pieces: list[Piece]
    sample: tables.Table

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(part.rows for part in self.parts)

    def encode(self, *, raw: bool) -> tuple[Any, Rows]:
        """The rows as a dask array of numbers, and what each column became; ``raw``: numbers as they are.

        The sample decides, so a table of up to `SAMPLE` rows is encoded as one that is in memory.
        """
        chosen = {name: self.sample.columns[name] for name in self.columns}
        rows = Rows(kinds=self.kinds, balance=not raw)
        rows.fit(tables.Table(chosen, self.name, numbers=self.sample.numbers))
        return self.encode_as(rows), rows

    def encode_as(self, rows: Rows) -> Any:
        """The rows as a dask array of numbers, by an encoder that knows the columns."""
        import dask.array as da
        from dask import delayed

        used = [plan.name for plan in rows.plan_ if plan.width]
        for name in used:
            if name not in self.parts[0].kinds:
                raise tables.TableError(f"{self.name} has no column '{name}', which the model was fitted to.")
        single = all(self.parts[0].kinds[name] == "single" for name in used)
        dtype = np.dtype(np.float32 if single else np.float64)
        sizes = tuple(piece.stop - piece.start for piece in self.pieces)
        return da.map_blocks(
            _encode_block,
            shared=delayed((self.pieces, used, rows, dtype), traverse=False),
            chunks=(sizes, (len(rows.get_feature_names_out()),)),
            dtype=dtype,
            meta=np.empty((0, 0), dtype=dtype),
        )

    def label(self, model: Any, rows: Rows) -> Any:
        """A dask array of the clusters that a model predicts."""
        X = self.encode_as(rows)
        if getattr(model, "card", None) is not None and model.card.chunks:
            return model.predict(X)
        return read_chunks(X).map(_predict, model, dtype=np.int32)  # rows are predicted one by one

    def write(self, folder: Path, labels: Any, tied: Ints) -> Written:
        """Write the cluster of each row into a folder, a file for each part; ``tied`` rows have clues."""
        import dask

        starts = np.concatenate([[0], np.cumsum([part.rows for part in self.parts])])
        cuts = np.searchsorted(tied, starts)
        count = Counter(piece.part.path for piece in self.pieces)
        blocks, tasks = iter(labels.to_delayed().ravel()), []
        for number, part in enumerate(self.parts):
            mine = tied[cuts[number] : cuts[number + 1]] - starts[number]
            place = folder.resolve(), part, self.ids, int(starts[number])
            tasks.append(dask.delayed(_write_part)(*place, list(islice(blocks, count[part.path])), mine))
        found = compute(*tasks)
        k = max((len(counts) for counts, _, _ in found), default=0)
        counts = np.sum([np.pad(counts, (0, k - len(counts))) for counts, _, _ in found], axis=0)
        return Written(counts, sum(noise for _, noise, _ in found), np.concatenate([labels for _, _, labels in found]))


def open_parts(
    path: Path, *, id_column: str | None, columns: str | None, ignore: Sequence[str], kinds: str | None
) -> InParts:
    """Look at all files, and at a sample of their rows; refuse files that do not belong together."""
    parts = _look_into(path, id_column)
    known = [name for name in parts[0].kinds if name not in ignore]
    for name in ignore:
        if name not in parts[0].kinds:
            raise tables.TableError(f"{path} has no column '{name}'.")
    if sum(part.rows for part in parts) > MOST:
        raise tables.TableError(f"{path} has more than {MOST} rows, which is all that clues can number.")
    pieces = list(_divide(parts))
    sample = _draw(pieces, known, str(path), id_column)
    asked = split_names(columns)
    _, names = tables.choose_columns(sample, id_column=id_column, columns=asked or None)
    given = split_kinds(kinds)
    for name in given:
        if name not in names:
            raise ValueError(f"--as: '{name}' is not one of the columns of {path} to cluster by.")
    for name in asked:  # a column that is named is used, even if it looks like an id
        given.setdefault(name, "auto")
    ids = tables.find_ids(sample) if id_column is None else id_column
    return InParts(str(path), parts, ids, names, given, pieces, sample)


def open_new_parts(path: Path, id_column: str | None, *, known: str | None) -> InParts:
    """Look at all files whose rows a model shall label: it knows the columns, and ``known`` was that of ids.

    Ids are looked for in the first chunk if nobody names their column; rows need none.
    """
    parts = _look_into(path, known if id_column is None else id_column)
    pieces, ids = list(_divide(parts)), id_column
    if ids is not None and ids not in parts[0].kinds:
        raise tables.TableError(f"{path} has no column '{ids}'.")
    if ids is None and known in parts[0].kinds:
        ids = known
    if ids is None:
        ids = tables.find_ids(_draw(pieces[:1], list(parts[0].kinds), str(path), None))
    return InParts(str(path), parts, ids, [], {}, pieces, tables.Table({}, str(path)))


def read_clues(path: Path | None, rows: InParts) -> Data:
    """The clues in a file, with the numbers of the rows that they name: one pass over the ids, if rows have any."""
    n, found = rows.n, {}
    if path is not None and rows.ids is not None:
        found = _find_rows(rows, set(files.list_names(path)))
    clues = Clues(n) if path is None else Clues.read(path, ids=None if rows.ids is None else found, n=n)
    if path is not None and not clues.kinds:
        raise ClueError(f"{path.name} holds no clues; leave --clues out to do without.")
    called = None if rows.ids is None else {row: name for name, row in found.items()}
    table = tables.Table(rows.sample.columns, rows.name)
    return Data(table, called, rows.columns, clues, rows.kinds, ".")


@contextmanager
def on_scheduler(address: str | None, watch: Callable[[], None] | None) -> Iterator[None]:
    """Run dask in threads of this process, or on the cluster at an address; ``watch`` is called for each chunk read."""
    try:
        import dask.array
    except ImportError:
        raise ImportError(f"rows in parts need dask: {install('dask')}.") from None
    if address is None:
        with dask.config.set(scheduler="threads"), _watching(watch):
            yield
        return
    client = _connect(address)
    try:
        if watch is not None:
            client.subscribe_topic(TOPIC, lambda event: watch())
        with warnings.catch_warnings():
            # Cluewise sends what it has learned, tens of megabytes, once to each worker, and dask finds that a lot.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            yield
    finally:
        client.close()


def _connect(address: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError(f"--scheduler needs distributed: {install('dask')}.") from None
    try:
        client: Any = distributed.Client
        return client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise tables.FileError(f"no scheduler answers at '{address}' ({' '.join(str(error).split())}).") from None


def _look_into(path: Path, id_column: str | None) -> list[Part]:
    """What is in each file; refused if they do not belong together, or have no rows."""
    import dask

    tasks = [dask.delayed(look_into)(os.path.abspath(file), id_column) for file in find_parts(path)]
    parts = list(compute(*tasks))
    check_same_columns(parts)
    if not sum(part.rows for part in parts):
        raise tables.TableError(f"{path} has no rows.")
    return parts


@contextmanager
def _watching(watch: Callable[[], None] | None) -> Iterator[None]:
    if watch is None:
        yield
        return
    _watchers.append(watch)
    try:
        yield
    finally:
        _watchers.remove(watch)


def _divide(parts: Sequence[Part]) -> Iterator[Piece]:
    """Chunks of about equal size within each part; text files are read as a whole."""
    most = max(CHUNK // (8 * max(len(parts[0].kinds), 1)), 1)
    for part in parts:
        whole = not part.path.lower().endswith(PARQUET)
        count = 1 if whole and part.rows else -(-part.rows // most)
        ends = [part.rows * i // count for i in range(1, count + 1)] if count else []
        for start, stop in zip([0, *ends], ends):
            yield Piece(part, start, stop)


def _draw(pieces: Sequence[Piece], columns: Sequence[str], name: str, ids: str | None) -> tables.Table:
    """Some rows of all, or all of few, with their numbers."""
    import dask

    sizes = [piece.stop - piece.start for piece in pieces]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n = int(starts[-1])
    numbers = np.sort(np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False))
    cuts = np.searchsorted(numbers, starts)
    tasks = [
        dask.delayed(_pick)(piece, columns, numbers[a:b] - start, ids)
        for piece, a, b, start in zip(pieces, cuts[:-1], cuts[1:], starts[:-1])
        if b > a
    ]
    found = compute(*tasks)
    sample = {column: _join([one[column] for one in found]) for column in columns}
    return tables.Table(sample, name, numbers=numbers)


def _join(columns: Sequence[Array]) -> Array:
    """The same column of several tables; if it is text in any, then in all."""
    if len({column.dtype.kind == "O" for column in columns}) == 1:
        return np.concatenate(columns)
    texts = [column if column.dtype.kind == "O" else np.array(tables.row_names(column), object) for column in columns]
    return np.concatenate(texts)


def _find_rows(rows: InParts, wanted: set[str]) -> dict[str, int]:
    """Numbers of the rows with some names."""
    import dask

    names = dask.delayed(wanted, traverse=False)  # once for all chunks
    tasks = [dask.delayed(_search)(piece, rows.ids, names) for piece in rows.pieces]
    sizes = np.cumsum([0, *(piece.stop - piece.start for piece in rows.pieces)]).tolist()
    found: dict[str, int] = {}
    for start, here in zip(sizes, compute(*tasks)):
        for name, row in here:
            if name in found:
                raise tables.TableError(
                    f"{rows.name} row {start + row}: id '{short(name)}' is already the id of row {found[name]}."
                )
            found[name] = start + row
    return found


# --- what runs where the files are read ---------------------------------------------------------------------------


def _encode_block(*, shared: Any, block_id: tuple[int, ...] = (0, 0)) -> Floats:
    pieces, columns, rows, dtype = shared
    part, start, stop = pieces[block_id[0]]
    found: Floats = rows.transform(read_rows(part, columns, start, stop)).astype(dtype, copy=False)
    _tell()
    return found


def _predict(rows: Floats, model: Any) -> Ints:
    found: Ints = model.predict(rows)
    return found.astype(np.int32, copy=False)


def _tell() -> None:
    """Say that a chunk was read: to the scheduler if this is a worker, else to whoever watches."""
    if "distributed" in sys.modules:
        from distributed import get_worker

        try:
            get_worker().log_event(TOPIC, {})
        except ValueError:  # no worker
            pass
        else:
            return
    for watch in _watchers:
        watch()


def _pick(piece: Piece, columns: Sequence[str], rows: Ints, ids: str | None) -> Mapping[str, Array]:
    table = read_rows(piece.part, columns, piece.start, piece.stop, ids)
    return {name: column[rows] for name, column in table.columns.items()}


def _search(piece: Piece, ids: str, wanted: set[str]) -> list[tuple[str, int]]:
    names = tables.row_names(read_rows(piece.part, [ids], piece.start, piece.stop, ids).columns[ids])
    return [(name, row) for row, name in enumerate(names) if name in wanted]


def _write_part(
    folder: Path, part: Part, ids: str | None, start: int, labels: Sequence[Ints], tied: Ints
) -> tuple[Ints, int, Ints]:
    own = np.concatenate([np.empty(0, dtype=np.int32), *labels])
    write_part(folder, part, ids, start, {"cluster": own})
    return np.bincount(own[own >= 0]), int((own < 0).sum()), own[tied]
