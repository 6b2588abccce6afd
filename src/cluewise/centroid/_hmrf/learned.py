"""The rows as a distortion sees them, and what broken links cost at the beginning."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.base import Problem
from cluewise.centroid._hmrf import fields
from cluewise.centroid._hmrf.counts import GeneralizedI, unmoved_rows
from cluewise.centroid._hmrf.directions import Cosine, unit_rows
from cluewise.centroid._hmrf.distortions import Metric, Sums, none_broken
from cluewise.centroid._hmrf.mahalanobis import SquaredEuclidean
from cluewise.core.rows import Rows

__all__ = ["distortion_of", "price_links"]


def distortion_of(rows: Rows, k: int, name: str, metric: str | None, *, per_cluster: bool, published: bool) -> Any:
    """The distortion with this name, for these rows."""
    if name == "sqeuclidean":
        return SquaredEuclidean(rows, k, metric, per_cluster)
    if metric == "full" or (metric and per_cluster):
        raise ValueError(f"distortion={name!r} requires metric=None or one metric='diagonal' for all clusters.")
    if published:
        raise ValueError("profile='published' requires distortion='sqeuclidean'.")
    if name == "cosine":
        return Cosine(unit_rows(rows.X, rows.weight), k, metric is not None)
    return GeneralizedI(unmoved_rows(rows.X, rows.weight), k, metric is not None)


def price_links(
    problem: Problem, start: Floats, labels: Ints, found: Sums, penalty: Floats | None, *, constant: bool
) -> tuple[Metric, Floats]:
    """Choose the initial metric and, if ``penalty`` is None, the factors of must-links and cannot-links."""
    distortion, links = problem.shared
    metric = distortion.first_metric()
    rescaled = constant and distortion.learns and distortion.absolute
    if penalty is not None and not rescaled:
        return metric, penalty
    none = none_broken(problem.k)
    means = distortion.settle(labels, found, start, metric, none, distortion.reference).centers
    price = fields.choose_price(distortion, distortion.start(means), labels)
    if rescaled:
        # A constant price only makes sense if distances already have the unit of the learned metric, variance 1.
        metric, price = metric.times(fields.UNIT_PRICE / price), fields.UNIT_PRICE
    if penalty is None:
        penalty = np.full(2, price) if constant else fields.choose_factors(distortion, links, price)
    return metric, penalty
