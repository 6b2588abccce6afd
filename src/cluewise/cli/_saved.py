"""Saved models of the command line: with the columns they need, the names of their rows, and ids and names of clusters.

A model file has three sections besides the model: ``rows`` says how a table becomes a matrix, ``row_names`` lists the
names of the rows of the fit, and ``clusters`` maps ids of clusters to names.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cluewise import models, tables
from cluewise._typing import Array, Floats, Ints
from cluewise.exceptions import ColumnWarning

if TYPE_CHECKING:
    from cluewise.cli._files import Data
    from cluewise.rows import Rows

__all__ = ["Clusters", "Earlier", "find_clusters", "open_model", "read_rows", "save"]


class Clusters(NamedTuple):
    """The permanent id of each cluster, and names by id."""

    ids: Ints
    names: dict[int, str]

    def number(self, labels: Ints) -> Ints:
        """Id of the cluster of each row; noise stays -1."""
        return np.append(self.ids, -1)[labels]

    def columns(self, labels: Ints) -> dict[str, Array]:
        """Columns for a table: the cluster of each row, and its name where any cluster has one."""
        numbers = self.number(labels)
        found: dict[str, Array] = {"cluster": numbers}
        if self.names:
            found["name"] = np.array([self.names.get(number, "") for number in numbers.tolist()], dtype=object)
        return found


class Earlier(NamedTuple):
    """A saved model, and what the command line has saved with it."""

    path: Path
    model: Any
    rows: dict[str, Any] | None
    row_names: list[str] | None
    names: dict[int, str]

    @property
    def clusters(self) -> Clusters:
        """Ids and names of its clusters."""
        return Clusters(_list_ids(self.model), self.names)


def save(path: Path, model: Any, data: Data, rows: Rows, id_column: str | None, names: dict[int, str]) -> None:
    """Save a fit with everything that a prediction or a later fit needs."""
    plan, arrays = rows.to_state()
    columns = {"id_column": id_column, "table": list(data.table.columns), "plan": plan, "arrays": arrays}
    row_names = None if data.ids is None else data.ids.tolist()
    models.write(path, model, {"rows": columns, "row_names": row_names, "clusters": names})
    if not hasattr(model, "predict"):
        warnings.warn(
            f"{type(model).__name__} does not predict: the saved model serves --keep-ids, but not `cluewise predict`.",
            stacklevel=2,
        )


def open_model(path: Path) -> Earlier:
    """Open a saved model; one that was saved in Python has no sections."""
    model, sections = models.read(path)
    if not hasattr(model, "labels_"):
        raise tables.FileError(f"'{path}' holds a {type(model).__name__}, which has no clusters.")
    found = Earlier(path, model, sections.get("rows"), sections.get("row_names"), sections.get("clusters", {}))
    if not (
        isinstance(found.rows, (dict, type(None)))
        and isinstance(found.row_names, (list, type(None)))
        and isinstance(found.names, dict)
    ):
        raise tables.FileError(f"'{path}' was not saved by `cluewise fit --save`; its sections are of another kind.")
    return found


def read_rows(saved: Earlier, path: Path, id_column: str | None, sheet: str | None) -> tuple[tables.Table, Floats]:
    """A table, and its rows as the model takes them."""
    kept = saved.rows or {}
    id_column = kept.get("id_column") if id_column is None else id_column
    table = tables.read(path, text=() if id_column is None else (id_column,), sheet=sheet)
    if len(table) == 0:
        raise tables.TableError(f"{table.name} has no rows.")
    if "plan" in kept:
        return table, _encode(table, kept)
    if id_column is not None and id_column not in table.columns:
        id_column = None  # rows need no names to be predicted
    columns = saved.model.feature_names_in_.tolist() if hasattr(saved.model, "feature_names_in_") else None
    return table, tables.features(table, id_column=id_column, columns=columns)[0]


def _encode(table: tables.Table, kept: dict[str, Any]) -> Floats:
    """The rows of a table by the plan of the fit; columns that the fit has not seen are named."""
    from cluewise.rows import Rows

    rows = Rows.from_state(kept["plan"], kept["arrays"])
    known = set(rows.feature_names_in_)
    chosen = {name: column for name, column in table.columns.items() if name in known}
    if not chosen:
        raise tables.TableError(f"{table.name} has none of the columns that the model was fitted to.")
    new = [name for name in table.columns if name not in kept["table"]]
    if new:
        shown = ", ".join(f"'{name}'" for name in new[:5]) + (", …" if len(new) > 5 else "")
        warnings.warn(
            f"{table.name} has columns that the fit has not seen, which are not used: {shown}.", ColumnWarning
        )
    return rows.transform(tables.Table(chosen, table.name, table.lines))


def find_clusters(model: Any, data: Data, earlier: Earlier | None) -> Clusters:
    """Ids and names of the clusters of a new fit; those of an earlier model are kept by overlap."""
    if earlier is not None:
        from cluewise.front import keep_ids

        if data.ids is None or earlier.row_names is None:
            keep_ids(model, earlier.model)
        else:
            if set(data.ids).isdisjoint(earlier.row_names):
                warnings.warn(f"no row is in '{earlier.path}' by name, so every cluster is new.", stacklevel=2)
            keep_ids(model, earlier.model, names=data.ids, previous_names=earlier.row_names)
    ids = _list_ids(model)
    names = {} if earlier is None else {i: earlier.names[i] for i in ids.tolist() if i in earlier.names}
    for cluster, name in _name_by_labels(model.labels_, data).items():
        names = {i: other for i, other in names.items() if other != name} | {int(ids[cluster]): name}
    return Clusters(ids, dict(sorted(names.items())))


def _list_ids(model: Any) -> Ints:
    """Ids of the clusters of a fit; their numbers if it has none."""
    ids = np.asarray(getattr(model, "cluster_ids_", np.arange(int(np.max(model.labels_, initial=-1)) + 1)))
    # A cluster without rows has no id yet, but new rows may be in it.
    more = max(0, (getattr(model, "n_clusters", 0) or 0) - len(ids))
    fresh = getattr(model, "_next_id", int(ids.max(initial=-1)) + 1)
    return np.append(ids, fresh + np.arange(more))


def _name_by_labels(labels: Ints, data: Data) -> dict[int, str]:
    """Name a cluster after a class if most labels in it are of that class, and most of these are in it."""
    clues = data.clues
    known = (clues.labels >= 0) & (labels >= 0)
    if not known.any():
        return {}
    counts = np.zeros((int(labels.max()) + 1, len(clues.classes_)), dtype=np.intp)
    np.add.at(counts, (labels[known], clues.labels[known]), 1)
    own, home = counts.argmax(axis=1), counts.argmax(axis=0)
    named = [j for j in range(len(counts)) if counts[j].any() and home[own[j]] == j]
    return {j: str(clues.classes_[own[j]]) for j in named}
