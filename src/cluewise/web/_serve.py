"""The server in this process: where it listens, what it says, and how it ends."""

from __future__ import annotations

import asyncio
import getpass
import logging
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import closing, suppress
from html import escape
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

from cluewise.web._bounds import Limits, Quiet, bounded
from cluewise.web.page import check_page, check_server

if TYPE_CHECKING:
    from cluewise.active import Project
    from cluewise.web._session import Session

__all__ = ["serve", "user_name"]

LOCAL = ("127.0.0.1", "localhost", "::1")
PORT = "port"
"""Setting of the project: the last port, so that links last as long as it is free."""

_PROTOCOL = "websockets-sansio"  # the plain "websockets" of uvicorn uses what websockets has deprecated, and warns
_LONGEST_MESSAGE = 2**16  # bytes that a page sends through its WebSocket
_SWITCH = 0.0005  # seconds after which a thread that computes gives way, instead of 5 ms
_PATIENCE = 2  # seconds for requests under way when the server ends


def serve(
    project: Project | Session,
    data: Any = None,
    *,
    host: str = LOCAL[0],
    port: int = 0,
    who: str | None = None,
    open_browser: bool = True,
    say: Callable[[str], None] | None = None,
    keep_links: bool = False,
) -> None:
    """Serve the page of a project until Ctrl-C.

    Parameters
    ----------
    project : Project or Session
        What people answer. A session is closed at the end, a project stays open.
    data : data frame, dict of columns or Table, optional
        What people see of the rows of a project; by default the numbers that it clusters by. A session has its own.
    host : str, default="127.0.0.1"
        Address to listen at. Any other than the default can be reached from other machines; whoever can reach it and
        has a link can answer, and what goes over the network is not encrypted.
    port : int, default=0
        0: the one of last time if it is free, else any that is.
    who : str, optional
        Name of the owner; by default the name of the user of this machine.
    open_browser : bool, default=True
        Open the page, if this machine has a screen.
    say : callable, optional
        Is told the address; by default it is printed.
    keep_links : bool, default=False
        Whether the links in a project that was copied or handed over stay valid, also that of its owner then.
    """
    check_server()
    check_page()
    from cluewise.web._session import session_of

    with closing(session_of(project, data)) as session:
        _run(session, host, port, who or user_name(), open_browser, say or _print, keep_links)


def _run(
    session: Session,
    host: str,
    port: int,
    owner: str,
    open_browser: bool,
    say: Callable[[str], None],
    keep_links: bool,
) -> None:
    import uvicorn

    from cluewise.web._app import make_app
    from cluewise.web._gate import Gate

    store = session.project.store
    last = store.settings.get(PORT)
    listener = _listen(host, port, last if isinstance(last, int) and 0 < last < 2**16 else 0)
    number = int(listener.getsockname()[1])
    gate = Gate(store, hosts=_names_of(host), port=number, owner=owner, keep_links=keep_links)
    store.settings[PORT] = number
    token = gate.token(gate.owner)
    assert token is not None  # the owner has one from the beginning
    address = gate.link(token)
    beside = None if "://" in store.name else Path(store.name)
    leader = _lead_to(address, beside) if open_browser and _has_screen() else None

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            say(address)
            if leader is not None:
                threading.Thread(target=webbrowser.open, args=[leader.as_uri()], daemon=True).start()

        async def shutdown(self, sockets: Any = None) -> None:
            await super().shutdown(sockets)
            if leader is not None:
                leader.unlink(missing_ok=True)
            # Before Ctrl-C is passed on: nobody interrupts this.
            await asyncio.to_thread(session.close)

    limits = Limits()
    config = uvicorn.Config(
        make_app(session, gate),
        http=bounded(limits),
        timeout_keep_alive=round(limits.seconds),
        ws=_PROTOCOL,
        ws_per_message_deflate=False,  # a million labels take 0.7 ms instead of 32
        ws_max_size=_LONGEST_MESSAGE,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_PATIENCE,
    )
    # A request gives up the interpreter several times, and would wait for a fit to do so as often.
    sys.setswitchinterval(_SWITCH)
    quiet = Quiet()
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "asyncio")]
    for logger in loggers:
        logger.addFilter(quiet)
    try:
        Server(config).run(sockets=[listener])
    finally:
        for logger in loggers:
            logger.removeFilter(quiet)


def _listen(host: str, port: int, last: int) -> socket.socket:
    """A socket at an address, or one sentence that says why there is none."""
    if not 0 <= port < 2**16:
        raise ValueError(f"port {port} is not one from 0 to {2**16 - 1}.")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, OverflowError, UnicodeError):
        raise ValueError(f"'{host}' port {port} is not an address of this machine.") from None
    if not port and last:
        with suppress(OSError):
            return _bound(family, (address[0], last, *address[2:]))
    try:
        return _bound(family, address)
    except PermissionError:
        raise ValueError(f"port {port} is reserved for the system; choose one above 1023.") from None
    except OSError as error:
        if error.errno == _taken():
            raise ValueError(f"port {port} is taken by another program; choose another, or leave --port out.") from None
        raise ValueError(f"'{host}' is not an address of this machine.") from None


def _bound(family: int, address: Any) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name != "nt":  # there it would let two programs share a port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(2048)
    except BaseException:
        made.close()
        raise
    return made


def _taken() -> int:
    from errno import EADDRINUSE

    return EADDRINUSE


def _names_of(host: str) -> list[str]:
    """Names under which this machine may be called, the best for links first."""
    if host in LOCAL:
        return [host, *(name for name in LOCAL if name != host)]
    if host not in ("0.0.0.0", "::"):
        return [host, *LOCAL]
    names = [_own_address(), socket.gethostname(), socket.getfqdn()]
    with suppress(OSError):
        names += [str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None)]
    return [*dict.fromkeys(name for name in names if name), *LOCAL]


def _own_address() -> str:
    """The address by which other machines reach this one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # an address for documentation, which nobody has
        return str(probe.getsockname()[0])
    return ""


def user_name() -> str:
    """Whoever is logged in."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container without names
        return "me"


def _lead_to(address: str, beside: Path | None) -> Path:
    """Make a file that leads to an address: everybody on the machine can read command lines, and it has a token.

    The file is beside the project, if possible: there are browsers that cannot read the folder of temporary files.
    """
    text = f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(address)}">'
    file = None if beside is None else Path(f"{beside}-open.html").absolute()
    try:
        if file is None:
            raise FileNotFoundError
        file.unlink(missing_ok=True)
        handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError:
        handle, name = mkstemp(suffix=".html")
        file = Path(name)
    with open(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    return file


def _has_screen() -> bool:
    """Whether a browser has a window; without one, a browser for the terminal would take it."""
    return os.name == "nt" or sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def _print(address: str) -> None:
    sys.stdout.write(f"cluewise: {address}\n")
    sys.stdout.flush()
