"""What does an iteration of the Gaussian mixtures with links cost, against one of scikit-learn's GaussianMixture?"""

from __future__ import annotations

from typing import Any

import numpy as np
from measuring import Figure, one_thread, per_iteration
from workload import blobs, links, quietly

from cluewise import Clues
from cluewise.mixture import EquivalenceGMM, PenalizedGMM

FULL = {"n": 100_000, "d": 16, "k": 10, "count": 10_000, "kinds": ("full", "diag"), "few": 2, "many": 8, "repeats": 5}
TINY = {"n": 2_000, "d": 3, "k": 3, "count": 100, "kinds": ("full",), "few": 1, "many": 3, "repeats": 1}
GOAL = 2.0


def measure(
    n: int, d: int, k: int, count: int, kinds: tuple[str, ...], few: int, many: int, repeats: int
) -> list[Figure]:
    X = blobs(n, d, k).astype(np.float64)
    drawn = links(n, k, 2 * count)
    only_must = Clues(n, must=drawn["must"])
    both = Clues(n, **links(n, k, count))
    figures = []
    for kind in kinds:
        fits = {
            "GaussianMixture": lambda i, kind=kind: gaussian(X, k, kind, i),
            f"EquivalenceGMM {kind}, must-links": lambda i, kind=kind: ours(EquivalenceGMM, X, k, kind, i, only_must),
            f" EquivalenceGMM {kind}, both kinds": lambda i, kind=kind: ours(EquivalenceGMM, X, k, kind, i, both),
            f" PenalizedGMM {kind}, both kinds": lambda i, kind=kind: ours(PenalizedGMM, X, k, kind, i, both),
        }
        with one_thread():
            for fit in fits.values():
                fit(few)  # compiles or loads what is needed
            times = per_iteration(fits, few, many, repeats)
        anchor = times.pop("GaussianMixture")
        figures += [
            Figure(
                name,
                1e3 * found.best,
                1e3 * anchor.best,
                "ms",
                f"one iteration of scikit-learn's GaussianMixture ({kind})",
                None if name.startswith(" ") else GOAL,
                noise=max(found.noise, anchor.noise),
            )
            for name, found in times.items()
        ]
    return figures


def gaussian(X: np.ndarray, k: int, kind: str, iterations: int) -> Any:
    """scikit-learn's mixture for a given number of iterations, from k rows."""
    from sklearn.mixture import GaussianMixture

    unit = np.ones((k, X.shape[1])) if kind == "diag" else np.array([np.eye(X.shape[1])] * k)
    model = GaussianMixture(k, covariance_type=kind, max_iter=iterations, tol=0, init_params="random_from_data")
    model.set_params(weights_init=np.full(k, 1 / k), means_init=X[:k], precisions_init=unit, random_state=0)
    return quietly(model.fit, X)


def ours(method: Any, X: np.ndarray, k: int, kind: str, iterations: int, clues: Clues) -> Any:
    """A mixture with links for a given number of iterations, from the same rows."""
    model = method(k, covariance_type=kind, init=X[:k], max_iter=iterations, tol=0)
    return model.fit(X, clues=clues)
