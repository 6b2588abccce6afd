"""Tokens and money: what calls will probably cost, and what they cost at most."""

from __future__ import annotations

from typing import Any, NamedTuple

from cluewise.active._language_model.prompts import Form
from cluewise.active._language_model.transport import Outcome

__all__ = ["Estimate", "Prices"]

BYTES = 3
"""Bytes per token that estimates assume: English has about four, other languages fewer."""

IMAGE = 1500
"""Tokens of an image that estimates assume; servers differ."""

LIMITS = ("max_completion_tokens", "max_tokens")
"""Fields of a request that bound how long a reply may be; which one a server accepts depends on the model."""

FREE = ("busy", "down", "unreachable", "refused", "closed", "redirected")
"""Faults that no server charges for."""


class Estimate(NamedTuple):
    """What calls will probably cost; ``cost`` is None without prices."""

    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None

    def __str__(self) -> str:
        if not self.calls:
            return "no calls: every reply is stored already"
        price = "the price is unknown" if self.cost is None else f"about {self.cost:.4g} at your prices"
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        return f"{calls}, about {self.tokens_in:,} tokens sent and {self.tokens_out:,} received, {price}"


class Prices(NamedTuple):
    """Prices of a million tokens that are sent and received."""

    sent: float
    received: float

    def cost(self, tokens: tuple[int, int]) -> float:
        """What tokens cost."""
        return (tokens[0] * self.sent + tokens[1] * self.received) / 1e6

    def most(self, body: dict[str, Any]) -> float:
        """The most that a call may cost: no token is shorter than a byte."""
        limit = limit_of(body)
        assert limit is not None  # checked with the prices
        size, images = _size(body)
        return self.cost((size + images * IMAGE, limit))

    def charged(self, body: dict[str, Any], form: Form, outcome: Outcome) -> float:
        """What a call has cost: by the tokens that the server counted, or else by an estimate."""
        if outcome.fault in FREE:
            return 0.0
        return self.cost(outcome.tokens or tokens_of(body, form))


def tokens_of(body: dict[str, Any], form: Form) -> tuple[int, int]:
    """Tokens that a call probably sends and receives."""
    size, images = _size(body)
    return size // BYTES + images * IMAGE, 3 + (4 * len(form.rows) if form.kind == "group" else 0)


def limit_of(body: dict[str, Any]) -> int | None:
    """The most tokens of a reply, if the request says so."""
    return next((body[name] for name in LIMITS if type(body.get(name)) is int), None)


def _size(body: dict[str, Any]) -> tuple[int, int]:
    """Bytes of the text of a request, and its number of images."""
    size = images = 0
    for message in body["messages"]:
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        images += sum("image_url" in part for part in parts)
        # Each message has a head of a few tokens.
        size += 24 + sum(len(part["text"].encode("utf-8", "replace")) for part in parts if "text" in part)
    return size, images
