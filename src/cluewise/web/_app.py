"""The routes of the server; `frontend/src/api.ts` says what each takes and gives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import FastAPI, HTTPException, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles

from cluewise._texts import HALF
from cluewise._version import __version__
from cluewise.active import Act, Answer, Question, agreement
from cluewise.tables import FileError
from cluewise.web import _doubts, _frames
from cluewise.web._export import export
from cluewise.web._fits import entry_of
from cluewise.web._gate import Gate, Person
from cluewise.web._images import image
from cluewise.web._session import Session

__all__ = ["make_app"]

STATIC = Path(__file__).parent / "static"
AHEAD, MOST_AHEAD = 3, 20
CHANNELS = ("known", "confidence", "doubt", "source")
_TABLES = ("csv", "parquet", "json")
FORMATS: dict[str, tuple[str, ...]] = {
    "answers": _TABLES,
    "clusters": _TABLES,
    "project": ("cluewise",),
    "report": ("html",),
}
_BACKLOG = 1000  # messages that may wait for a page; one that is slower has to connect again
_LINKS = 10_000
_LONGEST = 10**9  # seconds
_NO_LINK = 4401  # code with which a connection is closed


def make_app(session: Session, gate: Gate) -> FastAPI:
    """The application that serves a session.

    Parameters
    ----------
    session : Session
        The project that people answer; close it afterwards.
    gate : Gate
        Who may come in.

    Returns
    -------
    FastAPI
        To be run by uvicorn, or tested by ``fastapi.testclient``.

    Examples
    --------
    >>> from cluewise.web import make_app
    >>> make_app.__name__
    'make_app'
    """
    session.people = lambda: [person.name for person in gate.people()]
    gate.ended = lambda name: session.hub.push({"type": "ended"}, name)  # wakes the pages of this person
    session.questions.overlap = gate.overlap
    app = FastAPI(title="cluewise", docs_url=None, redoc_url=None, openapi_url=None)
    _add_errors(app)
    _add_answers(app, session, gate)
    _add_views(app, session, gate)
    _add_arrays(app, session, gate)
    _add_people(app, session, gate)
    _add_live(app, session, gate)

    @app.api_route("/api/{path:path}", methods=["GET", "POST", "PUT", "DELETE"])
    async def nothing(path: str) -> Response:
        raise HTTPException(404, f"There is nothing at /api/{path}.")

    if STATIC.is_dir():
        app.mount("/", StaticFiles(directory=STATIC, html=True), name="page")
    gate.install(app, remote_images=session.remote_images)
    return app


def _add_errors(app: FastAPI) -> None:
    """Every error is one sentence."""

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        return JSONResponse({"error": str(error.detail)}, error.status_code)

    @app.exception_handler(ValueError)
    async def invalid(request: Request, error: ValueError) -> Response:
        status = 507 if isinstance(error, FileError) else 422
        return JSONResponse({"error": _sentence(error)}, status)

    @app.exception_handler(RequestValidationError)
    async def unreadable(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return JSONResponse({"error": f"{first['loc'][-1]} is wrong: {first['msg']}.".capitalize()}, 422)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": f"The server failed: {_sentence(error)}"}, 500)


def _add_answers(app: FastAPI, session: Session, gate: Gate) -> None:
    """What people say and do."""

    @app.get("/api/questions")
    async def questions(request: Request, count: int = AHEAD) -> Response:
        person = _who(request, gate, "answers")
        return JSONResponse(session.hand(person.name, max(1, min(count, MOST_AHEAD))))

    @app.post("/api/answers")
    async def answer(request: Request) -> Response:
        person = _who(request, gate, "answers")
        answer = _read_answer(await _body(request), person, session.n)
        return await _hear(session, person, *session.tell(answer))

    @app.put("/api/answers/{entry}")
    async def change(request: Request, entry: int) -> Response:
        person, body = _who(request, gate, "answers"), await _body(request)
        old = _find(session, entry, person, sent=body.get("nonce"))
        if not isinstance(old, Answer):
            raise HTTPException(409, "An act has no other answer; take it back instead.")
        asked = {"kind": old.question.kind, "rows": list(old.question.rows), "why": old.question.why}
        answer = _read_answer({**body, **asked}, person, session.n)
        return await _hear(session, person, *session.change(old, answer))

    @app.delete("/api/answers/{entry}")
    async def take_back(request: Request, entry: int) -> Response:
        person = _who(request, gate, "answers")
        _find(session, entry, person)
        await asyncio.wrap_future(session.undo(person.name, entry=entry))
        return JSONResponse({})

    @app.get("/api/answers")
    def answers(request: Request, last: int = 10) -> Response:
        _who(request, gate)
        return JSONResponse(session.entries(max(1, min(last, 10_000))))

    @app.post("/api/undo")
    async def undo(request: Request) -> Response:
        person = _who(request, gate, "answers")
        return _entry(session, await asyncio.wrap_future(session.undo(person.name, of=person.name)), stands=False)

    @app.post("/api/redo")
    async def redo(request: Request) -> Response:
        person = _who(request, gate, "answers")
        return _entry(session, await asyncio.wrap_future(session.redo(person.name)), stands=True)

    @app.post("/api/acts")
    async def act(request: Request) -> Response:
        person, body = _who(request, gate, "answers"), await _body(request)
        stored = await asyncio.to_thread(session.do, body, person.name)
        return JSONResponse({"entry": await asyncio.wrap_future(stored)})


def _add_views(app: FastAPI, session: Session, gate: Gate) -> None:
    """What there is to read."""
    data = session.data

    @app.get("/api/project")
    async def project(request: Request) -> Response:
        person = _who(request, gate)
        return JSONResponse(
            {
                "name": data.table.name,
                "version": __version__,
                "rows": session.n,
                "columns": [{"name": name, "kind": kind} for name, kind in session.kinds.items()],
                "layouts": session.layouts.list(),
                "me": person._asdict(),
                "key": session.key,
                "remote_images": session.remote_images,
            }
        )

    @app.get("/api/state")
    async def state(request: Request) -> Response:
        _who(request, gate)
        return JSONResponse(session.state())

    @app.get("/api/clusters")
    def clusters(request: Request) -> Response:
        _who(request, gate)
        return JSONResponse(session.clusters())

    @app.get("/api/doubts")
    def doubts(request: Request) -> Response:
        _who(request, gate)
        return JSONResponse(session.doubts())

    @app.get("/api/rows")
    def rows(request: Request, ids: str) -> Response:
        _who(request, gate)
        return JSONResponse([session.card(row) for row in _rows(ids, session.n)[:200]])

    @app.get("/api/neighbors/{row}")
    def neighbors(request: Request, row: int, count: int = 10) -> Response:
        _who(request, gate)
        (row,) = _rows(str(row), session.n)
        away = np.sqrt(((session.X - session.X[row]) ** 2).sum(axis=1))
        away[row] = np.inf
        count = max(1, min(count, 100, session.n - 1))
        near = np.argpartition(away, count - 1)[:count]
        near = near[np.argsort(away[near], kind="stable")].tolist()
        return JSONResponse([{"row": i, "name": data.name(i), "distance": float(away[i])} for i in near])

    @app.get("/api/search")
    def search(request: Request, q: str = "", limit: int = 50) -> Response:
        _who(request, gate)
        found = _search(session, q.strip().lower())
        first = found[: max(1, min(limit, 1000))]
        lines = [{"row": row, "name": data.name(row), "where": where} for row, where in first]
        return JSONResponse({"total": len(found), "rows": lines})

    @app.get("/api/links")
    def links(request: Request, broken: int = 0, limit: int = 2000) -> Response:
        _who(request, gate)
        return JSONResponse(_list_links(session, bool(broken), max(0, min(limit, _LINKS))))


def _add_arrays(app: FastAPI, session: Session, gate: Gate) -> None:
    """Frames, pictures and files."""

    @app.get("/api/layouts/{name}")
    def layout(request: Request, name: str) -> Response:
        _who(request, gate)
        if name not in session.layouts:
            raise HTTPException(404, f"There is no layout '{name}' yet.")
        return _frame(_frames.layout_frame(name, session.layouts[name]))

    @app.get("/api/labels")
    def labels(request: Request) -> Response:
        _who(request, gate)
        fit = session.fit
        return _frame(_frames.labels_frame(fit.revision, fit.labels))

    @app.get("/api/channels/{name}")
    def channel(request: Request, name: str) -> Response:
        _who(request, gate)
        if name not in CHANNELS:
            raise HTTPException(404, f"There is no channel '{name}'; there are {', '.join(CHANNELS)}.")
        return _frame(_frames.channel_frame(name, *_doubts.channel(name, session.fit)))

    @app.get("/api/images/{row}/{column:path}")
    def picture(request: Request, row: int, column: str) -> Response:
        _who(request, gate)
        return image(session, row, column)

    @app.get("/api/export/{what}.{form}")
    def write(request: Request, what: str, form: str) -> Response:
        _who(request, gate, "owner" if what == "project" else None)
        if form not in FORMATS.get(what, ()):
            raise HTTPException(404, f"There is no export {what}.{form}.")
        return export(session, what, form)


def _add_people(app: FastAPI, session: Session, gate: Gate) -> None:
    """Who answers."""

    @app.get("/api/people")
    def people(request: Request) -> Response:
        person = _who(request, gate)
        return JSONResponse(_list_people(session, gate, links=person.role == "owner"))

    @app.post("/api/people")
    async def invite(request: Request) -> Response:
        _who(request, gate, "owner")
        body = await _body(request)
        name, role = body.get("name"), body.get("role")
        if not isinstance(name, str) or not isinstance(role, str):
            raise HTTPException(422, "A person has a name and a role.")
        link = gate.link(gate.add(name, role))
        return JSONResponse({"name": name.strip(), "role": role, "link": link})

    @app.delete("/api/people/{name}")
    def end(request: Request, name: str) -> Response:
        _who(request, gate, "owner")
        gate.end(name)
        return JSONResponse({})

    @app.get("/api/people/{name}/answers")
    def said(request: Request, name: str) -> Response:
        _of(request, gate, name)
        return export(session, "answers", "json", who=name)

    @app.delete("/api/people/{name}/answers")
    async def forget(request: Request, name: str) -> Response:
        _of(request, gate, name)
        await asyncio.wrap_future(session.forget(name))
        return JSONResponse({})

    @app.post("/api/settings")
    async def settings(request: Request) -> Response:
        _who(request, gate, "owner")
        body = await _body(request)
        gate.overlap = body.get("overlap")
        session.questions.overlap = gate.overlap
        return JSONResponse({})


def _add_live(app: FastAPI, session: Session, gate: Gate) -> None:
    """Pushes to the pages that are open."""

    @app.websocket("/api/live")
    async def live(socket: WebSocket) -> None:
        await socket.accept()
        try:
            first = json.loads(await asyncio.wait_for(socket.receive_text(), 10))
            token = str(first["token"])
            person = gate.who(token)
        except HTTPException as error:
            await socket.close(_NO_LINK, str(error.detail))
            return
        except (WebSocketDisconnect, ValueError, KeyError, TypeError, RecursionError, TimeoutError):
            with suppress(RuntimeError):
                await socket.close(4400, "The first message is the token.")
            return
        with suppress(WebSocketDisconnect, RuntimeError):
            async with _listening(session, person) as messages:
                fit = session.fit
                await socket.send_text(json.dumps({"type": "state", "state": session.state()}, ensure_ascii=False))
                await socket.send_bytes(_frames.labels_frame(fit.revision, fit.labels))
                await _until_first(_pass_on(socket, messages, gate, token), _wait_for_end(socket))


@asynccontextmanager
async def _listening(session: Session, person: Person) -> AsyncIterator[asyncio.Queue[str | bytes | None]]:
    """A queue of all news for a person, who counts as online meanwhile; None ends it."""
    loop, messages = asyncio.get_running_loop(), asyncio.Queue[str | bytes | None]()

    def put(message: str | bytes) -> None:
        messages.put_nowait(message if messages.qsize() < _BACKLOG else None)

    def listener(message: str | bytes, who: str | None) -> None:
        if who in (None, person.name):
            with suppress(RuntimeError):  # the server has stopped
                loop.call_soon_threadsafe(put, message)

    end = session.hub.listen(listener)
    session.hub.come(person.name)
    try:
        yield messages
    finally:
        end()
        session.hub.leave(person.name)


async def _pass_on(socket: WebSocket, messages: asyncio.Queue[str | bytes | None], gate: Gate, token: str) -> None:
    while (message := await messages.get()) is not None:
        try:
            gate.who(token)  # the link may have ended, also by another process
        except HTTPException as error:
            await socket.close(_NO_LINK, str(error.detail))
            return
        await (socket.send_bytes(message) if isinstance(message, bytes) else socket.send_text(message))
    await socket.close(1013, "The page is too slow; it connects again.")


async def _wait_for_end(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass  # a page says nothing more; what is said all the same has no effect


async def _until_first(*works: Awaitable[None]) -> None:
    """Do several things until one of them ends."""
    tasks = [asyncio.ensure_future(work) for work in works]
    for task in tasks:
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # or it counts as never looked at
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    for task in done:
        task.result()


async def _hear(session: Session, person: Person, guess: dict[str, Any] | None, stored: Future[int]) -> Response:
    """Wait until an answer is stored, and give the next questions."""
    entry = await asyncio.wrap_future(stored)
    return JSONResponse({"entry": entry, "guess": guess, "questions": session.hand(person.name, AHEAD)})


def _read_answer(body: dict[str, Any], person: Person, n: int) -> Answer:
    rows, seconds, nonce, why = body.get("rows"), body.get("seconds"), body.get("nonce", ""), body.get("why", "")
    if not isinstance(rows, list) or not isinstance(why, str) or not isinstance(nonce, str) or len(nonce) > 100:
        raise HTTPException(422, "An answer has kind, rows, why, value, seconds and nonce.")
    if isinstance(seconds, bool) or not (seconds is None or isinstance(seconds, (int, float))):
        raise HTTPException(422, f"seconds is a number, not {seconds!r}.")
    if seconds is not None and seconds > _LONGEST:
        raise HTTPException(422, f"An answer takes at most {_LONGEST} seconds.")
    question = Question(str(body.get("kind")), tuple(rows), why[:1000])
    if max(question.rows) >= n:
        raise HTTPException(422, f"There is no row {max(question.rows)}; the last one is {n - 1}.")
    value = body.get("value")
    when = datetime.now(UTC).isoformat(timespec="seconds")
    spent = None if seconds is None else float(max(0, seconds))
    return Answer(question, value, who=person.name, when=when, seconds=spent, nonce=nonce)


def _find(session: Session, entry: int, person: Person, sent: Any = None) -> Answer | Act:
    """An entry that stands and that a person may change; also one that was changed by what is sent again."""
    state = session.project.state
    every: Sequence[Answer | Act] = (*state.answers, *state.acts)
    if sent and any(answer.nonce == sent and answer.who == person.name for answer in state.answers):
        every = [said for _, said, _ in session.project.history()]
    found = next((said for said in every if said.entry == entry), None)
    if found is None:
        raise HTTPException(404, f"Entry {entry} is not an answer or act that stands.")
    if person.role != "owner" and found.who != person.name:
        raise HTTPException(403, f"Only {found.who or 'the owner'} or the owner can change this.")
    return found


def _entry(session: Session, said: Answer | Act | None, *, stands: bool) -> Response:
    found = None if said is None or said.entry is None else session.entry(said.entry, said, stands)
    return JSONResponse({"entry": found})


def _list_links(session: Session, only_broken: bool, limit: int) -> dict[str, Any]:
    fit, found = session.fit, []
    for must, pairs, sources in (
        (True, fit.clues.must, fit.clues.must_source),
        (False, fit.clues.cannot, fit.clues.cannot_source),
    ):
        for (a, b), source in zip(pairs.tolist(), sources):
            broken = (a, b, must) in fit.broken_links
            if broken or not only_broken:
                entry = entry_of(str(source), fit.state)
                found.append({"rows": [a, b], "must": must, "broken": broken, "entry": entry})
    found.sort(key=lambda link: not link["broken"])
    return {"links": found[:limit], "total": len(found)}


def _list_people(session: Session, gate: Gate, *, links: bool) -> dict[str, Any]:
    answers = [answer for answer in session.project.state.answers if not answer.inferred]
    seconds: dict[str, list[float | None]] = {}
    for answer in answers:
        seconds.setdefault(answer.who, []).append(answer.seconds)
    known = {person.name: person.role for person in gate.people()}
    lines = []
    for name in dict.fromkeys([*known, *sorted(who for who in seconds if who)]):
        spent = [one for one in seconds.get(name, []) if one is not None]
        token = gate.token(name) if links else None
        lines.append(
            {
                "name": name,
                "role": known.get(name, "reads"),
                "answers": len(seconds.get(name, [])),
                "seconds": float(np.median(spent)) if spent else None,
                "link": None if token is None else gate.link(token),
                "online": session.hub.is_online(name),
            }
        )
    pairs = [{"a": a, "b": b, "both": both, "alike": alike / both} for a, b, both, alike in agreement(answers)]
    return {"people": lines, "agreement": pairs, "overlap": gate.overlap}


def _search(session: Session, words: str) -> list[tuple[int, str]]:
    """Rows whose name or texts contain some words, and in which column; names come first."""
    if not words:
        return []
    data, found = session.data, {}
    if data.ids is not None:
        found = {row: "name" for row, name in enumerate(data.ids) if words in str(name).lower()}
    elif words.isdecimal() and int(words) < session.n:
        found[int(words)] = "name"
    for column, cells in data.shown.items():
        if cells.dtype.kind == "O":
            for row, cell in enumerate(cells):
                if row not in found and cell is not None and words in str(cell).lower():
                    found[row] = column
    return list(found.items())


def _who(request: Request, gate: Gate, role: str | None = None) -> Person:
    """Who sends a request; 403 if that needs another role."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise HTTPException(401, "This link is not valid; ask whoever runs the page for a new one.")
    person = gate.who(token)
    if role == "owner" and person.role != "owner":
        raise HTTPException(403, "Only the owner may do this.")
    if role == "answers" and person.role == "reads":
        raise HTTPException(403, "This link is for reading only.")
    return person


def _of(request: Request, gate: Gate, name: str) -> Person:
    """Who asks for what a person said: that person, or the owner."""
    person = _who(request, gate)
    return person if person.name == name else _who(request, gate, "owner")


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        raise HTTPException(422, "The request is not JSON.") from None
    if not isinstance(body, dict):
        raise HTTPException(422, "The request is not a JSON object.")
    if HALF.search(json.dumps(body, ensure_ascii=False)):  # no reply could hold it
        raise HTTPException(422, "The request holds half a character (a lone surrogate).")
    return body


def _rows(ids: str, n: int) -> list[int]:
    found = []
    for part in filter(None, ids.split(",")):
        if not part.isdecimal() or not int(part) < n:
            raise HTTPException(404, f"There is no row {part[:20]}.")
        found.append(int(part))
    return found


def _frame(content: bytes) -> Response:
    return Response(content, media_type="application/octet-stream")


def _sentence(error: Exception) -> str:
    words = " ".join(str(error).split()) or type(error).__name__
    return words[:1].upper() + words[1:]
