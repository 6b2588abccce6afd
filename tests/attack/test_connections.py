"""Clients that take connections and give nothing: each loses its connection, and the page works for the others.

The server and its clients are one process, on 127.0.0.1. The tests say when the time of a client is over.
"""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import threading
from contextlib import contextmanager

import pytest
import uvicorn
from websockets.asyncio.client import connect

from cluewise.web import _serve
from cluewise.web._bounds import Limits, Quiet, bounded
from web_room import open_room

HEAD = b"Host: 127.0.0.1\r\n"
PAGE = b"GET /api/state HTTP/1.1\r\n" + HEAD


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    made = open_room(tmp_path_factory.mktemp("room"))
    yield made
    made.close()


@pytest.fixture(scope="module", autouse=True)
def many_files():
    """Each connection takes two files of this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 8192 if hard == resource.RLIM_INFINITY else min(8192, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Timer:
    """What happens when the time of a client is over, unless it is canceled."""

    def __init__(self, loop, work):
        self.loop, self.work = loop, work
        self.over = False

    def cancel(self):
        self.over = True

    def run(self):
        if not self.over:
            self.over = True
            self.work()


class ByHand(Limits):
    """Limits whose time passes when a test says so."""

    def __init__(self, **given):
        super().__init__(**{"each": 10_000, "total": 10_000, **given})
        self.timers = []

    def later(self, loop, work):
        self.timers.append(Timer(loop, work))
        return self.timers[-1]

    def pass_time(self):
        """The time of all who are awaited is over."""
        for timer in list(self.timers):
            if not timer.over:
                timer.loop.call_soon_threadsafe(timer.run)

    async def pass_until(self, end):
        """Time passes again and again: connections that the server has not seen yet begin later."""
        while not end.done():
            self.pass_time()
            await asyncio.sleep(0.01)
        return end.result()


@contextmanager
def serving(app, limits):
    """A server within limits; yields its port."""
    listener = _serve._listen("127.0.0.1", 0, 0)
    config = uvicorn.Config(
        app, http=bounded(limits), ws="websockets-sansio", log_level="error", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=[[listener]])
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


async def until_end(reader):
    """All that a server says until it hangs up."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def dial(port, data=b""):
    """The reader of a connection on which something was sent; it keeps the writer, which else closes the connection."""
    reader, reader.writer = await asyncio.open_connection("127.0.0.1", port)
    reader.writer.write(data)
    return reader


async def answer(port, request):
    """The response to a request, which asks for the end of the connection."""
    reader = await dial(port, request + b"Connection: close\r\n\r\n")
    return await until_end(reader)


def with_token(room):
    return b"Authorization: Bearer " + room.gate.token("ann").encode() + b"\r\n"


def unfinished(kind, room):
    """The beginning of a request that never ends."""
    post = b"POST /api/answers HTTP/1.1\r\n" + HEAD
    return {
        "idle": b"",
        "half a head": PAGE + b"X-More: ",
        "half a line": b"GE",
        "half a body": post + with_token(room) + b'Content-Length: 1000\r\n\r\n{"kind"',
        "half a chunk": post + with_token(room) + b'Transfer-Encoding: chunked\r\n\r\n3e8\r\n{"kind"',
        "a second head": PAGE + with_token(room) + b"\r\n" + PAGE + b"X-More: ",
        "idle after a response": PAGE + with_token(room) + b"\r\n",
    }[kind]


KINDS = ("idle", "half a head", "half a line", "half a body", "half a chunk", "a second head", "idle after a response")
COUNTS = {"idle": 1200, "half a body": 800}


@pytest.mark.parametrize("kind", KINDS)
def test_who_sends_no_whole_request_loses_the_connection(room, kind, sweep, record_property):
    count = sweep(40, COUNTS.get(kind, 400))
    limits = ByHand()
    begun = unfinished(kind, room)

    async def attack(port):
        some = [await dial(port, begun) for _ in range(count)]
        if begun.count(b"GET") > 1 or begun.endswith(b"\r\n\r\n"):  # to one request there is a response
            for reader in some:
                assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        said = await answer(port, PAGE + with_token(room))  # meanwhile the others are served
        return said, await limits.pass_until(asyncio.gather(*map(until_end, some)))

    with serving(room.app, limits) as port:
        said, ends = asyncio.run(attack(port))
        assert said.startswith(b"HTTP/1.1 200")
        assert len(ends) == count
        assert asyncio.run(answer(port, PAGE + with_token(room))).startswith(b"HTTP/1.1 200")
    assert not limits._open
    record_property(f"connections: {kind}", count)


def test_what_comes_in_small_pieces_gets_no_more_time(room):
    async def attack(port):
        reader = await dial(port, unfinished("half a body", room).replace(b"1000", b"1000000"))
        while not limits.timers:  # until the server has seen it
            await asyncio.sleep(0)
        first = limits.timers[0]
        for _ in range(100):
            reader.writer.write(b"x")
            await asyncio.sleep(0)
        await answer(port, PAGE + with_token(room))  # by then it has read the pieces
        first.loop.call_soon_threadsafe(first.run)
        return await until_end(reader)

    limits = ByHand()
    with serving(room.app, limits) as port:
        assert asyncio.run(attack(port)) == b""


def test_a_body_is_refused_before_it_is_read_where_there_is_no_token(room, sweep, record_property):
    count = sweep(40, 800)
    wrong = b"Authorization: Bearer wrong\r\n"
    bodies = [b"Content-Length: 1000000\r\n", b"Transfer-Encoding: chunked\r\n"]
    heads = [
        method + b" " + path + b" HTTP/1.1\r\n" + HEAD + token + body + b"\r\n"
        for method, path in ((b"POST", b"/api/answers"), (b"POST", b"/"), (b"GET", b"/"), (b"PUT", b"/assets/x.js"))
        for token in (b"", wrong)
        for body in bodies
    ]

    async def attack(port):
        some = [await dial(port, heads[i % len(heads)]) for i in range(count)]
        return await asyncio.gather(*(until_end(reader) for reader in some))

    with serving(room.app, ByHand()) as port:
        ends = asyncio.run(attack(port))
    assert {end[:12] for end in ends} == {b"HTTP/1.1 401"}
    record_property("bodies without a token", count)


def test_who_works_keeps_the_connection():
    """A response that takes longer than an idle connection lasts."""
    begun, idle_is_over = threading.Event(), threading.Event()
    limits = ByHand()

    async def app(scope, receive, send):
        if scope["type"] != "http":
            raise RuntimeError("there is nothing else")
        begun.set()
        await asyncio.to_thread(idle_is_over.wait)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def visit(port):
        reader = await dial(port, PAGE + b"Connection: close\r\n\r\n")
        await asyncio.to_thread(begun.wait)
        await limits.pass_until(asyncio.ensure_future(until_end(await dial(port))))
        idle_is_over.set()
        return await until_end(reader)

    with serving(app, limits) as port:
        assert asyncio.run(visit(port)).endswith(b"\r\n\r\nok")


def test_connections_of_one_address_are_bounded(room, sweep, record_property):
    each, count = 8, sweep(30, 1200)

    async def attack(port):
        kept = [await dial(port) for _ in range(each)]
        ends = await asyncio.gather(*[until_end(await dial(port, PAGE + b"\r\n")) for _ in range(count)])
        kept[0].writer.write(PAGE + with_token(room) + b"Connection: close\r\n\r\n")
        first = await until_end(kept[0])  # those who were there before are served
        return ends, first, await answer(port, PAGE + with_token(room))  # and there is room for one again

    with serving(room.app, ByHand(each=each)) as port:
        ends, first, again = asyncio.run(attack(port))
    assert set(ends) == {b""}
    assert first.startswith(b"HTTP/1.1 200")
    assert again.startswith(b"HTTP/1.1 200")
    record_property("connections beyond the bound", count)


def test_sockets_count_until_they_end(room):
    limits = ByHand(each=2)

    async def attack(port):
        address = f"ws://127.0.0.1:{port}/api/live"
        async with connect(address) as one, connect(address) as other:
            for socket in (one, other):
                await socket.send(json.dumps({"token": room.gate.token("ann")}))
                assert json.loads(await socket.recv())["type"] == "state"
            refused = await answer(port, PAGE + with_token(room))
        while limits._open:  # the server hears of it a moment later
            await asyncio.sleep(0)
        return refused, await answer(port, PAGE + with_token(room))

    with serving(room.app, limits) as port:
        refused, served = asyncio.run(attack(port))
    assert refused == b""
    assert served.startswith(b"HTTP/1.1 200")


def test_a_network_of_ipv6_counts_as_one_address():
    limits = Limits(each=2, total=5)
    assert limits.enter("2001:db8::1")
    assert limits.enter("2001:db8::ffff:1")
    assert not limits.enter("2001:db8::2")
    assert limits.enter("2001:db8:0:1::2")
    assert [limits.enter(f"10.0.0.{i}") for i in range(4)] == [True, True, False, False]
    limits.leave("2001:db8::9")
    assert limits.enter("2001:db8::2")
    assert 100 < Limits().total < 2**17


def test_the_log_is_bounded():
    now, lines = [0.0], []
    logger = logging.getLogger("a server in the tests")
    quiet, handler = Quiet(clock=lambda: now[0]), logging.Handler()
    handler.emit = lines.append
    logger.addHandler(handler)
    logger.addFilter(quiet)
    for _ in range(10_000):
        logger.error("failed")
    assert len(lines) == 100
    now[0] += 600
    for _ in range(10_000):
        logger.error("failed")
    assert len(lines) == 110


def test_the_server_is_within_these_bounds(room, monkeypatch):
    made = {}

    class Stop(Exception):
        """Enough was seen."""

    def config(*given, **options):
        made.update(options)
        raise Stop

    monkeypatch.setattr(uvicorn, "Config", config)
    with pytest.raises(Stop):
        _serve._run(room.session, "127.0.0.1", 0, "ann", False, print, False)
    assert made["http"].__name__ == "Bounded"
    assert made["timeout_keep_alive"] == Limits().seconds == 10
