"""News for the pages that are open: texts for all or for one person, and frames."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["Hub"]

Listener: TypeAlias = Callable[[str | bytes, str | None], None]


class Hub:
    """Passes news on; any thread may use it.

    A listener gets each message, and for whom it is (None: for everybody); it must not wait.

    Parameters
    ----------
    changed : callable
        Is called when somebody comes or leaves.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._listeners: dict[int, Listener] = {}
        self._count = 0
        self._online: Counter[str] = Counter()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Pass all news to a listener; returns a function that ends it."""
        with self._lock:
            self._count += 1
            number = self._count
            self._listeners[number] = listener

        def end() -> None:
            with self._lock:
                self._listeners.pop(number, None)

        return end

    def push(self, message: dict[str, Any] | bytes, who: str | None = None) -> None:
        """Send a message to everybody, or to one person."""
        with self._lock:
            listeners = list(self._listeners.values())
        if listeners:
            whole = message if isinstance(message, bytes) else json.dumps(message, ensure_ascii=False)
            for listener in listeners:
                listener(whole, who)

    def come(self, who: str) -> None:
        """A page of a person is open."""
        with self._lock:
            self._online[who] += 1
        self._changed()

    def leave(self, who: str) -> None:
        """A page of a person is closed."""
        with self._lock:
            self._online[who] -= 1
        self._changed()

    @property
    def online(self) -> int:
        """Number of people with a page open."""
        with self._lock:
            return sum(pages > 0 for pages in self._online.values())

    def is_online(self, who: str) -> bool:
        """Whether a page of a person is open."""
        return self._online[who] > 0
