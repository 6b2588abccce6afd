"""The probability simplex: vectors that are nowhere negative and sum to one."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats

__all__ = ["project"]


def project(v: Floats) -> Floats:
    """The point of the simplex that is nearest to ``v`` (Algorithm 1 of [Yi2015]_, misprints mended).

    With w = v sorted downwards, k is the last j with w_j > (w_1 + … + w_j − 1) / j; theta is that mean at k, and what
    is left of every v_i above theta is the answer. The paper sums to k and subtracts theta from w instead of v.
    """
    near = np.asarray(v, dtype=np.float64)
    near = near - near.max()  # a shift of all entries changes nothing, but large ones would cost digits
    w = np.sort(near)[::-1]
    theta = (np.cumsum(w) - 1) / np.arange(1, len(w) + 1)
    k = int(np.flatnonzero(w > theta)[-1])
    return np.maximum(near - theta[k], 0.0)
