"""One project that people answer: stores what they say, fits, and keeps questions ready."""

from __future__ import annotations

import secrets
import threading
import warnings
from collections import Counter, deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from cluewise._docs import documented
from cluewise._typing import Floats, Ints
from cluewise.active import Act, Answer, Project, Question, State
from cluewise.clues.words import plural
from cluewise.rows import Rows
from cluewise.tables import Table, choose_columns, from_frame
from cluewise.web import _doubts, _frames
from cluewise.web._acts import Acts, is_spoken, locked, names_of
from cluewise.web._cards import Cards, entry_json, find_kinds
from cluewise.web._fits import Fit, Fitter, anchors_of, check_kept
from cluewise.web._layouts import Layouts
from cluewise.web._live import Hub
from cluewise.web._profiles import cluster_json, describe_fit, profile_json
from cluewise.web._questions import Questions, doubtful_pairs
from cluewise.web._writer import Writer
from cluewise.workspace.data import Data

if TYPE_CHECKING:
    from cluewise.explain import Description

__all__ = ["Session", "session_of"]

KEY, HANDED, CLUSTERS = "web_key", "web_handed", "web_clusters"
"""Settings of the project that the page needs to go on after a restart."""

EXPECTED = 20
"""After so many answers in a row that the clusters predicted, there is little left to ask."""

_SURE = 0.9  # least probability with which an answer counts as predicted
_OFTEN = 0.2  # least seconds between two looks for better questions
_REST = 4.0  # seconds without a change before the clues are examined
_PAUSE = 0.5  # most seconds between two fits, for each person who is there
_BREATH = 0.02  # seconds that fits and questions leave to the reply, which else waits for the interpreter
_READ = 0.1  # seconds between two states that are pushed
_PATIENCE = 0.5  # seconds for threads to end when the session does
_MORE_CLUES = 1.2  # growth of the clues after which it is measured again whether they help


@documented
class Session:
    r"""A project that people answer on a page; the server, the notebook and exports use it.

    Answers are on disk when they are acknowledged. Fits run in a thread of their own: an answer that arrives meanwhile
    is stored at once, and the next fit takes all answers so far.

    Parameters
    ----------
    project : Project
        The conversation. Close it after the session.
    data : Data
        The table that it is about.
    X : ndarray of shape (n, d)
        The encoded rows, as the project knows them.
    rows : Rows
        What encoded them.
    n_clusters : int, optional
        Number of clusters before anybody merges or splits; found by default.
    folder : path
        Where paths of pictures start.
    remote_images : bool, default=False
        Whether the page may load pictures from addresses in the table.
    layout : str or array-like of shape (n, 2), optional
        Two columns for the map, separated by a comma, or coordinates.
    seed : int, default=0
        Seed of the fits.

    Attributes
    ----------
    fit : Fit
        The last clusters.
    key : str
        Identifies the project; the page keeps unsent answers under it.
    n : int
        Number of rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.web import Session
    >>> from cluewise.workspace import projects
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "rows.csv").write_text("x\n" + "\n".join(map(str, [0, 1, 2, 10, 11, 12])))
    >>> names = ("strategy", "clusters", "questions", "seed", "id", "columns", "ignore", "label_column", "as", "sheet")
    >>> options = dict.fromkeys((*names, "clues")) | {"raw": False, "clusters": 2}
    >>> project, data, rows = projects.begin(folder / "rows.cluewise", folder / "rows.csv", options, budget=10)
    >>> session = Session(project, data, data.encode()[0], rows, n_clusters=2, folder=folder)
    >>> session.wait()
    >>> len(set(session.labels()))
    2
    >>> session.close()
    >>> project.close()
    """

    def __init__(
        self,
        project: Project,
        data: Data,
        X: Floats,
        rows: Rows,
        *,
        n_clusters: int | None = None,
        folder: str | Path,
        remote_images: bool = False,
        layout: Any = None,
        seed: int = 0,
    ) -> None:
        self.project, self.data, self.X, self.rows = project, data, X, rows
        self.n = len(X)
        self.folder, self.remote_images, self._seed = Path(folder), remote_images, seed
        settings = project.store.settings
        settings.claim(KEY, {KEY: secrets.token_hex(8)})
        self.key = str(settings[KEY])
        self.kinds = find_kinds(data, rows)
        self.cards = Cards(data, self.kinds, remote_images)
        self.hub = Hub(lambda: self._stale.set())
        self.layouts = Layouts(X, data, layout, self._announce_layout)
        with settings.reading(HANDED):
            self.questions = Questions(project, X, settings.get(HANDED, {}))
        self.fit = Fit.nothing(project.state, self.n)
        self._count = self.fit.state.asked  # questions answered; reading the project for each question takes too long
        self.profiles: Description | None = None
        with settings.reading(CLUSTERS):
            check_kept(settings.get(CLUSTERS))
        self._fitter = Fitter(X, n_clusters, settings.get(CLUSTERS), seed, self.questions.correct)
        self._anchors: tuple[int, dict[int, list[int]]] = 0, {}
        self._anchoring = threading.Lock()
        self._report: tuple[int, str] = -1, ""
        self._helped: tuple[int, dict[str, Any] | None] = 0, None
        self._error: str | None = None
        self._expected: deque[bool] = deque(maxlen=EXPECTED)
        self._closed = False
        # Counts of changes: the fit is behind while it has not taken account of the last one.
        self._changed, self._fitted = 1, 0
        self._examined = 0  # revision of the last fit that was looked into
        self._wanted = 0  # how often hardly any question waited
        self._asked = 0, 0  # both when the strategy chose last
        self._news = threading.Condition()
        self._stale, self._unsaved = threading.Event(), threading.Event()  # the state of the page; who has what
        self.people: Callable[[], list[str]] = list
        self._writer = Writer(project, self._note_change)
        self._threads = [
            threading.Thread(target=work, name=f"cluewise-{name}", daemon=True)
            for name, work in (
                ("fits", self._fit_forever),
                ("thoughts", self._think_forever),
                ("questions", self._ask_forever),
                ("news", self._report_forever),
            )
        ]
        for thread in self._threads:
            thread.start()

    # --- what people say ----------------------------------------------------------------------------------------

    def tell(self, answer: Answer) -> tuple[dict[str, Any] | None, Future[int]]:
        """Store an answer: what the clusters would have said, and the id of the entry when it is on disk."""
        guess = self._guess(answer.question)
        stored = self._writer.tell(answer)
        stored.add_done_callback(lambda done: self._heard(answer, guess, done))
        return guess, stored

    def change(self, old: Answer, answer: Answer) -> tuple[dict[str, Any] | None, Future[int]]:
        """Store an answer in place of an earlier one, as `tell` does."""
        guess, entry = self._guess(answer.question), old.entry
        assert entry is not None  # it comes from the project

        def store() -> int:
            number = self.project.change(entry, answer)
            self._push_entry(entry, old, False)
            return number

        stored = self._writer.do(store)
        stored.add_done_callback(lambda done: self._heard(answer, guess, done))
        return guess, stored

    def do(self, asked: Mapping[str, Any], who: str, nonce: str = "") -> Future[int]:
        """Store what a person does with clusters."""
        act = Acts(self.fit, self.X, self.anchors(), self.project.state).make(asked, who)
        if act.change and not any(earlier.change for earlier in self.project.state.acts):
            self._fitter.base = len(self.fit.ids)

        def store() -> int:
            if act.change:
                self._save_clusters()  # first: an act without the number of clusters that it changes is worth nothing
            number = self.project.act(act, nonce)
            self._push_entry(number, act, True)
            return number

        return self._writer.do(store)

    def undo(self, who: str, *, entry: int | None = None, of: str | None = None) -> Future[Answer | Act | None]:
        """Take back an entry, or the last one of a person."""

        def take_back() -> Answer | Act | None:
            said = self.project.undo(entry, of=of, who=who)
            if said is not None and said.entry is not None:
                self._push_entry(said.entry, said, False)
            return said

        return self._writer.do(take_back)

    def redo(self, who: str) -> Future[Answer | Act | None]:
        """Restore what was taken back last of what a person said."""

        def restore() -> Answer | Act | None:
            said = self.project.redo(of=who, who=who)
            if said is not None and said.entry is not None:
                self._push_entry(said.entry, said, True)
            return said

        return self._writer.do(restore)

    def forget(self, who: str) -> Future[int]:
        """Delete all that a person said."""

        def delete() -> int:
            self.questions.forget(who)
            self._save_handed()  # before the file is rewritten, so that the name is not left in its old pages
            return self.project.forget(who)

        return self._writer.do(delete)

    def hand(self, who: str, count: int) -> list[dict[str, Any]]:
        """The questions of a person, filled up to so many."""
        found = self.questions.hand(who, count)
        self._unsaved.set()
        if self.questions.few:
            with self._news:
                self._wanted += 1
                self._news.notify_all()
        number, classes = self._count + 1, list(filter(is_spoken, map(str, self.fit.clues.classes_)))
        return [
            self.cards.question(question, number=number + i, again=again, classes=classes)
            for i, (question, again) in enumerate(found)
        ]

    # --- what there is ------------------------------------------------------------------------------------------

    def labels(self) -> Ints:
        """The permanent id of the cluster of each row, -1 for noise."""
        return self.fit.labels

    def margins(self) -> Floats:
        """How sure each row is of its cluster, from 0 to 1."""
        return self.fit.margins

    def names(self) -> dict[int, str | None]:
        """The name of each cluster, None where nobody gave it one."""
        names = names_of(self.project.state)
        return {one: names.get(one) for one in self.fit.ids}

    @property
    def model(self) -> Any:
        """The model of the last fit; None before the first."""
        return self.fit.model

    def anchors(self) -> dict[int, list[int]]:
        """Rows that stand for each cluster of the last fit, the medoid first."""
        with self._anchoring:
            fit = self.fit
            if self._anchors[0] != fit.revision or not self._anchors[1]:
                self._anchors = fit.revision, anchors_of(fit, self.X, self._seed)
            return self._anchors[1]

    def state(self) -> dict[str, Any]:
        """Everything small that changes."""
        fit, state = self.fit, self.project.state
        names, held = names_of(state), locked(state)
        self._count = state.asked
        counts = Counter(answer.who for answer in state.answers if not answer.inferred)
        everybody = dict.fromkeys([*self.people(), *sorted(who for who in counts if who)])
        return {
            "revision": fit.revision,
            "fitting": self._fitted < self._changed,
            "answers": state.asked,
            "acts": len(state.acts),
            "clusters": [cluster_json(one, fit, names, held) for one in fit.ids],
            "noise": int(np.count_nonzero(fit.labels < 0)),
            "trust": fit.trust,
            "clues": fit.count,
            "broken": len(fit.broken_links) + len(fit.broken_labels),
            "doubts": int(np.count_nonzero(fit.doubted >= _doubts.WRONG)),
            "contradictions": len(fit.clues.contradictions),
            "helped": self._helped[1],
            "last": fit.last,
            "settled": self._settled(state),
            "error": self._error or fit.error,
            "people": [{"name": who, "answers": counts[who], "online": self.hub.is_online(who)} for who in everybody],
        }

    def clusters(self) -> list[dict[str, Any]]:
        """The clusters with what makes them."""
        fit, profiles, state = self.fit, self.profiles, self.project.state
        names, held = names_of(state), locked(state)
        return [cluster_json(one, fit, names, held) | profile_json(one, profiles, fit, self.data) for one in fit.ids]

    def doubts(self) -> dict[str, Any]:
        """What is doubtful."""
        fit = self.fit
        if self._report[0] < 0:
            self._report = 0, _doubts.diagnose(fit, None, self._seed)
        return {
            "suspects": _doubts.suspects_json(fit, self.data),
            "contradictions": _doubts.contradictions_json(fit, self.data),
            "unsure": _doubts.unsure_json(fit, self.data),
            "report": self._report[1],
        }

    def card(self, row: int) -> dict[str, Any]:
        """Everything about a row."""
        fit = self.fit
        cluster = int(fit.labels[row])
        return {
            "row": row,
            "name": self.data.name(row),
            "cluster": None if cluster < 0 else cluster,
            "margin": float(fit.margins[row]),
            "cells": self.cards.cells(row),
            "images": self.cards.images(row),
            "clues": _doubts.touching(row, fit, self.data),
        }

    def entries(self, last: int) -> list[dict[str, Any]]:
        """The last entries, the newest first."""
        fit = self.fit
        doubts = _doubts.link_doubts(fit)
        return [self.entry(*one, fit=fit, doubts=doubts) for one in reversed(self.project.history(last))]

    def entry(
        self, number: int, said: Answer | Act, stands: bool, *, fit: Fit | None = None, doubts: Any = None
    ) -> dict[str, Any]:
        """An entry with what became of it."""
        fit = self.fit if fit is None else fit
        broken, doubt = False, None
        if stands and isinstance(said, Answer):
            links = [(min(i, j), max(i, j), same) for i, j, same in said.links()]
            broken = any(link in fit.broken_links for link in links)
            keys: list[tuple[str, tuple[int, ...]]] = [("must" if same else "cannot", (i, j)) for i, j, same in links]
            if said.question.kind == "label":
                broken, keys = said.question.rows[0] in fit.broken_labels, [("label", said.question.rows)]
            known = [doubts[key] for key in keys if key in doubts] if doubts else []
            doubt = max(known, default=None)
        return entry_json(number, said, stands, self.data, broken=broken, doubt=doubt)

    def wait(self, timeout: float = 60.0) -> None:
        """Wait until the clusters take account of everything that was said so far."""
        with self._news:
            wanted = self._changed
            if not self._news.wait_for(lambda: self._fitted >= wanted or self._closed, timeout):
                raise TimeoutError(f"the fit has not ended after {timeout:g} seconds.")

    def close(self) -> None:
        """Write what waits, and stop; the project stays open.

        Threads end before their next step. One in the middle of a long fit is not waited for: it ends by itself, and
        nobody hears of its result.
        """
        with self._news:
            if self._closed:
                return
            self._closed = True
            self._news.notify_all()
        end = monotonic() + _PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, end - monotonic()))
        # By the writer, so that a full disk or a locked file does not keep it from storing the answers that wait.
        if self.fit.revision:
            self._writer.do(self._save_clusters, quiet=True)
        self._writer.do(self._save_handed, quiet=True)
        self._writer.close()

    # --- in the background --------------------------------------------------------------------------------------

    def _note_change(self) -> None:
        with self._news:
            self._changed += 1
            self._news.notify_all()
        self._stale.set()

    def _heard(self, answer: Answer, guess: dict[str, Any] | None, done: Future[int]) -> None:
        if done.exception() is not None:
            return
        self.questions.hear(answer.question, answer.who)
        self._count += 1
        if answer.value is not None and guess is not None:
            self._expected.append(guess["value"] == answer.value and guess["probability"] >= _SURE)
        self._push_entry(done.result(), answer, True)

    def _push_entry(self, number: int, said: Answer | Act, stands: bool) -> None:
        self.hub.push({"type": "entry", "entry": self.entry(number, said, stands)})

    def _fit_forever(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._fitted < self._changed or self._closed)
                self._news.wait_for(lambda: self._closed, _BREATH)
                if self._closed:
                    return
                target = self._changed
            before, begun = self.fit, monotonic()
            try:
                state = self.project.state
                if not before.revision or _differ(state, before.state):
                    found = self._fitter.fit(state, before)
                    with self._news:
                        if self._closed:
                            return
                        self.fit = found
                    self._push_labels(before, found)
                self._error = None
            except Exception as error:  # whatever it is, the page goes on with the clusters that it has
                words = " ".join(str(error).split()) or type(error).__name__
                self._error = f"The last fit failed, and the clusters are those before: {words}"
            with self._news:
                self._fitted = target
                self._news.notify_all()
            self._stale.set()
            took = monotonic() - begun
            self._pause(begun + took + min(took, _PAUSE * max(1, self.hub.online)))

    def _pause(self, until: float) -> None:
        """Leave the processor to answers: while many people answer, fits and questions take half of the time."""
        with self._news:
            self._news.wait_for(lambda: self._closed, max(until - monotonic(), 0))

    def _think_forever(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._closed or self.fit.revision > self._examined)
                if self._closed:
                    return
            self._examined = self.fit.revision
            self._think()

    def _think(self) -> None:
        """What nobody waits for, until something changes."""
        fit = self.fit
        for step in (self._find_spare, self._describe, self._rest, self._diagnose, self._measure_help):
            if self._closed or self._fitted < self._changed or self.fit is not fit:
                return
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    step(fit)
            except Exception as error:  # a figure less is no reason to stop
                if self._closed:
                    return
                warnings.warn(f"{step.__name__}: {error}", stacklevel=2)

    def _rest(self, fit: Fit) -> None:
        """Wait whether more is said, because what comes next takes as long as some fits."""
        with self._news:
            self._news.wait_for(lambda: self._closed or self._fitted < self._changed, _REST)

    def _find_spare(self, fit: Fit) -> None:
        self.questions.set_spare(doubtful_pairs(fit, self.X, self.anchors()))
        self._writer.do(self._save_clusters, quiet=True)

    def _describe(self, fit: Fit) -> None:
        self.profiles = describe_fit(fit, self.data)
        self.hub.push({"type": "profiles", "revision": fit.revision})

    def _diagnose(self, fit: Fit) -> None:
        self._report = fit.revision, _doubts.diagnose(fit, self.X, self._seed)

    def _measure_help(self, fit: Fit) -> None:
        if fit.count >= max(1, self._helped[0]) * _MORE_CLUES or fit.count < self._helped[0] / _MORE_CLUES:
            self._helped = fit.count, self._fitter.measure_help(fit)
            self._stale.set()

    def _ask_forever(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._closed or (self._changed, self._wanted) != self._asked)
                self._news.wait_for(lambda: self._closed, _BREATH)
                if self._closed:
                    return
                self._asked = self._changed, self._wanted
            begun = monotonic()
            try:
                more = self.questions.refill()
            except Exception as error:  # there are spare questions
                if self._closed:
                    return
                more = True
                warnings.warn(f"the strategy found no question: {error}", stacklevel=2)
            if more:
                self.hub.push({"type": "questions"})
            self._pause(monotonic() + max(_OFTEN, monotonic() - begun))

    def _report_forever(self) -> None:
        """Push the state, but not more often than people can read, and save who has which questions."""
        while not self._closed:
            if self._stale.wait(_READ):
                self._stale.clear()
                try:
                    self.hub.push({"type": "state", "state": self.state()})
                except Exception as error:  # such as a file that is locked for a moment
                    if self._closed:
                        return
                    warnings.warn(f"the state was not pushed: {error}", stacklevel=2)
                    self._stale.set()
            if self._unsaved.is_set():
                self._unsaved.clear()
                self._writer.do(self._save_handed, quiet=True)
            sleep(_READ)

    def _announce_layout(self, layout: dict[str, Any]) -> None:
        self.hub.push({"type": "layout", "layout": layout})

    def _push_labels(self, before: Fit, now: Fit) -> None:
        changed = np.flatnonzero(before.labels != now.labels)
        largest = int(now.labels.max(initial=-1))
        if before.revision and 5 * len(changed) < self.n:
            frame = _frames.changes_frame(now.revision, before.revision, changed, now.labels[changed], largest)
        else:
            frame = _frames.labels_frame(now.revision, now.labels)
        self.hub.push(frame)

    def _save_handed(self) -> None:
        self.project.store.settings[HANDED] = self.questions.to_json()

    def _save_clusters(self) -> None:
        self.project.store.settings[CLUSTERS] = self._fitter.describe_ids(self.anchors())

    def _guess(self, question: Question) -> dict[str, Any] | None:
        """What the clusters would answer, and how sure they are; None if they do not know."""
        fit, rows = self.fit, list(question.rows)
        if not fit.revision or len(fit.ids) < 2 or max(rows) >= self.n:
            return None
        # Rows that clues have moved have margins below 0: nothing tells how sure these clues are.
        labels, margins = fit.labels[rows].tolist(), np.maximum(fit.margins[rows], 0).tolist()
        value: Any
        if question.kind == "pair":
            # Two rows that are sure with margins a and b are where they seem, or both are not, with this probability.
            return {"value": labels[0] == labels[1], "probability": (1 + margins[0] * margins[1]) / 2}
        if question.kind == "label":
            value = fit.classes.get(labels[0])
            known = value is not None and is_spoken(value)
            return {"value": value, "probability": (1 + margins[0]) / 2} if known else None
        if question.kind == "which":
            value = next((row for row, label in zip(rows[1:], labels[1:]) if label == labels[0]), False)
        else:
            piles: dict[int, list[int]] = {}
            for row, label in zip(rows, labels):
                piles.setdefault(label, []).append(row)
            value = list(piles.values())
        return {"value": value, "probability": (1 + min(margins)) / 2}

    def _settled(self, state: State) -> str | None:
        if not state.left:
            return f"All {plural(state.budget, 'question')} of the budget are answered; more answers still count."
        if self.questions.exhausted:
            return "The strategy has nothing more to ask; more answers still count."
        if len(self._expected) == EXPECTED and all(self._expected):
            return f"The last {EXPECTED} answers were all expected; more of them would hardly change the clusters."
        return None


def session_of(project: Project | Session, table: Any = None) -> Session:
    """A session as it is, or that of a project: people see a table, or else the numbers that are clustered."""
    if isinstance(project, Session):
        if table is not None:
            raise ValueError("a session has its own data; leave data out.")
        return project
    if not isinstance(project, Project):
        raise TypeError(f"{project!r} is neither a Project nor a Session.")
    if sparse.issparse(project.X):
        raise ValueError("X is sparse; the page needs the rows as an array.")
    X = np.asarray(project.X, dtype=np.float64)
    named = hasattr(project.X, "columns")
    numbers = from_frame(project.X) if named else Table({f"x{i}": column for i, column in enumerate(X.T)})
    names, state = list(numbers.columns), project.state
    shown, ids, columns = numbers, None, names
    if table is not None:
        made = Table(table) if isinstance(table, Mapping) else table
        shown = made if isinstance(made, Table) else from_frame(made)
        if len(shown) != len(X):
            raise ValueError(f"{shown.name} has {len(shown)} rows, but the project is about {len(X)}.")
        ids, columns = choose_columns(shown)
    return Session(
        project,
        Data(shown, ids, columns, state.given, {}, "."),
        X,
        Rows(kinds=dict.fromkeys(names, "number"), balance=False).fit(numbers),
        n_clusters=project.strategy.get_params(deep=False).get("n_clusters"),
        folder=".",
        seed=state.seed,
    )


def _differ(state: State, before: State) -> bool:
    """Whether two states lead to different clusters; names of clusters do not count."""
    acts, earlier = ([act for act in one.acts if act.kind != "name"] for one in (state, before))
    return state.answers != before.answers or acts != earlier
