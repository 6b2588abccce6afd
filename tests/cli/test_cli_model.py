"""``cluewise ask --model``: a language model answers, after its price was shown; batch files go out and come back."""

from __future__ import annotations

import io
import json
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from cluewise.store import Store
from faulty_model import INJECTION, FaultyModel, chat, think

FRUIT = "id,size,kind,secret,photo\n" + "\n".join(
    f"r{i},{i % 3 + i / 10},{('pear', 'fig', 'plum')[i % 3]},{i},https://host/{i}.png" for i in range(12)
)
ASK = ("ask", "fruit.csv", "--id", "id", "--ignore", "secret,photo", "--strategy", "RandomPairs", "--seed", 1)
MODEL = ("--model", "some-model", "--task", "Same kind of fruit?")


@pytest.fixture(autouse=True)
def fruit(folder, write, monkeypatch):
    monkeypatch.setattr("cluewise.active._language_model.line.MOST_PAUSE", 0.01)
    return write("fruit.csv", FRUIT)


@pytest.fixture
def server():
    with FaultyModel() as running:
        yield running


def typed(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_a_model_answers(folder, run, server):
    out = run(*ASK, "--budget", 8, *MODEL, "--base", server.base, "--yes", "--prices", "1,4", "--money", 1)
    assert (out.code, out.err) == (0, "")
    assert f"8 questions to some-model at {server.base}: 16 calls, about " in out.out
    assert "at your prices." in out.out
    assert "It is sent the rows in question, columns size, kind." in out.out
    assert "At most 24 calls and 1; 0 calls were sent before." in out.out
    assert "16 calls so far, 16 replies, cost about 0.00" in out.out
    assert "8 of 8 questions answered (" in out.out
    sent = json.dumps(server.bodies)
    assert "kind: pear" in sent
    assert "secret" not in sent
    assert "photo" not in sent
    with Store.open(folder / "fruit.cluewise") as store:
        assert {entry.who for entry in store.standing()} == {"some-model"}
    lines = (folder / "fruit-clues.csv").read_text("utf-8").splitlines()[1:]
    for line in lines:
        first, second, kind = line.split(",")[:3]
        assert (int(first[1:]) % 3 == int(second[1:]) % 3) == (kind == "must")


def test_a_terminal_shows_how_far_it_is(run, server, monkeypatch):
    shown = []
    status = SimpleNamespace(update=shown.append)
    monkeypatch.setattr("cluewise.cli._show.is_watched", lambda: True)
    monkeypatch.setattr("cluewise.cli._model.show_status", lambda words: nullcontext(status))
    assert run(*ASK, "--budget", 3, *MODEL, "--base", server.base, "--yes").code == 0
    assert shown == ["2 of 3 questions answered", "3 of 3 questions answered"]


def test_nothing_is_sent_without_a_yes(folder, run, server, monkeypatch):
    ask = (*ASK, "--budget", 3, *MODEL, "--base", server.base)
    for text in ("n\n", "", "\n", "perhaps\n"):
        typed(monkeypatch, text)
        out = run(*ask)
        assert out.code == 2
        assert out.out.endswith("Send? y = yes > ")
        assert out.err == "cluewise: nothing was sent; answer y, or add --yes.\n"
    assert not server.times
    typed(monkeypatch, "y\n")
    assert "3 of 3 questions answered" in run(*ask).out
    assert sum(server.times.values()) == 6


def test_it_goes_on_where_it_stopped(folder, run):
    with FaultyModel({"down": 0.3, "prose": 0.2}, patience=1) as server:
        first = run(*ASK, "--budget", 20, *MODEL, "--base", server.base, "--yes", "--calls", 15, "--in-flight", 1)
        assert first.code == 0
        assert "15 calls so far" in first.out
        assert "times the server failed (5xx) (the server fell over; you sent None)." in first.out
        assert "the budget did not allow the call." in first.out
        sent = sum(server.times.values())
        assert sent == 15
        second = run("ask", "fruit.csv", *MODEL, "--base", server.base, "--yes", "--calls", 100)
        assert "15 calls were sent before" in second.out
        assert "20 of 20 questions answered" in second.out
        replied = {text: count for text, count in server.sent.items() if count > 1}
        assert replied == {}  # nothing was paid for twice


def test_trouble_is_told_and_nothing_is_lost(folder, run, monkeypatch):
    monkeypatch.setenv("FRUIT_KEY", "sk-0123456789-very-secret")
    with FaultyModel({"closed": 1.0}) as server:
        out = run(*ASK, *MODEL, "--base", server.base, "--yes", "--key", "FRUIT_KEY")
    assert out.code == 2
    assert "the server does not accept the key, the address or the model (401, wrong key: Bearer [key])" in out.err
    assert "0 of 50 questions answered" in out.out
    assert "very-secret" not in out.out + out.err
    files = [path for path in folder.iterdir() if path.is_file()]
    assert not any(b"very-secret" in path.read_bytes() for path in files)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--task", "Same?"], "--task is about a language model; name it with --model."),
        (["--calls", 3], "--calls is about a language model"),
        (["--prices", "1,2"], "--prices is about a language model"),
        (["--export-batch", "b.jsonl"], "--export-batch is about a language model"),
        (["--model", "m"], "--model needs --task"),
        ([*MODEL, "--html", "p.html"], "leave --model out"),
        ([*MODEL, "--who", "inferred"], "--who inferred is reserved"),
        ([*MODEL, "--export-batch", "b.txt"], "has none of the suffixes"),
        ([*MODEL, "--export-batch", "fruit.csv"], "has none of the suffixes"),
        (["--import-batch", "b.jsonl"], "there is no project 'fruit.cluewise'"),
    ],
)
def test_options_that_make_no_sense(folder, run, words, sentence):
    out = run(*ASK, *words)
    assert (out.code, out.out) == (2, "")
    assert sentence in out.err
    assert not (folder / "fruit.cluewise").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--show", "size,taste"], "--show: fruit.csv has no column 'taste'."),
        (["--images", "size,face"], "--images: fruit.csv has no column 'face'."),
        (["--prices", "cheap"], "--prices is 'cheap'; it is two numbers, such as 0.15,0.6."),
        (["--money", "3"], "a budget in money needs prices"),
        (["--body", "[1]"], "--body is JSON such as"),
        (["--body", "{"], "--body is JSON such as"),
        (["--base", "gopher://host"], "base is the address of a server"),
        (["--key", "sk-0123456789-very-secret"], "not the key itself"),
    ],
)
def test_values_that_make_no_sense(run, words, sentence):
    out = run(*ASK, *MODEL, "--yes", *words)
    assert out.code == 2
    assert sentence in out.err
    assert "very-secret" not in out.out + out.err


def test_labels_images_and_examples(folder, run, server, monkeypatch):
    typed(monkeypatch, "pear\nfig\nq\n")
    ask = ("ask", "fruit.csv", "--id", "id", "--ignore", "secret,photo", "--questions", "label", "--seed", 1)
    run(*ask, "--budget", 6, "--who", "ann")
    out = run(
        "ask", "fruit.csv", *MODEL, "--base", server.base, "--yes", "--classes", "pear,fig,plum", "--images", "photo",
        "--examples", 1, "--show", "kind", "--body", '{"max_completion_tokens": 9}', "--who", "robot",
    )  # fmt: skip
    assert (out.code, out.err) == (0, "")
    assert "6 of 6 questions answered (6 labels)." in out.out
    body = server.bodies[0]
    assert body["max_completion_tokens"] == 9
    assert "max_tokens" not in body
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    parts = body["messages"][-1]["content"]
    assert parts[1]["image_url"]["url"].startswith("https://host/")
    assert "size:" not in parts[0]["text"]
    with Store.open(folder / "fruit.cluewise") as store:
        assert [entry.who for entry in store.standing()] == ["ann", "ann", *["robot"] * 4]
    again = run("ask", "fruit.csv", *MODEL, "--base", server.base, "--yes")
    assert (again.code, len(server.bodies)) == (0, 8)  # nothing is left to ask


def test_batches(folder, run, write):
    out = run(*ASK, "--budget", 5, *MODEL, "--export-batch", "out.jsonl", "--prices", "1,1")
    assert (out.code, out.err) == (0, "")
    assert "Written: out.jsonl, 5 questions to some-model (10 calls, about" in out.out
    requests = [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]
    assert len(requests) == 10
    lines = [
        {"custom_id": one["custom_id"], "response": {"status_code": 200, "body": chat(think(one["body"]))}}
        for one in requests
    ]
    write("back.jsonl", "\n".join(map(json.dumps, [*lines[1:], lines[3], {"custom_id": "other"}])) + "\nbroken")
    came = run("ask", "fruit.csv", "--import-batch", "back.jsonl", "--prices", ".5,.5")
    assert (came.code, came.err) == (0, "")
    counts = "9 new replies, 1 known already, 1 unknown, 1 not readable, 1 missing. 4 new answers."
    assert f"Replies from back.jsonl: {counts}" in came.out
    assert "4 of 5 questions answered" in came.out
    again = run("ask", "fruit.csv", "--import-batch", "back.jsonl")
    assert "0 new answers." in again.out
    more = run("ask", "fruit.csv", *MODEL, "--export-batch", "more.jsonl", "--budget", 1)
    assert more.code == 0
    write("rest.jsonl", json.dumps(lines[0]))
    assert "5 of " in run("ask", "fruit.csv", "--import-batch", "rest.jsonl").out
    run("ask", "fruit.csv", "--import-batch", "rest.jsonl", "--budget", 5)
    full = run("ask", "fruit.csv", *MODEL, "--export-batch", "more.jsonl")
    assert "say how many more with --budget" in full.err
    assert "no such file" in run("ask", "fruit.csv", "--import-batch", "gone.jsonl").err


def test_an_item_that_gives_orders(folder, run, write):
    write("fruit.csv", FRUIT.replace("pear", f"pear {INJECTION}", 1))
    with FaultyModel(gullible=True) as server:
        out = run(*ASK, "--budget", 40, *MODEL, "--base", server.base, "--yes")
    assert out.code == 0
    assert "times the replies in both orders did not agree." in out.out
    lines = (folder / "fruit-clues.csv").read_text("utf-8").splitlines()[1:]
    assert lines
    assert not any("r0" in line.split(",")[:2] for line in lines)  # nothing is known about the item


# --- a model and a person -----------------------------------------------------------------------------------------

BOTH = (*ASK, "--budget", 6, *MODEL, "--yes", "--answerers", "llm,me")


def test_the_model_answers_first_and_a_person_what_matters(folder, run, server, monkeypatch):
    typed(monkeypatch, "y\n" * 10)
    out = run(*BOTH, "--base", server.base, "--share", 0.5)
    assert (out.code, out.err) == (0, "")
    assert "- some-model answered 6 questions.\n- me answered 3 questions.\n" in out.out
    assert " of 3 pairs that both decided." in out.out
    with Store.open(folder / "fruit.cluewise") as store:
        who = [entry.who for entry in store.standing()]
    assert sorted(who) == ["me"] * 3 + ["some-model"] * 3


def test_the_person_has_a_name_may_take_back_and_quit(folder, run, server, monkeypatch):
    typed(monkeypatch, "u\nn\nu\nperhaps\nq\n")
    out = run(*BOTH, "--base", server.base, "--share", 1, "--who", "ann", "--in-flight", 2)
    assert out.code == 0
    assert "There is nothing of ann to take back." in out.out
    assert "Taken back: Do " in out.out
    assert "'perhaps' is not an answer to this question." in out.out
    with Store.open(folder / "fruit.cluewise") as store:
        assert [entry.who for entry in store.standing()] == ["some-model"]  # its reply to what ann left open


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--answerers", "llm"), "--answerers llm needs a language model; name it with --model."),
        (("--answerers", "you"), "--answerers is 'you'; it is me, llm, or llm,me."),
        ((*MODEL, "--answerers", "me"), "--answerers me leaves the language model out; leave --model out, too."),
    ],
)
def test_names_of_answerers_that_make_no_sense(run, words, sentence):
    out = run(*ASK, *words)
    assert (out.code, out.err) == (2, f"cluewise: {sentence}\n")


def test_a_person_alone_may_be_named(run, monkeypatch):
    typed(monkeypatch, "y\nq\n")
    assert "1 of 50 questions answered" in run(*ASK, "--answerers", "me").out
