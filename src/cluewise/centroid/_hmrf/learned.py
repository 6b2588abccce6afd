"""The rows as a distortion sees them, and what broken links cost at the beginning."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.base import Problem
from cluewise.centroid._hmrf import fields
from cluewise.centroid._hmrf.counts import GeneralizedI, unmoved_rows
from cluewise.centroid._hmrf.directions import Cosine, unit_rows
from cluewise.centroid._hmrf.distortions import Found, Metric, none_broken
from cluewise.centroid._hmrf.mahalanobis import SquaredEuclidean
from cluewise.core.rows import Rows

__all__ = ["distortion_of", "price_links"]


def distortion_of(rows: Rows, k: int, name: str, metric: str | None, *, per_cluster: bool, published: bool) -> Any:
    """The rows as the distortion of this name sees them."""
    if name == "sqeuclidean":
        return SquaredEuclidean(rows, k, metric, per_cluster)
    if metric == "full" or (metric and per_cluster):
        raise ValueError(f"distortion={name!r} takes metric=None or one metric='diagonal' for all clusters.")
    if published:
        raise ValueError("profile='published' is defined for distortion='sqeuclidean'.")
    if name == "cosine":
        return Cosine(unit_rows(rows.X, rows.weight), k, metric is not None)
    return GeneralizedI(unmoved_rows(rows.X, rows.weight), k, metric is not None)


def price_links(
    problem: Problem, start: Floats, labels: Ints, found: Found, penalty: Floats | None, *, constant: bool
) -> tuple[Metric, Floats]:
    """The metric to begin with, and the factors of must-links and cannot-links; ``penalty=None`` chooses them."""
    distortion, links = problem.shared
    metric = distortion.first_metric()
    rescaled = constant and distortion.learns and distortion.absolute
    if penalty is not None and not rescaled:
        return metric, penalty
    none = none_broken(problem.k)
    means = distortion.settle(labels, found, start, metric, none, distortion.reference).centers
    price = fields.price(distortion, distortion.start(means), labels)
    if rescaled:
        # The price is constant, so distances must be in the unit in which they will be once the metric is learned.
        metric, price = metric.times(fields.UNIT_PRICE / price), fields.UNIT_PRICE
    if penalty is None:
        penalty = np.full(2, price) if constant else fields.factors(distortion, links, price)
    return metric, penalty
