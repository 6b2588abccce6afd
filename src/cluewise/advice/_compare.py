"""Compare a method with clues and without: do they help?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from cluewise._docs import documented
from cluewise._elsewhere import refuse_elsewhere
from cluewise._notebook import Report
from cluewise._typing import ArrayLike, Ints
from cluewise.advice._runner import get_labels
from cluewise.base import as_clues, generator
from cluewise.clues import Clues
from cluewise.exceptions import ClueError
from cluewise.metrics import accuracy, ari, held_out, nmi, satisfaction

__all__ = ["Comparison", "Outcome", "compare"]

_WORDS = {"must": "must-links", "cannot": "cannot-links", "together": "together groups", "apart": "apart groups"}
_WHOLE = {"sizes": "bounds on sizes", "avoid": "clusterings to avoid"}  # clues that concern all rows


@dataclass(frozen=True, eq=False)
class Outcome:
    """One side of a comparison.

    Attributes
    ----------
    model : estimator
        The fitted clusterer.
    satisfaction : dict of str to float
        Share of the clues that the clustering keeps, by kind.
    held_out : dict of str to float
        The same for held-out clues, averaged over the splits; empty if none could be held out.
    scores : dict of str to float
        Agreement with the true classes, if given.

    Examples
    --------
    >>> import cluewise as cw
    >>> result = cw.compare(cw.PCKMeans(2), [[0.0], [1.0], [8.0], [9.0]], [0, -1, 1, -1], random_state=0)
    >>> result.without.satisfaction
    {'labels': 1.0}
    """

    model: Any
    satisfaction: Mapping[str, float]
    held_out: Mapping[str, float]
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def labels(self) -> Ints:
        """Cluster of each row."""
        return self.model.labels_

    @property
    def objective(self) -> float:
        """The objective of the method; with clues it may include the cost of broken ones. nan if it has none."""
        return float(getattr(self.model, "objective_", np.nan))


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Report):
    """A method with clues compared with the same method without; print it to read it.

    Attributes
    ----------
    clues : Clues
        The clues that the method uses.
    with_clues, without : Outcome
        The two fits.
    moved : int
        Number of rows that change their cluster, after the best matching of clusters.
    agreement : float
        Adjusted Rand index of the two clusterings.
    gains : tuple of float
        For each split, the share of held-out clues kept with the other clues minus that without any; each kind of
        clue counts the same.
    test_size : float
        Share of the clues held out in each split.
    n_splits : int
        Number of splits that were asked for.

    Examples
    --------
    >>> import cluewise as cw
    >>> result = cw.compare(cw.PCKMeans(2), [[0.0], [1.0], [8.0], [9.0]], [0, -1, 1, -1], random_state=0)
    >>> result.moved, result.agreement, result.helped
    (0, 1.0, None)
    """

    clues: Clues
    with_clues: Outcome
    without: Outcome
    moved: int
    agreement: float
    gains: tuple[float, ...]
    test_size: float
    n_splits: int = 10

    @property
    def gain(self) -> float:
        """Mean of ``gains``; nan if there are none."""
        return float(np.mean(self.gains)) if self.gains else float("nan")

    @property
    def gain_error(self) -> float:
        """Standard error of ``gain``; nan with fewer than two splits.

        The fits of different splits share most of their clues, so their gains are not independent: the variance is
        corrected as in Nadeau and Bengio (2003).
        """
        n = len(self.gains)
        if n < 2:
            return float("nan")
        overlap = self.test_size / (1 - self.test_size)
        return float(np.std(self.gains, ddof=1) * np.sqrt(1 / n + overlap))

    @property
    def helped(self) -> bool | None:
        """Whether held-out clues are kept more often (True) or less often (False) than without clues.

        None if that is unclear: the difference is at most twice its standard error, or fewer than two splits were
        possible. This is about rows that the clues do not mention; what clues say about the rows that they mention,
        many methods keep in any case.
        """
        if len(self.gains) < 2 or abs(self.gain) <= 2 * self.gain_error:
            return None
        return self.gain > 0

    def __str__(self) -> str:
        n = self.clues.n
        rows = [("", "with clues", "without"), *_table(self.with_clues, self.without)]
        width = max(len(row[0]) for row in rows)
        method = type(self.with_clues.model).__name__
        return "\n".join(
            [
                f"{method}, {repr(self.clues)[6:-1]}.",
                *(f"{name:<{width}}  {a:>10}  {b:>10}" for name, a, b in rows),
                f"{self.moved} of {n} rows change their cluster (ARI of the two clusterings {self.agreement:.3f}).",
                self._verdict(),
            ]
        )

    def _verdict(self) -> str:
        model = self.with_clues.model
        if not has_fit_parameter(model, "clues"):
            return f"{type(model).__name__} takes no clues, so both results are the same."
        if len(self.gains) < 2:
            whole = [words for kind, words in _WHOLE.items() if kind in self.clues.kinds]
            why = "they are all connected, so none can be held out"
            if whole and self.clues.kinds <= set(_WHOLE):
                why = f"{' and '.join(whole)} cannot be held out"
            elif self.n_splits < 2:
                why = "it takes at least two splits"
            return f"Whether the clues helped is unknown: {why}."
        points = f"{100 * self.gain:+.1f} ± {100 * self.gain_error:.1f} points in {len(self.gains)} splits"
        if self.helped is None:
            return f"Beyond the rows that they mention, the clues make no clear difference (held-out clues {points})."
        verdict = "more often: the clues helped" if self.helped else "less often: the clues did harm"
        return f"Held-out clues are kept {verdict} ({points})."


@documented
def compare(
    estimator: Any,
    X: Any,
    clues: Any,
    *,
    truth: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_splits: int = 10,
    test_size: float = 0.2,
    random_state: Any = None,
) -> Comparison:
    """Fit a method with clues and without, and report whether they helped.

    That a clustering keeps the clues it was fitted with proves little. So clues are also held out: some rows are
    chosen, every clue that touches them is held out, the method is fitted with the others, and the share of held-out
    clues that it keeps is measured. A row and the rows must-linked to it are chosen together.

    Parameters
    ----------
    estimator : clusterer
        Any clusterer with scikit-learn's interface; it is cloned. If its ``fit`` takes no clues, both results are the
        same, and the report says how many clues they keep.
    {X}
    {some_clues}
    truth : array-like of shape (n,), optional
        True classes, for scores that do not depend on clues.
    {sample_weight}
    n_splits : int, default=10
        Number of splits; the method is fitted twice for each.
    test_size : float, default=0.2
        Share of the clues to hold out.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the splits, and of the method if it has none of its own.

    Returns
    -------
    Comparison
        Both results side by side.

    Notes
    -----
    The two fits of a split start from the same seed, and every split has a seed of its own, so that a lucky start is
    not mistaken for an effect of the clues. Classes and clusters are matched as well as possible on both sides, also
    for methods that put class c into cluster c.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.datasets import load
    >>> wine = load("wine", standardize=True)
    >>> clues = cw.Clues.sample(wine.y, pairs=200, random_state=0)
    >>> result = cw.compare(cw.PCKMeans(3, random_state=0), wine.X, clues, truth=wine.y, random_state=0)
    >>> result.with_clues.scores["ari"] > result.without.scores["ari"]
    True
    """
    if n_splits < 0 or not 0 < test_size < 1:
        raise ValueError(f"n_splits={n_splits} and test_size={test_size} need n_splits >= 0 and 0 < test_size < 1.")
    refuse_elsewhere(X, "compare")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    known = as_clues(clues, n)
    rng = generator(random_state)
    own = "random_state" in estimator.get_params(deep=False)
    fixed = own and isinstance(estimator.random_state, (int, np.integer))

    takes, card = has_fit_parameter(estimator, "clues"), getattr(estimator, "card", None)
    used = known if card is None else known.only(known.kinds & card.accepts)

    def fit(clues: Clues | None, seed: int | None) -> Any:
        model = clone(estimator)
        if own and seed is not None:
            model.set_params(random_state=seed)
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        return model.fit(X, **more | ({"clues": clues} if takes else {}))

    seed = None if fixed else int(rng.integers(2**31))
    after, before = fit(known, seed), fit(None, seed)
    if not used.kinds:
        raise ClueError(f"there are no clues that {type(estimator).__name__} uses, so nothing can be compared.")

    kept_with: list[dict[str, float]] = []
    kept_without: list[dict[str, float]] = []
    for rows in held_out.draw_splits(used, n_splits, test_size, rng):
        seed = int(rng.integers(2**31))
        kept_with.append(held_out.kept_shares(get_labels(fit(held_out.leave_out(used, rows), seed)), used, rows))
        kept_without.append(held_out.kept_shares(get_labels(fit(None, seed)), used, rows))

    both = get_labels(before), get_labels(after)
    return Comparison(
        clues=used,
        with_clues=_summarize(after, used, kept_with, truth),
        without=_summarize(before, used, kept_without, truth),
        moved=round(n * (1 - accuracy(*both))),
        agreement=ari(*both),
        gains=tuple(_mean(a) - _mean(b) for a, b in zip(kept_with, kept_without)),
        test_size=test_size,
        n_splits=n_splits,
    )


def _mean(shares: Mapping[str, float]) -> float:
    return sum(shares.values()) / len(shares)


def _summarize(model: Any, clues: Clues, kept: list[dict[str, float]], truth: ArrayLike | None) -> Outcome:
    labels = get_labels(model)
    return Outcome(model, satisfaction(labels, clues), _means(kept), _scores(truth, labels))


def _means(splits: list[dict[str, float]]) -> dict[str, float]:
    """Mean share of each kind over the splits that held out such a clue."""
    kinds = dict.fromkeys(kind for shares in splits for kind in shares)
    return {kind: float(np.mean([s[kind] for s in splits if kind in s])) for kind in kinds}


def _scores(truth: ArrayLike | None, labels: Ints) -> dict[str, float]:
    if truth is None:
        return {}
    return {"ari": ari(truth, labels), "nmi": nmi(truth, labels), "accuracy": accuracy(truth, labels)}


def _table(a: Outcome, b: Outcome) -> list[tuple[str, str, str]]:
    rows = []
    for title, left, right in (
        ("{} kept", a.satisfaction, b.satisfaction),
        ("{} kept when held out", a.held_out, b.held_out),
    ):
        for kind in left:
            name = title.format(_WORDS.get(kind, kind))
            rows.append((name, f"{100 * left[kind]:.1f} %", f"{100 * right[kind]:.1f} %"))
    names = {"ari": "ARI to the truth", "nmi": "NMI to the truth", "accuracy": "accuracy"}
    rows += [(names[key], f"{a.scores[key]:.3f}", f"{b.scores[key]:.3f}") for key in a.scores]
    return rows
