"""Naive Bayes for documents, in which feedback about pairs changes the weights of words [Cohn2003]_."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Problem
from cluewise.core import loop, seeding
from cluewise.core.loop import Progress
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks
from cluewise.core.views import broken_weight
from cluewise.mixture import _documents as documents
from cluewise.mixture._base import MixtureClusterer, rounding

__all__ = ["FeedbackNaiveBayes"]

PATIENCE = 10
"""Rounds of feedback without fewer broken clues after which the fit stops."""


class State(NamedTuple):
    """What the next iteration needs."""

    labels: Ints  # (n,) int32
    memberships: Floats  # (n, k)
    shares: Floats  # (k,) of the clusters
    words: Floats  # (k, d) probability of each word in each cluster
    emphasis: Floats  # (d,) weight of each word
    rounds: int = 0  # of feedback so far


def step(state: State, *, rows: Rows, smoothing: float, published: bool) -> tuple[State, loop.Info]:
    """M-step (Eq. 62, 63), then E-step (Eq. 60, 61 and 68)."""
    weighted = state.memberships if rows.weight is None else state.memberships * rows.weight[:, None]
    shares = weighted.sum(axis=0) / rows.mass
    seen = documents.counts(rows, weighted)
    seen = (seen if published else seen * state.emphasis) + smoothing
    words = seen / seen.sum(axis=1, keepdims=True)
    labels, memberships, fit = documents.memberships(rows, shares, words, state.emphasis)
    value = -(fit + smoothing * float(np.log(words).sum()))
    moved = np.count_nonzero(np.abs(memberships - state.memberships) > 1e-12)
    new = state._replace(labels=labels, memberships=memberships, shares=shares, words=words)
    return new, loop.Info(value, int(moved))


class FeedbackNaiveBayes(MixtureClusterer):
    r"""Naive Bayes for counts, in which broken links change how much each word counts.

    Use it for words in documents, visual words in pictures or items in baskets. If two documents are together but
    should be apart, the words in which they differ gain weight; if they are apart but should be together, these words
    lose weight. So feedback about a few pairs changes the clustering of all documents, and ``word_weight_`` shows which
    words it was about. No clue is enforced.

    Parameters
    ----------
    {n_clusters}
    smoothing : float, default=1.0
        Added to the count of every word in every cluster (Laplace smoothing).
    rounds : int, default=30
        Maximum number of rounds of feedback. Each round changes the weights once and runs EM again; 0 is naive Bayes
        without feedback.
    step : float, default=3.0
        Largest change of a word weight in one round. Weights start at 1, and their mean stays 1.
    init : {"random"}, array of shape (n_clusters, d) or callable, default="random"
        Initial counts of words in each cluster, mixed with those of all documents; "random" draws documents.
    n_init : int or "auto", default=5
        Number of starts; the one with the fewest broken clues is kept, and among equals the one with the lowest
        objective.
    profile : {"library", "published"}, default="library"
        "published" weights words in the E-step only, as the paper does; the objective may then rise within a round.
    max_iter : int, default=300
        Maximum number of iterations of EM in each round.
    tol : float, default=1e-5
        Relative change of the objective below which EM stops.
    {random_state}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Most likely cluster of each row.
    word_weight_ : ndarray of shape (d,)
        Weight of each word.
    word_probability_ : ndarray of shape (n_clusters, d)
        Probability of each word in each cluster.
    weights_ : ndarray of shape (n_clusters,)
        Share of each cluster.
    {n_clusters_}
    objective_ : float
        Minus the log posterior at the final word weights.
    lower_bound_ : float
        The log posterior.
    trace_ : ndarray
        The objective after each iteration; values of different rounds are not comparable.
    n_iter_ : int
        Number of iterations in all rounds.
    n_rounds_ : int
        Rounds of feedback that led to the result.
    margin_ : ndarray of shape (n,)
        Difference in log probability between each row's cluster and the next best.
    {broken_}

    Notes
    -----
    .. math:: J = -\sum_i w_i \log \sum_j p(c_j) \prod_t p(w_t|c_j)^{\gamma_t N_{it}} - a \sum_{j,t} \log p(w_t|c_j)

    .. math:: D(x_1, x_2) = \sum_t \gamma_t \Big( N_{1t} \log \frac{p_{1t}}{m_t} + N_{2t} \log \frac{p_{2t}}{m_t} \Big),
        \quad m_t = \tfrac12 (p_{1t} + p_{2t})

    EM lowers J. Then :math:`\gamma` follows the gradient of D summed over the broken links: up for cannot-links, down
    for must-links; it never falls below 0 and is 1 on average.

    ================================== ====================================
    paper                              code
    ================================== ====================================
    :math:`\gamma_t`                   ``word_weight_[t]``
    :math:`p(c_j)`, :math:`p(w_t|c_j)` ``weights_``, ``word_probability_``
    :math:`N(w_t, x_i)`                ``X[i, t]``
    :math:`\eta`                       ``step``, relative to the largest slope
    ================================== ====================================

    *Deviations.* Words are weighted in the M-step too, so that EM lowers the objective (``profile="published"``: E-step
    only). All broken links act at once and the round with the fewest broken links is kept, because running EM after
    each link would take as many fits as there are links. Of more than 4096 broken links an even sample acts. Eq. (63)
    has the memberships in the numerator, so that its rows sum to 1. Eq. (67) has the opposite sign, so that the
    distances of cannot-links grow.

    References
    ----------
    .. [Cohn2003] D. Cohn, R. Caruana and A. McCallum, "Semi-supervised clustering with user feedback", Technical
       Report TR2003-1892, Cornell University, 2003.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise import FeedbackNaiveBayes
    >>> X = [[4, 0, 3, 0], [0, 3, 3, 0], [5, 0, 0, 3], [0, 4, 0, 4]]
    >>> FeedbackNaiveBayes(2, random_state=0).fit(X).labels_
    array([1, 0, 1, 0], dtype=int32)
    >>> clues = Clues(4, must=[(0, 1)], cannot=[(0, 2)])
    >>> model = FeedbackNaiveBayes(2, random_state=0).fit(X, clues=clues)
    >>> model.labels_, model.word_weight_.round(1)
    (array([0, 0, 1, 1], dtype=int32), array([0., 0., 2., 2.]))
    """

    card = Card(
        paper="Cohn2003",
        title="Naive Bayes for documents with word weights",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        descends=False,
        invariant=frozenset(),
        plain="",
        means=False,
        equation="Eq. 57 to 68 of the survey by Truong and Battiti (2013)",
        memory="pairs",
        cost="O(nnz k); labels and groups make up to n² pairs",
        aliases=("Naive Bayes EM with feedback",),
    )
    _parameter_constraints = MixtureClusterer._parameter_constraints | {
        "smoothing": [Interval(Real, 0, None, closed="neither")],
        "rounds": [Interval(Integral, 0, None, closed="left")],
        "step": [Interval(Real, 0, None, closed="neither")],
        "profile": [StrOptions({"library", "published"})],
    }

    word_probability_: Floats
    word_weight_: Floats
    margin_: Floats
    n_rounds_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        smoothing: float = 1.0,
        rounds: int = 30,
        step: float = 3.0,
        init: Any = "random",
        n_init: int | str = 5,
        profile: str = "library",
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.smoothing = smoothing
        self.rounds = rounds
        self.step = step
        self.init = init
        self.n_init = n_init
        self.profile = profile
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _prepare(self, problem: Problem) -> documents.Feedback:
        documents.refuse_negative(problem.rows.X)
        pairs = problem.clues.pairs(expand=True)
        force = -pairs.signed_weight
        return documents.Feedback(pairs.ends[force != 0], force[force != 0])

    def _slack(self, problem: Problem) -> float:
        rows = problem.rows
        ones = np.ones((rows.n, 1)) if rows.weight is None else rows.weight[:, None]
        slack = rounding(problem) + documents.rounding(float(documents.counts(rows, ones).sum()), self.smoothing)
        return slack + 16 * float(np.finfo(np.float64).eps) * problem.k * rows.d  # the prior, however little rows weigh

    def _best_start(self, problem: Problem, progress: Progress) -> loop.Result[State]:
        # Objectives at different word weights are not comparable, so broken clues come first.
        rank, best = (np.inf, np.inf), None
        for number, rng in enumerate(problem.rng.spawn(self._n_starts(problem))):
            progress.begin_start(number)
            result = self._solve(problem._replace(rng=rng, start=number))
            reached = (broken_weight(problem.clues, result.state.labels), result.trace[-1])
            if best is None or reached < rank:
                rank, best = reached, result
            if progress.end_start():
                break
        assert best is not None
        return best

    def _solve(self, problem: Problem) -> loop.Result[State]:
        published = self.profile == "published"
        move = partial(step, rows=problem.rows, smoothing=self.smoothing, published=published)
        slack = None if published else self._slack(problem)
        before: list[float] = []
        stop = False

        def watch(state: State, trace: list[float]) -> bool:
            nonlocal stop
            stop = problem.limits.watch(state, before + trace)
            return stop

        state, best, least = self._begin(problem), None, np.inf
        while True:
            ran = loop.run(move, state, problem.limits._replace(watch=watch), slack)
            state, before = ran.state, before + ran.trace
            broken = problem.shared.broken(state.labels)
            if broken.weight < least or best is None:
                best, least = loop.Result(state, before, ran.converged), broken.weight
            if stop or state.rounds >= min(self.rounds, best.state.rounds + PATIENCE):
                return best
            slope = documents.gradient(problem.rows.X, broken.some())
            emphasis = documents.move_weights(state.emphasis, slope, self.step)
            if emphasis is None:
                return best
            state = state._replace(emphasis=emphasis, rounds=state.rounds + 1)

    def _begin(self, problem: Problem) -> State:
        """Memberships given the words of k documents, or given counts, mixed with the words of all documents."""
        rows, k = problem.rows, problem.k
        counts = seeding.given_centers(self.init, ("random",), rows, k, problem.rng)
        if counts is None:
            drawn = rows.X[np.sort(problem.rng.choice(rows.n, size=k, replace=False))]
            counts = np.asarray(drawn if isinstance(drawn, np.ndarray) else drawn.toarray(), dtype=np.float64)
        else:
            counts = counts + rows.shift
        if (counts < 0).any():
            raise ValueError("init has a negative number; it holds counts of words.")
        everything = documents.counts(rows, np.ones((rows.n, 1)) if rows.weight is None else rows.weight[:, None])
        counts = counts + everything / rows.mass + self.smoothing / rows.d
        words, emphasis = counts / counts.sum(axis=1, keepdims=True), np.ones(rows.d)
        shares = np.full(k, 1 / k)
        labels, memberships, _ = documents.memberships(rows, shares, words, emphasis)
        return State(labels, memberships, shares, words, emphasis)

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {
            "weights_": state.shares,
            "word_probability_": state.words,
            "word_weight_": state.emphasis,
            "n_rounds_": state.rounds,
        }

    def _attributes(self, problem: Problem, result: loop.Result[State]) -> Attributes:
        rows, state = problem.rows, result.state

        def lead(block: Any) -> Floats:
            return documents.lead(documents.log_joint(rows, block, state.shares, state.words, state.emphasis))

        leads = list(map_blocks(lead, rows.blocks(problem.k)))
        return super()._attributes(problem, result) | {"margin_": np.concatenate(leads).astype(rows.dtype)}

    def _log_joint(self, rows: Rows, block: Any) -> Floats:
        documents.refuse_negative(rows.X[block], block.start)
        return documents.log_joint(rows, block, self.weights_, self.word_probability_, self.word_weight_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
