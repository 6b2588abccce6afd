"""Errors and warnings, most of them about clues: each is one sentence, with a witness if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluewise._texts import as_line

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ClueError",
    "ClueWarning",
    "ColumnWarning",
    "Contradiction",
    "Infeasible",
    "NotDescending",
    "OtherRows",
    "SoftClueWarning",
    "Undecided",
    "UnusedClueWarning",
    "WorkersLost",
]


class ClueError(ValueError):
    """Clues that cannot be read or used.

    Examples
    --------
    >>> from cluewise import Clues
    >>> Clues(3, must=[(0, 7)])
    Traceback (most recent call last):
    ...
    cluewise.exceptions.ClueError: must-link 0 names row 7, but there are only 3 rows (0 to 2).
    """

    def __init__(self, message: str) -> None:
        super().__init__(as_line(message))  # a name in a file may hold anything


class Contradiction(ClueError):
    """Two rows must be both together and apart; ``conflicts`` has the chains that prove it.

    Examples
    --------
    >>> from cluewise import Clues
    >>> Clues(3, must=[(0, 1), (1, 2)], cannot=[(0, 2)]).require(2)
    Traceback (most recent call last):
    ...
    cluewise.exceptions.Contradiction: rows 0 and 2 must be apart (cannot-link), but must-links join them: 0 - 1 - 2.
    """

    def __init__(self, message: str, conflicts: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.conflicts = tuple(conflicts)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.conflicts)


class Infeasible(ClueError):
    """No clustering satisfies the hard clues; ``witness`` has the rows or clues that prove it.

    Examples
    --------
    >>> from cluewise import Clues
    >>> Clues(3, cannot=[(0, 1), (1, 2), (0, 2)]).require(2)
    Traceback (most recent call last):
    ...
    cluewise.exceptions.Infeasible: rows 0, 1 and 2 must all be apart, which needs 3 clusters, but there are only 2.
    """

    def __init__(self, message: str, witness: Any = None) -> None:
        super().__init__(message)
        self.witness = witness

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.witness)


class OtherRows(ValueError):
    """Rows that are not those of a saved model; ``columns`` has the numbers of those that differ, if known.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import cluewise as cw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.cw"
    >>> cw.save(cw.Cluewise(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]]), path)
    >>> cw.load(path).resume([[0.0], [1.0], [9.0], [8.0]])
    Traceback (most recent call last):
    ...
    cluewise.exceptions.OtherRows: column 0 of X differs from that of the fit.
    """

    def __init__(self, message: str, columns: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.columns = list(columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.columns)


class Undecided(ClueError):
    """The time limit ended before the clues were satisfied or proved unsatisfiable.

    Examples
    --------
    >>> from cluewise.exceptions import Undecided
    >>> issubclass(Undecided, ValueError)
    True
    """


class WorkersLost(RuntimeError):
    """A dask cluster has no workers left, or is lost itself; ``__cause__`` has what dask says, if it says anything.

    Examples
    --------
    >>> from cluewise.exceptions import WorkersLost
    >>> issubclass(WorkersLost, RuntimeError)
    True
    """


class ClueWarning(UserWarning):
    """A warning about the clues.

    Examples
    --------
    >>> from cluewise.exceptions import ClueWarning, UnusedClueWarning
    >>> issubclass(UnusedClueWarning, ClueWarning)
    True
    """


class ColumnWarning(UserWarning):
    """Something about the columns of a table is not as expected; the message says what was done instead.

    Examples
    --------
    >>> import warnings
    >>> from cluewise.exceptions import ColumnWarning
    >>> warnings.simplefilter("ignore", ColumnWarning)
    """


class SoftClueWarning(ClueWarning):
    """A hard method treats clues of different weights as equally hard.

    Examples
    --------
    >>> import warnings
    >>> from cluewise.exceptions import SoftClueWarning
    >>> warnings.simplefilter("ignore", SoftClueWarning)
    """


class UnusedClueWarning(ClueWarning):
    """The method does not use this kind of clue.

    Examples
    --------
    >>> import warnings
    >>> from cluewise.exceptions import UnusedClueWarning
    >>> warnings.simplefilter("ignore", UnusedClueWarning)
    """


class NotDescending(RuntimeWarning):
    """An objective that should never increase did; this is a bug, please report it.

    Examples
    --------
    >>> import warnings
    >>> from cluewise.exceptions import NotDescending
    >>> warnings.simplefilter("error", NotDescending)
    """
