"""Who may come in: a link with a token for each person, and checks that every request passes before the app sees it."""

from __future__ import annotations

import hmac
import json
import re
import secrets
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from fastapi import HTTPException

from cluewise.active import Answer
from cluewise.exceptions import ClueWarning
from cluewise.tables import atomic, writing

if TYPE_CHECKING:
    from fastapi import FastAPI

    from cluewise.store import Store

__all__ = ["PEOPLE", "ROLES", "Gate", "Person"]

ROLES = ("owner", "answers", "reads")
PEOPLE, OVERLAP = "people", "overlap"
"""Settings of the project; the first holds hashes of tokens."""

LARGEST = 2**20
"""Bytes of a request."""

_USUAL_OVERLAP = 0.1
_LONGEST = 60  # letters of a name
_FRESH = 1.0  # seconds for which people are remembered; another process may end a link
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[0-9a-z._-]+)(:\d{1,5})?")
_READS = ("GET", "HEAD", "OPTIONS")
_PLACE = ""  # stands for the project among the names in the file of links
_PRIVATE = 0o600


class Person(NamedTuple):
    """Somebody with a link.

    Examples
    --------
    >>> from cluewise.web._gate import Person
    >>> Person("ann", "answers").role
    'answers'
    """

    name: str
    role: str


class Gate:
    """The people of a project and their links.

    The project keeps only hashes of tokens. The tokens themselves, which the owner needs to show a link again, are in
    a file beside it (``FILE-links``) that nobody else on the machine can read, with the number that the file system
    gave to the project. A project that was copied or handed over has another number: whoever has a link to the original
    has none to the copy, unless the owner agrees.

    Parameters
    ----------
    store : Store
        The project.
    hosts : iterable of str
        Names of this machine under which the page is asked for, the one for links first; any other is refused, so that
        a page from elsewhere cannot reach the server by a name of its own (DNS rebinding).
    port : int
        Port for links.
    owner : str
        Who may do everything; has a link from the beginning.
    keep_links : bool, default=False
        Whether the links in a project that was copied stay valid.

    Attributes
    ----------
    owner : str
        The name of the owner.
    ended : callable
        Is told the name of a person whose link has ended.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.store import Store
    >>> from cluewise.web._gate import Gate
    >>> with Store.open(pathlib.Path(tempfile.mkdtemp()) / "iris.cluewise", create=True) as store:
    ...     gate = Gate(store, hosts=["localhost"], port=8000, owner="ann")
    ...     token = gate.add("bob", "answers")
    ...     gate.who(token), gate.people()
    (Person(name='bob', role='answers'), [Person(name='ann', role='owner'), Person(name='bob', role='answers')])
    """

    def __init__(self, store: Store, *, hosts: Iterable[str], port: int, owner: str, keep_links: bool = False) -> None:
        self.owner = _checked(owner)
        self.ended: Callable[[str], None] = lambda name: None
        self._store = store
        self._hosts = [host.lower() for host in hosts]
        self._port = port
        self._lock = threading.RLock()
        self._file = None if "://" in store.name else Path(f"{store.name}-links").absolute()
        self._place = "" if self._file is None else str(Path(store.name).stat().st_ino)
        self._tokens = _read_tokens(self._file)
        self._people: dict[str, dict[str, str]] = {}
        self._read()
        self._settle(keep_links)
        mine = self._people.get(self.owner)
        if mine is None or mine["role"] != "owner" or self.token(self.owner) is None:
            self._give(self.owner, "owner")

    def who(self, token: str) -> Person:
        """The person with a token; 401 if there is none."""
        with self._lock:
            if monotonic() - self._asked > _FRESH:
                self._read()
            mark, found = _hash(token), None
            for name, entry in self._people.items():  # all of them: how long it takes tells nothing
                if hmac.compare_digest(entry["hash"], mark):
                    found = Person(name, entry["role"])
        if found is None:
            raise HTTPException(401, "This link is not valid; ask whoever runs the page for a new one.")
        return found

    def people(self) -> list[Person]:
        """Everybody with a link, the owner first."""
        with self._lock:
            self._read()
            people = [Person(name, entry["role"]) for name, entry in self._people.items()]
        return sorted(people, key=lambda person: (ROLES.index(person.role) > 0, person.name))

    def add(self, name: str, role: str) -> str:
        """A new person's token."""
        if role not in ROLES[1:]:
            raise HTTPException(422, f"A person answers or reads; '{role}' is no role for a link.")
        with self._lock:
            self._read()
            try:
                name = _checked(name)
            except ValueError as error:
                raise HTTPException(422, str(error)) from None
            if name in self._people:
                raise HTTPException(409, f"{name} has a link already; end it before you make another.")
            return self._give(name, role)

    def end(self, name: str) -> None:
        """End the link of a person."""
        with self._lock:
            self._read()
            if name == self.owner:
                raise HTTPException(409, "The link of the owner stays.")
            if name not in self._people:
                raise HTTPException(404, f"{name} has no link.")
            del self._people[name]
            self._tokens.pop(name, None)
            self._write()
        self.ended(name)

    def token(self, name: str) -> str | None:
        """The token of a person, for the owner to show again; None if only its hash is known."""
        with self._lock:
            token, entry = self._tokens.get(name), self._people.get(name)
            return token if token and entry and hmac.compare_digest(entry["hash"], _hash(token)) else None

    def link(self, token: str) -> str:
        """The address of the page for whoever has a token; the page takes the token out of the address at once."""
        host = f"[{self._hosts[0]}]" if ":" in self._hosts[0] else self._hosts[0]
        return f"http://{host}:{self._port}/?token={token}"

    @property
    def overlap(self) -> float:
        """Share of a person's questions that somebody else was asked, too."""
        with self._store.settings.reading(OVERLAP):
            return float(self._store.settings.get(OVERLAP, _USUAL_OVERLAP))

    @overlap.setter
    def overlap(self, share: Any) -> None:
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise HTTPException(422, f"The overlap is a share between 0 and 1, not {share!r}.")
        self._store.settings[OVERLAP] = float(share)

    def install(self, app: FastAPI, *, remote_images: bool = False) -> None:
        """Let every request to the app pass the checks, and give every response its headers."""
        app.add_middleware(_Checks, gate=self, remote_images=remote_images)

    def knows_host(self, host: str) -> bool:
        """Whether a request was sent to a name of this machine; any port, because ports are forwarded."""
        found = _HOST.fullmatch(host.lower())
        return found is not None and found[1].strip("[]") in self._hosts

    def _settle(self, keep_links: bool) -> None:
        """End the links of a project that was copied: whoever handed it over knows them."""
        home = self._tokens.pop(_PLACE, None)
        if not self._people or home == self._place or self._file is None:
            return
        if not keep_links:
            names, self._people, self._tokens = ", ".join(sorted(self._people)), {}, {}
            warnings.warn(
                f"the links in '{self._store.name}' are not valid here ({names}), because it was copied or the file of "
                "links beside it is lost; make new ones.",
                ClueWarning,
                stacklevel=3,
            )
        self._write()

    def _give(self, name: str, role: str) -> str:
        token = secrets.token_urlsafe(32)
        self._people[name] = {"role": role, "hash": _hash(token)}
        self._tokens[name] = token
        self._write()
        return token

    def _read(self) -> None:
        found = self._store.settings.get(PEOPLE, {})
        with self._store.settings.reading(PEOPLE):
            self._people = {name: {"role": str(one["role"]), "hash": str(one["hash"])} for name, one in found.items()}
            if not all(one["role"] in ROLES for one in self._people.values()):
                raise KeyError("there is no such role")
        self._asked = monotonic()

    def _write(self) -> None:
        self._store.settings[PEOPLE] = self._people
        if self._file is not None:
            _hide(self._file)  # the new file gets the permissions of the old one
            with atomic(self._file) as aside, writing(self._file):
                aside.chmod(_PRIVATE)  # while it is empty
                aside.write_text(json.dumps({**self._tokens, _PLACE: self._place}), encoding="utf-8")


def _read_tokens(file: Path | None) -> dict[str, str]:
    """The tokens beside a project; none if they are lost, as links still work without them."""
    if file is None:
        return {}
    _hide(file)
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    good = isinstance(found, dict) and all(isinstance(token, str) for token in found.values())
    return found if good else {}


def _hide(file: Path) -> None:
    """Let nobody else read a file."""
    with suppress(OSError):  # it is not there yet, or somebody else's
        if file.stat().st_mode & 0o777 != _PRIVATE:
            file.chmod(_PRIVATE)


def _hash(token: str) -> str:
    """What is kept of a token: 32 random bytes need no salt."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _checked(name: str) -> str:
    name = name.strip()
    if not name or len(name) > _LONGEST or not name.isprintable():
        raise ValueError(f"A person's name is a text of 1 to {_LONGEST} letters, not {name[:_LONGEST]!r}.")
    if name == Answer.INFERRED:
        raise ValueError(f"The name {Answer.INFERRED} is reserved for answers that follow from others.")
    return name


class _Checks:
    """ASGI middleware: where a request was sent to, where it comes from, how large it is; headers of responses."""

    def __init__(self, app: Any, gate: Gate, remote_images: bool) -> None:
        self.app, self.gate = app, gate
        self.remote = " https:" if remote_images else ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = _Headers(scope)
        host = headers.one("host")
        if not self.gate.knows_host(host):
            await _refuse(scope, send, 421, "This server does not go by the name that it was called.")
            return
        origin = headers.one("origin")
        acts = scope["type"] == "websocket" or scope["method"] not in _READS
        # Programs send no Origin, browsers always do; programs need a token as well.
        if acts and origin and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            await _refuse(scope, send, 403, "This request comes from another page.")
            return
        if scope["type"] == "websocket":  # its first message is the token
            await self.app(scope, receive, send)
            return
        is_api = scope["path"].startswith("/api")
        if is_api:  # before any route sees it, so that none can forget
            try:
                self.gate.who(headers.one("authorization").removeprefix("Bearer "))
            except HTTPException as error:
                await _refuse(scope, send, error.status_code, error.detail)
                return
        elif headers.one("content-length") not in ("", "0") or headers.one("transfer-encoding"):
            await _refuse(scope, send, 401, "Only a request with a token may have a body.")
            return
        body = await _read_body(headers, receive)
        if body is None:
            await _refuse(scope, send, 413, f"A request is at most {LARGEST // 2**20} MiB.")
            return
        more = self._headers(host, is_api=is_api)

        async def start(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                new = [(name, value) for name, value in more if name not in given]
                message = {**message, "headers": [*message["headers"], *new]}
            await send(message)

        await self.app(scope, _replay(body, receive), start)

    def _headers(self, host: str, *, is_api: bool) -> list[tuple[bytes, bytes]]:
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; "
            f"img-src 'self' blob: data:{self.remote}; connect-src 'self' ws://{host} wss://{host}; "
            "base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
        )
        headers = {
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "cache-control": "no-store" if is_api else "no-cache",
        }
        return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


class _Headers:
    """Headers of a request; one that is given twice counts as wrong."""

    def __init__(self, scope: Any) -> None:
        self._all: list[tuple[bytes, bytes]] = scope["headers"]

    def one(self, name: str) -> str:
        found = [value for key, value in self._all if key.lower() == name.encode()]
        return ", ".join(value.decode("latin-1") for value in found)


async def _read_body(headers: _Headers, receive: Any) -> bytes | None:
    """The whole body; None if it is too large, whether it says so (Content-Length) or not (chunks)."""
    length = headers.one("content-length")
    if length and (not length.isdecimal() or int(length) > LARGEST):
        return None
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":  # whoever asked has gone, and half a request is none
            return None
        part = message.get("body", b"")
        size += len(part)
        if size > LARGEST:
            return None
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


def _replay(body: bytes, receive: Any) -> Any:
    """A function that receives a body that was read before, and then whatever comes."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return waiting.pop() if waiting else await receive()

    return again


async def _refuse(scope: Any, send: Any, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": sentence})
        return
    body = json.dumps({"error": sentence}).encode()
    # After a body that was not read to its end the connection is of no more use.
    headers = {b"content-type": b"application/json", b"content-length": b"%d" % len(body), b"connection": b"close"}
    headers |= {b"cache-control": b"no-store", b"x-content-type-options": b"nosniff"}
    await send({"type": "http.response.start", "status": status, "headers": list(headers.items())})
    await send({"type": "http.response.body", "body": body})
