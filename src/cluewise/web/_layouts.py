"""Where the rows lie on the map."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from cluewise._typing import Floats
from cluewise.plots.view import project
from cluewise.workspace.data import Data
from cluewise.workspace.names import split_names

__all__ = ["Layouts"]

GIVEN, PCA, UMAP, TSNE = "given", "pca", "umap", "tsne"
MOST = {UMAP: 200_000, TSNE: 5000}
"""Rows up to which a layout is worth its time: minutes for so many with UMAP, half a minute with t-SNE."""

TITLES = {UMAP: "UMAP", TSNE: "t-SNE"}
_FEWEST = 15  # rows that have neighbors worth the name
_DIRECTIONS = 50  # of the largest variance, of which t-SNE is made
_PERPLEXITY = 30


class Layouts:
    """The layouts of a project; those that take long are computed in the background, and announced.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The encoded rows.
    data : Data
        The table.
    given : None, str or array-like of shape (n, 2)
        Two columns of the table, or coordinates, which come first.
    announce : callable
        Takes the layout as the page reads it, when it becomes ready.
    """

    def __init__(self, X: Floats, data: Data, given: Any, announce: Callable[[dict[str, Any]], None]) -> None:
        self._X, self._announce = X, announce
        self._titles: dict[str, str] = {}
        self._ready: dict[str, Floats] = {}
        if given is not None:
            self._titles[GIVEN], self._ready[GIVEN] = _read_given(given, data)
        self._titles[PCA], self._ready[PCA] = _place(X)
        name = UMAP if find_spec("umap") is not None else TSNE
        if _FEWEST < len(X) <= MOST[name] and X.shape[1] > 2:
            self._titles[name] = f"{TITLES[name]} (being computed)"
            threading.Thread(target=self._compute, args=[name], name=f"cluewise-{name}", daemon=True).start()

    def __getitem__(self, name: str) -> Floats:
        return self._ready[name]

    def __contains__(self, name: str) -> bool:
        return name in self._ready

    def list(self) -> list[dict[str, Any]]:
        """All layouts, as the page reads them."""
        return [{"id": name, "title": title, "ready": name in self._ready} for name, title in self._titles.items()]

    def _compute(self, name: str) -> None:
        try:
            xy = (_find_umap if name == UMAP else _find_tsne)(self._X)
            if not np.isfinite(xy).all():
                raise ValueError("some rows have no place.")
        except Exception:  # whatever it is, there are other layouts
            self._titles[name] = f"{TITLES[name]} (did not work)"
        else:
            self._titles[name] = TITLES[name]
            self._ready[name] = np.ascontiguousarray(xy, dtype=np.float32)
        self._announce({"id": name, "title": self._titles[name], "ready": name in self._ready})


def _find_umap(X: Floats) -> Floats:
    import umap

    xy: Floats = umap.UMAP(random_state=0).fit_transform(X)
    return xy


def _find_tsne(X: Floats) -> Floats:
    from sklearn import decomposition, manifold

    if X.shape[1] > _DIRECTIONS:
        X = decomposition.PCA(_DIRECTIONS, svd_solver="randomized", random_state=0).fit_transform(X)
    xy: Floats = manifold.TSNE(perplexity=min(_PERPLEXITY, (len(X) - 1) / 3), random_state=0).fit_transform(X)
    return xy


def _place(X: Floats) -> tuple[str, Floats]:
    if X.shape[1] == 1:  # spread vertically, so that points do not hide each other
        height = (np.arange(len(X)) * 0.6180339887) % 1
        return "the only column", np.column_stack([X[:, 0], height]).astype(np.float32)
    xy, shares = project(X)
    return f"PCA ({100 * shares.sum():.0f} %)", xy.astype(np.float32)


def _read_given(given: Any, data: Data) -> tuple[str, Floats]:
    if not isinstance(given, str):
        xy = np.asarray(given, dtype=np.float32)
        if xy.shape != (len(data.table), 2) or not np.isfinite(xy).all():
            raise ValueError(
                f"the layout must be two finite numbers for each of {len(data.table)} rows; its shape is {xy.shape}."
            )
        return "given", xy
    names = split_names(given)
    if len(names) != 2:
        raise ValueError(f"--layout names two columns; '{given}' names {len(names)}.")
    columns = []
    for name in names:
        if name not in data.table.columns:
            raise ValueError(f"{data.table.name} has no column '{name}' for --layout.")
        column = data.table.columns[name]
        if column.dtype.kind == "O":
            raise ValueError(f"column '{name}' of {data.table.name} holds no numbers, so it cannot be a layout.")
        values = column.astype(np.float32)
        columns.append(np.where(np.isfinite(values), values, np.nanmedian(values[np.isfinite(values)])))
    return f"{names[0]}, {names[1]}", np.column_stack(columns)
