"""What went wrong, counted, and told in one sentence each."""

from __future__ import annotations

from collections import Counter
from threading import Lock

__all__ = ["FATAL", "RETRIED", "Tally"]

RETRIED = ("busy", "down", "slow", "cut", "strange", "unreachable")
"""Faults after which a call is sent again."""

FATAL = ("closed", "redirected")
"""Faults that every other call would have, too."""

SENTENCES = {
    "busy": "the server asked to wait (429)",
    "down": "the server failed (5xx)",
    "slow": "the server took too long",
    "cut": "the line was cut before the end of the response",
    "strange": "the response was not that of a chat: a web page, nothing, or broken JSON",
    "unreachable": "the server could not be reached",
    "refused": "the server refused the request (4xx)",
    "closed": "the server does not accept the key, the address or the model",
    "redirected": "the server sent us to another address, which is not followed",
    "budget": "the budget did not allow the call",
    "empty": "the reply was empty",
    "prose": "the reply was not in the form that was asked for",
    "unknown": "the reply named an item that was not there",
    "repeated": "the reply put an item into two groups",
    "short": "the reply was cut off at its number of tokens",
    "unsure": "the model was unsure",
    "apart": "the replies in both orders did not agree",
    "part": "the replies in both orders agreed on some of the items only",
}


class Tally:
    """Counts by what happened; threads may count at the same time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.counts: Counter[str] = Counter()
        self.details: dict[str, str] = {}

    def add(self, what: str, detail: str = "") -> None:
        """Count one more; of what a server says about it the last is kept."""
        with self._lock:
            self.counts[what] += 1
            if detail:
                self.details[what] = detail

    def sentence(self, what: str) -> str:
        """What happened, how often, and what the server said about it."""
        said = self.details.get(what)
        words = SENTENCES[what] + (f" ({said})" if said else "")
        return f"{self.counts[what]} time{'' if self.counts[what] == 1 else 's'} {words}."

    def why_no_reply(self) -> str:
        """A sentence about the fault that there was most often; none if it was the budget that ended the calls."""
        faults = [fault for fault in self.counts if fault in RETRIED or fault == "refused"]
        if self.counts["budget"] or not faults:
            return ""
        return f"there was no reply: {self.sentence(max(faults, key=self.counts.__getitem__))}"

    def sentences(self) -> list[str]:
        """A sentence for each thing that happened."""
        return [self.sentence(what) for what in SENTENCES if self.counts[what]]
