"""Utilities: how much a consensus cluster tells about the labels of a partition [Wu2015]_.

A utility is a convex function φ of label frequencies. The cost of a row with label j in a cluster whose members have
frequencies y is the Bregman divergence φ(e_j) − φ(y) − (e_j − y)·∇φ(y), one number per label and cluster. Summed over
the members it is least where y are their own frequencies, and then what the clusters fail to tell about the partition.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cluewise._typing import Floats

__all__ = ["NAMES", "Utility", "impurity", "information", "utility_of"]

NAMES = ("category", "shannon", "cosine")

RAREST = float(np.finfo(np.float64).eps)
"""Frequency that stands for none, so that a label that a cluster does not know costs 52 bits instead of infinity."""


class Utility(Protocol):
    """A convex function of label frequencies, which stand along the last axis of a table."""

    pure: float  # φ where all frequency is on one label

    def value(self, shares: Floats) -> Floats:
        """φ of each line."""
        ...

    def costs(self, shares: Floats) -> Floats:
        """Divergence of each label from each line, in the shape of ``shares``; never below 0."""
        ...


class Shannon:
    """φ(y) = Σ y log₂ y: the utility is mutual information."""

    pure = 0.0

    def value(self, shares: Floats) -> Floats:
        """Minus the entropy."""
        return (shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1)

    def costs(self, shares: Floats) -> Floats:
        """Surprise at each label."""
        return -np.log2(np.maximum(shares, RAREST))


class Norm:
    """φ(y) = ‖y‖_p; of order 2 it is U_cos."""

    pure = 1.0

    def __init__(self, order: float) -> None:
        self.order = order

    def value(self, shares: Floats) -> Floats:
        """The norm, scaled by the largest entry, as high powers of small frequencies would vanish."""
        top = shares.max(axis=-1, keepdims=True, initial=np.finfo(np.float64).tiny)
        return top[..., 0] * ((shares / top) ** self.order).sum(axis=-1) ** (1 / self.order)

    def costs(self, shares: Floats) -> Floats:
        """1 − (y_j / ‖y‖_p)^(p−1)."""
        return np.maximum(1 - (shares / self.value(shares)[..., None]) ** (self.order - 1), 0)


class Category:
    """φ(y) = ‖y‖²: category utility, the Gini index."""

    pure = 1.0

    def value(self, shares: Floats) -> Floats:
        """The squared norm."""
        return (shares * shares).sum(axis=-1)

    def costs(self, shares: Floats) -> Floats:
        """Squared distance of a one-hot row."""
        return np.maximum(1 - 2 * shares + self.value(shares)[..., None], 0)


def utility_of(given: str | float) -> Utility:
    """A utility by its name, or the norm of an order p > 1."""
    if isinstance(given, str):
        if given not in NAMES:
            raise ValueError(f"utility={given!r} is not one of {', '.join(map(repr, NAMES))} or a number above 1.")
        named: dict[str, Utility] = {"category": Category(), "shannon": Shannon(), "cosine": Norm(2.0)}
        return named[given]
    if not 1 < given < np.inf:
        raise ValueError(f"utility={given!r} is not the order of a norm; it needs a finite number above 1.")
    return Norm(float(given))


def impurity(utility: Utility, held: Floats) -> float:
    """What k clusters fail to tell: Σ_k m_k (φ(e) − φ(P_k)), from a table of k lines that count labels."""
    mass = held.sum(axis=1)
    full = mass > 0
    shares = held[full] / mass[full, None]
    return max(float(mass[full] @ (utility.pure - utility.value(shares))), 0.0)


def information(utility: Utility, held: Floats) -> float:
    """The utility U(π, π_i) = Σ_k p_k φ(P_k) − φ(P) of k clusters, from the same table."""
    total = held.sum(axis=0)
    if not total.any():
        return 0.0
    count = total.sum()
    return float(utility.pure - impurity(utility, held) / count - utility.value(total / count))
