"""A session about twelve rows with pictures and strange texts, and clients of its people."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from cluewise.web import Session, make_app
from cluewise.web._gate import Gate
from cluewise.workspace import projects
from web_site import end

HOME = "http://127.0.0.1:8000"
LIVE = "ws://127.0.0.1:8000/api/live"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)
IDS = ["=1+1", "-5", "@sum(A1)", "+x", "-x", "\ttab", "plain", "<script>", "שלום", "🙂", "k", "l"]
PICTURES = [
    "good.png", "../secret.png", "link.png", "{folder}/secret.png", "page.png", "missing.png", "inside/good.png",
    "shelf.png", "drawing.svg", "good.png", "", "pictures/../good.png",
]  # fmt: skip
OPTIONS = dict.fromkeys(
    ("strategy", "clusters", "questions", "seed", "id", "columns", "ignore", "label_column", "as", "sheet", "clues")
)


@dataclass
class Room:
    """A project that is open, and the folder beside it that nobody may see."""

    session: Session
    gate: Gate
    app: Any
    folder: Path

    def client(self, token: str | None) -> TestClient:
        """What a person with a token sees; without one, a stranger."""
        made = TestClient(self.app, base_url=HOME, raise_server_exceptions=False)
        if token is not None:
            made.headers["authorization"] = f"Bearer {token}"
        return made

    @property
    def owner(self) -> TestClient:
        """The client of the owner."""
        return self.client(self.gate.token("ann"))

    def person(self, name: str, role: str) -> TestClient:
        """The client of a new person."""
        return self.client(self.gate.add(name, role))

    def answer(self, client: TestClient, *rows: int, value: Any = True, nonce: str = "") -> Any:
        """Answer a question about two rows."""
        said = {"kind": "pair", "rows": rows, "why": "", "value": value, "seconds": 1.5, "nonce": nonce}
        return client.post("/api/answers", json=said)

    def close(self) -> None:
        """End the session and its project."""
        end(self.session)


def open_room(place: Path) -> Room:
    """Write the files into ``place``, and open a session about those in ``place``/data."""
    folder = place / "data"
    (folder / "shelf.png").mkdir(parents=True)
    (folder / "pictures").mkdir()
    (place / "secret.png").write_bytes(PNG)
    (folder / "good.png").write_bytes(PNG)
    (folder / "pictures" / "good.png").write_bytes(PNG)
    (folder / "page.png").write_text("<script>alert(1)</script>")
    (folder / "drawing.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    (folder / "link.png").symlink_to(place / "secret.png")
    (folder / "inside").symlink_to(folder / "pictures")
    text = io.StringIO()
    write = csv.writer(text).writerow
    write(["id", "x", "y", "note", "picture"])
    for i, (name, picture) in enumerate(zip(IDS, PICTURES)):
        write([name, i // 4 * 10 + i / 10, -i // 4 + i / 7, f"=note {i}", picture.format(folder=place)])
    (folder / "rows.csv").write_text(text.getvalue(), "utf-8")
    options = {**OPTIONS, "raw": False, "id": "id", "columns": "x,y", "strategy": "RandomPairs", "seed": 0}
    project, data, rows = projects.begin(folder / "rows.cluewise", folder / "rows.csv", options, budget=1000)
    session = Session(project, data, data.encode()[0], rows, n_clusters=3, folder=folder)
    session.wait()
    gate = Gate(project.store, hosts=["127.0.0.1"], port=8000, owner="ann")
    return Room(session, gate, make_app(session, gate), place)
