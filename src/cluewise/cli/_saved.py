"""Saved models of the command line: with the columns they need, the names of their rows, and ids and names of clusters.

A model file has three sections besides the model: ``rows`` says how a table becomes a matrix, ``row_names`` lists the
names of the rows of the fit, and ``clusters`` maps ids of clusters to names.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cluewise import models, tables
from cluewise._typing import Array, Floats, Ints
from cluewise.exceptions import ColumnWarning, OtherRows
from cluewise.front import keep_ids, list_ids, name_clusters

if TYPE_CHECKING:
    from cluewise.rows import Rows
    from cluewise.workspace.data import Data

__all__ = [
    "Clusters", "Earlier", "as_earlier", "find_clusters", "list_sections", "name_difference", "open_model", "read_rows",
    "read_same_rows", "save", "warn_of_new",
]  # fmt: skip


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
        return Clusters(list_ids(self.model), self.names)


def save(path: Path, model: Any, data: Data, rows: Rows, id_column: str | None, names: dict[int, str]) -> None:
    """Save a fit with everything that a prediction or a later fit needs."""
    models.write(path, model, list_sections(data, rows, id_column, names))
    if not hasattr(model, "predict"):
        warnings.warn(
            f"{type(model).__name__} does not predict: the saved model serves --keep-ids, but not `cluewise predict`.",
            stacklevel=2,
        )


def list_sections(data: Data, rows: Rows, id_column: str | None, names: dict[int, str]) -> dict[str, Any]:
    """What is saved with a model."""
    plan, arrays = rows.to_state()
    columns = {"id_column": id_column, "table": list(data.table.columns), "plan": plan, "arrays": arrays}
    row_names = data.ids.tolist() if isinstance(data.ids, np.ndarray) else None
    return {"rows": columns, "row_names": row_names, "clusters": names}


def open_model(path: Path) -> Earlier:
    """Open a saved model; one that was saved in Python has no sections."""
    model, sections = models.read(path)
    if not (hasattr(model, "labels_") or hasattr(model, "predict")):  # rows in parts leave no labels in the model
        raise tables.FileError(f"'{path}' holds a {type(model).__name__}, which has no clusters.")
    return as_earlier(path, model, sections)


def as_earlier(path: Path, model: Any, sections: dict[str, Any]) -> Earlier:
    """A model with its sections, which are refused if they are not those of the command line."""
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


def read_same_rows(saved: Earlier, path: Path, id_column: str | None, sheet: str | None) -> tuple[tables.Table, Floats]:
    """The table that a model was fitted to, and its rows; refused if rows came, went or have other names."""
    table, X = read_rows(saved, path, id_column, sheet)
    n, names = len(saved.model.labels_), saved.row_names
    if len(table) != n:
        raise tables.TableError(f"{table.name} has {len(table)} rows, but '{saved.path}' was fitted to {n}.")
    if names is not None:
        known = (saved.rows or {}).get("id_column")
        found, _ = tables.choose_columns(table, id_column=known if id_column is None else id_column)
        for row, (now, then) in enumerate(zip([""] * n if found is None else found, names)):
            if now != then:
                raise tables.TableError(
                    f"{table.name} {table.where(row)} is '{now}', but '{saved.path}' has '{then}' there."
                )
    return table, X


def name_difference(saved: Earlier, table: tables.Table, error: OtherRows) -> tables.TableError:
    """The error for rows that are not those of the model, with the column that differs."""
    from cluewise.rows import Rows

    kept, what = saved.rows or {}, str(error).removesuffix(".")
    if error.columns and "plan" in kept:
        columns = Rows.from_state(kept["plan"], kept["arrays"]).get_feature_names_out()
        what = f"column '{columns[error.columns[0]]}' differs from that of the fit"
    return tables.TableError(f"{table.name} is not what '{saved.path}' was fitted to: {what}.")


def _encode(table: tables.Table, kept: dict[str, Any]) -> Floats:
    """The rows of a table by the plan of the fit; columns that the fit has not seen are named."""
    from cluewise.rows import Rows

    rows = Rows.from_state(kept["plan"], kept["arrays"])
    known = set(rows.feature_names_in_)
    chosen = {name: column for name, column in table.columns.items() if name in known}
    if not chosen:
        raise tables.TableError(f"{table.name} has none of the columns that the model was fitted to.")
    warn_of_new(table.name, table.columns, kept)
    return rows.transform(tables.Table(chosen, table.name, table.lines))


def warn_of_new(name: str, columns: Iterable[str], kept: dict[str, Any]) -> None:
    """Warn of columns that the fit has not seen."""
    new = [column for column in columns if column not in kept["table"]]
    if new:
        shown = ", ".join(f"'{column}'" for column in new[:5]) + (", …" if len(new) > 5 else "")
        warnings.warn(f"{name} has columns that the fit has not seen, which are not used: {shown}.", ColumnWarning)


def find_clusters(model: Any, data: Data, earlier: Earlier | None) -> Clusters:
    """Ids and names of the clusters of a new fit; those of an earlier model are kept by overlap."""
    if earlier is not None:
        if not hasattr(earlier.model, "labels_"):
            raise ValueError(f"'{earlier.path}' was fitted to rows in parts, so it has no rows for --keep-ids.")
        if data.ids is None or earlier.row_names is None:
            keep_ids(model, earlier.model)
        else:
            if set(data.ids).isdisjoint(earlier.row_names):
                warnings.warn(f"no row is in '{earlier.path}' by name, so every cluster is new.", stacklevel=2)
            keep_ids(model, earlier.model, names=data.ids, previous_names=earlier.row_names)
    names = name_clusters(model, data.clues, {} if earlier is None else earlier.names)
    return Clusters(list_ids(model), names)
