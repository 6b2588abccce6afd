"""The words of a text column that distinguish clusters."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Ints
from cluewise.explain._difference import Difference
from cluewise.explain.columns import Column

__all__ = ["TEXTS", "find_words"]

TEXTS = 20_000
"""Maximum number of texts that are read."""

_VOCABULARY = 5_000  # words that are counted, the most frequent ones
_LISTED = 8
_MORE = 1.5  # a word of a cluster is at least so many times as frequent there as in the rest


def find_words(column: Column, codes: Ints, k: int, rows: Ints) -> tuple[list[list[str]], list[Difference | None]]:
    """For each cluster its words by c-TF-IDF [Grootendorst2022]_, and the word whose share of the rows differs most.

    A row counts once for each word in it, so that a long text does not speak for its cluster.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [column.texts[row] for row in rows.tolist()]
    counter = CountVectorizer(binary=True, max_features=_VOCABULARY, min_df=min(2, len(texts)), dtype=np.int64)
    try:
        counts = counter.fit_transform(texts).tocoo()
    except ValueError:  # no word occurs twice
        return [[] for _ in range(k)], [None] * k
    words = counter.get_feature_names_out()
    where = codes[rows]
    held = where[counts.row] >= 0
    table = np.zeros((k, len(words)))
    np.add.at(table, (where[counts.row[held]], counts.col[held]), 1)
    total = np.bincount(counts.col, minlength=len(words))
    size = np.bincount(where[where >= 0], minlength=k)[:, None]
    inside, outside = table / np.maximum(size, 1), (total - table) / np.maximum(len(rows) - size, 1)
    per_cluster = table.sum(axis=1, keepdims=True)
    score = table / np.maximum(per_cluster, 1) * np.log1p(per_cluster.mean() / np.maximum(table.sum(axis=0), 1))
    score[inside < _MORE * outside] = 0
    lists: list[list[str]] = []
    differences: list[Difference | None] = []
    for cluster in range(k):
        best = np.lexsort([words, -score[cluster]])[:_LISTED]
        lists.append([str(words[j]) for j in best if score[cluster, j] > 0])
        gap = inside[cluster] - outside[cluster]
        # Of words that differ as much, one that is there says more than one that is not.
        top = int(np.lexsort([words, -gap, -np.abs(gap).round(9)])[0])
        shares = float(inside[cluster, top]), float(outside[cluster, top])
        differences.append(Difference(column.name, "word", str(words[top]), *shares, float(gap[top])))
    return lists, differences
