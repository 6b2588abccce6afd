"""Kill the server of `cluewise web` at any moment: no answer that it acknowledged may be lost.

``python benchmarks/web_kill.py --times 200`` starts the server, answers and changes answers as fast as it goes from
several threads, kills it by signal 9 after a random time, sometimes before it listens, and starts it again with the
same project, port and links. The server is a fork of a process that has read the library, which saves more than half of
the time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

from cluewise.cli import main
from cluewise.store import Store

ADDRESS = re.compile(r"(http://\S+)/\?token=(\S+)")


class Fork(NamedTuple):
    """As much of a process as the sweep needs."""

    pid: int

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Server:
    """The command in a process of its own."""

    def __init__(self, folder: Path, *more: str) -> None:
        command = [sys.executable, "-m", "cluewise.cli", "web", "data.csv", "--no-browser", "--who", "ann", *more]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        found = ADDRESS.search(self.process.stdout.readline())
        if found is None:
            raise SystemExit(f"the server did not start: {self.process.stderr.read()}")
        self.address, self.token = found[1], found[2]

    @classmethod
    def forked(cls, folder: Path, *more: str) -> Server:
        """The same as a fork of this process, which must have no other threads."""
        made, (read, write) = cls.__new__(cls), os.pipe()
        made.process = Fork(os.fork())
        if made.process.pid == 0:
            sys.stdout = open(write, "w", encoding="utf-8")  # noqa: SIM115
            os.chdir(folder)
            sys.argv = ["cluewise", "web", "data.csv", "--no-browser", "--who", "ann", *more]
            main()
            os._exit(0)
        os.close(write)
        made.said = open(read, encoding="utf-8")  # noqa: SIM115
        return made

    def find_address(self) -> None:
        """Wait until a fork listens."""
        found = ADDRESS.search(self.said.readline())
        if found is None:
            raise SystemExit("the server did not start")
        self.address, self.token = found[1], found[2]

    def call(self, method: str, path: str, body: object = None) -> object:
        """What the server answers to a request."""
        request = urllib.request.Request(
            self.address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def end(self, how: signal.Signals) -> tuple[int, str]:
        """Send a signal; the exit code, and what was written to standard error."""
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


def write_data(folder: Path, n: int = 60) -> None:
    """Rows in three groups."""
    rng = random.Random(0)
    lines = [f"r{i},{i % 3 * 9 + rng.random()},{i % 3 * 5 + rng.random()}" for i in range(n)]
    (folder / "data.csv").write_text("\n".join(["id,x,y", *lines, ""]), "utf-8")


class Heard:
    """What people sent, and what was acknowledged."""

    def __init__(self) -> None:
        self.entries: dict[str, int] = {}  # of acknowledged answers by nonce
        self.changes: dict[int, str] = {}  # nonce of what was sent in place of an entry, acknowledged or not

    def count_lost(self, project: Path) -> int:
        """Acknowledged answers that do not stand, and changes of which both answers stand, or neither."""
        with Store.open(project) as store:
            standing = store.standing()
        ids, nonces = {entry.id for entry in standing}, {entry.question["nonce"] for entry in standing}
        lost = sum(id not in ids for id in self.entries.values() if id not in self.changes)
        return lost + sum((old in ids) == (new in nonces) for old, new in self.changes.items())


def answer_until_killed(server: Server, heard: Heard, seed: int) -> None:
    """Answer pairs one after another, change every third answer, and note what was acknowledged."""
    rng = random.Random(seed)
    try:
        while True:
            a, b = rng.sample(range(60), 2)
            said = {"kind": "pair", "rows": [a, b], "why": "", "value": a % 3 == b % 3, "seconds": 0.1}
            entry = _send(server, heard, "POST", "/api/answers", said, rng)
            if rng.random() < 1 / 3:
                _send(server, heard, "PUT", f"/api/answers/{entry}", {"value": None}, rng, replaces=entry)
    except (OSError, ValueError, http.client.HTTPException):  # the server is gone, perhaps in the middle of its answer
        return


def _send(
    server: Server, heard: Heard, method: str, path: str, body: dict, rng: random.Random, replaces: int | None = None
) -> int:
    nonce = f"{rng.getrandbits(64):x}"
    if replaces is not None:
        heard.changes[replaces] = nonce
    entry = server.call(method, path, {**body, "nonce": nonce})["entry"]  # type: ignore[index]
    heard.entries[nonce] = entry
    return entry


def kill_often(folder: Path, times: int, seed: int = 0, threads: int = 3, *, fork: bool = False) -> tuple[int, int]:
    """How many answers were acknowledged, and how many of them are lost."""
    write_data(folder)
    rng, heard, addresses = random.Random(seed), Heard(), set()
    for turn in range(times):
        if fork:
            server = Server.forked(folder, "--strategy", "RandomPairs")
            if rng.random() < 0.1:  # before it listens
                time.sleep(rng.uniform(0.0, 1.0))
                server.process.kill()
                continue
            server.find_address()
        else:
            server = Server(folder, "--strategy", "RandomPairs")
        addresses.add((server.address, server.token))
        people = [
            threading.Thread(target=answer_until_killed, args=(server, heard, rng.getrandbits(32)))
            for _ in range(threads)
        ]
        for person in people:
            person.start()
        time.sleep(rng.uniform(0.05, 1.0))
        while turn == times - 1 and not heard.entries:  # on a busy machine one kill may come before any answer
            time.sleep(0.01)
        server.process.kill()
        for person in people:
            person.join()
        print(f"kill {turn + 1}: {len(heard.entries)} answers acknowledged so far", flush=True)
    if len(addresses) > 1:
        print(f"the address changed: {addresses}")
    return len(heard.entries), heard.count_lost(folder / "data.cluewise")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import cluewise.cli._web
    import cluewise.web._app  # noqa: F401

    with tempfile.TemporaryDirectory() as place:
        acknowledged, lost = kill_often(Path(place), options.times, options.seed, fork=True)
    print(f"{options.times} kills, {acknowledged} answers acknowledged, {lost} lost")
    sys.exit(bool(lost))
