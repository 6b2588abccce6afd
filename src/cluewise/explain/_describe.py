"""Describe the clusters of a fit by the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cluewise._elsewhere import refuse_elsewhere
from cluewise._typing import ArrayLike, Floats, Ints
from cluewise.base import as_clues, generator
from cluewise.explain._changes import find_changes
from cluewise.explain._description import Description, Profile, choose_names
from cluewise.explain._difference import LEAST, Contrast, Difference, contrast
from cluewise.explain._members import CELLS, find_members
from cluewise.explain._rule import ROWS, find_rule
from cluewise.explain._words import TEXTS, find_words
from cluewise.explain.columns import Column, Columns, read_columns

__all__ = ["describe"]

WIDE = 50
"""Maximum number of columns for distances, those with the largest effects."""

LARGE = 20_000_000
"""Maximum number of cells in which columns are ranked; of more a sample of the rows is taken."""

_CONSIDERED = 10  # columns for the rule of a cluster, those with the largest effects


def describe(
    model: Any,
    table: Any,
    *,
    columns: Sequence[str] | None = None,
    names: Sequence[Any] | None = None,
    clues: Any = None,
    without: ArrayLike | None = None,
    n_columns: int = 5,
    n_rows: int = 3,
    random_state: Any = 0,
) -> Description:
    """Describe what makes each cluster, in the words and units of a table.

    For each cluster: size and share, the columns that distinguish it most, a short rule, typical and borderline rows,
    the words that distinguish its texts, and a suggested name. The table is the one that people know, before any
    encoding and scaling: with numbers, categories, dates, texts and empty cells.

    Parameters
    ----------
    model : fitted clusterer or array-like of shape (n,)
        A model with ``labels_``, or the cluster of each row (-1 = noise).
    table : data frame, dict of columns, `cluewise.tables.Table` or array of shape (n, d)
        The rows in the order of the fit.
    columns : sequence of str, optional
        Columns to describe the clusters by; all by default. For an array, the names of its columns.
    names : sequence, optional
        Names of the rows; by default those in a column called id, name, key or similar, if there is one.
    clues : Clues or partial labels, optional
        The clues of the fit; by default those that the model keeps. They only matter with ``without``.
    without : array-like of shape (n,), optional
        Clusters of the same method without clues. The description then tells which rows changed their cluster because
        of the clues, and which clues decided.
    n_columns : int, default=5
        Maximum number of differences that are told.
    n_rows : int, default=3
        Number of typical and of borderline rows.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the samples that are drawn if there are many rows.

    Returns
    -------
    Description
        ``print`` shows it; ``to_dict()`` returns data for JSON.

    Notes
    -----
    Columns are ranked by Cliff's delta [Cliff1993]_ between the cluster and all other rows; differences below 0.147 are
    not told. The clusters were made from the same rows, so that these are not tests: some columns always differ.

    Typical rows are nearest to the mean of their cluster, with columns of equal weight; texts do not count. Borderline
    rows have the smallest ``margin_`` of the model, or else the smallest difference of squared distances to the nearest
    other cluster and to their own. A rule comes from a decision tree of depth 3. Words are ranked by c-TF-IDF
    [Grootendorst2022]_.

    All rows count for sizes, differences, and precision and coverage of rules. With more than 20,000 rows, trees are
    grown and texts are read on a sample; ``sampled`` tells so.

    References
    ----------
    .. [Cliff1993] N. Cliff, "Dominance statistics: Ordinal analyses to answer ordinal questions", Psychological
       Bulletin 114, 1993.
    .. [Grootendorst2022] M. Grootendorst, "BERTopic: Neural topic modeling with a class-based TF-IDF procedure",
       2022.

    Examples
    --------
    >>> import cluewise as cw
    >>> table = {
    ...     "customer": ["Ann", "Ben", "Cleo", "Dan", "Eve", "Flo"],
    ...     "spend": [410.0, 380.0, 450.0, 95.0, None, 110.0],
    ...     "city": ["Paris", "Paris", "Paris", "Rome", "Oslo", "Paris"],
    ... }
    >>> print(cw.describe([0, 0, 0, 1, 1, 1], table))
    Cluster 0 (high spend, Paris): 3 rows, 50 %
      spend 4× the rest (410 against 102); city Paris 100 % against 33 %
      rule: spend ≥ 200: covers 100 %, precision 100 %
      typical: Ann, Ben, Cleo; borderline: Ben, Ann, Cleo
    Cluster 1 (low spend, not Paris): 3 rows, 50 %
      spend 0.25× the rest (102 against 410); city Paris 33 % against 100 %
      rule: spend < 200: covers 67 %, precision 100 %
      typical: Flo, Dan, Eve; borderline: Eve, Flo, Dan
    Column customer is left out: it differs in every row.
    """
    for parameter, value in (("n_columns", n_columns), ("n_rows", n_rows)):
        if value < 0:
            raise ValueError(f"{parameter}={value} must be 0 or more.")
    refuse_elsewhere(table, "describe", "clusters")
    labels = _get_labels(model)
    read = read_columns(table, columns)
    if read.n != len(labels):
        raise ValueError(f"the table has {read.n} rows, but there are {len(labels)} labels.")
    if names is not None and len(names) != read.n:
        raise ValueError(f"names has {len(names)} entries, but the table has {read.n} rows.")
    clusters = np.unique(labels[labels >= 0])
    if not len(clusters):
        raise ValueError("there are no clusters to describe: all rows are noise.")
    k, rng = len(clusters), generator(random_state)
    codes = np.where(labels >= 0, np.searchsorted(clusters, labels), -1)
    size = np.bincount(codes[codes >= 0], minlength=k)

    strength, exact = _rank(read.columns, codes, k, rng)
    words, differences = _read_texts(read.columns, codes, k, rng)
    ranked = []
    for c in range(k):
        order = np.argsort(-strength[:, c], kind="stable")
        ranked.append([read.columns[j] for j in order[:_CONSIDERED] if strength[j, c] > 0])
        for column in ranked[c][:n_columns]:
            if column.name not in exact:
                exact[column.name] = contrast(column, codes, k)
            differences[c].append(exact[column.name].tell(c, codes))
        told = [difference for difference in differences[c] if abs(difference.effect) >= LEAST]
        differences[c] = sorted(told, key=lambda difference: -abs(difference.effect))[:n_columns]
    rules = [find_rule(ranked[c], codes == c, rng) for c in range(k)]
    strongest = np.argsort(-strength.max(axis=1, initial=0), kind="stable")[:WIDE]
    telling = [read.columns[j] for j in sorted(strongest)]
    members = find_members(telling, codes, k, _get_margin(model, len(labels)), n_rows, rng)
    titles = choose_names(differences)
    row_names = read.names if names is None else list(map(str, names))
    profiles = tuple(
        Profile(
            int(clusters[c]),
            titles[c],
            int(size[c]),
            float(size[c] / len(labels)),
            tuple(differences[c]),
            {name: tuple(lists[c]) for name, lists in words.items()},
            rules[c],
            members[c].typical,
            members[c].borderline,
            tuple(int(clusters[other]) for other in members[c].others),
            row_names,
        )
        for c in range(k)
    )
    changes = None
    if without is not None:
        known = as_clues(getattr(model, "clues_", None) if clues is None else clues, len(labels))
        changes = find_changes(labels, _check_labels(without, "without", len(labels)), known)
    noise = int((labels < 0).sum())
    return Description(profiles, len(labels), noise, read.left_out, _list_samples(read, k, size, model), changes)


def _get_labels(model: Any) -> Ints:
    if hasattr(model, "fit") and not hasattr(model, "labels_"):
        raise ValueError(f"this {type(model).__name__} has no clusters yet; fit it first.")
    return _check_labels(getattr(model, "labels_", model), "labels", None)


def _check_labels(labels: Any, name: str, n: int | None) -> Ints:
    found = np.asarray(labels)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, one per row; they are {found.dtype} in shape {found.shape}.")
    if n is not None and len(found) != n:
        raise ValueError(f"{name} has {len(found)} entries, but there are {n} rows.")
    return found.astype(np.int64)


def _get_margin(model: Any, n: int) -> Any:
    margin = getattr(model, "margin_", None)
    return np.asarray(margin) if margin is not None and len(margin) == n else None


def _rank(columns: list[Column], codes: Ints, k: int, rng: np.random.Generator) -> tuple[Floats, dict[str, Contrast]]:
    """The largest effect of each column in each cluster, of shape (columns, k), and what is known of all rows."""
    if len(codes) * len(columns) > LARGE:
        rows = np.sort(rng.choice(len(codes), LARGE // len(columns), replace=False))
        part = codes[rows]
        some = [contrast(column._replace(values=column.values[rows]), part, k) for column in columns]
        return np.array([one.strength for one in some]), {}
    found = {column.name: contrast(column, codes, k) for column in columns}
    return np.array([one.strength for one in found.values()]).reshape(len(columns), k), found


def _read_texts(
    columns: list[Column], codes: Ints, k: int, rng: np.random.Generator
) -> tuple[dict[str, list[list[str]]], list[list[Difference]]]:
    """For each text column the words of each cluster; and for each cluster the words whose shares differ most."""
    words: dict[str, list[list[str]]] = {}
    differences: list[list[Difference]] = [[] for _ in range(k)]
    for column in columns:
        if column.kind == "text":
            rows = np.flatnonzero(~column.missing)
            if len(rows) > TEXTS:
                rows = np.sort(rng.choice(rows, TEXTS, replace=False))
            words[column.name], found = find_words(column, codes, k, rows)
            for own, difference in zip(differences, found):
                own += [] if difference is None else [difference]
    return words, differences


def _list_samples(read: Columns, k: int, size: Ints, model: Any) -> tuple[str, ...]:
    """What was computed on a sample, in words."""
    n, d = read.n, len(read.columns)
    found = []
    if n * d > LARGE:
        found.append(f"Columns were ranked on {LARGE // d} rows; what is told of them counts all {n}.")
    if n > ROWS and k > 1:
        found.append(f"Rules were found on {ROWS} rows for each cluster and measured on all {n}.")
    if n > TEXTS and any(column.kind == "text" for column in read.columns):
        found.append(f"Words come from {TEXTS} texts of each column.")
    if size.max() * k > CELLS and not hasattr(model, "margin_"):
        found.append(f"Borderline rows come from a sample of at most {CELLS // k} rows of each cluster.")
    return tuple(found)
