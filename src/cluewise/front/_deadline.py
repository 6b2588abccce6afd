"""When `Cluewise` has to stop comparing."""

from __future__ import annotations

import math
from time import monotonic

__all__ = ["Deadline"]


class Deadline:
    """The moment at which a fit should be done, and whether that left no time for something.

    Attributes
    ----------
    reached : bool
        Whether something was left out, so that the result depends on the speed of the machine.
    """

    def __init__(self, seconds: float | None, whole: Deadline | None = None) -> None:
        self._end = math.inf if seconds is None else monotonic() + seconds
        self._whole = whole  # of which this is a part
        self.reached = False

    def leaves(self, seconds: float = 0.0) -> bool:
        """Whether there is time for what takes about these seconds; the caller leaves it out if not."""
        enough = monotonic() + seconds <= self._end
        if not enough:
            self.reached = True
            if self._whole is not None:
                self._whole.reached = True
        return enough

    def halve(self) -> Deadline:
        """The moment in the middle between now and the deadline."""
        return Deadline((self._end - monotonic()) / 2, self)
