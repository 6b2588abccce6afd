"""Projects whose settings hold odd values with a right checksum: each opens, or is refused in one sentence."""

from __future__ import annotations

import json
import shutil
import sqlite3
import warnings
from collections import Counter
from contextlib import closing
from itertools import product

import pytest

from cluewise.store import Store, rescue
from cluewise.store._json import checksum
from cluewise.web import Session
from cluewise.web._gate import Gate
from cluewise.workspace import projects
from web_room import open_room
from web_site import end

ODD = [
    None, True, False, 0, -1, 7, 1.5, 1e308, 10**400, "", "x", "\u202e", [], [1], ["a", None], [[1, 2]], [[]], {},
    {"a": 1}, {"": None}, {"1": [1]}, {"a": {"b": []}}, "9" * 500, [None] * 50,
]  # fmt: skip


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A project with answers and every setting."""
    room = open_room(tmp_path_factory.mktemp("room"))
    room.gate.add("bob", "answers")
    room.gate.overlap = 0.5
    for rows in ((0, 1), (0, 4)):
        assert room.answer(room.owner, *rows, value=rows[1] == 1).status_code == 200
    room.owner.get("/api/questions")
    room.session.wait()
    store = room.session.project.store
    store.settings["port"] = 8000
    room.session._save_handed()
    room.session._save_clusters()
    room.close()
    return room.folder / "data"


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in list(children)[:20]:
        yield from places(child, (*path, key))


def replaced(value, path, odd):
    """The value with something odd at a place."""
    if not path:
        return odd
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], odd)
    return copy


def put(path, name, value):
    """Write a setting as it should not be, with its checksum."""
    text = json.dumps(value)
    with closing(sqlite3.connect(path)) as base:
        base.execute("UPDATE settings SET value = ?, crc32 = ? WHERE name = ?", (text, checksum(name, text), name))
        base.commit()


def look(path, data, name):
    """Use a project as the commands do."""
    with Store.open(path) as store:
        gate = Gate(store, hosts=["localhost"], port=8000, owner="ann")
        gate.people(), gate.overlap
    options = dict.fromkeys(("strategy", "questions", "clusters", "seed", "clues"))
    if not projects.is_begun(path):
        return
    talk, opened, rows = projects.go_on(path, data, options, None)
    with talk:
        talk.ask()
        projects.next_command(talk, data, data)
        if not name.startswith("web"):
            return
        session = Session(talk, opened, opened.encode()[0], rows, n_clusters=3, folder=data.parent)
        try:
            session.wait()
            session.hand("ann", 3)
            session.state()
        finally:
            end(session)


def attempt(work, *given):
    """What became of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work(*given)
    except UnicodeError as error:  # also a ValueError, but no sentence
        return f"{type(error).__name__}: {error}"
    except ValueError as error:  # FileError and ClueError are, too
        said = str(error)
        return "refused" if "\n" not in said and 10 < len(said) < 1000 else f"unclear: {said[:300]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "read"


def test_settings_with_odd_values_are_read_or_refused_in_one_sentence(begun, tmp_path, sweep, record_property):
    path = begun / "rows.cluewise"
    with Store.open(path) as store:
        settings = dict(store.settings)
    assert {"options", "beginning", "budget", "people", "overlap", "port", "web_key", "web_handed"} <= settings.keys()
    cases = [(name, place) for name, value in settings.items() for place in places(value)]
    counts, wrong = Counter(), []
    for number, ((name, place), odd) in enumerate(product(cases, ODD)):
        if number % (7 if name.startswith("web") else 1) or number % sweep(23, 1):  # a session takes a second
            continue
        copy = tmp_path / "rows.cluewise"
        shutil.copyfile(path, copy)
        put(copy, name, replaced(settings[name], place, odd))
        for work, given in ((look, (copy, begun / "rows.csv", name)), (rescue, (copy, tmp_path / "new.cluewise"))):
            found = attempt(work, *given)
            counts[found if found in ("read", "refused") else "wrong"] += 1
            if found not in ("read", "refused"):
                wrong.append((name, place, repr(odd)[:40], work.__name__, found))
        for left in tmp_path.iterdir():
            left.unlink()
    record_property("settings", dict(counts))
    assert not wrong, "\n".join(map(str, wrong[:60])) + f"\n{len(wrong)} of {sum(counts.values())}"
