"""A clock that runs only while a search runs."""

from __future__ import annotations

from time import monotonic

__all__ = ["Clock"]


class Clock:
    """Seconds left for searching; entered as a context, it gives them and takes off what was used."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def __enter__(self) -> float:
        self._began = monotonic()
        return max(self.left, 0.0)

    def __exit__(self, *_: object) -> None:
        self.left -= monotonic() - self._began
