"""Masked arrays: a masked cell holds a number, which must not be taken for data."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["refuse_masked"]


def refuse_masked(values: Any, what: str) -> None:
    """Refuse a masked array that hides cells, which NumPy would lay bare without a word.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise._masked import refuse_masked
    >>> refuse_masked(np.ma.array([[1.0, 2.0]], mask=[[False, True]]), "X")
    Traceback (most recent call last):
    ...
    ValueError: X is a masked array that hides cells, 1 in all and the first in row 0, column 1; fill them in, ...
    """
    if not np.ma.is_masked(values):
        return
    mask = np.ma.getmaskarray(values)
    where = ", ".join(f"{name} {i}" for name, i in zip(("row", "column"), np.argwhere(mask)[0]))
    raise ValueError(
        f"{what} is a masked array that hides cells, {mask.sum()} in all and the first in {where}; fill them in, "
        "for example by numpy.ma.filled, or leave these rows out."
    )
