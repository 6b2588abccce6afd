"""The page as a widget of a notebook: the same app, without a server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from cluewise._extras import install
from cluewise.web import page
from cluewise.web._serve import user_name

if TYPE_CHECKING:
    from cluewise.active import Project
    from cluewise.web._session import Session

__all__ = ["widget"]

_HOST = "localhost"
_METHODS = ("GET", "POST", "PUT", "DELETE")
_PATIENCE = 2.0  # seconds for what goes on when the widget is closed


def widget(project: Project | Session, data: Any = None, *, who: str | None = None) -> Any:
    """The question panel and the map of a project, for a cell of a notebook.

    Parameters
    ----------
    project : Project or Session
        What people answer; closing the widget leaves it open.
    data : data frame, dict of columns or Table, optional
        What people see of the rows of a project; by default the numbers that it clusters by. A session has its own.
    who : str, optional
        Name of the person who answers; by default the name of the user of this machine.

    Returns
    -------
    anywidget.AnyWidget
        Shown by the notebook; ``close()`` ends it.
    """
    try:
        import anywidget
        import fastapi  # noqa: F401
    except ImportError:
        raise ImportError(f"the widget needs anywidget and FastAPI: {install('notebook')}.") from None
    page.check_page("widget.js")
    from cluewise.web._app import make_app
    from cluewise.web._gate import Gate
    from cluewise.web._session import session_of

    session = session_of(project, data)
    gate = Gate(session.project.store, hosts=[_HOST], port=80, owner=who or user_name())
    line = Line(make_app(session, gate), str(gate.token(gate.owner)))
    own = None if session is project else session
    return _widget_class(anywidget.AnyWidget)(line, own)


class Line:
    """Calls an app in this process, in a thread of its own.

    Parameters
    ----------
    app : ASGI application
        The app.
    token : str
        Of the person who calls.
    """

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token
        self._over = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cluewise-widget", daemon=True)
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin some work in the thread."""
        asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """End the thread, and everything that goes on in it."""
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def ask(self, method: str, path: str, body: Any) -> tuple[int, str, bytes]:
        """Status, type and content of the response to a request."""
        content = b"" if body is None else json.dumps(body).encode()
        sent: list[Any] = []
        waiting: list[dict[str, Any]] = [{"type": "http.request", "body": content, "more_body": False}]

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"authorization", f"Bearer {self._token}".encode()), (b"content-type", b"application/json")]
        await self._app(self._scope("http", path, headers) | {"method": method}, self._receive(waiting), send)
        start, *parts = sent
        kind = next((value.decode() for name, value in start["headers"] if name.lower() == b"content-type"), "")
        return start["status"], kind, b"".join(part.get("body", b"") for part in parts)

    async def listen(self, hear: Callable[[str | bytes], None]) -> None:
        """Pass on all that the app pushes, texts and frames."""
        waiting: list[dict[str, Any]] = [
            {"type": "websocket.receive", "text": json.dumps({"token": self._token})},
            {"type": "websocket.connect"},
        ]

        async def send(message: Any) -> None:
            if message["type"] == "websocket.send":
                text = message.get("text")
                hear(message["bytes"] if text is None else text)

        await self._app(self._scope("websocket", "/api/live", []), self._receive(waiting), send)

    def _receive(self, waiting: list[dict[str, Any]]) -> Callable[[], Awaitable[dict[str, Any]]]:
        """A function that gives an app what waits, the last first, and the end of the line when it comes."""

        async def receive() -> dict[str, Any]:
            if waiting:
                return waiting.pop()
            await self._over.wait()
            return {"type": "websocket.disconnect", "code": 1001}  # requests are answered before they read so far

        return receive

    async def _end(self) -> None:
        self._over.set()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_PATIENCE)
            for task in late:
                task.cancel()

    def _scope(self, kind: str, path: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
        parts = urlsplit(path)
        return {
            "type": kind,
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http" if kind == "http" else "ws",
            "path": unquote(parts.path),
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(b"host", _HOST.encode()), *headers],
            "client": None,
            "server": (_HOST, 80),
            "subprotocols": [],
        }


@cache
def _widget_class(base: Any) -> Any:
    """The class of the widget; anywidget is not needed before there is one."""

    class Widget(base):
        """A page that calls its app by messages: ``{id, method, path, body}``, answered by ``{id, status, json}``."""

        _esm = page.STATIC / "widget.js"
        _css = page.STATIC / "widget.css"

        def __init__(self, line: Line, own: Session | None) -> None:
            super().__init__()
            self._line, self._own = line, own  # own: the session that ends with the widget
            self.on_msg(self._hear)
            line.start(line.listen(self._push))

        def close(self) -> None:
            """End the widget; the project stays open."""
            self._line.close()
            if self._own is not None:
                self._own.close()
            super().close()

        def _hear(self, _: Any, content: Any, buffers: Any) -> None:
            self._line.start(self._answer(content))

        async def _answer(self, content: Any) -> None:
            number, method, path = (content.get(name) for name in ("id", "method", "path"))
            if method not in _METHODS or not str(path).startswith("/api/"):
                self.send({"id": number, "status": 404, "json": {"error": "There is nothing at this address."}})
                return
            try:
                status, kind, body = await self._line.ask(method, path, content.get("body"))
            except Exception:  # the app has logged it
                self.send({"id": number, "status": 500, "json": {"error": "Something went wrong; try it again."}})
                return
            if kind.startswith("application/json"):
                self.send({"id": number, "status": status, "json": json.loads(body or b"null")})
            else:
                self.send({"id": number, "status": status, "json": None, "type": kind}, [body])

        def _push(self, message: str | bytes) -> None:
            if isinstance(message, str):
                self.send({"push": json.loads(message)})
            else:
                self.send({"push": None}, [message])

    return Widget
