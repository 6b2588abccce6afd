"""Small generated problems: rows around a few centers, and clues drawn from their true classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues, Groups

__all__ = ["blobs", "move_clues", "sample_clues", "adapt_rows"]


def blobs(n: int, d: int, k: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Draw rows around k centers, in clusters that overlap a little, and the class of each row."""
    y = rng.permutation(np.append(np.arange(k), rng.integers(k, size=n - k)))
    centers = rng.uniform(-6, 6, size=(k, d))
    return centers[y] + rng.normal(size=(n, d)), y


def adapt_rows(estimator: Any, X: Floats) -> Floats:
    """Shift the rows so that no number is negative, if the estimator requires that by its tags."""
    return X - X.min(axis=0) if get_tags(estimator).input_tags.positive_only else X


def sample_clues(y: Array, kinds: Iterable[str], rng: np.random.Generator, *, noise: float = 0.0) -> Clues:
    """Draw a few clues of each kind from true classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        True class of each row, integers from 0.
    kinds : iterable of str
        Kinds of clues: "labels", "must", "cannot", "together", "apart", "partitions", "sizes", "avoid".
    rng : numpy.random.Generator
        Source of randomness.
    noise : float, default=0.0
        Share of labels, links and group members that are wrong.

    Returns
    -------
    Clues
        The clues; without noise the true classes satisfy them.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise.checks import sample_clues
    >>> sample_clues([0, 0, 0, 1, 1, 1], ["must", "sizes"], np.random.default_rng(0))
    Clues(6 rows: 1 must-link, size bounds)
    """
    truth = np.asarray(y)
    draw: dict[str, Callable[[], Any]] = {
        "labels": lambda: np.where(rng.random(len(truth)) < 0.2, _report(truth, noise, rng), -1),
        "must": lambda: _pairs(_report(truth, noise, rng), same=True, rng=rng),
        "cannot": lambda: _pairs(_report(truth, noise, rng), same=False, rng=rng),
        "together": lambda: _together(_report(truth, noise, rng), rng),
        "apart": lambda: _apart(_report(truth, noise, rng), rng),
        "partitions": lambda: np.where(rng.random(len(truth)) < 0.5, _report(truth, noise, rng), -1),
        "sizes": lambda: (np.bincount(truth).min(), np.bincount(truth).max()),
        "avoid": lambda: rng.integers(2, size=len(truth)),
    }
    wanted = set(kinds)
    return Clues(len(truth), **{kind: make() for kind, make in draw.items() if kind in wanted})


def _report(truth: Ints, noise: float, rng: np.random.Generator) -> Ints:
    """The classes as reported by somebody who is wrong about a share of the rows."""
    wrong = rng.random(len(truth)) < noise
    return np.where(wrong, rng.permutation(truth), truth)


def _pairs(y: Ints, *, same: bool, rng: np.random.Generator) -> Ints:
    """About n/3 random pairs of one class, or of two."""
    first, second = rng.integers(len(y), size=(2, len(y)))
    fits = ((y[first] == y[second]) == same) & (first != second)
    return np.column_stack([first, second])[fits][: max(1, len(y) // 3)]


def _together(y: Ints, rng: np.random.Generator) -> Ints:
    """A column of groups, about three rows of one class in each."""
    group = y + (y.max() + 1) * rng.integers(1 + len(y) // 6, size=len(y))
    return np.where(rng.random(len(y)) < 0.4, group, -1)


def _apart(y: Ints, rng: np.random.Generator) -> Ints:
    """A column of groups with at most one row of each class."""
    column = np.full(len(y), -1)
    for c in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == c))[: 1 + len(y) // 8]
        column[members] = np.arange(len(members))
    return column


def move_clues(clues: Clues, rows: Ints, n: int) -> Clues:
    """Move clues into a table of n rows, where row i becomes ``rows[i]``."""

    def column(codes: Ints) -> Ints:
        moved = np.full(n, -1, dtype=codes.dtype)
        moved[rows] = codes
        return moved

    def groups(columns: Iterable[Groups]) -> list[Groups]:
        return [Groups(column(g.codes), g.weights, g.names, g.source) for g in columns]

    return Clues(
        n,
        labels=[None if c < 0 else clues.classes_[c] for c in column(clues.labels)],
        must=rows[clues.must],
        cannot=rows[clues.cannot],
        must_weight=clues.must_weight,
        cannot_weight=clues.cannot_weight,
        together=groups(clues.together),
        apart=groups(clues.apart),
        partitions=[column(clues.partition_codes(t)) for t in range(len(clues.partitions))],
        sizes=None if clues.sizes is None else clues.sizes * [1, n / clues.n],
        avoid=[column(c) for c in clues.avoid],
    )
