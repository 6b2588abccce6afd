"""Cells of an AnnData object: known types in, clusters out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from cluewise.clues import Clues
from cluewise.front import Cluewise, list_ids, name_clusters

__all__ = ["cluster_cells"]

REPRESENTATION = "X_pca"
"""What scanpy's neighbors use by default."""


def cluster_cells(
    adata: Any,
    clusterer: Any = None,
    *,
    known: str | None = None,
    clues: Clues | None = None,
    use_rep: str | None = None,
    key_added: str = "cluewise",
) -> Any:
    """Cluster the cells of an AnnData object, as ``scanpy.tl.leiden`` does, with what is known about some of them.

    Adds to ``adata.obs`` the columns ``key_added``, the cluster of each cell (a cluster of a known type has its name,
    others have numbers), and ``key_added + "_margin"``, how sure it is, if the clusterer tells. Known types stay as
    they are; a cell whose known type seems wrong is put where it fits best, unless the clusterer keeps all clues.

    Parameters
    ----------
    adata : AnnData
        The cells.
    clusterer : estimator, default=Cluewise()
        Clusterer of cluewise. It is cloned, not changed.
    known : str, optional
        Column of ``adata.obs`` with the types of some cells; the others are missing.
    clues : Clues, optional
        More clues about the cells, by position.
    use_rep : str, optional
        Key of ``adata.obsm``, or ``"X"``. None: ``"X_pca"`` if it is there, else ``"X"``.
    key_added : str, default="cluewise"
        Name of the new column.

    Returns
    -------
    estimator
        The fitted clusterer.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> import pandas as pd
    >>> import cluewise as cw
    >>> cells = SimpleNamespace(
    ...     X=np.array([[0.0], [1.0], [8.0], [9.0]]), obsm={}, obs=pd.DataFrame({"type": ["B", None, None, "T"]})
    ... )
    >>> model = cw.adapters.cluster_cells(cells, cw.Cluewise(2, random_state=0), known="type")
    >>> cells.obs["cluewise"].tolist()
    ['B', 'B', 'T', 'T']
    """
    import pandas as pd

    rows = _rows_of(adata, use_rep)
    every = Clues(rows.shape[0]) if clues is None else clues
    if known is not None:
        if known not in adata.obs:
            raise ValueError(f"there is no column {known!r} in adata.obs.")
        every |= Clues.from_labels(adata.obs[known].astype(object).to_numpy())
    model = clone(Cluewise(random_state=0) if clusterer is None else clusterer).fit(rows, clues=every)
    ids = list_ids(model)
    names = name_clusters(model, every, {})
    # As scanpy has them: text, in an order that does not depend on the cells.
    of_cluster = np.array([names.get(int(one), str(one)) for one in ids], dtype=object)
    column = [of_cluster[label] if label >= 0 else "noise" for label in model.labels_.tolist()]
    adata.obs[key_added] = pd.Categorical(column, categories=_sort(set(column)))
    if hasattr(model, "margin_"):
        adata.obs[f"{key_added}_margin"] = np.asarray(model.margin_)
    return model


def _rows_of(adata: Any, use_rep: str | None) -> Any:
    if use_rep is None:
        use_rep = REPRESENTATION if REPRESENTATION in adata.obsm else "X"
    if use_rep == "X":
        return adata.X
    if use_rep not in adata.obsm:
        raise ValueError(f"there is no {use_rep!r} in adata.obsm; pass use_rep='X' or one of {sorted(adata.obsm)}.")
    return np.asarray(adata.obsm[use_rep])


def _sort(names: set[str]) -> list[str]:
    """Numbers by their size, before words."""
    return sorted(names, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0, name))
