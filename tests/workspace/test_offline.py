"""Questions on a page that works offline, and the file that comes back: round trips, sent twice, changed, hostile."""

from __future__ import annotations

import base64
import copy
import hashlib
import html.parser
import json

import numpy as np
import pytest
from PIL import Image

from cluewise import Clues
from cluewise.active import Answer, Question
from cluewise.web._cards import find_kinds
from cluewise.workspace import offline, projects
from cluewise.workspace.offline import pictures, questions

OPTIONS = dict.fromkeys(
    ("strategy", "questions", "clues", "id", "columns", "ignore", "as", "sheet", "label_column", "clusters", "seed")
) | {"raw": False}
HOSTILE = "</script><img src=x onerror=alert(1)><!-- {{script}} \u2028 \U0001f377 שלום"


@pytest.fixture
def begun(tmp_path):
    """Begin a project about twelve rows in three clusters; its name is that of its file."""
    talks = []

    def begin(name="mine", **options):
        X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 4, axis=0) + np.arange(24).reshape(12, 2) / 100
        lines = [f"r{i},{a},{b},{HOSTILE if i == 0 else 'plain'}" for i, (a, b) in enumerate(X)]
        (tmp_path / "data.csv").write_text("\n".join(["id,length,width,note", *lines]) + "\n", "utf-8")
        given = OPTIONS | {"columns": "length,width"} | options
        talks.append(projects.begin(tmp_path / f"{name}.cluewise", tmp_path / "data.csv", given, 9))
        return talks[-1]

    yield begin
    for talk, _, _ in talks:
        talk.close()


@pytest.fixture
def talk(begun):
    return begun()[0]


def content_of(page):
    """The data of a page as a browser finds them: what stands in the element until the first end tag."""
    found = {}

    class Reader(html.parser.HTMLParser):
        inside = None

        def handle_starttag(self, tag, attributes):
            found[tag] = found.get(tag, 0) + 1
            self.inside = dict(attributes).get("id") if tag == "script" else None

        def handle_data(self, text):
            if self.inside == "data":
                found["data"] = found.get("data", "") + text

    Reader().feed(page)
    return json.loads(found.pop("data")), found


def returned(talk, entries, tmp_path, name="answers.json", **head):
    """A file of answers as the page of a project writes it."""
    talk.store.settings.claim("key", {"key": "0123456789abcdef"})
    said = [
        {"question": {"kind": kind, "rows": list(rows)}, "value": value, "seconds": 1.5, "nonce": nonce}
        for kind, rows, value, nonce in entries
    ]
    key = talk.store.settings["key"]
    path = tmp_path / name
    whole = {"cluewise": "answers", "format": 1, "project": key, "page": "p", "who": "ann", "answers": said, **head}
    path.write_text(json.dumps(whole), "utf-8")
    return path


def taken(talk, path, who=""):
    return offline.take_in(offline.read_answers(path, talk, who), talk)


def standing(talk):
    return [(answer.question.rows, answer.value, answer.who) for answer in talk.state.answers]


def test_ignored_columns_are_not_shown(begun):
    talk, data, rows = begun(columns=None, ignore="note")
    content, _ = content_of(offline.write_page(talk, data, rows, [Question("pair", (0, 4))])[0])
    assert [line["name"] for line in content["questions"][0]["lines"]] == ["length", "width"]
    assert "note" not in find_kinds(data, rows)


def test_a_page_holds_the_questions_and_nothing_else(begun):
    talk, data, rows = begun()
    asked = [Question("pair", (0, 4), "so."), Question("label", (0,)), Question("which", (0, 4, 8))]
    text, notes = offline.write_page(talk, data, rows, asked, "ann")
    content, tags = content_of(text)
    assert notes == []
    assert [(one["kind"], one["rows"]) for one in content["questions"]] == [(q.kind, list(q.rows)) for q in asked]
    assert (content["who"], content["title"]) == ("ann", "data.csv")
    assert content["questions"][0]["names"] == ["r0", "r4"]
    lines = content["questions"][0]["lines"]
    assert [line["name"] for line in lines] == ["note", "length", "width"]  # what differs most comes first
    assert lines[0]["cells"] == [" ".join(HOSTILE.split()), "plain"]
    assert [line["apart"] for line in lines] == ["different", "far apart", "nearly the same"]
    assert (tags["script"], "img" in tags) == (2, False)
    assert "http" not in text.replace("http-equiv", "")


def test_the_policy_names_what_the_page_holds(begun):
    talk, data, rows = begun()
    text, _ = offline.write_page(talk, data, rows, [Question("pair", (0, 4))])
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        inside = text.rpartition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in text
    assert "default-src 'none'; img-src data:;" in text


def test_a_project_has_one_key_and_each_page_its_own(begun):
    def made(talk, data, rows):
        return content_of(offline.write_page(talk, data, rows, [Question("pair", (0, 4))])[0])[0]

    first, second = begun("first"), begun("second")
    pages = [made(*first), made(*first), made(*second)]
    assert pages[0]["project"] == pages[1]["project"] != pages[2]["project"]
    assert len({page["page"] for page in pages}) == 3


def test_a_strategy_that_asks_one_by_one_is_asked_ahead(begun, monkeypatch):
    talk, data, _ = begun(clusters=3)
    truth = np.repeat([0, 1, 2], 4)
    monkeypatch.setattr(questions, "_cluster", lambda *_: truth)
    assert len(talk.ask(6)) == 1
    ahead = questions.look_ahead(talk.strategy, talk.state, data.encode()[0], 6)
    assert len(ahead) == 6
    assert ahead[0] == talk.ask()[0]
    assert talk.state.asked == 0  # nothing was answered
    links = {True: [], False: []}
    for question in ahead:  # as far as the clusters are right, no answer follows from those before
        pair = tuple(sorted(question.rows))
        known = Clues(12, must=links[True], cannot=links[False]).closed()
        assert list(pair) not in [*known.must.tolist(), *known.cannot.tolist()]
        links[truth[pair[0]] == truth[pair[1]]].append(pair)


def test_answers_are_suggested_by_clusters():
    clusters = np.array([0, 0, 1, 1, 2])
    clues = Clues(5, labels=["a", None, None, None, None])
    asked = {
        Question("pair", (0, 1)): True,
        Question("pair", (0, 2)): False,
        Question("which", (0, 2, 1)): 1,
        Question("which", (0, 2, 4)): False,
        Question("label", (1,)): "a",
        Question("label", (2,)): None,
        Question("group", (0, 2, 1, 4)): [[0, 1], [2], [4]],
    }
    assert [questions._suggest(question, clusters, clues) for question in asked] == list(asked.values())


def test_pictures_are_small_and_those_left_out_are_counted(begun, tmp_path, monkeypatch):
    for i in range(4):
        Image.new("RGB", (1000, 20), (60 * i, 0, 0)).save(tmp_path / f"{i}.png")
    (tmp_path / "secret.txt").write_text("not a picture", "utf-8")
    paths = ["0.png", "1.png", "2.png", "3.png", "secret.txt", "gone.png"]
    (tmp_path / "shown.csv").write_text("\n".join(["id,picture", *(f"p{i},{p}" for i, p in enumerate(paths))]), "utf-8")
    given = OPTIONS | {"as": "picture:image", "strategy": "RandomPairs"}
    talk, data, rows = projects.begin(tmp_path / "shown.cluewise", tmp_path / "shown.csv", given, 9)
    with talk:
        asked = [Question("pair", (0, 1)), Question("pair", (1, 4)), Question("pair", (2, 5))]
        text, notes = offline.write_page(talk, data, rows, asked)
        content, _ = content_of(text)
        assert [one["pictures"] for one in content["questions"]] == [[0, 1], [1, -1], [2, -1]]
        assert notes == ["Pictures that cannot be read and are left out: 2."]
        assert all(uri.startswith("data:image/png;base64,") for uri in content["pictures"])
        assert [one["lines"] for one in content["questions"]] == [[], [], []]  # no paths
        monkeypatch.setattr(pictures, "MOST", len(base64.b64decode(content["pictures"][0].partition(",")[2])) + 10)
        text, notes = offline.write_page(talk, data, rows, asked[:1])
        assert content_of(text)[0]["questions"][0]["pictures"] == [0, -1]
        assert notes == ["Pictures left out because the page would be too large for a mail: 1."]


ENTRIES = [
    ("pair", (0, 1), True, "c-0.1"),
    ("which", (4, 0, 5), 5, "c-1.1"),
    ("which", (8, 0, 5), False, "c-2.1"),
    ("label", (2,), "Barolo", "c-3.1"),
    ("pair", (0, 8), None, "c-4.1"),
    ("group", (6, 7, 9, 10, 11), [[6, 7], [9, 10]], "c-5.1"),
]


def test_answers_come_in_once(talk, tmp_path):
    path = returned(talk, ENTRIES, tmp_path)
    assert taken(talk, path) == ("ann", 6, 0, 0)
    before = standing(talk)
    assert before[:2] == [((0, 1), True, "ann"), ((4, 0, 5), 5, "ann")]
    assert {answer.seconds for answer in talk.state.answers} == {1.5}
    assert taken(talk, path) == ("ann", 0, 0, 6)
    assert standing(talk) == before
    more = returned(talk, [*ENTRIES, ("pair", (2, 3), True, "c-6.1")], tmp_path)
    assert taken(talk, more) == ("ann", 1, 0, 6)
    # The same page on another device has another name.
    bob = returned(talk, [("pair", (0, 1), True, "d-0.1")], tmp_path, who="bob")
    assert taken(talk, bob) == ("bob", 1, 0, 0)
    assert len(standing(talk)) == 8


def test_an_answer_that_was_changed_replaces_the_first(talk, tmp_path):
    old = returned(talk, ENTRIES[:2], tmp_path)
    taken(talk, old)
    new = returned(talk, [("pair", (0, 1), False, "c-0.2"), ENTRIES[1]], tmp_path, "new.json")
    assert taken(talk, new) == ("ann", 1, 1, 1)
    assert standing(talk) == [((4, 0, 5), 5, "ann"), ((0, 1), False, "ann")]
    assert taken(talk, old) == ("ann", 0, 0, 2)  # an older file does not bring it back
    assert len(standing(talk)) == 2


def test_an_answer_taken_back_here_stays_taken_back(talk, tmp_path):
    path = returned(talk, ENTRIES[:1], tmp_path)
    taken(talk, path)
    talk.undo()
    assert taken(talk, path).known == 1
    assert standing(talk) == []


def test_classes_are_those_of_the_project(begun, tmp_path):
    talk, _, _ = begun()
    talk.tell(Answer(Question("label", (0,)), 1))
    taken(talk, returned(talk, [("label", (4,), "1", "c-0.1"), ("label", (8,), "2", "c-1.1")], tmp_path))
    assert talk.state.clues.classes_.tolist() == [1, 2]


def test_a_name_that_is_missing_may_be_given(talk, tmp_path):
    taken(talk, returned(talk, ENTRIES[:1], tmp_path, who=""), "carol")
    assert standing(talk) == [((0, 1), True, "carol")]


def broken(change):
    """A file in which one thing was changed."""

    def write(path):
        content = json.loads(path.read_text("utf-8"))
        change(content)
        path.write_text(json.dumps(content), "utf-8")

    return write


def put(**values):
    return broken(lambda content: content["answers"][1].update(copy.deepcopy(values)))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (
            lambda path: path.write_text("[[" * 50_000),
            "is not a file of answers: it is not JSON",
        ),
        (lambda path: path.write_bytes(path.read_bytes()[:-30]), "it is not JSON, or not all of it is there"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00"), "it is not JSON"),
        (lambda path: path.write_text('{"a": 1, "a": 2}'), "it is not JSON"),
        (lambda path: path.write_text("[]"), "is not a file of answers from a page"),
        (broken(lambda c: c.update(project="another")), "are about another project than"),
        (broken(lambda c: c.pop("project")), "are about another project than"),
        (broken(lambda c: c.update(format=2)), "is of format 2; this version of cluewise reads 1."),
        (broken(lambda c: c.update(answers={})), "is damaged"),
        (
            broken(lambda c: c.update(who="inferred")),
            "says that 'inferred' answered, which is not",
        ),
        (broken(lambda c: c.update(who="a\x1b[2J")), "which is not the name of a person"),
        (broken(lambda c: c["answers"].append(7)), "entry 3 of"),
        (put(question={"kind": "pair", "rows": [0, 99]}), "it is about row 99, but there are 12 rows."),
        (put(question={"kind": "pair", "rows": [0, -1]}), "the rows of a question are different row numbers"),
        (put(question={"kind": "pair", "rows": [0, 1.5]}), "the rows of a question are row numbers"),
        (put(question={"kind": "pair", "rows": []}), "the question has no kind, or no rows."),
        (put(question={"kind": "poll", "rows": [0]}), "a question is of the kind"),
        (put(value="yes"), "belongs to one of [0, 5]"),
        (put(value=9), "belongs to one of [0, 5]"),
        (put(question={"kind": "label", "rows": [1]}, value=["a"]), "is not the name of a class."),
        (put(question={"kind": "label", "rows": [1]}, value="a" * 201), "is not the name of a class."),
        (put(question={"kind": "label", "rows": [1]}, value=""), "the label of row 1 is a text or a number"),
        (put(nonce="../../etc"), "which no page makes."),
        (put(nonce=None), "its nonce is None, which no page makes."),
        (put(nonce="c-0.1"), "its nonce is that of an entry before."),
        (put(seconds=-1), "seconds=-1"),
        (put(seconds="1"), "seconds='1'"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_whole(talk, tmp_path, spoil, sentence):
    path = returned(talk, ENTRIES[:2], tmp_path)
    spoil(path)
    with pytest.raises(ValueError) as refused:
        taken(talk, path)
    said = str(refused.value)
    assert sentence in said
    assert "answers.json" in said
    assert len(said) < 400
    assert standing(talk) == []


def test_answers_before_any_page_belong_elsewhere(begun, tmp_path):
    talk, _, _ = begun("first")
    other, _, _ = begun("second")
    path = returned(talk, ENTRIES[:1], tmp_path)
    with pytest.raises(ValueError, match="about another project"):
        taken(other, path)
