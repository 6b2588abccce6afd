"""The line to the server: one call, one outcome, whatever happens on the way."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Timer
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from cluewise._version import __version__

__all__ = ["Outcome", "Send", "address_of", "http_send", "outcome_of", "secret"]

MOST = 4_000_000
"""Bytes of a response that are read; a word and its thoughts need less."""

LETTERS = 4000
"""Letters of a reply that are kept."""

SHORTEST = 8
"""Letters of a key that is worth hiding in what a server says; servers without keys accept words such as "none"."""

Send = Callable[[dict[str, Any]], Any]

_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)  # models that think aloud do so first
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Outcome(NamedTuple):
    """What became of a call: a reply, or a fault in one word."""

    fault: str = ""
    text: str = ""
    short: bool = False  # whether the reply was cut off at the number of tokens allowed
    tokens: tuple[int, int] | None = None  # sent and received, if the server counts them
    wait: float | None = None  # seconds that the server asks to wait
    detail: str = ""  # what the server said about the fault

    @property
    def reply(self) -> dict[str, Any]:
        """Plain values for the store."""
        if self.fault:
            return {"fault": self.fault}
        return {"text": self.text, "short": self.short, "tokens": None if self.tokens is None else list(self.tokens)}


def address_of(base: str) -> str:
    """The address that calls are sent to; refused if it is not one, without repeating what may hold a password."""
    parts = urlsplit(base if isinstance(base, str) else "")
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or re.search(r"\s", base):
        raise ValueError("base is the address of a server, such as http://127.0.0.1:8080 or https://host.")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("base is an address without a user, a password, ? or #; a key belongs in a variable.")
    return f"{base.rstrip('/').removesuffix('/v1')}/v1/chat/completions"


def secret(variable: str | None) -> str | None:
    """The key in an environment variable; errors repeat neither the key nor what was given for its name."""
    if variable is None:
        return None
    if not isinstance(variable, str) or not _VARIABLE.fullmatch(variable):
        raise ValueError("key is the name of an environment variable, such as CLUEWISE_KEY, not the key itself.")
    found = os.environ.get(variable, "").strip()
    if not found:
        raise ValueError("the environment variable that key names is not set.")
    if not found.isascii() or not found.isprintable() or " " in found:
        raise ValueError("the environment variable that key names holds letters that are no part of a key.")
    return found


def http_send(address: str, variable: str | None, timeout: float) -> Callable[[dict[str, Any]], Outcome]:
    """A function that sends the body of a call and returns its outcome."""

    def send(body: dict[str, Any]) -> Outcome:
        key = secret(variable)  # read for each call and kept nowhere
        found = _post(address, json.dumps(body).encode(), key, timeout)
        return _hidden(found, key)

    return send


def outcome_of(content: Any) -> Outcome:
    """What the JSON of a response says."""
    try:
        choice = content["choices"][0]
        said = choice["message"].get("content")
        if isinstance(said, list):  # some servers answer in parts
            said = "".join(part.get("text") or "" for part in said if part.get("type") == "text")
        text = "" if said is None else said
        if not isinstance(text, str):
            return Outcome("strange")
    except (KeyError, IndexError, TypeError, AttributeError):
        return Outcome("strange", detail=_message(content))
    text = _THOUGHT.sub("", text, count=1)
    short = choice.get("finish_reason") == "length" or len(text) > LETTERS
    return Outcome(text=text[:LETTERS], short=short, tokens=_tokens(content.get("usage")))


def _tokens(usage: Any) -> tuple[int, int] | None:
    """Tokens as the server counts them, if its numbers make sense."""
    if not isinstance(usage, dict):
        return None
    counts: tuple[Any, Any] = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    if all(type(count) is int and 0 <= count < 10**9 for count in counts):
        return counts
    return None


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: it would take the key, and the rows, to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Line:
    """The connections of one call, cut when its time is over.

    The time-out of a socket counts anew with every byte, so a server that sends one every minute would never time out.
    """

    def __init__(self, seconds: float) -> None:
        self.over = False
        self._sockets: list[socket.socket] = []
        self._timer = Timer(seconds, self._cut)
        self._timer.daemon = True

    def add(self, opened: socket.socket) -> None:
        """A connection of this call."""
        self._sockets.append(opened)
        if self.over:  # the time ended while it was opened
            self._cut()

    def _cut(self) -> None:
        self.over = True
        for one in self._sockets:
            with suppress(OSError):
                socket.socket.shutdown(one, socket.SHUT_RDWR)  # not that of TLS, which another thread is using

    def __enter__(self) -> _Line:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


class _Plain(HTTPConnection):
    def __init__(self, host: str, *, line: _Line, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self.line = line

    def connect(self) -> None:
        super().connect()
        self.line.add(self.sock)


class _Secure(HTTPSConnection):
    def __init__(self, host: str, *, line: _Line, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self.line = line

    def connect(self) -> None:
        super().connect()
        self.line.add(self.sock)


class _Handler(HTTPHandler, HTTPSHandler):
    """Opens connections that belong to a line."""

    def __init__(self, line: _Line) -> None:
        super().__init__()
        self.line = line

    def http_open(self, request: Request) -> Any:
        return self.do_open(partial(_Plain, line=self.line), request)

    def https_open(self, request: Request) -> Any:
        return self.do_open(partial(_Secure, line=self.line), request)


def _opener(line: _Line, direct: bool) -> OpenerDirector:
    proxies = [ProxyHandler({})] if direct else []
    return build_opener(_Handler(line), _NoRedirect, *proxies)


def _post(address: str, data: bytes, key: str | None, timeout: float) -> Outcome:
    """Send a body; every way to fail is an outcome."""
    # Under the name of urllib some servers take a call for that of a robot.
    agent = f"cluewise/{__version__}"
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": agent}
    request = Request(address, data, headers, method="POST")
    if key is not None:
        request.add_unredirected_header("Authorization", f"Bearer {key}")
    direct = urlsplit(address).hostname in _LOOPBACK
    with _Line(timeout) as line:
        try:
            with _opener(line, direct).open(request, timeout=timeout) as response:
                expected = response.headers.get("Content-Length", "")
                content = response.read(MOST + 1)
        except HTTPError as error:
            with error:
                return _status(error)
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            if line.over or isinstance(reason, TimeoutError):
                return Outcome("slow")
            refused = isinstance(error, URLError) and not isinstance(reason, ConnectionResetError)
            return Outcome("unreachable" if refused else "cut")
    if line.over:
        return Outcome("slow")
    if expected.isdecimal() and len(content) < min(int(expected), MOST):
        return Outcome("cut")
    try:
        return outcome_of(json.loads(content)) if len(content) <= MOST else Outcome("strange")
    except (ValueError, RecursionError):
        return Outcome("strange")


def _status(error: HTTPError) -> Outcome:
    """The outcome of a response that is not 200."""
    detail = ""
    with suppress(OSError, HTTPException, ValueError, RecursionError):
        detail = _message(json.loads(error.read(MOST)))
    if error.code == 429:
        return Outcome("busy", wait=_wait(error.headers.get("Retry-After")), detail=detail)
    if error.code >= 500 or error.code in (408, 409, 425):
        return Outcome("down", wait=_wait(error.headers.get("Retry-After")), detail=detail)
    if error.code < 400:
        return Outcome("redirected")
    if error.code in (401, 402, 403, 404, 405, 407):
        return Outcome("closed", detail=f"{error.code}" + (f", {detail}" if detail else ""))
    return Outcome("refused", detail=f"{error.code}" + (f", {detail}" if detail else ""))


def _wait(header: str | None) -> float | None:
    """Seconds of a header Retry-After, which is a number or a moment."""
    if not header:
        return None
    with suppress(ValueError, TypeError, OverflowError):
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", header.strip()):
            return float(header)
        moment = parsedate_to_datetime(header)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    return None


def _message(content: Any) -> str:
    """What a server says is wrong, short and on one line."""
    found = content.get("error", content.get("message", "")) if isinstance(content, dict) else ""
    found = found.get("message", "") if isinstance(found, dict) else found
    words = " ".join(found.split()) if isinstance(found, str) else ""
    words = "".join(c if c.isprintable() else "?" for c in words)
    return words if len(words) <= 200 else f"{words[:199]}…"


def _hidden(found: Outcome, key: str | None) -> Outcome:
    """The outcome without the key, in case the server repeats it."""
    if key is None or len(key) < SHORTEST:
        return found
    return found._replace(text=found.text.replace(key, "[key]"), detail=found.detail.replace(key, "[key]"))
