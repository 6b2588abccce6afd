"""The server of the page: many people at once, and how long one person waits.

    python benchmarks/web_load.py                      # 20 people, 5 answers a second each, for a minute
    python benchmarks/web_load.py --seconds 10 --rows 100000

Prints the time from an answer to its acknowledgement (it is on disk then, and the next questions are in the reply), and
from an answer of one person to the new labels, the processor time of the server (fits and the choice of questions
included) and the load of the machine; then it counts whether every acknowledged answer is in the project.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from time import monotonic, sleep

import httpx
import numpy as np
import websockets
from workload import blobs

from cluewise.store import Store

OPTIONS = ("strategy", "questions", "id", "columns", "ignore", "label_column", "as", "sheet", "clues")
K, D = 5, 8


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--rate", type=float, default=5.0, help="answers a second of each person")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--alone", type=int, default=20, help="answers of one person, one after another")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(given)
    if chosen.serve is not None:
        serve(chosen.serve, chosen.people)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "rows.csv", chosen.rows)
        with subprocess.Popen([sys.executable, __file__, "--serve", name, "--people", str(chosen.people)]) as server:
            try:
                asyncio.run(measure(folder, chosen, server.pid))
            finally:
                server.terminate()


def write_table(path: Path, rows: int) -> None:
    np.savetxt(path, blobs(rows, D, K), "%.4f", ",", header=",".join(f"x{j}" for j in range(D)), comments="")


def serve(folder: Path, people: int) -> None:
    """A server in a process of its own; links of all people are written when it is ready."""
    import uvicorn

    from cluewise.web import Session, make_app
    from cluewise.web._gate import Gate
    from cluewise.workspace import projects

    options = dict.fromkeys(OPTIONS) | {"raw": False, "clusters": K, "seed": 0}
    project, data, rows = projects.begin(folder / "rows.cluewise", folder / "rows.csv", options, budget=100_000)
    session = Session(project, data, project.X, rows, n_clusters=K, folder=folder)
    session.wait(600)
    config = uvicorn.Config(None, port=0, log_level="error", ws_per_message_deflate=False)
    with config.bind_socket() as listener:
        port = listener.getsockname()[1]
        gate = Gate(project.store, hosts=["127.0.0.1"], port=port, owner="p0")
        tokens = [str(gate.token("p0")), *(gate.add(f"p{i}", "answers") for i in range(1, people))]
        config.app = make_app(session, gate)
        ready = json.dumps({"port": port, "tokens": tokens})
        threading.Timer(1.0, (folder / "ready").write_text, [ready]).start()
        sys.setswitchinterval(0.0005)  # as `cluewise.web.serve` does
        uvicorn.Server(config).run(sockets=[listener])
    session.close()
    project.close()


async def measure(folder: Path, chosen: argparse.Namespace, server: int) -> None:
    while not (folder / "ready").exists():
        sleep(0.2)
    ready = json.loads((folder / "ready").read_text())
    address, tokens = f"http://127.0.0.1:{ready['port']}", ready["tokens"]
    print(f"{chosen.rows} rows x {D}, {K} clusters")
    stored, labels = await answer_alone(address, tokens[0], chosen.alone)
    tell("one person: answer -> stored, with the next questions", stored)
    tell("one person: answer -> new labels", labels)
    times, acknowledged, end = [], [], monotonic() + chosen.seconds
    before = processor_seconds(server)
    await asyncio.gather(*(answer_often(address, token, 1 / chosen.rate, end, times, acknowledged) for token in tokens))
    rate = len(times) / chosen.seconds
    tell(f"{len(tokens)} people, {rate:.0f} answers a second: answer -> stored, with the next questions", times)
    threads = [after - since for after, since in zip(processor_seconds(server), before)]
    print(f"server: {sum(threads):.1f} s of processor time; the thread of the routes alone", end=" ")
    print(f"{1000 * threads[0] / len(times):.1f} ms an answer")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with Store.open(folder / "rows.cluewise") as store:
        kept = {entry.id for entry in store.standing()}
    lost = [entry for entry in acknowledged if entry not in kept]
    print(f"{len(acknowledged)} answers acknowledged, {len(lost)} lost, {len(set(acknowledged))} different entries")


def processor_seconds(process: int) -> tuple[float, float]:
    """Of the first thread of a process, which serves, and of the others; Linux only."""
    ticks = {}
    for task in Path(f"/proc/{process}/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        ticks[int(task.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return ticks[process], sum(ticks.values()) - ticks[process]


async def answer_alone(address: str, token: str, count: int) -> tuple[list[float], list[float]]:
    stored, labels = [], []
    async with client_of(address, token) as client, live(address, token) as news:
        questions = (await client.get("/api/questions")).json()
        for i in range(count):
            begun = monotonic()
            heard = await tell_one(client, questions[0], f"alone {i}")
            stored.append(monotonic() - begun)
            questions = heard["questions"]
            while not isinstance(await news.recv(), bytes):
                pass
            labels.append(monotonic() - begun)
    return stored, labels


async def answer_often(address: str, token: str, pause: float, end: float, times: list, acknowledged: list) -> None:
    async with client_of(address, token) as client, live(address, token) as news:
        listening = asyncio.create_task(drain(news))
        questions = (await client.get("/api/questions")).json()
        await asyncio.sleep(pause * np.random.default_rng().random())
        number = 0
        while (begun := monotonic()) < end:
            heard = await tell_one(client, questions[0], f"{token} {number}")
            number += 1
            times.append(monotonic() - begun)
            acknowledged.append(heard["entry"])
            questions = heard["questions"]
            await asyncio.sleep(max(0.0, begun + pause - monotonic()))
        listening.cancel()


async def tell_one(client: httpx.AsyncClient, question: dict, nonce: str) -> dict:
    """Answer as somebody who knows the blobs: row i is of blob i mod K."""
    rows = question["rows"]
    said = {name: question[name] for name in ("kind", "rows", "why")}
    value = rows[0] % K == rows[1] % K
    response = await client.post("/api/answers", json={**said, "value": value, "seconds": 1.0, "nonce": nonce})
    return response.raise_for_status().json()


def client_of(address: str, token: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=address, headers={"authorization": f"Bearer {token}"}, timeout=60)


class live:  # noqa: N801
    """The WebSocket of a page, past the first state and labels."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address.replace("http", "ws") + "/api/live", token

    async def __aenter__(self) -> websockets.ClientConnection:
        self.socket = await websockets.connect(self.address, compression=None, max_size=None)
        await self.socket.send(json.dumps({"token": self.token}))
        while not isinstance(await self.socket.recv(), bytes):
            pass
        return self.socket

    async def __aexit__(self, *error: object) -> None:
        await self.socket.close()


async def drain(news: websockets.ClientConnection) -> None:
    async for _ in news:
        pass


def tell(what: str, seconds: list[float]) -> None:
    p50, p99 = np.percentile(1000 * np.array(seconds), [50, 99])
    print(f"{what}: p50 {p50:.0f} ms, p99 {p99:.0f} ms ({len(seconds)} times)", flush=True)


if __name__ == "__main__":
    main()
