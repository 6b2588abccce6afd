"""Documents as counts of words: their likelihood in each cluster, and the words that separate two documents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cluewise._typing import Floats, Ints
from cluewise.core.probability.gaussians import normalize
from cluewise.core.rows import Rows, SparseRows
from cluewise.core.threads import map_blocks

__all__ = [
    "Feedback",
    "counts",
    "gradient",
    "lead",
    "log_joint",
    "memberships",
    "move_weights",
    "refuse_negative",
    "rounding",
]

ENTRIES = 2**16
"""Number of words of pairs of documents in one block."""

PAIRS = 4096
"""Maximum number of broken pairs that move the weights, evenly sampled: labels imply many redundant pairs."""

TINY = 1e-300
"""A word with a smaller share of a document counts as absent: its mean with another share might underflow to zero."""


def counts(rows: Rows, belonging: Floats) -> Floats:
    """(k, d) how often each word occurs in each cluster."""
    if isinstance(rows, SparseRows):
        return np.asarray((rows.X.T @ belonging).T)
    parts = [belonging[part].T @ rows.X[part] for part in rows.big_blocks()]
    return np.sum(parts, axis=0)


def log_joint(rows: Rows, block: Any, shares: Floats, words: Floats, emphasis: Floats) -> Floats:
    """(k, rows) log of share times probability of the document, each word raised to its weight (Eq. 68)."""
    weights = emphasis * np.log(words)
    # One row for each cluster: NumPy is several times faster along long rows than along short ones.
    joint = np.ascontiguousarray((rows.X[block] @ weights.T).T)
    with np.errstate(divide="ignore"):  # log 0 = −∞: a cluster of share 0 gets no rows
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
    """Bound on the rounding error of the log-likelihood of ``words`` words, each at most ln(1 + words / a)."""
    return float(1e-12 * words * np.log1p(words / smoothing))


def lead(joint: Floats) -> Floats:
    """Difference between the largest and the second largest of the k numbers of each row."""
    if len(joint) == 1:
        return np.full(joint.shape[1], np.inf)
    second, first = np.partition(joint, -2, axis=0)[-2:]
    return first - second


def refuse_negative(X: Any, first: int = 0) -> None:
    """Raise an error that names the first negative count; ``first`` is the number of the first row of X."""
    values = X if isinstance(X, np.ndarray) else X.data
    if not values.size or values.min() >= 0:
        return
    found = X.tocoo() if not isinstance(X, np.ndarray) else None
    place = int(np.flatnonzero((values if found is None else found.data) < 0)[0])
    row, column = divmod(place, X.shape[1]) if found is None else (int(found.row[place]), int(found.col[place]))
    raise ValueError(
        f"Negative values in data: FeedbackNaiveBayes expects counts, but X has {float(X[row, column])!r} in row "
        f"{first + row}, column {column}."
    )


class Feedback(NamedTuple):
    """Pairs of rows with a clue."""

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
    """Gradient with respect to the word weights of the distances of cannot-links less those of must-links (Eq. 67)."""
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


def move_weights(emphasis: Floats, slope: Floats, step: float) -> Floats | None:
    """Word weights after one step, with mean 1 and never negative; None when the gradient or the result is zero."""
    steepest = np.abs(slope).max(initial=0.0)
    if not steepest > 0:
        return None
    new = np.maximum(emphasis + step * slope / steepest, 0)
    return new / new.mean() if new.any() else None
