"""How often each source is wrong when it says yes and when it says no, learned from answers to the same pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cluewise._notebook import Report
from cluewise._typing import ArrayLike, Bools, Floats, Ints
from cluewise.active._dialog import Answer
from cluewise.active._state import Link, arguments_of
from cluewise.clues import Clues

__all__ = ["Reliability", "Source", "reliability"]

CLUSTERS = "clusters"
"""Name of the source that clusters are."""

WRONG, RIGHT = 1.0, 4.0
"""Each rate begins with this many wrong and right answers: people are mostly right, until their answers tell."""

SWEEPS, ENOUGH = 500, 1e-6
"""Maximum number of iterations, and the change of probabilities at which they end."""

BARELY = 1e-6
"""How far the probability of a pair must be from ½ to be a clue."""


@dataclass(frozen=True)
class Source:
    """Who answers, and how often wrongly.

    Attributes
    ----------
    who : str
        Name of the source.
    answers : int
        Number of pairs that it has decided, repeated ones included.
    wrong_yes : float
        Probability of a yes about two rows that do not belong together.
    wrong_no : float
        Probability of a no about two rows that belong together.

    Examples
    --------
    >>> from cluewise.active import Source
    >>> Source("ann", 40, 0.05, 0.2).wrong_no
    0.2
    """

    who: str
    answers: int
    wrong_yes: float
    wrong_no: float


@dataclass(frozen=True, repr=False)
class Reliability(Report):
    """Error rates of sources, and what is likely about each pair of rows that they decided.

    Attributes
    ----------
    sources : tuple of Source
        In the order of their names.
    pairs : ndarray of shape (m, 2)
        Pairs of rows, the smaller row first.
    together : ndarray of shape (m,)
        Probability that the two rows belong together.
    share : float
        Share of the pairs that belong together.
    who : tuple of str
        For each pair, who decided it.

    See Also
    --------
    reliability : Learns them.

    Examples
    --------
    >>> from cluewise.active import Answer, Question, reliability
    >>> said = [Answer(Question("pair", (0, 1)), True, who) for who in ("ann", "bob", "eve")]
    >>> found = reliability(said).clues(3)
    >>> found, found.must_confidence.round(2)
    (Clues(3 rows: 1 must-link), array([0.99]))
    """

    sources: tuple[Source, ...]
    pairs: Ints
    together: Floats
    share: float
    who: tuple[str, ...]

    def clues(self, n: int) -> Clues:
        """The more likely of the two for each pair, with its probability as confidence.

        Parameters
        ----------
        n : int
            Number of rows.

        Returns
        -------
        Clues
            Links with confidences, for every clusterer that weighs clues. A pair about which nothing is likely is left
            out.
        """
        links = [
            Link(i, j, p > 0.5, who, max(p, 1.0 - p))
            for (i, j), p, who in zip(self.pairs.tolist(), self.together.tolist(), self.who)
            if abs(p - 0.5) > BARELY
        ]
        return Clues(n, **arguments_of(links))

    def __str__(self) -> str:
        width = max([len(source.who) for source in self.sources], default=0)
        lines = [f"{'':{width}}  answers  wrong yes  wrong no"]
        lines += [
            f"{one.who:{width}}  {one.answers:7}  {100 * one.wrong_yes:7.0f} %  {100 * one.wrong_no:6.0f} %"
            for one in self.sources
        ]
        return "\n".join(lines)


def reliability(answers: Iterable[Answer], *, labels: ArrayLike | None = None) -> Reliability:
    r"""Learn how often each source is wrong, from who agrees with whom about the same pairs.

    Each source has two error rates: some people put too much together, others too little. What most reliable sources
    say about a pair is likely to be true, and who contradicts it is unreliable; both are learned together. Use it when
    several people or models have answered the same questions.

    Parameters
    ----------
    answers : iterable of Answer
        Answers with names in `Answer.who`; ``state.answers`` for example. A "which" or a group counts as all pairs that
        it decides. "Don't know", labels, inferred answers and answers without a name are left out.
    labels : array-like of shape (n,), optional
        Clusters of the rows, a further source called "clusters", whose error rates are learned as well. With it, a
        single source can be judged.

    Returns
    -------
    Reliability
        Sources with error rates, and the probability that the rows of each pair belong together.

    See Also
    --------
    agreement : How often two people agree.

    Notes
    -----
    The model is that of Dawid and Skene [Dawid1979]_ for pairs. With the share :math:`\pi` of pairs that belong
    together and error rates :math:`a_s` (a yes that is wrong) and :math:`b_s` (a no that is wrong), the log-odds that a
    pair belongs together are

    .. math::

       \log\frac{\pi}{1 - \pi} + \sum_{\text{yes}} \log\frac{1 - b_s}{a_s} + \sum_{\text{no}} \log\frac{b_s}{1 - a_s},

    over all answers about the pair. EM alternates this with the rates that follow from it; one wrong and four right
    answers are added to the counts of each rate. It starts from the majority, so adversaries are recognized as long as
    they are fewer. A pair that only one source has decided is as likely as this source is right. That "belonging
    together" is transitive is not used. The clusters as a source with learned error rates are the idea of TVClust
    [Khashabi2015]_.

    ==================== =====================================
    symbol               in the code
    ==================== =====================================
    :math:`\pi`          ``share``
    :math:`a`            ``wrong_yes``
    :math:`b`            ``wrong_no``
    ==================== =====================================

    References
    ----------
    .. [Dawid1979] Dawid, A. P., & Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates using the
       EM algorithm. Journal of the Royal Statistical Society C, 28(1), 20-28.
    .. [Khashabi2015] Khashabi, D., Wieting, J., Liu, J. Y., & Liang, F. (2015). Clustering with side information: From
       a probabilistic model to a deterministic algorithm. arXiv:1508.06235.

    Examples
    --------
    Eve says yes to everything:

    >>> from cluewise.active import Answer, Question, reliability
    >>> pairs, truth = [(0, 1), (0, 2), (1, 3), (2, 3), (4, 5), (3, 5)], [True, False, False, True, True, False]
    >>> said = [Answer(Question("pair", pair), same, who) for who in ("ann", "bob") for pair, same in zip(pairs, truth)]
    >>> said += [Answer(Question("pair", pair), True, "eve") for pair in pairs]
    >>> print(reliability(said))
         answers  wrong yes  wrong no
    ann        6       13 %      14 %
    bob        6       13 %      14 %
    eve        6       49 %      12 %
    """
    votes = [
        (min(i, j), max(i, j), answer.who, same)
        for answer in answers
        if answer.who and not answer.inferred
        for i, j, same in answer.entailed()
    ]
    if labels is not None:
        cluster = np.asarray(labels)
        decided = sorted({(i, j) for i, j, *_ in votes})
        votes += [(i, j, CLUSTERS, bool(cluster[i] == cluster[j])) for i, j in decided]
    pairs = sorted({vote[:2] for vote in votes})
    names = sorted({vote[2] for vote in votes})
    pair_number, name_number = ({value: x for x, value in enumerate(some)} for some in (pairs, names))
    pair = np.array([pair_number[vote[:2]] for vote in votes], dtype=np.int64)
    source = np.array([name_number[vote[2]] for vote in votes], dtype=np.int64)
    yes = np.array([vote[3] for vote in votes], dtype=bool)
    together, rates, share = _learn(pair, source, yes, len(pairs), len(names))
    count = np.bincount(source, minlength=len(names)).tolist()
    sources = tuple(Source(*one) for one in zip(names, count, rates[0].tolist(), rates[1].tolist()))
    said: list[dict[str, None]] = [{} for _ in pairs]
    for p, vote in zip(pair.tolist(), votes):
        said[p][vote[2]] = None
    every = tuple(", ".join(who) for who in said)
    return Reliability(sources, np.array(pairs, dtype=np.int64).reshape(-1, 2), together, share, every)


def _learn(pair: Ints, source: Ints, yes: Bools, n_pairs: int, n_sources: int) -> tuple[Floats, Floats, float]:
    """EM: probabilities of pairs, rates (wrong yes, wrong no) of sources, and the share of pairs that are together."""
    total = np.bincount(pair, minlength=n_pairs)
    together: Floats = (np.bincount(pair, weights=yes, minlength=n_pairs) + 0.5) / (total + 1.0)  # the majority
    share, rates = 0.5, np.zeros((2, n_sources))
    for _ in range(SWEEPS):
        share = float((together.sum() + 1.0) / (n_pairs + 2.0))
        for kind, belongs in enumerate((1.0 - together[pair], together[pair])):
            wrong = yes if kind == 0 else ~yes
            errors = np.bincount(source, weights=belongs * wrong, minlength=n_sources)
            rates[kind] = (errors + WRONG) / (np.bincount(source, weights=belongs, minlength=n_sources) + WRONG + RIGHT)
        a, b = rates
        evidence = np.where(yes, np.log((1.0 - b) / a)[source], np.log(b / (1.0 - a))[source])
        logs = np.log(share / (1.0 - share)) + np.bincount(pair, weights=evidence, minlength=n_pairs)
        before, together = together, 1.0 / (1.0 + np.exp(-np.clip(logs, -500, 500)))
        if np.abs(together - before).max(initial=0.0) < ENOUGH:
            break
    return together, rates, share
