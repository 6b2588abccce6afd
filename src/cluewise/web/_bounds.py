"""Bounds on what clients without a token can take from the server: connections, time, lines of the log."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from time import monotonic
from typing import Any

__all__ = ["Limits", "Quiet", "bounded"]

SPARE = 200
"""Files that the server may open besides its connections."""


class Limits:
    """How many connections there may be, and how long one may wait for its client.

    Parameters
    ----------
    seconds : float, default=10
        Until a request is there as a whole, counted from the connection or from the response before it.
    each : int, default=300
        Connections from one address; of IPv6, from one network. Many people may share an address.
    total : int, optional
        All connections; by default as many as the process may open.
    """

    def __init__(self, seconds: float = 10.0, each: int = 300, total: int | None = None) -> None:
        self.seconds, self.each = seconds, each
        self.total = _most_files() - SPARE if total is None else total
        self._open: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Whether one more connection from an address is allowed; then it counts."""
        network = _network(address)
        if self._open.total() >= self.total or self._open[network] >= self.each:
            return False
        self._open[network] += 1
        return True

    def later(self, loop: asyncio.AbstractEventLoop, work: Callable[[], None]) -> asyncio.TimerHandle:
        """Do something when a client has had its time."""
        return loop.call_later(self.seconds, work)

    def leave(self, address: str) -> None:
        """A connection that counted is over."""
        network = _network(address)
        self._open[network] -= 1
        if not self._open[network]:
            del self._open[network]


def _most_files() -> int:
    with suppress(ImportError):
        import resource

        return min(resource.getrlimit(resource.RLIMIT_NOFILE)[0] % 2**63, 2**16)  # -1: unlimited
    return 2**13  # Windows


def _network(address: str) -> str:
    """What counts as one address: of IPv6 everybody has many."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return address if found.version == 4 else str(int(found) >> 64)


def bounded(limits: Limits) -> type[Any]:
    """Uvicorn's protocol for a connection, within limits."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Bounded(H11Protocol):
        """Ends when the client does not send a whole request in time, or does not read what it gets."""

        _timer: Any = None
        _unsent = 0
        _address: str | None = None  # none: it does not count

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            address = self.client[0] if self.client else ""
            if not limits.enter(address):
                transport.abort()
                return
            self._address = address
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            if self._address is not None:
                limits.leave(self._address)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def handle_websocket_upgrade(self, event: Any) -> None:
            self._rest()
            super().handle_websocket_upgrade(event)
            address = self._address
            protocol: Any = self.transport.get_protocol()
            lost = protocol.connection_lost

            def leave(error: Exception | None) -> None:
                if address is not None:
                    limits.leave(address)
                lost(error)

            protocol.connection_lost = leave  # it counts until it is over

        def _watch(self) -> None:
            """Wait for the client, or for the app."""
            if self.transport.get_protocol() is not self:
                return  # a WebSocket, whose first message the app awaits
            awaited = self.conn.their_state in (h11.IDLE, h11.SEND_BODY) or self.transport.is_closing()
            if not awaited:
                self._rest()
            elif self._timer is None:  # what comes in small pieces gets no more time
                self._unsent = self.transport.get_write_buffer_size()
                self._timer = limits.later(self.loop, self._end)

        def _rest(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _end(self) -> None:
            self._timer = None
            if 0 < self.transport.get_write_buffer_size() < self._unsent:  # a slow network: it reads what it gets
                self._watch()
            else:
                self.transport.abort()

    return Bounded


class Quiet(logging.Filter):
    """Lets so many records pass, and then one in a while, so that requests cannot fill a disk with messages.

    Parameters
    ----------
    most : int, default=100
        Records that may pass at once.
    every : float, default=60
        Seconds after which one more may pass.
    clock : callable
        Seconds that only grow.
    """

    def __init__(self, most: int = 100, every: float = 60.0, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._most, self._every, self._clock = most, every, clock
        self._left, self._since = float(most), clock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record passes."""
        now = self._clock()
        self._left = min(self._left + (now - self._since) / self._every, self._most)
        self._since = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
