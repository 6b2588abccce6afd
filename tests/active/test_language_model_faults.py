"""A language model behind a server that has every fault: counted, told, nothing lost, and no key anywhere."""

from __future__ import annotations

import json
import logging
import pickle
import random
import socket
import time
import traceback
import warnings
from http.client import HTTPConnection
from threading import Thread

import pytest

from cluewise.active import LanguageModel, Project, Question, RandomPairs, interview, read_batch
from cluewise.active._language_model import transport
from cluewise.active._language_model.costs import Prices
from cluewise.active._language_model.ledger import Memory
from cluewise.active._language_model.line import Limits, Line
from cluewise.active._language_model.prompts import Call, Form
from cluewise.active._language_model.tally import Tally
from cluewise.active._language_model.transport import Outcome, _Line, _wait, outcome_of
from cluewise.exceptions import ClueWarning
from cluewise.store import Store
from faulty_model import LINE, WORDS, FaultyModel, chat, think

KINDS = random.Random(0).choices(["pear", "fig", "plum"], k=40)
ITEMS = [{"kind": kind, "number": i} for i, kind in enumerate(KINDS)]
X = [[float(i)] for i in range(len(KINDS))]
KEY = "sk-0123456789abcdef-very-secret"


def model_of(server, **more):
    given = {"model": "some", "budget": 1000, "classes": sorted(set(KINDS)), "pause": 0.002, "timeout": 10.0, **more}
    return LanguageModel(ITEMS, "Same kind of fruit?", base=server.base, **given)


def pairs(count, seed=0):
    every = [(i, j) for j in range(len(KINDS)) for i in range(j)]
    return [Question("pair", rows) for rows in random.Random(seed).sample(every, len(every))[:count]]


def is_right(answer):
    i, j = answer.question.rows
    return answer.value == (KINDS[i] == KINDS[j])


def quietly(model, questions):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClueWarning)
        return model(questions)


# what goes wrong on the line passes


@pytest.mark.parametrize("fault", LINE)
def test_each_fault_of_the_line_passes(fault):
    told = {"drip": "slow", "reset": "cut"}.get(fault, fault)
    told = told if told in ("slow", "cut", "busy", "down") else "strange"
    late = fault in ("slow", "drip")
    with FaultyModel({fault: 1.0}, patience=1, slowness=3.0) as server:
        model = model_of(server, timeout=1.5 if late else 10.0)
        answers = model(pairs(2))
        assert [is_right(answer) for answer in answers] == [True, True]
        assert server.met[fault] == 4
        assert dict(model._tally.counts) == {told: 4}
        assert model.totals.calls == 8
        (sentence,) = model.report()
        assert sentence.startswith("4 times the ")
        assert "\x07" not in sentence


def test_all_faults_together(monkeypatch):
    under_way, most = [], []

    def post(*arguments):  # counted here: the server works on a reply even after whoever asked has given it up
        under_way.append(None)
        most.append(len(under_way))
        try:
            return sent(*arguments)
        finally:
            under_way.pop()

    sent = transport._post
    monkeypatch.setattr(transport, "_post", post)
    faults = dict.fromkeys((*LINE, *WORDS), 0.03) | {"slow": 0.01, "drip": 0.01, "huge": 0.01}
    with FaultyModel(faults, seed=1, slowness=2.0) as server:
        model = model_of(server, in_flight=8, timeout=1.0)
        answers = model(pairs(60))
        assert len(answers) == 60
        assert all(is_right(answer) for answer in answers if answer.value is not None)
        assert 30 < sum(answer.value is not None for answer in answers) < 60
        assert len(server.met) > 12  # the test meets most of them
        assert model.totals.calls == sum(server.times.values())
        assert 1 < max(most) <= 8


@pytest.mark.parametrize("fault", WORDS)
@pytest.mark.parametrize("kind", ["pair", "which", "group"])
def test_replies_without_meaning_are_not_sent_again(fault, kind):
    question = Question(kind, (0, 1) if kind == "pair" else (0, 1, 2))
    with FaultyModel({fault: 1.0}) as server:
        model = model_of(server)
        (answer,) = model([question])
        assert answer.value is None
        assert sum(server.times.values()) == 2
        told = {"empty": "empty", "short": "short", "language": "prose", "prose": "prose", "echo": "prose"}
        grouped = {"unknown": "unknown", "repeated": "repeated"} if kind == "group" else {}
        assert dict(model._tally.counts) == {(told | grouped).get(fault, "prose"): 2}


def test_a_server_that_never_recovers_has_no_answers():
    with FaultyModel({"down": 1.0}, patience=99) as server:
        model = model_of(server, retries=2)
        with pytest.warns(ClueWarning, match="there was no reply: 6 times the server failed"):
            assert model(pairs(1)) == []
        assert sum(server.times.values()) == 6
        with pytest.warns(ClueWarning):
            state = interview(RandomPairs(), X, model, budget=5, random_state=0)
        assert state.asked == 0  # and the conversation can go on later


def test_nobody_is_there():
    with FaultyModel() as server:
        pass
    model = model_of(server, retries=1)
    with pytest.warns(ClueWarning, match="there was no reply: 4 times the server could not be reached"):
        assert model(pairs(1)) == []
    with FaultyModel() as server:
        model = LanguageModel(ITEMS, "Same?", model="some", budget=10, base=f"{server.base}/elsewhere")
        with pytest.warns(ClueWarning, match="does not accept the key, the address or the model"):
            assert model(pairs(1)) == []


@pytest.mark.parametrize("fault", ["closed", "moved", "refused"])
def test_what_concerns_all_calls_ends_them(fault, monkeypatch):
    monkeypatch.setenv("FRUIT_KEY", KEY)
    with FaultyModel({fault: 1.0}) as server:
        model = model_of(server, key="FRUIT_KEY", in_flight=1)
        with pytest.warns(ClueWarning) as told:
            answers = model(pairs(10))
        assert answers == []
        assert sum(server.times.values()) == (5 if fault == "refused" else 1)
        sentence = str(told[0].message)
        assert KEY not in sentence
        assert {"closed": "[key]", "moved": "not followed", "refused": "max_tokens is not"}[fault] in sentence


def test_a_request_that_is_refused_among_others_is_not_known():
    with FaultyModel({"refused": 0.3}, seed=3) as server:
        model = model_of(server, in_flight=1)
        answers = model(pairs(12))
    assert server.met["refused"]
    assert len(answers) == 12
    unknown = [answer for answer in answers if answer.value is None]
    assert 0 < len(unknown) < 12
    assert all(is_right(answer) for answer in answers if answer.value is not None)


# pauses


def test_the_server_says_how_long_to_wait():
    with FaultyModel({"busy": 1.0}, patience=1, wait="0.3") as server:
        begun = time.monotonic()
        model_of(server)(pairs(1))
        assert time.monotonic() - begun > 0.3
    with FaultyModel({"busy": 1.0}, wait="3600") as server:
        model = model_of(server)
        with pytest.warns(ClueWarning, match="asks to wait 3600 seconds; go on later"):
            assert model(pairs(1)) == []


def test_all_threads_wait_when_the_server_asks_for_it():
    sent = []

    def send(body):
        sent.append(time.monotonic())
        return Outcome("busy", wait=0.3) if len(sent) == 1 else Outcome(text="yes")

    line = Line(send, Limits(99, None, None, 5, 0.001), Tally(), 0)
    first, second = (Call(key, Form("pair", (0, 1), 0), {}, {}) for key in "ab")
    other = Thread(target=line.fetch, args=(first, ledger := Memory()))
    other.start()
    while not sent or not line._not_before:
        time.sleep(0.001)
    assert line.fetch(second, ledger)["text"] == "yes"
    other.join()
    assert min(sent[1:]) - sent[0] >= 0.3


def test_https_is_the_same_line(monkeypatch):
    with FaultyModel() as server:
        model = model_of(server, retries=0)
        secure = LanguageModel(
            ITEMS, "Same?", model="some", budget=99, base=server.base.replace("http", "https"), retries=0
        )
        with pytest.warns(ClueWarning, match="could not be reached"):
            assert secure(pairs(1)) == []  # the server speaks no TLS
        monkeypatch.setattr("http.client.HTTPSConnection.connect", HTTPConnection.connect)
        assert [answer.value for answer in secure(pairs(5))] == [answer.value for answer in model(pairs(5))]


def test_a_connection_that_opens_when_the_time_is_over_is_cut():
    ours, theirs = socket.socketpair()
    with ours, theirs, _Line(0.001) as line:
        while not line.over:
            time.sleep(0.001)
        line.add(ours)
        theirs.settimeout(10)
        assert theirs.recv(1) == b""


def test_how_a_pause_is_written():
    assert _wait("7") == 7.0
    assert _wait("Fri, 01 Jan 2100 00:00:00 GMT") > 1e9
    assert _wait("Sat, 01 Jan 2000 00:00:00") == 0.0
    assert [_wait(text) for text in (None, "", "soon", "-3", "1e999", "9" * 400)] == [None] * 6


def test_pauses_grow_and_depend_on_the_seed_only(monkeypatch):
    def pauses(seed):
        found = []
        model = LanguageModel(ITEMS, "Same?", model="some", budget=99, send=refuse, in_flight=1, random_state=seed)
        monkeypatch.setattr(model._line.stopped, "wait", found.append)
        quietly(model, pairs(1))
        return [round(pause, 2) for pause in found if pause > 0]

    def refuse(body):
        raise ConnectionResetError

    first = pauses(0)
    assert len(first) == 10
    assert first == pauses(0) != pauses(1)
    for attempt, pause in enumerate(first[:5]):
        assert 0.49 * 2**attempt <= pause <= 1.5 * 2**attempt


# budgets


def test_calls_are_counted_and_end():
    with FaultyModel({"down": 0.3}, patience=99) as server:
        model = model_of(server, budget=25)
        answers = quietly(model, pairs(40))
        assert sum(server.times.values()) == model.totals.calls == 25
        assert 0 < len(answers) < 13
        assert any("budget" in sentence for sentence in model.report())
        model(pairs(40, seed=1))
        assert sum(server.times.values()) == 25


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 150, "completion_tokens": 2}, {"prompt_tokens": -1}, "much"])
def test_money_is_counted_and_ends(usage):
    prices, money = (1000.0, 4000.0), 10.0
    with FaultyModel({"cut": 0.1}, usage=usage) as server:
        model = model_of(server, prices=prices, money=money, in_flight=3)
        answers = quietly(model, pairs(200))
        assert 0 < len(answers) < 200
        assert model.totals.cost <= money
        # Not a tenth of the money is left: what a call may cost at most is only set aside until its reply comes.
        most = Prices(*prices).most(server.bodies[0])
        assert model.totals.cost > money - 4 * most


def test_what_the_server_counts_is_what_counts():
    with FaultyModel(usage={"prompt_tokens": 150, "completion_tokens": 2}) as server:
        model = model_of(server, prices=(1000.0, 4000.0))
        model(pairs(5))
        assert model.totals.cost == pytest.approx(10 * (150 * 1000 + 2 * 4000) / 1e6)
    with FaultyModel({"down": 1.0}, patience=1) as server:
        model = model_of(server, prices=(1000.0, 4000.0))
        expected = model.estimate(pairs(5)).cost
        model(pairs(5))
        assert model.totals.cost == pytest.approx(expected)  # without usage; what failed is free


def test_an_estimate_is_close_to_what_is_sent():
    with FaultyModel() as server:
        model = model_of(server, prices=(2.0, 8.0))
        found = model.estimate(pairs(10))
        assert found.calls == 20
        size = sum(len(json.dumps(call.body["messages"])) for q in pairs(10) for call in model._plan(q))
        assert size / 5 < found.tokens_in < size / 2
        assert found.cost == pytest.approx((2 * found.tokens_in + 8 * found.tokens_out) / 1e6)
        model(pairs(10))
        assert str(model.estimate(pairs(10))).startswith("20 calls")  # asked again, they are new draws
        assert str(model.estimate([])) == "no calls: every reply is stored already"


# the key


def grep(thing, seen=None):
    """Whether the key stands anywhere in an object and what it refers to."""
    seen = set() if seen is None else seen
    if id(thing) in seen or len(seen) > 20_000:
        return False
    seen.add(id(thing))
    if isinstance(thing, str | bytes):
        return (KEY if isinstance(thing, str) else KEY.encode()) in thing
    if isinstance(thing, dict):
        return any(grep(part, seen) for pair in thing.items() for part in pair)
    if isinstance(thing, list | tuple | set | frozenset):
        return any(grep(part, seen) for part in thing)
    inside = [getattr(cell, "cell_contents", None) for cell in getattr(thing, "__closure__", None) or ()]
    return grep(getattr(thing, "__dict__", {}), seen) or grep(inside, seen)


def test_the_key_is_sent_and_stands_nowhere_else(tmp_path, monkeypatch, caplog, capfd):
    monkeypatch.setenv("FRUIT_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    faults = dict.fromkeys((*LINE, *WORDS), 0.05) | {"slow": 0.01, "drip": 0.01, "huge": 0.01, "echo": 0.2, "down": 0.2}
    with FaultyModel(faults, seed=5, slowness=2.0) as server:
        with Project.begin(tmp_path / "p.cluewise", RandomPairs(), X, budget=30, random_state=0) as project:
            model = model_of(server, key="FRUIT_KEY", store=project.store, timeout=1.0)
            while questions := project.ask(size=5):
                project.tell(quietly(model, questions))
        assert server.met["echo"]
        assert server.met["down"]
        assert all(headers["Authorization"] == f"Bearer {KEY}" for headers in server.headers)
        monkeypatch.setattr(server, "faults", {"closed": 1.0})
        with Store.open(tmp_path / "p.cluewise") as store:
            other = model_of(server, key="FRUIT_KEY", store=store)
            with pytest.warns(ClueWarning) as told:
                other(pairs(3, seed=9))
    texts = [repr(model), str(vars(model)), *model.report(), *other.report(), caplog.text, *capfd.readouterr()]
    texts += [str(one.message) for one in told]
    for thing in (model, other):
        with pytest.raises(TypeError) as error:  # it has threads; if it could be pickled, the key must not be in it
            pickle.dumps(thing)
        texts += traceback.format_exception(error.value)
    assert "[key]" in " ".join(texts)
    assert KEY not in " ".join(texts)
    assert not grep(model)
    files = list(tmp_path.iterdir())
    assert files
    assert not any(KEY.encode() in path.read_bytes() for path in files)


def test_a_key_that_is_not_there(monkeypatch):
    monkeypatch.delenv("FRUIT_KEY", raising=False)
    with FaultyModel() as server:
        with pytest.raises(ValueError, match="that key names is not set"):
            model_of(server, key="FRUIT_KEY")
        with pytest.raises(ValueError, match="not the key itself") as error:
            model_of(server, key=KEY)
        assert KEY not in "".join(traceback.format_exception_only(error.value))
        monkeypatch.setenv("FRUIT_KEY", "line\nbreak")
        with pytest.raises(ValueError, match="no part of a key"):
            model_of(server, key="FRUIT_KEY")
        monkeypatch.setenv("FRUIT_KEY", "none")  # what servers without keys are given; replies are left as they are
        others = [row for row, kind in enumerate(KINDS) if kind != KINDS[0]]
        (answer,) = model_of(server, key="FRUIT_KEY")([Question("which", (0, *others[:3]))])
        assert answer.value is False


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_takes_nothing_to_another_server(monkeypatch, code):
    monkeypatch.setenv("FRUIT_KEY", KEY)
    with FaultyModel() as thief, FaultyModel({"moved": 1.0}, moved=(code, thief)) as server:
        assert quietly(model_of(server, key="FRUIT_KEY"), pairs(1)) == []
        assert server.met["moved"]
        assert thief.visits == 0


# what comes back


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (chat("yes"), "yes"),
        (chat("<think>is it?\nmaybe [1]</think>\n\nyes"), "\n\nyes"),
        (chat([{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}]), "yes"),
        (chat(None), ""),
    ],
)
def test_dialects_of_replies(content, text):
    assert outcome_of(content).text == text


@pytest.mark.parametrize(
    "content", [None, 7, "yes", [], {}, {"choices": []}, {"choices": [7]}, {"choices": [{"message": {"content": 7}}]}]
)
def test_what_is_not_a_reply(content):
    assert outcome_of(content).fault == "strange"


def test_thoughts_without_end_are_cut_off():
    assert outcome_of(chat("<think>" + "hmm " * 5000)).short
    assert len(outcome_of(chat("x" * 9999)).text) == 4000


# batches


def back(lines, path):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return path


def reply(request, content=None, **more):
    said = chat(think(request["body"]) if content is None else content, usage=more.pop("usage", None))
    return {"id": "x", "custom_id": request["custom_id"], "response": {"status_code": 200, "body": said}, **more}


def test_a_batch_goes_out_and_comes_back(tmp_path):
    with Project.begin(tmp_path / "p", RandomPairs(), X, budget=50, random_state=0) as project:
        model = LanguageModel(
            ITEMS, "Same kind of fruit?", model="some", budget=50, store=project.store, who="llm", prices=(1.0, 1.0)
        )
        questions = [*pairs(8), Question("group", (1, 2, 3, 4)), Question("which", (0, 1, 2))]
        requests = model.batch(questions)
        assert len(requests) == 20
        assert requests[0].keys() == {"custom_id", "method", "url", "body"}
        assert model.totals.calls == 0  # they count when their replies come
        failed = {"custom_id": requests[0]["custom_id"], "response": None, "error": {"code": "expired"}}
        refused = {"custom_id": requests[2]["custom_id"], "response": {"status_code": 500, "body": {}}}
        good = [reply(request) for request in requests[4:-2]]
        good[0] = reply(requests[4], usage={"prompt_tokens": 10**6, "completion_tokens": 0})
        random.Random(0).shuffle(good)
        lines = [
            failed, refused, *good, good[0], reply({**requests[0], "custom_id": "of somebody else"}), "{", "[]", "7",
            '{"custom_id": 3}', "", "\ufeff",
        ]  # fmt: skip
        path = back(lines, tmp_path / "back.jsonl")
        found = read_batch(path, project.store, prices=(0.5, 0.5))
        assert found[1:] == (14, 2, 1, 1, 4, 6)
        assert str(found) == "14 new replies, 2 failed, 1 known already, 1 unknown, 4 not readable, 6 missing"
        assert len(found.answers) == 7
        assert all(is_right(answer) for answer in found.answers if answer.question.kind == "pair")
        assert {answer.who for answer in found.answers} == {"llm"}
        assert project.store.calls.totals().calls == 14
        assert 0.5 < project.store.calls.totals().cost < 0.51
        project.tell(found.answers)
        again = read_batch(path, project.store)
        assert (again.new, again.known) == (0, 15)
        project.tell(again.answers)
        assert project.state.asked == 7
        # What is missing can be exported again, or asked: replies that are there are not paid for twice.
        asked = [answer.question.key for answer in found.answers]
        rest = [question for question in questions if question.key not in asked]
        assert sorted(one["custom_id"] for one in model.batch(rest)) == sorted(
            one["custom_id"] for one in [*requests[:4], *requests[-2:]]
        )


def test_a_batch_beyond_the_budget_is_refused(tmp_path):
    with Store.open(tmp_path / "p", create=True) as store:
        given = {"model": "some", "store": store}
        with pytest.raises(ValueError, match="a batch of 20 calls exceeds the budget of 19, of which 0 are used"):
            LanguageModel(ITEMS, "Same?", budget=19, **given).batch(pairs(10))
        with pytest.raises(ValueError, match="a batch of 20 calls may cost"):
            LanguageModel(ITEMS, "Same?", budget=99, prices=(1.0, 1.0), money=0.0001, **given).batch(pairs(10))
        assert store.calls.every() == []
        assert (
            len(LanguageModel(ITEMS, "Same?", budget=99, prices=(1.0, 1.0), money=1.0, **given).batch(pairs(9))) == 18
        )


def test_a_call_and_a_batch_share_their_replies(tmp_path):
    with Store.open(tmp_path / "p", create=True) as store, FaultyModel() as server:
        model = model_of(server, store=store)
        requests = model.batch(pairs(3))
        model(pairs(2))
        found = read_batch(back([reply(one) for one in requests], tmp_path / "back"), store)
        assert (found.new, found.known, found.missing) == (2, 4, 0)
        assert len(found.answers) == 1
