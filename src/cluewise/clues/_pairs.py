"""Links as arrays of pairs, for methods that are defined pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Pairs"]


class Pairs(NamedTuple):
    """Must-links and cannot-links with their weights; each kind is sorted by its rows and has every pair once.

    A pair that is reported both together and apart is in both lists. The properties list all links of both kinds,
    must-links first.

    Examples
    --------
    >>> from cluewise import Clues
    >>> pairs = Clues(3, labels=[0, 0, 1]).pairs(expand=True)
    >>> pairs.must.tolist(), pairs.cannot.tolist()
    ([[0, 1]], [[0, 2], [1, 2]])
    >>> pairs.ends.tolist(), pairs.is_must.tolist(), pairs.signed_weight.tolist()
    ([[0, 1], [0, 2], [1, 2]], [True, False, False], [1.0, -1.0, -1.0])
    """

    must: Ints  # (m, 2)
    must_weight: Floats  # (m,)
    cannot: Ints  # (c, 2)
    cannot_weight: Floats  # (c,)

    @property
    def ends(self) -> Ints:
        """(m + c, 2) the two rows of every link."""
        return np.concatenate([self.must, self.cannot])

    @property
    def is_must(self) -> Bools:
        """(m + c,) which links are must-links."""
        return np.repeat([True, False], [len(self.must), len(self.cannot)])

    @property
    def weight(self) -> Floats:
        """(m + c,) the weight of every link."""
        return np.concatenate([self.must_weight, self.cannot_weight])

    @property
    def signed_weight(self) -> Floats:
        """(m + c,) the weight of must-links, minus the weight of cannot-links."""
        return np.concatenate([self.must_weight, -self.cannot_weight])

    @property
    def total_weight(self) -> float:
        """Summed weight."""
        return float(self.must_weight.sum() + self.cannot_weight.sum())

    def to_matrix(self, n: int) -> csr_array:
        """(n, n) symmetric sparse matrix of the signed weights; a pair in both lists has their sum."""
        from cluewise.clues import _matrix

        return _matrix.matrix_of(self, n)

    def join(self, other: Pairs) -> Pairs:
        """The links of both, one list behind the other."""
        columns: list[Any] = [np.concatenate(both) for both in zip(self, other)]
        return Pairs(*columns)
