"""kill -9 while a language model answers: no reply that was received is lost, and little is sent twice."""

from __future__ import annotations

import multiprocessing
import random
import signal
import time

from cluewise.active import LanguageModel, Project, Question, RandomPairs
from cluewise.store import Store
from faulty_model import FaultyModel

KINDS = random.Random(0).choices([f"fruit{i}" for i in range(40)], k=300)  # so many that questions do not run out
ITEMS = [{"kind": kind, "number": i} for i, kind in enumerate(KINDS)]
X = [[float(i)] for i in range(len(KINDS))]
FAULTS = {"busy": 0.05, "down": 0.05, "cut": 0.05, "reset": 0.03, "html": 0.03, "prose": 0.03}
IN_FLIGHT = 4

START = multiprocessing.get_context("forkserver")
START.set_forkserver_preload(["cluewise.active", "cluewise.store", "sqlalchemy.dialects.sqlite"])


def answer_until_killed(path, base, budget, says):
    """Ask five questions at a time, and say which answers are told."""
    if Project.begun(path):
        project = Project.open(path, RandomPairs(), X)
    else:
        project = Project.begin(path, RandomPairs(), X, budget=budget, random_state=0)
    with project:
        model = LanguageModel(
            ITEMS, "Same kind of fruit?", model="some", budget=10**6, base=base, store=project.store,
            in_flight=IN_FLIGHT, pause=0.002,
        )  # fmt: skip
        says.send("begun")
        while questions := project.ask(size=5):
            for number in project.tell(model(questions)):
                says.send(number)
    says.send("done")


def run(path, base, budget, seconds=None):
    """What a process said until it was done, or was killed after some seconds."""
    hears, says = START.Pipe(duplex=False)
    child = START.Process(target=answer_until_killed, args=(path, base, budget, says))
    child.start()
    says.close()
    told = []
    if seconds is not None:
        told.append(hears.recv())
        time.sleep(seconds)
        child.kill()
    while True:
        try:
            told.append(hears.recv())
        except EOFError:
            break
    child.join()
    assert child.exitcode in (0, -signal.SIGKILL)
    return told


def test_killed_at_any_moment_no_reply_is_lost(tmp_path, sweep):
    most, budget = sweep(3, 200), sweep(25, 1500)
    path, moments = tmp_path / "p.cluewise", random.Random(1)
    told, kept, before, cut_off, kills = set(), {}, 0, 0, 0
    with FaultyModel(FAULTS, patience=3, delay=0.01) as server:
        while kills < most or not cut_off:  # until one has hit calls in flight
            said = run(path, server.base, budget, moments.uniform(0, 0.12))
            told |= {one for one in said if isinstance(one, int)}
            with server.lock:
                replied, asked = sum(server.sent.values()), sum(server.times.values())
            with Store.open(path) as store:
                calls, totals = store.calls.every(), store.calls.totals()
                assert told <= {entry.id for entry in store.entries()}
            new = {call.key: call.reply for call in calls if call.state == "replied"}
            assert kept.items() <= new.items()  # what was received stays
            kept = new
            # Of what the server has replied, only what was in flight is not stored; and every call was noted first.
            assert totals.lost - before <= IN_FLIGHT
            cut_off, before = cut_off + totals.lost - before, totals.lost
            assert replied - len(kept) <= cut_off
            assert asked <= totals.calls
            if "done" in said:
                break
            kills += 1
        while "done" not in (said := run(path, server.base, budget)):
            pass
        with Project.open(path, RandomPairs(), X) as project:
            totals, state = project.store.calls.totals(), project.state
            keys = [call.key for call in project.store.calls.every() if call.state == "replied"]
        repeated = sum(count - 1 for count in server.sent.values())
    assert len(keys) == len(set(keys)) == len(server.sent)
    assert repeated <= totals.lost <= IN_FLIGHT * kills  # and they are counted
    assert state.asked == budget
    for answer in state.answers:
        i, j = answer.question.rows
        assert answer.value in (None, KINDS[i] == KINDS[j])
    assert cut_off > 0
    print(f"{kills} kills: {totals.calls} calls, {totals.replies} replies, {totals.lost} cut off, {repeated} repeated")  # noqa: T201


def test_two_processes_share_a_budget(tmp_path):
    path = tmp_path / "p.cluewise"
    with Store.open(path, create=True) as store, FaultyModel(delay=0.005) as server:
        given = {"model": "some", "budget": 11, "base": server.base, "store": store}
        questions = [Question("pair", (i, i + 1)) for i in range(20)]
        children = [
            START.Process(target=_ask, args=(path, server.base, part)) for part in (questions[::2], questions[1::2])
        ]
        for child in children:
            child.start()
        for child in children:
            child.join()
        assert sum(server.times.values()) == 11
        assert LanguageModel(ITEMS, "Same?", **given).totals.calls == 11


def _ask(path, base, questions):
    with Store.open(path) as store:
        LanguageModel(ITEMS, "Same?", model="some", budget=11, base=base, store=store)(questions)
