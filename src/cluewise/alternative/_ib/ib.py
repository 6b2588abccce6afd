"""The information bottleneck: clusters of rows with the most information about the columns [Tishby1999]_."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._typing import Floats, Ints
from cluewise.alternative._ib.base import Bottleneck
from cluewise.alternative._ib.joint import Joint, counts_of, log, moderate, multiply, refuse_negative
from cluewise.alternative._ib.steps import Pull
from cluewise.base import Card, Problem, checked_data
from cluewise.core.threads import one_blas_thread

__all__ = ["InformationBottleneck"]


class InformationBottleneck(Bottleneck):
    r"""Cluster rows of counts so that clusters have as much information as possible about the columns.

    Use it for counts or shares: words in documents, items in baskets, intensities of pixels. Rows are compared by their
    shares, not by their sums. It takes no clues: it is `ConditionalIB` and `CoordinatedConditionalIB` without a
    clustering to avoid, and finds the dominant clustering.

    Parameters
    ----------
    {n_clusters}
    {annealing}

    Attributes
    ----------
    {bottleneck_}
    variation_ : ndarray of shape (0,)
        Empty: no clustering is avoided.
    broken_ : Clues
        Always empty.

    See Also
    --------
    ConditionalIB : Given a clustering that is known.

    Notes
    -----
    With :math:`p(y|x)` the shares of row x, memberships :math:`q(c|x)` maximize

    .. math:: F(q) = I(C;Y) - \rho I(C;X)

    by fixed-point equations, each of which maximizes F in one of its arguments:

    .. math:: p(c) = \sum_x p(x) q(c|x), \quad p(y|c) = \frac{1}{p(c)} \sum_x p(x) q(c|x) p(y|x), \quad
        q(c|x) \propto p(c) \exp \Big( \tfrac{1}{\rho} \sum_y p(y|x) \log p(y|c) \Big)

    The temperature :math:`\rho` falls from where a single cluster becomes unstable until memberships are hard.

    ======================= ========================
    paper                   code
    ======================= ========================
    :math:`p(\tilde x|x)`   ``memberships_``
    :math:`p(\tilde x)`     ``weights_``
    :math:`p(y|\tilde x)`   ``profiles_``
    :math:`1 / \beta`       ``temperature_``
    ======================= ========================

    *Deviations.* Annealing starts where the first clusters split, found by power iteration, and ends at a share of that
    temperature. At each temperature clusters are perturbed by a function of the columns instead of the rows, so that
    neither the order of rows nor duplicates matter; clusters are numbered by a function of their profiles. A row of
    zeros has no weight and goes to the largest cluster. A column that a cluster has never seen costs 690 nats instead
    of infinity.

    References
    ----------
    .. [Tishby1999] N. Tishby, F. C. Pereira and W. Bialek, "The information bottleneck method", 37th Annual Allerton
       Conference on Communication, Control, and Computing, 1999.

    Examples
    --------
    >>> from cluewise.alternative import InformationBottleneck
    >>> X = [[4, 1, 0, 1], [8, 2, 1, 2], [0, 1, 5, 1], [1, 0, 9, 3]]
    >>> model = InformationBottleneck(2, random_state=0).fit(X)
    >>> model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    np.True_
    >>> round(model.information_, 3)
    0.352
    """

    card = Card(
        paper="Tishby1999",
        title="Information bottleneck",
        accepts=frozenset(),
        descends=False,
        invariant=frozenset({"scale"}),
        plain="",
        means=False,
        equation="Eq. 47 to 49 of the survey by Truong and Battiti (2013)",
        cost="O(nnz k)",
        aliases=("IB",),
    )

    def _pull(self, joint: Joint, problem: Problem, drawn: Floats) -> Pull:
        return Pull(lam=1.0, mu=0.0)

    def predict(self, X: Any) -> Ints:
        """Most likely cluster of new rows.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        check_is_fitted(self)
        X = checked_data(self, X, reset=False)
        refuse_negative(X, type(self).__name__)
        counts = counts_of(moderate(X))
        total = counts.totals()
        profiles, prior = log(self.profiles_), self.temperature_ * log(self.weights_)
        labels = np.empty(X.shape[0], dtype=np.int32)
        with one_blas_thread():
            for rows in counts.blocks():
                score = multiply(counts.block(rows), profiles) / np.where(total[rows] > 0, total[rows], 1.0)
                labels[rows] = (score + prior[:, None]).argmax(axis=0)
        return labels
