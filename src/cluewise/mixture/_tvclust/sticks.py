"""Stick-breaking weights of a Dirichlet process that is truncated at T clusters [Blei2006]_.

Cluster t gets the share v_t of what the clusters before it leave: π_t = v_t Π_{u<t} (1 − v_u), with v_t ~ Beta(1, α)
for t < T and v_T = 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma

from cluewise._typing import Floats, Ints

__all__ = ["Sticks", "better_order", "sticks_of"]


class Sticks(NamedTuple):
    """Beta posteriors of the T − 1 breaks; the prior of each is (1, α)."""

    taken: Floats  # (T − 1,) g_t1
    left: Floats  # (T − 1,) g_t2

    def log_weights(self) -> Floats:
        """(T,) ⟨ln π_t⟩ = ⟨ln v_t⟩ + Σ_{u<t} ⟨ln(1 − v_u)⟩."""
        both = digamma(self.taken + self.left)
        broken = np.append(digamma(self.taken) - both, 0.0)
        broken[1:] += np.cumsum(digamma(self.left) - both)
        return broken

    def weights(self) -> Floats:
        """(T,) posterior means of π_t."""
        share = np.append(self.taken / (self.taken + self.left), 1.0)
        share[1:] *= np.cumprod(self.left / (self.taken + self.left))
        return share

    def divergence(self, concentration: float) -> float:
        """KL(posterior ‖ Beta(1, α)), summed over the breaks."""
        both = digamma(self.taken + self.left)
        value = (self.taken - 1) * (digamma(self.taken) - both) + (self.left - concentration) * (
            digamma(self.left) - both
        )
        value -= betaln(self.taken, self.left) + np.log(concentration)
        return float(value.sum())


def sticks_of(mass: Floats, concentration: float) -> Sticks:
    """Posterior when cluster t has ``mass[t]`` rows: g_t1 = 1 + N_t, g_t2 = α + Σ_{u>t} N_u."""
    after = np.cumsum(mass[::-1])[::-1][1:]
    return Sticks(1.0 + mass[:-1], concentration + after)


def better_order(mass: Floats, concentration: float) -> Ints | None:
    """Order of the clusters from large to small if that raises the bound, else None; sticks are not exchangeable."""
    order = np.argsort(-np.round(mass, 9), kind="stable")  # clusters of equal mass up to rounding keep their order
    if (np.diff(order) == 1).all():
        return None
    now, then = sticks_of(mass, concentration), sticks_of(mass[order], concentration)
    # At the optimal posteriors given the masses, the terms of the bound that depend on the order are ln B(g_t1, g_t2).
    gain = betaln(then.taken, then.left).sum() - betaln(now.taken, now.left).sum()
    return order if gain > 1e-9 else None
