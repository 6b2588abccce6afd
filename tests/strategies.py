"""Hypothesis strategies that several test files share.

Data come from a seed, so that an example is small to read and shrinks quickly: rows without ties around a few
centers, their true classes, and clues drawn from these classes.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.checks import sample_clues

# Parameters for tests that any number of starts, members and rounds must pass: the fewest that are several.
LIGHT = {"n_init": 2, "n_partitions": 20, "n_rounds": 5}
PAIR_KINDS = frozenset({"labels", "must", "cannot", "together", "apart"})


class Case(NamedTuple):
    """One generated problem: rows, the true class of each, clues, and a seed for what else is random."""

    X: np.ndarray
    y: np.ndarray
    k: int
    clues: Clues
    seed: int

    @property
    def rng(self):
        return np.random.default_rng(self.seed)

    def __repr__(self):
        return f"Case(seed={self.seed}, shape={self.X.shape}, k={self.k}, clues={self.clues})"


@st.composite
def cases(draw, kinds=PAIR_KINDS, noise=0.0, max_rows=40, max_columns=12, every=False):
    """Rows around ``k`` centers, with clues of some or ``every`` kind, of which a share of ``noise`` lies."""
    seed = draw(st.integers(0, 2**16), label="seed")
    k = draw(st.integers(2, 5), label="k")
    n = draw(st.integers(3 * k, max_rows), label="n")
    d = draw(st.integers(1, max_columns), label="d")
    spread = draw(st.sampled_from([0.5, 1.5, 4.0]), label="spread")
    some = st.sets(st.sampled_from(sorted(kinds))) if kinds else st.just(set())
    shown = kinds if every else draw(some, label="kinds")
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.append(np.arange(k), rng.integers(k, size=n - k)))
    X = rng.uniform(-10, 10, size=(k, d))[y] + spread * rng.normal(size=(n, d))
    return Case(X, y, k, sample_clues(y, shown, rng, noise=noise), seed)


@st.composite
def blocks(draw, grid=False):
    """A block of scores as the kernels see it: ``(x, centers, labels, rng)``, float32 or float64, maybe with ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16), label="seed"))
    n = draw(st.integers(1, 20), label="n")
    k = draw(st.integers(1, 5), label="k")
    d = draw(st.integers(1, 6), label="d")
    dtype = draw(st.sampled_from([np.float32, np.float64]), label="dtype")
    ties = draw(st.booleans(), label="ties") or grid
    shape = (n + k, d)
    points = (rng.integers(-2, 3, size=shape) if ties else rng.normal(size=shape)).astype(dtype)
    labels = rng.integers(k, size=n).astype(np.int32)
    return points[:n], points[n:], labels, rng


def random_case(seed, n=8, groups=True):
    """Rows without ties and clues that three classes satisfy."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = rng.integers(3, size=n)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(rng.integers(1, n))])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    given = {"must": pairs[same], "cannot": pairs[~same]}
    if groups and seed % 2:
        given["labels"] = np.where(rng.random(n) < 0.3, y, -1)
    if groups and seed % 3 == 0:
        column = np.full(n, -1)
        for c in range(3):
            column[np.flatnonzero(y == c)[:2]] = np.arange(2)[: (y == c).sum()]
        given["apart"] = column
    return X, Clues(n, **given)
