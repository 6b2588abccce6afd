"""A clock that only runs during a search."""

from __future__ import annotations

from cluewise.kernels import working_time

__all__ = ["Clock"]


class Clock:
    """Seconds left for searching. As a context manager, it returns them and subtracts the time that was used."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def __enter__(self) -> float:
        self._began = working_time()
        return max(self.left, 0.0)

    def __exit__(self, *_: object) -> None:
        self.left -= working_time() - self._began
