"""The server of the page in a thread of the tests, with a project of its own."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import uvicorn

from cluewise.active import Answer, Question
from cluewise.web import Session, _serve, make_app
from cluewise.web._gate import Gate
from cluewise.workspace import projects

OPTIONS = dict.fromkeys(
    ("strategy", "clusters", "questions", "seed", "id", "columns", "ignore", "label_column", "as", "sheet", "clues")
)
TOGETHER = 5  # answers for each of which no fit is awaited
NO_TOUR = "localStorage.setItem('cluewise.tour', '\"seen\"')"


class Site:
    """A page about a table that people can open in a browser.

    Parameters
    ----------
    data : Path
        The table; its project is beside it.
    n_clusters : int
        Number of clusters.
    **options
        Options of the command, such as ``columns`` or ``strategy``; random pairs by default.
    """

    def __init__(self, data: Path, n_clusters: int = 3, **options: Any) -> None:
        wanted = {**OPTIONS, "raw": False, "id": "id", "strategy": "random-pairs", "seed": 0, **options}
        project, table, rows = projects.begin(data.with_suffix(".cluewise"), data, wanted, budget=1000)
        X = table.encode(raw=False)[0]
        self.session = Session(project, table, X, rows, n_clusters=n_clusters, folder=data.parent)
        self.session.wait()
        listener = _serve._listen("127.0.0.1", 0, 0)
        self.gate = Gate(project.store, hosts=["127.0.0.1"], port=listener.getsockname()[1], owner="ann")
        app = make_app(self.session, self.gate)
        config = uvicorn.Config(app, ws="websockets", log_level="error", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=[[listener]])
        self._thread.start()

    def link(self, name: str = "ann", role: str = "answers") -> str:
        """The link of a person, who is new unless it is the owner."""
        token = self.gate.token(name) or self.gate.add(name, role)
        return self.gate.link(token)

    def visit(self, page: Any, name: str = "ann", role: str = "answers") -> Any:
        """Open the page as a person who has seen the tour."""
        page.add_init_script(NO_TOUR)
        page.goto(self.link(name, role))
        page.wait_for_selector("html[data-ready]")
        return page

    def say(self, rows: Sequence[int], value: Any, who: str = "ann", seconds: float = 2.0) -> None:
        """Answer a question about two rows."""
        self.session.tell(Answer(Question("pair", tuple(rows)), value, who=who, seconds=seconds))[1].result(30)

    def answer(self, count: int, truth: Sequence[Any], who: str = "ann") -> None:
        """Answer so many questions that the strategy asks, by the classes of the rows."""
        while count > 0:
            for asked in self.session.hand(who, min(count, TOGETHER)):
                first, second = asked["rows"]
                self.say((first, second), bool(truth[first] == truth[second]), who, 1.5 + count % 5)
                count -= 1
            self.session.wait()

    def standing(self) -> list[Any]:
        """The answers that stand."""
        return self.session.project.state.answers

    def close(self) -> None:
        """End the server, the session and the project."""
        self._server.should_exit = True
        self._thread.join()
        end(self.session)


def end(session: Session) -> None:
    """Close a session and its project, and wait for its threads.

    Closing does not wait for a fit. Here one that goes on would slow down the tests that follow, and change the filters
    of warnings, which all threads share, under their feet.
    """
    session.close()
    for thread in session._threads:
        thread.join(60)
    session.project.close()


def write_table(path: Path, header: Iterable[str], lines: Iterable[Iterable[Any]]) -> Path:
    """Write a table as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        write = csv.writer(file)
        write.writerow(header)
        write.writerows(lines)
    return path
