"""Scored pairs of Splink, or of any program that writes pairs of ids with a probability."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cluewise._typing import Ints
from cluewise.clues import Clues
from cluewise.exceptions import ClueError
from cluewise.tables import Table, from_frame

__all__ = ["splink_clues"]


def splink_clues(
    pairs: Any,
    ids: Sequence[Any],
    *,
    sources: Sequence[Any] | None = None,
    one_per_source: bool = False,
    id_column: str = "unique_id",
    probability_column: str = "match_probability",
    source_column: str = "source_dataset",
) -> Clues:
    """Clues from the scored pairs of Splink, for `CorrelationClusterer`.

    Parameters
    ----------
    pairs : data frame or Table
        What ``linker.inference.predict()`` gives, as a frame: columns ``unique_id_l``, ``unique_id_r`` and
        ``match_probability``; if there are several sources, ``source_dataset_l`` and ``source_dataset_r``, too.
    ids : sequence of length n
        Id of each record, in the order in which you want the clusters.
    sources : sequence of length n, optional
        Source of each record, if ids are only unique within a source.
    one_per_source : bool, default=False
        Whether no two records of one source may be in one cluster.
    id_column, probability_column, source_column : str
        Other names of the columns.

    Returns
    -------
    Clues
        A link for each pair, weighted by its log-odds (`Clues.from_scores`), and the sources as groups that are apart.

    Examples
    --------
    >>> import pandas as pd
    >>> import cluewise as cw
    >>> pairs = pd.DataFrame(
    ...     {"unique_id_l": ["a", "b"], "unique_id_r": ["b", "c"], "match_probability": [0.99, 0.1]}
    ... )
    >>> clues = cw.adapters.splink_clues(pairs, ["a", "b", "c"])
    >>> cw.CorrelationClusterer().fit(None, clues=clues).labels_.tolist()
    [0, 0, 1]
    """
    if one_per_source and sources is None:
        raise ValueError("one_per_source needs the source of each record: pass sources.")
    table = pairs if isinstance(pairs, Table) else from_frame(pairs)
    number = _number(list(ids) if sources is None else list(zip(sources, ids)))
    rows = [_find(table, side, number, id_column, source_column, sources is not None) for side in ("l", "r")]
    clues = Clues.from_scores(len(ids), np.column_stack(rows), _column(table, probability_column))
    return clues | Clues(len(ids), apart=list(sources or ()), apart_weight=np.inf) if one_per_source else clues


def _number(keys: list[Any]) -> dict[Any, int]:
    found = {key: row for row, key in enumerate(keys)}
    if len(found) < len(keys):
        again = next(key for row, key in enumerate(keys) if found[key] != row)
        raise ClueError(f"the id {again!r} occurs twice; if ids are unique within a source only, pass sources.")
    return found


def _find(table: Table, side: str, number: dict[Any, int], id_column: str, source_column: str, sourced: bool) -> Ints:
    keys: Iterable[Any] = _column(table, f"{id_column}_{side}").tolist()
    if sourced:
        keys = zip(_column(table, f"{source_column}_{side}").tolist(), keys)
    rows = []
    for line, key in enumerate(keys):
        if key not in number:
            raise ClueError(f"pair {line} names the record {key!r}, which is not among the ids.")
        rows.append(number[key])
    return np.array(rows, dtype=np.int64)


def _column(table: Table, name: str) -> Any:
    if name not in table.columns:
        raise ValueError(f"the pairs have no column {name!r}; there are {', '.join(table.columns)}.")
    return table.columns[name]
