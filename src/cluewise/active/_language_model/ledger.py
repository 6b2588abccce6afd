"""Calls and replies in memory, for conversations that are in no file; `cluewise.store.Calls` is the same on disk."""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple, Protocol

__all__ = ["Ledger", "Memory", "Sums"]


class Sums(NamedTuple):
    """How many calls were sent, how many have a reply, how many are lost, and what they cost."""

    calls: int
    replies: int
    lost: int
    cost: float


class Ledger(Protocol):
    """Notes every call before it is sent, and its reply before it is used."""

    def begin(
        self, key: str, request: Any, cost: float = 0.0, *, most: int | None = None, limit: float | None = None
    ) -> int | None:
        """Note a call; its number, or None if it would exceed a limit."""

    def end(self, id: int, reply: Any, cost: float = 0.0, *, failed: bool = False) -> None:
        """Note a reply, or how the call failed."""

    def reply(self, key: str) -> Any:
        """The reply that was received under a key, or None."""

    def totals(self) -> Any:
        """How many calls were sent, how many of them are lost, and what they cost."""


class Memory:
    """A ledger that ends with its process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._keys: list[str] = []
        self._costs: list[float] = []
        self._replies: dict[str, Any] = {}

    def begin(
        self, key: str, request: Any, cost: float = 0.0, *, most: int | None = None, limit: float | None = None
    ) -> int | None:
        """Note a call; its number, or None if it would exceed a limit."""
        with self._lock:
            if most is not None and len(self._keys) + 1 > most:
                return None
            if limit is not None and sum(self._costs) + cost > limit:
                return None
            self._keys.append(key)
            self._costs.append(cost)
            return len(self._keys)

    def end(self, id: int, reply: Any, cost: float = 0.0, *, failed: bool = False) -> None:
        """Note a reply, or how the call failed."""
        with self._lock:
            self._costs[id - 1] = cost
            if not failed:
                self._replies[self._keys[id - 1]] = reply

    def reply(self, key: str) -> Any:
        """The reply that was received under a key, or None."""
        return self._replies.get(key)

    def totals(self) -> Sums:
        """How many calls were sent, how many have a reply, and what they cost; none is lost."""
        with self._lock:
            return Sums(len(self._keys), len(self._replies), 0, sum(self._costs))
