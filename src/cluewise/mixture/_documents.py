"""Documents as counts of words: how likely each is in each cluster, and which words tell two of them apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cluewise._typing import Floats, Ints
from cluewise.core.probability.gaussians import normalize
from cluewise.core.rows import Rows, SparseRows
from cluewise.core.threads import map_blocks

__all__ = ["Feedback", "counts", "gradient", "lead", "log_joint", "memberships", "moved", "refuse_negative", "rounding"]

ENTRIES = 2**16
"""Words of pairs of documents that are looked at in one go."""

PAIRS = 4096
"""Of more broken pairs an even selection moves the weights: labels stand for very many pairs that say the same."""

TINY = 1e-300
"""A word of a smaller share of a document is not in it: its mean with another share might be zero."""


def counts(rows: Rows, belonging: Floats) -> Floats:
    """(k, d) how often each word occurs in each cluster."""
    if isinstance(rows, SparseRows):
        return np.asarray((rows.X.T @ belonging).T)
    parts = [belonging[part].T @ rows.X[part] for part in rows.big_blocks()]
    return np.sum(parts, axis=0)


def log_joint(rows: Rows, block: Any, shares: Floats, words: Floats, emphasis: Floats) -> Floats:
    """(k, rows) log of share times probability of the document, words counting as often as they weigh (Eq. 68)."""
    weights = emphasis * np.log(words)
    # One row for each cluster: NumPy is several times as fast along long rows as along short ones.
    joint = np.ascontiguousarray((rows.X[block] @ weights.T).T)
    with np.errstate(divide="ignore"):  # a cluster without share has no rows
        joint += np.log(shares)[:, None]
    return joint


def memberships(rows: Rows, shares: Floats, words: Floats, emphasis: Floats) -> tuple[Ints, Floats, float]:
    """Most likely cluster of each row, (n, k) probability of each cluster, and the log-likelihood of all rows."""
    labels, out = np.empty(rows.n, dtype=np.int32), np.empty((rows.n, len(shares)))

    def work(block: slice) -> float:
        joint = log_joint(rows, block, shares, words, emphasis)
        labels[block] = joint.argmax(axis=0)
        total = normalize(joint)
        out[block] = joint.T
        return float(total.sum() if rows.weight is None else total @ rows.weights(block))

    return labels, out, sum(map_blocks(work, rows.blocks(len(shares))))


def rounding(words: float, smoothing: float) -> float:
    """How far rounding may move the log-likelihood of so many words, each of them about −ln p ≤ ln(1 + words / a)."""
    return float(1e-12 * words * np.log1p(words / smoothing))


def lead(joint: Floats) -> Floats:
    """How far the best of the k numbers of each row is above the next."""
    if len(joint) == 1:
        return np.full(joint.shape[1], np.inf)
    second, first = np.partition(joint, -2, axis=0)[-2:]
    return first - second


def refuse_negative(X: Any, first: int = 0) -> None:
    values = X if isinstance(X, np.ndarray) else X.data
    if not values.size or values.min() >= 0:
        return
    found = X.tocoo() if not isinstance(X, np.ndarray) else None
    place = int(np.flatnonzero((values if found is None else found.data) < 0)[0])
    row, column = divmod(place, X.shape[1]) if found is None else (int(found.row[place]), int(found.col[place]))
    raise ValueError(
        f"Negative values in data: FeedbackNaiveBayes counts words, but X holds {float(X[row, column])!r} in row "
        f"{first + row}, column {column}."
    )


class Feedback(NamedTuple):
    """All pairs that the clues speak of."""

    pairs: Ints  # (m, 2)
    force: Floats  # (m,) weight of cannot-links, minus the weight of must-links

    def broken(self, labels: Ints) -> Feedback:
        """The pairs that a clustering breaks."""
        together = labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]]
        wrong = together == (self.force > 0)
        return Feedback(self.pairs[wrong], self.force[wrong])

    def some(self) -> Feedback:
        """At most `PAIRS` of the pairs, evenly spaced."""
        every = -(-len(self.pairs) // PAIRS)
        return self if every <= 1 else Feedback(self.pairs[::every], self.force[::every])

    @property
    def weight(self) -> float:
        """Summed weight of the pairs."""
        return float(np.abs(self.force).sum())


def gradient(X: Any, feedback: Feedback) -> Floats:
    """How fast the distance of cannot-links grows and that of must-links shrinks with each word's weight (Eq. 67)."""
    out = np.zeros(X.shape[1])
    width = X.shape[1] if isinstance(X, np.ndarray) else 1 + X.nnz // X.shape[0]
    size = max(ENTRIES // (2 * width), 1)
    for start in range(0, len(feedback.pairs), size):
        pairs, force = feedback.pairs[start : start + size], feedback.force[start : start + size]
        both = csr_array(X[pairs.T.ravel()])
        pair = np.repeat(np.tile(np.arange(len(pairs)), 2), np.diff(both.indptr))
        document = np.repeat(np.arange(2 * len(pairs)), np.diff(both.indptr))
        count, word = both.data.astype(np.float64), both.indices
        share = np.divide(count, np.bincount(document, weights=count)[document], out=count * 0, where=count > 0)
        present = share > TINY
        pair, count, word, share = pair[present], count[present], word[present], share[present]
        _, place = np.unique(pair * X.shape[1] + word, return_inverse=True)
        mean = np.bincount(place, weights=share)[place] / 2  # Eq. 65
        out += np.bincount(word, weights=force[pair] * count * np.log(share / mean), minlength=len(out))
    return out


def moved(emphasis: Floats, slope: Floats, step: float) -> Floats | None:
    """Weights of words after one step, 1 on average and never negative; None when there is nowhere to go."""
    steepest = np.abs(slope).max(initial=0.0)
    if not steepest > 0:
        return None
    new = np.maximum(emphasis + step * slope / steepest, 0)
    return new / new.mean() if new.any() else None
