"""Describe the clusters of a fit by the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cluewise._typing import ArrayLike, Ints
from cluewise.base import as_clues, generator
from cluewise.explain._changes import find_changes
from cluewise.explain._description import Description, Profile, choose_names
from cluewise.explain._difference import LEAST, Difference, contrast
from cluewise.explain._members import CELLS, find_members
from cluewise.explain._rule import ROWS, find_rule
from cluewise.explain._words import TEXTS, find_words
from cluewise.explain.columns import Column, read_columns

__all__ = ["describe"]

_CONSIDERED = 10  # columns for the rule of a cluster, those with the largest effects


def describe(
    model: Any,
    table: Any,
    *,
    columns: Sequence[str] | None = None,
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
        The rows in the order of the fit. A column called id, name, key or similar names them.
    columns : sequence of str, optional
        Columns to describe the clusters by; all by default. For an array, the names of its columns.
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

    Typical rows are nearest to the mean of their cluster, with columns of equal weight. Borderline rows have the
    smallest ``margin_`` of the model, or else the smallest difference of squared distances to the nearest other
    cluster and to their own. A rule comes from a decision tree of depth 3. Words are ranked by c-TF-IDF
    [Grootendorst2022]_.

    All rows count for sizes, differences, and precision and coverage of rules. With more than 20 000 rows, trees are
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
    labels = _get_labels(model)
    read = read_columns(table, columns)
    if read.n != len(labels):
        raise ValueError(f"the table has {read.n} rows, but there are {len(labels)} labels.")
    clusters = np.unique(labels[labels >= 0])
    if not len(clusters):
        raise ValueError("there are no clusters to describe: all rows are noise.")
    k, rng = len(clusters), generator(random_state)
    codes = np.where(labels >= 0, np.searchsorted(clusters, labels), -1)
    size = np.bincount(codes[codes >= 0], minlength=k)

    differences, ranked, words = _compare(read.columns, codes, k, n_columns, rng)
    rules = [find_rule(ranked[c], codes == c, rng) for c in range(k)]
    members = find_members(read.columns, codes, k, _get_margin(model, len(labels)), n_rows, rng)
    names = choose_names(differences)
    profiles = tuple(
        Profile(
            int(clusters[c]),
            names[c],
            int(size[c]),
            float(size[c] / len(labels)),
            tuple(differences[c]),
            {name: tuple(lists[c]) for name, lists in words.items()},
            rules[c],
            members[c].typical,
            members[c].borderline,
            tuple(int(clusters[other]) for other in members[c].others),
            read.names,
        )
        for c in range(k)
    )
    changes = None
    if without is not None:
        known = as_clues(getattr(model, "clues_", None) if clues is None else clues, len(labels))
        changes = find_changes(labels, _check_labels(without, "without", len(labels)), known)
    noise = int((labels < 0).sum())
    return Description(
        profiles, len(labels), noise, read.left_out, _list_samples(len(labels), k, words, model), changes
    )


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


def _compare(
    columns: list[Column], codes: Ints, k: int, most: int, rng: np.random.Generator
) -> tuple[list[list[Difference]], list[list[Column]], dict[str, list[list[str]]]]:
    """For each cluster its differences and its columns, the strongest first; and its words by text column."""
    contrasts = [contrast(column, codes, k) for column in columns]
    strength = np.array([c.strength for c in contrasts]).reshape(len(contrasts), k)
    words: dict[str, list[list[str]]] = {}
    said: list[list[Difference]] = [[] for _ in range(k)]
    for column in columns:
        if column.kind == "text":
            rows = np.flatnonzero(~column.missing)
            if len(rows) > TEXTS:
                rows = np.sort(rng.choice(rows, TEXTS, replace=False))
            words[column.name], found = find_words(column, codes, k, rows)
            for own, difference in zip(said, found):
                own += [] if difference is None else [difference]
    ranked = []
    for c in range(k):
        order = np.argsort(-strength[:, c], kind="stable")
        ranked.append([columns[j] for j in order[:_CONSIDERED] if strength[j, c] > 0])
        said[c] += [contrasts[j].tell(c, codes) for j in order[:most] if strength[j, c] >= LEAST]
        told = [difference for difference in said[c] if abs(difference.effect) >= LEAST]
        said[c] = sorted(told, key=lambda difference: -abs(difference.effect))[:most]
    return said, ranked, words


def _list_samples(n: int, k: int, words: Any, model: Any) -> tuple[str, ...]:
    found = []
    if n > ROWS and k > 1:
        found.append(f"Rules were found on {ROWS} rows for each cluster and measured on all {n}.")
    if n > TEXTS and words:
        found.append(f"Words come from {TEXTS} texts of each column.")
    if n * k > CELLS and not hasattr(model, "margin_"):
        found.append("Borderline rows come from a sample.")
    return tuple(found)
