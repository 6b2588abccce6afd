"""Adapters: what other programs take and give, without these programs; `make adapters` tries the real ones."""

from __future__ import annotations

import ast
import csv
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import cluewise as cw
from cluewise import Clues, tables
from cluewise.active import Question
from cluewise.exceptions import ClueError

X = np.array([[0.0, 0.0], [1.0, 0.0], [8.0, 9.0], [9.0, 9.0]])
SCRIPTS = Path(__file__).resolve().parents[2] / "docs" / "adapters"


# --- any program that calls fit(X) ----------------------------------------------------------------------------------


def test_clues_travel_with_the_clusterer():
    inner = cw.COPKMeans(2, random_state=0)
    model = cw.adapters.WithClues(inner, Clues(4, must=[(0, 3)]))
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.fit_predict(X, [7, 7, 7, 7])[0] == model.labels_[3]  # y is ignored
    assert (model.predict(X) == model.clusterer_.predict(X)).all()
    assert not hasattr(inner, "labels_")


def test_predict_is_there_if_the_clusterer_predicts():
    assert not hasattr(cw.adapters.WithClues(cw.E2CP(2), None), "predict")


# --- cells ----------------------------------------------------------------------------------------------------------


def cells(**more):
    return SimpleNamespace(X=X, obsm={}, obs=pd.DataFrame(index=list("abcd")), **more)


def test_cells_are_named_by_known_types_and_others_by_numbers():
    adata = cells()
    adata.obs["known"] = pd.Categorical(["B", None, None, None])
    model = cw.adapters.cluster_cells(adata, cw.Cluewise(2, random_state=0), known="known", key_added="found")
    assert adata.obs["found"].tolist() == ["B", "B", "1", "1"]
    assert adata.obs["found"].cat.categories.tolist() == ["1", "B"]
    assert (adata.obs["found_margin"] == model.margin_).all()


def test_cells_by_principal_components_and_links():
    adata = cells()
    adata.obsm["X_pca"] = X[::-1].copy()
    adata.X = None  # not looked at
    model = cw.adapters.cluster_cells(adata, cw.COPKMeans(2, random_state=0), clues=Clues(4, cannot=[(0, 1)]))
    assert model.labels_[0] != model.labels_[1]
    with pytest.raises(ValueError, match=r"there is no 'X_umap' in adata\.obsm; pass use_rep='X' or one of"):
        cw.adapters.cluster_cells(adata, use_rep="X_umap")
    with pytest.raises(ValueError, match=r"there is no column 'type' in adata\.obs"):
        cw.adapters.cluster_cells(adata, known="type")


def test_noise_is_a_cluster_of_its_own_name():
    adata = cells()
    adata.X = np.array([[0.0], [0.1], [0.2], [99.0]])
    cw.adapters.cluster_cells(adata, cw.ConstrainedDBSCAN(eps=1.0, min_samples=2))
    assert adata.obs["cluewise"].tolist()[-1] == "noise"


# --- scored pairs ---------------------------------------------------------------------------------------------------


def scored(**columns):
    return pd.DataFrame({"unique_id_l": [1, 2], "unique_id_r": [2, 3], "match_probability": [0.9, 0.2], **columns})


def test_scores_become_links_by_their_log_odds():
    clues = cw.adapters.splink_clues(scored(), [3, 2, 1])
    assert clues == Clues.from_scores(3, [(2, 1), (1, 0)], [0.9, 0.2])


def test_ids_of_several_sources():
    pairs = scored(source_dataset_l=["a", "a"], source_dataset_r=["b", "b"])
    ids, sources = [1, 2, 2, 3], ["a", "a", "b", "b"]
    clues = cw.adapters.splink_clues(pairs, ids, sources=sources)
    assert clues.must.tolist() == [[0, 2]]
    assert clues.cannot.tolist() == [[1, 3]]
    apart = cw.adapters.splink_clues(pairs, ids, sources=sources, one_per_source=True)
    labels = cw.CorrelationClusterer().fit(None, clues=apart).labels_
    assert labels[0] == labels[2]
    assert len(set(labels)) == 3
    with pytest.raises(ClueError, match="the id 2 occurs twice; if ids are unique within a source only, pass sources"):
        cw.adapters.splink_clues(pairs, ids)
    with pytest.raises(ClueError, match=r"pair 1 names the record \('a', 2\), which is not among the ids"):
        cw.adapters.splink_clues(pairs, [1, 2], sources=["a", "b"])


def test_what_is_missing_among_scored_pairs_is_named():
    with pytest.raises(ValueError, match="the pairs have no column 'score'; there are unique_id_l, unique_id_r, match"):
        cw.adapters.splink_clues(scored(), [1, 2, 3], probability_column="score")
    with pytest.raises(ValueError, match="one_per_source needs the source of each record"):
        cw.adapters.splink_clues(scored(), [1, 2, 3], one_per_source=True)


# --- tasks and annotations ------------------------------------------------------------------------------------------


def annotated(*values, **more):
    return [
        {
            "data": {"rows": [0, 1]},
            "annotations": [
                {"id": 10 + i, "result": [{"from_name": "answer", "value": {"choices": [value]}}], **more}
                for i, value in enumerate(values)
            ],
        }
    ]


def test_tasks_show_columns_and_nothing_that_sways():
    question = Question("pair", (3, 1), why="because", score=2.0)
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": list("wxyz")})
    (task,) = cw.adapters.label_studio_tasks([question], frame, ["b", "a"])
    assert task == {"data": {"rows": [3, 1], "first_b": "z", "first_a": "4", "second_b": "x", "second_a": "2"}}
    with pytest.raises(ValueError, match="tasks are about pairs; this question is of the kind 'label'"):
        cw.adapters.label_studio_tasks([Question("label", (3,))], frame, ["a"])


def test_the_interface_is_xml_whatever_columns_are_called():
    text = cw.adapters.label_studio_config(['"<&>"', "photo"], image="photo")
    tree = ElementTree.fromstring(text)
    assert [one.get("value") for one in tree.iter("Image")] == ["$first_photo", "$second_photo"]
    assert [one.get("value") for one in tree.iter("Text")] == ['$first_"<&>"', '$second_"<&>"']
    assert tree.find("Choices").get("toName") == "first_photo"


def test_annotations_become_answers_once(tmp_path):
    exported = annotated(
        "same",
        "different",
        completed_by={"email": "ann@example.org"},
        lead_time=3.5,
        created_at="2026-11-15T20:00:00.123456Z",
    )
    answers = cw.adapters.label_studio_answers(exported)
    assert [(one.value, one.who, one.seconds, one.when) for one in answers] == [
        (True, "ann@example.org", 3.5, "2026-11-15T20:00:00.123456Z"),
        (False, "ann@example.org", 3.5, "2026-11-15T20:00:00.123456Z"),
    ]
    project = cw.active.Project.begin(tmp_path / "p.cluewise", cw.active.RandomPairs(), X, budget=9, random_state=0)
    with project:
        project.tell(answers[:1])
        project.tell(cw.adapters.label_studio_answers(exported)[:1])
        assert project.state.asked == 1


def test_annotations_that_say_nothing():
    assert cw.adapters.label_studio_answers(annotated("same", was_cancelled=True)) == []
    assert cw.adapters.label_studio_answers([{"data": {"rows": [0, 1]}, "annotations": [{"result": []}]}]) == []
    (unsure,) = cw.adapters.label_studio_answers(annotated("don't know", completed_by=4))
    assert (unsure.value, unsure.who) == (None, "user 4")
    with pytest.raises(ValueError, match="task 0 has the answer 'maybe'; answers are same, different, don't know"):
        cw.adapters.label_studio_answers(annotated("maybe"))
    with pytest.raises(ValueError, match="task 0 does not say which rows it is about"):
        cw.adapters.label_studio_answers([{"data": {}}])


# --- the map --------------------------------------------------------------------------------------------------------


def test_a_file_with_clusters_and_coordinates(tmp_path):
    model = cw.Cluewise(2, random_state=0).fit(X)
    cw.adapters.write_atlas(tmp_path / "a.parquet", pd.DataFrame({"t": list("abcd")}), model, coordinates=X)
    columns = tables.read(tmp_path / "a.parquet").columns
    assert [str(one) for one in columns["cluster"]] == [str(one) for one in model.labels_]
    assert columns["x"].tolist() == X[:, 0].tolist()
    cw.adapters.write_atlas(tmp_path / "b.parquet", {"t": list("abcd")}, model, X=X[:, :1])
    assert not tables.read(tmp_path / "b.parquet").columns["y"].any()  # one column has one component


@pytest.mark.parametrize(
    ("data", "more", "words"),
    [
        ({"t": [1, 2, 3, 4]}, {}, "pass X, whose principal components are the map, or coordinates"),
        ({"t": [1]}, {"X": X}, r"the model has 4 rows, the data 1, and the coordinates \(4, 2\)"),
        ({"x": [1, 2, 3, 4]}, {"X": X}, "the data have a column 'x' already; rename it"),
    ],
)
def test_what_no_map_can_be_made_of(tmp_path, data, more, words):
    model = cw.Cluewise(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=words):
        cw.adapters.write_atlas(tmp_path / "a.parquet", data, model, **more)
    assert not list(tmp_path.iterdir())


# --- the real programs ----------------------------------------------------------------------------------------------


def test_every_script_of_the_guide_was_run_with_its_program():
    names = {path.stem for path in SCRIPTS.glob("*.py")}
    for name in names:
        ast.parse((SCRIPTS / f"{name}.py").read_text("utf-8"))
    with (SCRIPTS / "tested.csv").open(newline="") as file:
        seen = list(csv.DictReader(file))
    assert len(seen) == len(names)
    assert all(row["version"][0].isdigit() for row in seen)
