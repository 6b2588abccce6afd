"""A doctor for clues: what they are worth, what is wrong with them, and whether they will do harm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from cluewise.advice.doctor import _harm, _page
from cluewise.advice.doctor._clashes import Clash, clashes, repairs
from cluewise.advice.doctor._tryout import Tryout, try_out
from cluewise.base import as_clues, generator
from cluewise.catalogue import get
from cluewise.clues import Clues, Conflict
from cluewise.clues._network import busy, network, peel
from cluewise.exceptions import ClueError, Infeasible
from cluewise.metrics import coherence, metric_agreement, predictability, redundancy
from cluewise.metrics.segments import make_segments

__all__ = ["Diagnosis", "check"]

_LINKS = 1500  # of each kind whose pairs are compared
_CLASHES = 5
_CLIQUE = 64


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What the doctor found; print it to read it. Numbers that could not be had are nan.

    Attributes
    ----------
    clues : Clues
        The clues.
    n_clusters : int or None
        For how many clusters they were checked.
    method : str or None
        For which method.
    unused : tuple of str
        Kinds of clues that the method does not use.
    contradictions : tuple of Conflict
        Rows that must be together and apart, each with the chain that proves it.
    repairs : tuple of str
        Links without which nothing, or less, contradicts itself: those to look at first.
    repair_rows : tuple of (int, int)
        Their rows.
    unrepaired : int
        How many contradictions are left without these links: too many to follow, or of labels and groups alone.
    satisfiable : bool or None
        Whether the clues can all hold (with ``n_clusters`` clusters, if known); None when a short search cannot tell.
    why : str
        Why they cannot; empty otherwise.
    coverage : float
        Share of the rows that a clue speaks of.
    components : mapping of int to int
        How many components (what must-links and labels join) there are of each size above 1.
    redundancy : float
        Share of the clues that follow from the others.
    degeneracy : int
        Every set of components has one that at most so many others of the set exclude. Below ``n_clusters``, hard
        methods cannot fail. Of an ``apart`` group at most 64 others count.
    coherence, agreement, predictability : float
        How the clues fit the data; see `cluewise.metrics.coherence`, `metric_agreement`, `predictability`.
    clashes : tuple of Clash
        Must-links and cannot-links that are most in the way of each other.
    trial : Tryout or None
        What the method did with and without the clues on some rows.
    features : mapping of str to float
        What the probability of harm is computed from; empty when it is not.
    harm : float
        Probability that this method does worse with the clues than without: that its adjusted Rand index to the truth
        is more than 0.02 lower. 0 when the clusterings with and without clues hardly differ; nan when it cannot be
        told, because nothing was tried or too few clues can be held out.
    harmful : bool or None
        Whether the clues had better be left out: ``harm`` is above 0.4. None when that is not known.
    reasons : tuple of str
        Why harm is likely or not.
    recommendation : {"use", "soften", "repair", "ask", "leave"}
        What to do, in a word. "leave" also where distances mislead (agreement below 1/2) and the clusters become
        wider, unless held-out clues come out better by more than one standard error.
    advice : str
        The same in a sentence.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.advice import check
    >>> found = check(cw.Clues(5, must=[(0, 1), (1, 2)], cannot=[(0, 2)]))
    >>> found.recommendation, found.repairs
    ('repair', ('cannot-link 0 – 2 (given)',))
    """

    clues: Clues
    n_clusters: int | None
    method: str | None
    unused: tuple[str, ...]
    contradictions: tuple[Conflict, ...]
    repairs: tuple[str, ...]
    repair_rows: tuple[tuple[int, int], ...]
    unrepaired: int
    satisfiable: bool | None
    why: str
    coverage: float
    components: Mapping[int, int]
    redundancy: float
    degeneracy: int
    coherence: float
    agreement: float
    predictability: float
    clashes: tuple[Clash, ...]
    trial: Tryout | None
    features: Mapping[str, float]
    harm: float
    harmful: bool | None
    reasons: tuple[str, ...]
    recommendation: str
    advice: str

    @property
    def informativeness(self) -> float:
        """Share of the clues that the method's own result without clues breaks; nan when nothing was tried."""
        return float("nan") if self.trial is None else self.trial.informativeness

    def __str__(self) -> str:
        return _page.written(self)


def check(
    clues: Any,
    X: Any = None,
    *,
    estimator: Any = None,
    n_clusters: int | None = None,
    random_state: Any = None,
) -> Diagnosis:
    """Examine clues before they are used: whether they are sound, news, in line with the data, and likely to do harm.

    Nothing is refused and nothing is changed. Without ``X`` only what the clues say of each other is looked at.

    Parameters
    ----------
    clues : Clues or array-like of shape (n,)
        What is known; an array is taken as partial labels.
    X : {array-like, sparse matrix} of shape (n, d), optional
        The data, scaled as they will be for clustering.
    estimator : clusterer, optional
        The method that will use the clues; it is cloned, not changed. By default `PCKMeans`, when the number of
        clusters is known.
    n_clusters : int, optional
        Number of clusters; by default that of ``estimator``, or one per label class if there are two or more. Given, it
        is also that of ``estimator``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the rows and clues that are drawn, and of the method where it has none of its own.

    Returns
    -------
    Diagnosis
        A page to print, and its numbers.

    Notes
    -----
    The method is tried on up to 2000 rows, about half of them rows with clues: without clues, with all of them, and ten
    times with the clues about a tenth of the rows left out, to see whether these come out right. Rows that must-links
    join go together, so that what is held out does not follow from what is kept. That is a dozen fits; twice as many
    for a method without a seed of its own. Coherence is measured on up to 1500 links of each kind. So the time hardly
    depends on the number of rows.

    The probability of harm is a logistic score of three things that the trial shows: how clearly held-out clues come
    out better with the others than without, how much wider the clusters become, and how many of the clues are new to
    the method. It was learned with `PCKMeans`, `E2CP`, `MPCKMeans` and `FlexibleSpectral`, right and partly wrong pairs
    and labels (``experiments/harm.py``). On 34 other data sets (544 cases, harm in 26 % of them) the area under the
    curve is 0.86 and the Brier score 0.129, while a constant has 0.193. In four fifths of the predictions their mean is
    within 0.07 of the share observed; in the highest fifth it is too low, 0.57 where 0.71 did harm. For groups and
    other methods it was not measured. With fewer than five splits it is not given. `compare` looks closer.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.advice import check
    >>> from cluewise.datasets import load
    >>> wine = load("wine", standardize=True)
    >>> clues = cw.Clues.sample(wine.y, pairs=60, random_state=0)
    >>> found = check(clues, wine.X, estimator=cw.PCKMeans(3, random_state=0), random_state=0)
    >>> found.satisfiable, found.harmful
    (True, False)
    """
    known = as_clues(clues, _count(clues, X))
    rng = generator(random_state)
    estimator, k = _method(estimator, n_clusters, known, X)
    used = known if estimator is None else known.only(known.kinds & estimator.card.accepts)
    satisfiable, why = _satisfiable(known, k)
    first = repairs(known)
    parts: dict[str, Any] = {
        "clues": known,
        "n_clusters": k,
        "method": None if estimator is None else type(estimator).__name__,
        "unused": tuple(sorted(known.kinds - used.kinds)),
        "contradictions": known.contradictions,
        "repairs": first.words,
        "repair_rows": first.rows,
        "unrepaired": first.left,
        "satisfiable": satisfiable,
        "why": why,
        "coverage": len(known.tied) / known.n if known.n else float("nan"),
        "components": _sizes(known),
        "redundancy": redundancy(known),
        "degeneracy": _degeneracy(known),
        **_geometry(known, X),
        "trial": None if estimator is None or X is None or not used.kinds else try_out(estimator, X, used, rng),
    }
    parts |= _harm.judged(parts["trial"], used)
    parts["recommendation"], parts["advice"] = _page.recommended(parts, estimator, data=X is not None)
    return Diagnosis(**parts)


def _count(clues: Any, X: Any) -> int:
    """Number of rows."""
    whole = clues if X is None else X
    if whole is None:
        raise ClueError("clues is None, so there is nothing to check; give Clues or partial labels.")
    return whole.shape[0] if hasattr(whole, "shape") else len(whole)


def _method(estimator: Any, n_clusters: int | None, clues: Clues, X: Any) -> tuple[Any, int | None]:
    """The method to try, if there is one, and the number of clusters, if that is known."""
    k = n_clusters
    if estimator is not None and not hasattr(estimator, "card"):
        raise TypeError(_no_clusterer(estimator))
    has = {} if estimator is None else estimator.get_params(deep=False)
    if k is not None and has.get("n_clusters", k) != k:
        estimator = clone(estimator).set_params(n_clusters=k)
    if k is None and estimator is not None and not estimator.card.finds:
        k = has.get("n_clusters")
    if k is None and estimator is None and "labels" in clues.kinds:
        classes = len(np.unique(clues.labels[clues.labels >= 0]))
        k = classes if classes > 1 else None  # one class says nothing about the others
    if estimator is None and X is not None and k is not None:
        method: Any = get("PCKMeans")
        estimator = method(k)
    return estimator, k


def _no_clusterer(estimator: Any) -> str:
    """Why a method cannot be tried, and what could be."""
    name = type(estimator).__name__
    if hasattr(estimator, "steps"):  # a Pipeline, which is slow to import
        return f"estimator is a {name}; give its last step, and the data as that step sees them."
    if hasattr(estimator, "estimators"):
        return f"estimator is a {name}; give one of the methods it chooses from, such as its best_estimator_."
    return f"estimator is {estimator!r}, which takes no clues; give an instance of a clusterer of cluewise."


def _satisfiable(clues: Clues, k: int | None) -> tuple[bool | None, str]:
    if clues.contradictions:
        return False, ""
    if k is None:
        return True, ""
    try:
        clues.require(k)
    except Infeasible as error:
        return False, str(error)
    return clues.feasible(k), ""


def _sizes(clues: Clues) -> dict[int, int]:
    """How many components of each size above 1."""
    size, times = np.unique(np.bincount(clues.components, minlength=1), return_counts=True)
    return {int(s): int(t) for s, t in zip(size, times) if s > 1}


def _degeneracy(clues: Clues) -> int:
    nodes, *linked = busy(clues.graph, clues.cliques)
    if not len(nodes):
        return 0
    net = network(*linked)
    # A set of which all members exclude each other counts for at most so many: beyond, time would be quadratic.
    return peel(net, floor=net.size + 1, cap=min(net.size, _CLIQUE))[1]


def _geometry(clues: Clues, X: Any) -> dict[str, Any]:
    """How the clues fit the data."""
    unknown = float("nan")
    if X is None:
        return {"coherence": unknown, "agreement": unknown, "predictability": unknown, "clashes": ()}
    found = make_segments(X, clues, _LINKS)
    both = len(found.must) and len(found.cannot)
    return {
        "coherence": coherence(X, clues, limit=_LINKS) if both else unknown,
        "agreement": metric_agreement(X, clues),
        "predictability": predictability(X, clues, limit=_LINKS),
        "clashes": clashes(found, clues, _CLASHES),
    }
