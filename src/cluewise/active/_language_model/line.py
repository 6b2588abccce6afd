"""Calls until there is a reply: noted before they are sent, sent again after a pause, never beyond the budget."""

from __future__ import annotations

import random
from collections.abc import Callable
from threading import Event, Lock
from time import monotonic
from typing import Any, NamedTuple

from cluewise.active._language_model.costs import Prices
from cluewise.active._language_model.ledger import Ledger
from cluewise.active._language_model.prompts import Call
from cluewise.active._language_model.tally import FATAL, RETRIED, Tally
from cluewise.active._language_model.transport import Outcome

__all__ = ["Limits", "Line"]

LONGEST = 600.0
"""Seconds that a server may ask to wait; if it asks for more, the call is given up."""

MOST_PAUSE = 60.0
"""Seconds of the longest pause that we choose ourselves."""

REFUSALS = 5
"""Requests in a row that a server may refuse before nothing more is sent; one may be too long, all cannot."""


class Limits(NamedTuple):
    """How far calls may go."""

    calls: int
    money: float | None
    prices: Prices | None
    retries: int
    pause: float


class Line:
    """Sends calls; several threads may do so at once, and all of them pause when the server asks for it."""

    def __init__(self, send: Callable[[dict[str, Any]], Outcome], limits: Limits, tally: Tally, seed: int) -> None:
        self.send, self.limits, self.tally = send, limits, tally
        self.stopped = Event()
        self.trouble = ""  # why nothing more is sent
        self._rng = random.Random(seed)
        self._lock = Lock()
        self._not_before = 0.0
        self._refusals = 0

    def fetch(self, call: Call, ledger: Ledger) -> dict[str, Any] | None:
        """The reply to a call, or that it was refused; None if it may be sent again."""
        prices = self.limits.prices
        attempt = 0
        while True:
            self.stopped.wait(max(0.0, self._not_before - monotonic()))
            if self.stopped.is_set():
                return None
            most = 0.0 if prices is None else prices.most(call.body)
            number = ledger.begin(call.key, call.request, most, most=self.limits.calls, limit=self.limits.money)
            if number is None:
                self.tally.add("budget")
                self.stop("")
                return None
            outcome = self.send(call.body)
            cost = 0.0 if prices is None else prices.charged(call.body, call.form, outcome)
            ledger.end(number, outcome.reply, cost, failed=bool(outcome.fault))
            if not outcome.fault:
                self._refusals = 0
                return outcome.reply
            self.tally.add(outcome.fault, outcome.detail)
            if not self._go_on(outcome, attempt):
                return outcome.reply if outcome.fault == "refused" else None
            attempt += 1

    def stop(self, trouble: str) -> None:
        """Send nothing more."""
        self.trouble = self.trouble or trouble
        self.stopped.set()

    def _go_on(self, outcome: Outcome, attempt: int) -> bool:
        """Whether to send the call again; sets the pause before it."""
        if outcome.fault in FATAL:
            self.stop(self.tally.sentence(outcome.fault))
        if outcome.fault == "refused":
            self._refusals += 1
            if self._refusals >= REFUSALS:
                self.stop(self.tally.sentence(outcome.fault))
        if outcome.fault not in RETRIED or attempt == self.limits.retries:
            return False
        if outcome.wait is not None and outcome.wait > LONGEST:
            self.stop(f"the server asks to wait {outcome.wait:.0f} seconds; go on later.")
            return False
        with self._lock:
            jitter = self._rng.uniform(0.5, 1.5)
            own = min(self.limits.pause * 2**attempt * jitter, MOST_PAUSE)
            until = monotonic() + max(own, outcome.wait or 0.0)
            if outcome.fault == "busy":
                self._not_before = max(self._not_before, until)  # of all threads: it is us who are too many
        self.stopped.wait(max(0.0, until - monotonic()))
        return True
