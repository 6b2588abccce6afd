"""Check clues before use: whether they are consistent, useful, and likely to do harm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from cluewise._docs import documented
from cluewise._elsewhere import refuse_elsewhere
from cluewise._notebook import Report
from cluewise.advice import _page
from cluewise.advice._clashes import Clash, find_clashes, find_repairs
from cluewise.advice.harm import Tryout, judge_harm, try_out
from cluewise.base import as_clues, generator
from cluewise.catalogue import get
from cluewise.clues import Clues, Conflict
from cluewise.exact.network import busy
from cluewise.exceptions import ClueError, Infeasible
from cluewise.metrics import coherence, metric_agreement, predictability, redundancy
from cluewise.metrics.segments import make_segments

__all__ = ["Diagnosis", "check"]

_LINKS = 1500  # links of each kind that are compared with each other
_CLASHES = 5
_CLIQUE = 64  # members of an `apart` group that count for the degeneracy: beyond, time would be quadratic


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Report):
    """Results of `check`; print it to read them. Unknown numbers are nan.

    Attributes
    ----------
    clues : Clues
        The clues.
    n_clusters : int or None
        Number of clusters that they were checked for.
    method : str or None
        Name of the method that they were checked for.
    unused : tuple of str
        Kinds of clues that the method does not use.
    contradictions : tuple of Conflict
        Rows that must be both together and apart, each with the chain that proves it.
    repairs : tuple of str
        Links to check first: without them, fewer contradictions remain, or none.
    repair_rows : tuple of (int, int)
        Their rows.
    unrepaired : int
        Number of contradictions that remain without these links: too many to follow, or between labels and groups.
    satisfiable : bool or None
        Whether all clues can be satisfied (with ``n_clusters`` clusters, if known); None if a short search cannot tell.
    why : str
        Why not; empty otherwise.
    coverage : float
        Share of the rows that clues mention.
    components : mapping of int to int
        Number of components (rows joined by must-links and labels) of each size above 1.
    redundancy : float
        Share of the clues that follow from the others.
    degeneracy : int
        The smallest number such that every set of components has one that excludes at most so many others of the set.
        Below ``n_clusters``, hard methods cannot fail. At most 64 members of an ``apart`` group count.
    coherence, agreement, predictability : float
        How the clues fit the data; see `cluewise.metrics.coherence`, `metric_agreement` and `predictability`.
    clashes : tuple of Clash
        Must-links and cannot-links that overlap most.
    trial : Tryout or None
        Results of the method with and without clues, on a sample of rows.
    features : mapping of str to float
        What the probability of harm is computed from; empty if it is not computed.
    harm : float
        Probability that the method does worse with the clues than without: that its adjusted Rand index to the true
        classes is more than 0.02 lower. 0 if the clusterings with and without clues hardly differ; nan if nothing was
        tried, too few clues can be held out, or `Cluewise` does not estimate it (``trial.harm_unknown`` says why).
    harmful : bool or None
        Whether the clues should be left out: ``harm`` is above 0.4. None if unknown.
    reasons : tuple of str
        Why harm is likely or unlikely.
    recommendation : {"use", "soften", "repair", "ask", "leave", "unknown"}
        What to do, in a word; "unknown" if harm was not estimated. Also "leave" if distances mislead (agreement below
        1/2) and the clusters stay the same, or become wider and held-out clues do not gain more than one standard
        error.
    advice : str
        What to do, in a sentence.

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
        """Share of the clues that the method breaks when fitted without clues; nan if nothing was tried."""
        return float("nan") if self.trial is None else self.trial.informativeness

    @property
    def trust(self) -> float:
        """Share of the links and labels that seem right to the method; nan if it does not judge them."""
        return float("nan") if self.trial is None else self.trial.trust

    @property
    def shown_rows(self) -> set[int]:
        """Rows of the clashes and repairs that the printed report shows."""
        clashes = _page.select_clashes(self)
        pairs = [*self.repair_rows[: _page.SHOWN], *(rows for clash in clashes for rows in (clash.must, clash.cannot))]
        return {row for rows in pairs for row in rows}

    def __str__(self) -> str:
        return _page.write_page(self)


@documented
def check(
    clues: Any,
    X: Any = None,
    *,
    estimator: Any = None,
    n_clusters: int | None = None,
    random_state: Any = None,
) -> Diagnosis:
    """Check clues before use: whether they are consistent, new to the method, in line with the data, and harmless.

    Clues that contradict each other are reported, not refused. Without ``X``, only the clues themselves are checked.

    Parameters
    ----------
    {some_clues}
    X : {array-like, sparse matrix} of shape (n, d), optional
        The data, scaled as they will be for clustering.
    estimator : clusterer, optional
        The method that will use the clues; it is cloned. By default `Cluewise`, if the number of clusters is known.
    n_clusters : int, optional
        Number of clusters; overrides that of ``estimator``. By default that of ``estimator``, or one per label class if
        there are two or more.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sampled rows and clues, and of the method if it has none of its own.

    Returns
    -------
    Diagnosis
        A report to print, and its numbers.

    Notes
    -----
    The method is tried on up to 2000 rows, about half of them with clues: without clues, with all of them, and ten
    times with the clues about a tenth of the rows held out, to see whether they are predicted. Rows joined by
    must-links are held out together, so that held-out clues do not follow from the others. That takes a dozen fits, or
    twice as many for a method without a seed of its own. `Cluewise` holds clues out by itself, so it is fitted twice
    only, and its ``harm_`` is reported. Coherence is measured on up to 1500 links of each kind. So the time hardly
    depends on the number of rows.

    The probability of harm is a logistic score of three results of the trial: how much better held-out clues are
    predicted with the others than without, how much wider the clusters become, and how many of the clues are new to the
    method. It was fitted with `PCKMeans`, `E2CP`, `MPCKMeans` and `FlexibleSpectral`, and correct and partly wrong
    pairs and labels (``experiments/harm.py``). On 34 other data sets (544 cases, harm in 26 % of them) the area under
    the ROC curve is 0.86 and the Brier score 0.129; a constant has 0.193. In four fifths of the predictions their mean
    is within 0.07 of the observed share; in the highest fifth it is too low, 0.57 where 0.71 did harm. Groups and other
    methods were not tested. With fewer than five splits no probability is given. `compare` shows more.

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
    refuse_elsewhere(X, "check")
    known = as_clues(clues, _count_rows(clues, X))
    rng = generator(random_state)
    estimator, k = _choose_method(estimator, n_clusters, known, X)
    used = known if estimator is None else known.only(known.kinds & estimator.card.accepts)
    satisfiable, why = _satisfiable(known, k)
    first = find_repairs(known)
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
    parts |= judge_harm(parts["trial"], used)
    parts["recommendation"], parts["advice"] = _page.recommend(parts, estimator, data=X is not None)
    return Diagnosis(**parts)


def _count_rows(clues: Any, X: Any) -> int:
    whole = clues if X is None else X
    if whole is None:
        raise ClueError("clues is None, so there is nothing to check; give Clues or partial labels.")
    return whole.shape[0] if hasattr(whole, "shape") else len(whole)


def _choose_method(estimator: Any, n_clusters: int | None, clues: Clues, X: Any) -> tuple[Any, int | None]:
    """The method to try and the number of clusters, or None where there is none."""
    k = n_clusters
    if estimator is not None and not hasattr(estimator, "card"):
        raise TypeError(_explain_refusal(estimator))
    has = {} if estimator is None else estimator.get_params(deep=False)
    if k is not None and has.get("n_clusters", k) != k:
        estimator = clone(estimator).set_params(n_clusters=k)
    if k is None and estimator is not None and not estimator.card.finds:
        k = has.get("n_clusters")
    if k is None and estimator is None and "labels" in clues.kinds:
        classes = len(np.unique(clues.labels[clues.labels >= 0]))
        k = classes if classes > 1 else None  # a single class leaves the number of others open
    if estimator is None and X is not None and k is not None:
        method: Any = get("Cluewise")
        estimator = method(k)
    return estimator, k


def _explain_refusal(estimator: Any) -> str:
    """Explain why an estimator cannot be tried, and what to give instead."""
    name = type(estimator).__name__
    if hasattr(estimator, "steps"):  # a Pipeline, which is slow to import
        return f"estimator is a {name}; give its last step, and the data as transformed for that step."
    if hasattr(estimator, "estimators"):
        return f"estimator is a {name}; give one of the methods it chooses from, such as its best_estimator_."
    return f"estimator is {estimator!r}, which takes no clues; give an instance of a cluewise clusterer."


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
    """Number of components of each size above 1."""
    size, times = np.unique(np.bincount(clues.components, minlength=1), return_counts=True)
    return {int(s): int(t) for s, t in zip(size, times) if s > 1}


def _degeneracy(clues: Clues) -> int:
    nodes, net = busy(clues.graph, clues.cliques)
    if not len(nodes):
        return 0
    # A set of which all members exclude each other counts for at most so many: beyond, time would be quadratic.
    return net.peel(floor=net.size + 1, cap=min(net.size, _CLIQUE))[1]


def _geometry(clues: Clues, X: Any) -> dict[str, Any]:
    """How the clues fit the data."""
    unknown = float("nan")
    if X is None:
        return {"coherence": unknown, "agreement": unknown, "predictability": unknown, "clashes": ()}
    links = make_segments(X, clues, _LINKS)
    both = len(links.must) and len(links.cannot)
    return {
        "coherence": coherence(X, clues, limit=_LINKS) if both else unknown,
        "agreement": metric_agreement(X, clues),
        "predictability": predictability(X, clues, limit=_LINKS),
        "clashes": find_clashes(links, clues, _CLASHES),
    }
