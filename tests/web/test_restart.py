"""After a restart everything is where it was."""

from __future__ import annotations

import numpy as np

from cluewise.active import Answer, Question


def test_ids_names_questions_and_answers_survive(start):
    first = start()
    first.wait()
    first.tell(Answer(Question("pair", (20, 21)), True, who="ann"))[1].result(30)
    first.do({"act": "split", "cluster": int(first.labels()[0])}, "ann").result(30)
    first.wait()
    first.do({"act": "merge", "clusters": [int(first.labels()[20]), int(first.labels()[40])]}, "ann").result(30)
    first.wait()
    last = int(first.labels()[50])
    first.do({"act": "name", "cluster": last, "name": "Nebbiolo"}, "ann").result(30)
    asked = [question["rows"] for question in first.hand("ann", 3)]
    labels, key = first.labels(), first.key
    first.close()
    first.project.close()

    second = start()
    assert second.fit.revision == 0  # the page works before the first fit
    assert set(second.labels()) == {0}
    assert [question["rows"] for question in second.hand("ann", 3)] == asked
    second.wait()
    assert second.key == key
    assert np.mean(second.labels() == labels) > 0.9
    assert second.names()[last] == "Nebbiolo"
    assert len(second.fit.ids) == 3


def test_a_found_number_of_clusters_is_the_one_that_acts_change(start):
    first = start(n_clusters=None)
    first.wait()
    count = len(first.fit.ids)
    first.do({"act": "split", "cluster": first.fit.ids[0]}, "ann").result(30)
    first.wait()
    assert len(first.fit.ids) == count + 1
    first.close()
    first.project.close()
    second = start(n_clusters=None)
    second.wait()
    assert len(second.fit.ids) == count + 1


def test_answers_from_the_terminal_count(start):
    session = start()
    session.wait()
    session.project.tell([Answer(Question("pair", (0, 25)), True, who="cli")])
    session.tell(Answer(Question("pair", (1, 2)), True, who="ann"))[1].result(30)
    session.wait()
    assert session.fit.count == 2
