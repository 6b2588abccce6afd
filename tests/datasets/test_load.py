"""Names, sets that come with scikit-learn, and the real folder where there is one."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cluewise.datasets import DatasetError, available, load
from cluewise.datasets._load import BUNDLED
from cluewise.datasets._openml import OPENML


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("CLUEWISE_DATA", raising=False)
    monkeypatch.setattr("cluewise.datasets._folder.beside_checkout", lambda package: None)


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_sets_of_scikit_learn(no_folder, name):
    data = load(name)
    listed = available()[name]
    assert data.X.shape == (listed.n, listed.d) == (len(data.y), len(data.feature_names))
    assert np.unique(data.y).tolist() == list(range(listed.k))
    assert len(data.class_names) == listed.k
    assert data.source == listed.origin == "scikit-learn"


def test_iris_is_iris(no_folder):
    data = load("iris")
    assert np.array_equal(data.X, load_iris().data)
    assert data.class_names == ("setosa", "versicolor", "virginica")


def test_without_a_folder_the_rest_comes_from_openml(no_folder):
    listed = available()
    assert set(listed) == set(BUNDLED) | set(OPENML)
    assert listed["breast"].n == 699  # the original set; scikit-learn's is breast_cancer
    assert listed["breast"].origin == "OpenML"
    assert listed["breast_cancer"].n == 569


@pytest.mark.parametrize(
    ("name", "hint"),
    [("irsi", "did you mean 'iris'?"), ("xyzzy", "available() lists all."), (3, "available() lists all.")],
)
def test_unknown_names(no_folder, name, hint):
    with pytest.raises(DatasetError) as caught:
        load(name)
    assert str(caught.value).startswith(f"there is no data set {name!r}; ")
    assert str(caught.value).endswith(hint)


@pytest.mark.needs_data
def test_every_set_of_the_folder(data_folder):
    manifest = json.loads((data_folder / "manifest.json").read_text())["datasets"]
    listed = available()
    for entry in manifest:
        data = load(entry["name"])
        n, d, k, origin = listed[entry["name"]]
        assert origin == "folder"
        assert data.X.shape == (n, d)
        assert data.X.dtype in (np.float32, np.float64)
        assert np.bincount(data.y, minlength=k).tolist() == entry["class_counts"]
        assert len(data.class_names) == k


@pytest.mark.needs_data
def test_openml_table_agrees_with_the_folder(data_folder):
    manifest = {entry["name"]: entry for entry in json.loads((data_folder / "manifest.json").read_text())["datasets"]}
    for name, entry in OPENML.items():
        assert entry.d == manifest[name]["d"]
        assert list(entry.counts) == sorted(manifest[name]["class_counts"])


@pytest.mark.needs_data
def test_breast_and_breast_cancer_are_two_sets():
    assert load("breast").X.shape == (699, 9)
    assert load("breast_cancer").X.shape == (569, 30)
