"""``cluewise ask --html`` and ``--answers``: questions handed out on a page, answers taken in from a file."""

from __future__ import annotations

import json

import pytest

ASK = ("ask", "data.csv", "--ignore", "color", "--strategy", "RandomPairs")


def content_of(path):
    text = path.read_text("utf-8").partition('id="data">')[2].partition("</script>")[0]
    return json.loads(text)


def answered(page, values, **head):
    """What the page would write after these answers."""
    content = content_of(page)

    def nonce(i):
        return f"{content['page']}-{i}.1"

    said = [
        {"question": {"kind": one["kind"], "rows": one["rows"]}, "value": value, "seconds": 2, "nonce": nonce(i)}
        for i, (one, value) in enumerate(zip(content["questions"], values))
    ]
    whole = {"cluewise": "answers", "format": 1, "project": content["project"], "who": "ann", "answers": said, **head}
    path = page.with_name("answers.json")
    path.write_text(json.dumps(whole), "utf-8")
    return path


def test_questions_go_out_and_answers_come_back(folder, run):
    out = run(*ASK, "--html", "page.html", "--budget", 4, "--who", "ann")
    assert (out.code, out.err) == (0, "")
    assert "Written: page.html, a page with 4 questions (" in out.out
    assert content_of(folder / "page.html")["who"] == "ann"
    assert not (folder / "data-clues.csv").exists()
    back = answered(folder / "page.html", [True, False, None])
    first = run("ask", "data.csv", "--answers", back)
    assert (first.code, first.err) == (0, "")
    assert "answers.json: 3 new." in first.out
    assert "3 of 4 questions answered (1 yes, 1 no, 1 don't know)." in first.out
    assert (folder / "data-clues.csv").exists()
    again = run("ask", "data.csv", "--answers", back)
    assert "answers.json: 0 new, 3 known already." in again.out
    assert "3 of 4 questions answered" in again.out


def test_the_next_page_has_new_questions(folder, run):
    run(*ASK, "--html", "page.html", "--budget", 3)
    first = [one["rows"] for one in content_of(folder / "page.html")["questions"]]
    back = answered(folder / "page.html", [True, True, True])
    # Answers are taken in first, and --budget counts the questions on the page.
    result = run("ask", "data.csv", "--answers", back, "--html", "next.html", "--budget", 2)
    assert result.code == 0
    second = [one["rows"] for one in content_of(folder / "next.html")["questions"]]
    assert len(second) == 2
    assert not {tuple(rows) for rows in first} & {tuple(rows) for rows in second}
    back = answered(folder / "next.html", [False, None])
    assert "5 of 5 questions answered" in run("ask", "data.csv", "--answers", back).out
    assert "say how many more with --budget" in run("ask", "data.csv", "--html", "next.html").err
    assert "a page has at least 1 question" in run("ask", "data.csv", "--html", "next.html", "--budget", 0).err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--html", "page.txt"], "'page.txt' has none of the suffixes .html or .htm."),
        (["--html", "data.csv"], "none of the suffixes"),
        (["--html", "no/page.html"], "no/page.html"),
        (["--html", "page.html", "--out", "clues.csv"], "--html writes a page of questions only; leave --out out."),
        (["--html", "page.html", "--result", "r.csv"], "leave --result out."),
        (["--answers", "answers.json"], "there is no project 'data.cluewise' that these answers could belong to."),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(folder, run, words, sentence):
    result = run(*ASK, *words)
    assert (result.code, result.out) == (2, "")
    assert sentence in result.err
    assert not (folder / "data.cluewise").exists()


def test_of_several_files_all_come_in_or_none(folder, run, write):
    run(*ASK, "--html", "page.html", "--budget", 3)
    good = answered(folder / "page.html", [True]).rename(folder / "good.json")
    bad = write("bad.json", "{}")
    result = run("ask", "data.csv", "--answers", good, "--answers", bad)
    assert result.code == 2
    assert "bad.json' is not a file of answers" in result.err
    assert "no such file" in run("ask", "data.csv", "--answers", "gone.json").err
    assert "1 of 3 questions answered" in run("ask", "data.csv", "--answers", good).out
