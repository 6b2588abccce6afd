"""Array aliases and the one sentinel."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["UNASSIGNED", "Array", "ArrayLike", "Bools", "Floats", "Ints"]

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.floating[Any]]
Ints: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]

UNASSIGNED = -1
"""Label of a row that has none (yet); compared with ``==``, never with ``> 0``."""
