"""Seeds of the data that are drawn."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator, RandomState

__all__ = ["generator"]


def generator(random_state: int | Generator | RandomState | None) -> Generator:
    """A generator from a seed; from a RandomState as everywhere in the library, whatever the version of numpy."""
    if isinstance(random_state, RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
