"""``fit`` and ``check`` by the answers in a project, without the page and without saying anything twice."""

from __future__ import annotations

import csv
import json
import shutil

import pytest

from cluewise.active import Act, Answer, Question
from cluewise.workspace import projects

OPTIONS = {
    "strategy": None, "questions": None, "clues": None, "id": None, "columns": None, "ignore": "color",
    "as": None, "sheet": None, "label_column": None, "raw": False, "clusters": 2, "seed": None,
}  # fmt: skip


@pytest.fixture
def project(folder):
    """A project beside its data, with three answers of Ann and one that nobody signed."""
    talk, _, _ = projects.begin(folder / "mine.cluewise", folder / "data.csv", OPTIONS, 9)
    said = [((0, 1), True, "ann"), ((3, 4), True, "ann"), ((2, 3), False, "ann"), ((1, 2), True, "")]
    with talk:
        for rows, value, who in said:
            talk.tell(Answer(Question("pair", rows), value, who=who))
    return folder / "mine.cluewise"


def clusters_in(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [row["cluster"] for row in csv.DictReader(file)]


def test_fit_by_a_project_is_fit_by_its_clues(folder, run, project):
    found = run("fit", "--project", project, "--method", "PCKMeans", "--report", "by-project.json")
    assert (found.code, found.err) == (0, "")
    labels = clusters_in(folder / "data-clusters.csv")
    assert labels == [labels[0]] * 3 + [labels[3]] * 3
    facts = json.loads((folder / "by-project.json").read_text("utf-8"))
    assert (facts["columns"], facts["parameters"]["n_clusters"]) == (["length", "width"], 2)
    assert facts["satisfaction"] == {"must": 1.0, "cannot": 1.0}
    assert facts["command"].startswith("cluewise fit --project ")
    with projects.go_on(project, folder / "data.csv", {}, None)[0] as talk:
        talk.state.clues.write("said.csv", ids=["rose", "lily", "iris", "oak", "elm", "fir"])
    run(
        "fit", "data.csv", "--ignore", "color", "--clues", "said.csv", "-k", 2, "--method", "PCKMeans", "--out", "b.csv"
    )
    assert clusters_in(folder / "b.csv") == labels


def test_k_follows_acts_and_that_of_the_command_wins(folder, run, project):
    with projects.go_on(project, folder / "data.csv", {}, None)[0] as talk:
        talk.act(Act("split", "Split cluster 1", cannot=[(3, 5)], change=1, who="ann"))
    run("fit", "--project", project, "--method", "COPKMeans", "-q")
    labels = clusters_in(folder / "data-clusters.csv")
    assert len(set(labels)) == 3
    assert labels[3] != labels[5]
    run("fit", "--project", project, "-k", 2, "--method", "COPKMeans", "-q")
    assert len(set(clusters_in(folder / "data-clusters.csv"))) == 2


def test_answers_of_a_person_are_one_source(run, project):
    assert json.loads(run("fit", "--project", project, "--json").out)["trust"].keys() == {"answers of ann", "answers"}


def test_check_names_the_answers(folder, run, project):
    with projects.go_on(project, folder / "data.csv", {}, None)[0] as talk:
        talk.tell(Answer(Question("pair", (0, 2)), False, who="bob"))
    result = run("check", "--project", project)
    assert result.code == 1
    assert (
        "rows 0 and 2 must be apart (cannot-link, answer 5 (bob)), but must-links join them: 0 - 1 - 2." in result.out
    )
    assert "(Row 0 is 'rose', row 1 is 'lily', row 2 is 'iris'" in result.out


def test_data_that_moved(folder, run, project):
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(project, elsewhere / "copy.cluewise")
    # Where the data were when the project began.
    assert run("fit", "--project", elsewhere / "copy.cluewise", "--method", "PCKMeans", "-q").code == 0
    (folder / "data.csv").rename(elsewhere / "new.csv")
    gone = run("fit", "--project", project)
    assert gone.code == 2
    assert "is about data.csv, which is not there; name the file before --project." in gone.err
    assert run("fit", elsewhere / "new.csv", "--project", project, "--method", "PCKMeans", "-q").code == 0
    assert (elsewhere / "new-clusters.csv").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--ignore", "width"], "--ignore is width, but 'mine.cluewise' was begun with color; leave it out."),
        (["--raw"], "--raw is True, but 'mine.cluewise' was begun without it; leave it out."),
        (["--clues", "clues.csv"], "--clues is clues.csv, but 'mine.cluewise' was begun without it; leave it out."),
        (["--out", "mine.cluewise"], "'mine.cluewise' has none of the suffixes .csv"),
        (["--report", "mine.cluewise"], "--report 'mine.cluewise' is also an input; choose another name."),
    ],
)
def test_what_contradicts_the_project_is_refused(run, project, words, sentence):
    result = run("fit", "--project", project.name, *words)
    assert (result.code, result.out) == (2, "")
    assert sentence in result.err
    assert run("fit", "--project", project.name, "--ignore", "color", "--method", "PCKMeans", "-q").code == 0


def test_other_files_are_no_project(folder, run, project):
    assert (
        "there is no project 'none.cluewise'; begin one with cluewise ask."
        in run("fit", "--project", "none.cluewise").err
    )
    assert not (folder / "none.cluewise").exists()
    assert run("fit", "--project", "data.csv").code == 2
    (folder / "data.csv").write_text("id,length,width\na,1,2\nb,3,4\n", "utf-8")
    assert "color" in run("fit", "--project", project).err
    text = "id,length,width,color\n" + "".join(f"r{i},{i},{i * i},red\n" for i in range(6))
    (folder / "data.csv").write_text(text, "utf-8")
    assert "data.csv is not what it was when" in run("check", "--project", project).err
