"""Every clusterer lives in scikit-learn's world: its checks, pipelines, searches, frames and callbacks."""

import os
import subprocess
import sys
from importlib.util import find_spec

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

import cluewise as cw
from cluewise import Clues
from cluewise.base import Clusterer
from cluewise.checks._examples import adapt_rows
from cluewise.checks._fits import copy_with
from cluewise.exceptions import ClueError
from cluewise.metrics import clue_score
from strategies import LIGHT


def model_of(name, **params):
    """This clusterer, quick to fit, with those of the parameters that it has."""
    return copy_with(cw.clusterers()[name](), **(LIGHT | params))


CARDS = {name: cls.card for name, cls in cw.clusterers().items()}
NAMES = list(CARDS)
COUNTED = [name for name in NAMES if not CARDS[name].finds]  # as many clusters as are asked for
FOR_COUNTS = [name for name in NAMES if get_tags(cw.clusterers()[name]()).input_tags.positive_only]
FOR_POINTS = [name for name in COUNTED if name not in FOR_COUNTS]
PREDICTING = [name for name in FOR_POINTS if CARDS[name].predicts]
STARTED = [
    name
    for name in COUNTED
    if issubclass(cw.clusterers()[name], Clusterer)
    and hasattr(model_of(name), "n_init")
    and name != "CondEns"  # whose starts are those of the clusterings that it combines
]
MODELS = [*(model_of(name) for name in NAMES), cw.Cluewise()]

# The random start draws rows by their place in the table, and a repeated row moves those after it; scikit-learn's own
# KMeans has the same exception. From a given start both checks pass: `test_weights_from_a_given_start`.
WEIGHTS = "a random start of the repeated rows is another start"
FINDS = "it finds the number of clusters and need not stop at n_clusters"
COUNTS = "the rows of this check are no counts"
UNREAD = "the rows of this check come without clues, and clues are all that it looks at"
PROBABLE = "the check takes whoever has predict_proba for a classifier"


def expected(model):
    """Checks that fail for a reason."""
    reasons = {}
    if type(model).__name__ in ("DPMeans", "RDPMeans"):
        reasons["check_clustering"] = FINDS
    if type(model).__name__ in FOR_COUNTS:
        reasons["check_clustering"] = COUNTS
    if not model.card.reads:
        reasons["check_clustering"] = UNREAD
    if model.card.weights and not model.card.finds and "init" in model.get_params():
        reasons |= {f"check_sample_weight_equivalence_on_{kind}_data": WEIGHTS for kind in ("dense", "sparse")}
    if type(model).__name__ == "ApproxKernelKMeans":  # from landmarks, which are drawn from the distinct rows
        del reasons["check_sample_weight_equivalence_on_sparse_data"]
    if model.card.sparse and hasattr(model, "predict_proba"):
        reasons |= {f"check_estimator_sparse_{kind}": PROBABLE for kind in ("array", "matrix")}
    return reasons


_everything = parametrize_with_checks(MODELS, expected_failed_checks=expected)
# The check with array API dispatch skips itself unless scipy was imported with SCIPY_ARRAY_API=1, so it has a test of
# its own that does that.
CHECKS = [case for case in _everything.args[1] if "array_api" not in str(getattr(case, "values", case))]


def named(part):
    """A clusterer by its class, because writing out the parameters two thousand times takes seconds."""
    return type(part).__name__ if isinstance(part, BaseEstimator) else _everything.kwargs["ids"](part)


@pytest.mark.no_cover  # coverage would add half to the time of two thousand tests whose lines other tests run too
@pytest.mark.filterwarnings("ignore:only 4 of 8 clusters")  # some checks fit eight clusters to four distinct rows
@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=named)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


ARRAY_API = f"""
from sklearn.utils.estimator_checks import check_array_api_input
import cluewise as cw
from cluewise.checks._fits import copy_with
for name, cls in cw.clusterers().items():
    model = copy_with(cls(), **{LIGHT})
    check_array_api_input(name, model, array_namespace="numpy", expect_only_array_outputs=False)
"""


def test_scikit_learn_check_with_array_api_dispatch():
    version = tuple(map(int, sklearn.__version__.split(".")[:2]))
    script = ARRAY_API if version >= (1, 9) else "import cluewise"  # the check is new in 1.9
    run = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", [name for name in COUNTED if CARDS[name].weights])
def test_weights_from_a_given_start(name):
    start = np.random.default_rng(0).random((3, 30))
    model = model_of(name, n_clusters=3, init=start, tol=0)
    check_sample_weight_equivalence_on_dense_data(name, model)
    if CARDS[name].sparse:
        check_sample_weight_equivalence_on_sparse_data(name, model)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(90, centers=[(-8, 0), (0, 8), (8, 0)], random_state=1)
    shown = np.where(np.random.default_rng(0).random(90) < 0.3, y, -1)
    every = [(i, j) for i in range(0, 90, 3) for j in range(i + 1, 90, 7)]
    must = [(i, j) for i, j in every if y[i] == y[j]]
    cannot = [(i, j) for i, j in every if y[i] != y[j]]
    return X, y, Clues(90, labels=shown, must=must, cannot=cannot)


def usable(name, clues):
    """The clues that this clusterer takes."""
    return clues.only(clues.kinds & CARDS[name].accepts)


def places(model):
    """Where the clusters are, or what it costs that they are there."""
    found = [getattr(model, name) for name in ("cluster_centers_", "means_") if hasattr(model, name)]
    return found[0] if found else np.array(model.objective_)


@pytest.mark.parametrize("name", FOR_POINTS)
def test_pipeline_with_routing(routing, name, blobs):
    X, y, clues = blobs
    pipe = make_pipeline(StandardScaler(), model_of(name, n_clusters=3, random_state=0))
    pipe.fit(X, clues=usable(name, clues))
    labels = pipe.predict(X) if CARDS[name].predicts else pipe[-1].labels_
    assert cw.metrics.ari(y, labels) == 1


@pytest.mark.parametrize("name", [name for name in FOR_POINTS if CARDS[name].weights])
def test_weights_are_routed_beside_clues_when_asked_for(routing, name, blobs):
    X, _, clues = blobs
    weight = np.random.default_rng(0).random(90)
    model = model_of(name, n_clusters=3, random_state=0)
    pipe = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False), model.set_fit_request(sample_weight=True)
    )
    pipe.fit(X, clues=usable(name, clues), sample_weight=weight)
    scaled = StandardScaler().fit_transform(X)
    direct = clone(model).fit(scaled, clues=usable(name, clues), sample_weight=weight)
    np.testing.assert_array_equal(places(pipe[-1]), places(direct))
    assert not np.allclose(places(direct), places(clone(model).fit(scaled)))


@pytest.mark.parametrize("name", FOR_POINTS)
def test_pipeline_without_routing(name, blobs):
    X, y, clues = blobs
    pipe = make_pipeline(StandardScaler(), model_of(name, n_clusters=3, random_state=0))
    labels = pipe.fit_predict(X, **{f"{name.lower()}__clues": usable(name, clues)})
    assert cw.metrics.ari(y, labels) == 1
    assert pipe[-1].broken_.kinds == frozenset()


@pytest.mark.parametrize("name", [n for n in PREDICTING if CARDS[n].accepts & {"labels", "must", "cannot"}])
def test_grid_search_scores_held_out_clues(routing, name, blobs):
    X, _, clues = blobs
    search = GridSearchCV(model_of(name, random_state=0, n_init=3), {"n_clusters": [3, 5]}, scoring=clue_score, cv=3)
    search.fit(X, clues=usable(name, clues))
    assert search.best_params_ == {"n_clusters": 3}
    assert search.best_score_ == 1.0


@pytest.mark.parametrize("name", PREDICTING)
@pytest.mark.parametrize("routed", [True, False])
def test_cross_validation_slices_clues_with_the_rows(name, routed, blobs):
    X, y, clues = blobs
    clues = usable(name, clues)
    cv = KFold(3, shuffle=True, random_state=0)
    seen = []

    class Recorder(cw.clusterers()[name]):
        def fit(self, X, y=None, *, clues=None):
            seen.append(clues)
            return super().fit(X, clues=clues)

    with sklearn.config_context(enable_metadata_routing=routed), joblib.parallel_config("threading", n_jobs=1):
        found = cross_validate(
            copy_with(Recorder(), n_clusters=3, random_state=0, n_init=3),
            X,
            y,
            params={"clues": clues},
            cv=cv,
            scoring="adjusted_rand_score",
            error_score="raise",
        )
    assert found["test_score"].tolist() == [1, 1, 1]
    assert seen == [clues[train] for train, _ in cv.split(X)]


@pytest.mark.parametrize("name", NAMES)
def test_bare_pairs_are_refused_because_nobody_would_slice_them(name, blobs):
    """The reason for `Clues`: scikit-learn hands an array of pairs to every fold as it is."""
    X, y, clues = blobs
    model = model_of(name, n_clusters=3)
    with pytest.raises(ClueError, match=r"pass pairs as clues=Clues.from_pairs\(n, must, cannot\)"):
        cross_validate(model, X, y, params={"clues": clues.must}, scoring="adjusted_rand_score", error_score="raise")
    with pytest.raises(ClueError, match="the clues are for 90 rows, but X has 50"):
        model.fit(X[:50], clues=clues)


@pytest.mark.parametrize("name", [name for name in COUNTED if CARDS[name].predicts])
def test_true_labels_as_y_are_not_read(name, blobs):
    """``cross_val_score(est, X, y)`` hands the truth to fit; a clusterer that read it would score itself."""
    X, y, _ = blobs
    rng = np.random.default_rng(0)
    noise = adapt_rows(cw.clusterers()[name](), rng.normal(size=X.shape))
    model = model_of(name, n_clusters=3, random_state=0)
    assert cross_val_score(model, noise, y, scoring="adjusted_rand_score").mean() < 0.3


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_set_output(name, frame, blobs):
    X, _, clues = blobs
    X, clues = adapt_rows(cw.clusterers()[name](), X), usable(name, clues)
    table = frame({"length": X[:, 0], "width": X[:, 1]})
    kind = "pandas" if frame is pd.DataFrame else "polars"
    model = model_of(name, n_clusters=3, random_state=0)
    plain = clone(model).fit(X, clues=clues)
    model.fit(table, clues=clues)
    assert (model.labels_ == plain.labels_).all()
    assert model.feature_names_in_.tolist() == ["length", "width"]
    if not hasattr(model, "transform"):
        return
    distances = model.set_output(transform=kind).transform(table)
    assert isinstance(distances, frame)
    assert list(distances.columns) == [f"{name.lower()}{h}" for h in range(len(model.cluster_centers_))]
    np.testing.assert_allclose(np.asarray(distances), plain.transform(X))


@pytest.mark.parametrize("name", ["ConstrainedKMeans", "SeededKMeans", "PCKMeans", "COPKMeans"])
@pytest.mark.parametrize("series", [pd.Series, pl.Series, list, np.asarray])
def test_partial_labels_of_any_kind(name, series, blobs):
    X, y, _ = blobs
    shown = np.where(np.arange(90) % 5, -1, y)
    model = model_of(name, n_clusters=3, random_state=0).fit(X, clues=series(shown))
    assert cw.metrics.ari(y, model.labels_) == 1
    words = [None if c < 0 else "abc"[c] for c in shown]
    assert (model_of(name, n_clusters=3, random_state=0).fit(X, clues=series(words)).labels_ == model.labels_).all()


if find_spec("sklearn.callback"):  # since scikit-learn 1.9

    @pytest.mark.parametrize("name", STARTED)
    def test_progress_bar_of_scikit_learn(name, blobs, capsys):
        from sklearn.callback import ProgressBar

        model = model_of(name, n_clusters=3, n_init=2, random_state=0).set_callbacks(ProgressBar())
        model.fit(adapt_rows(model, blobs[0]))
        shown = capsys.readouterr().out
        for task in ("fit", "start #0", "start #1"):
            assert f"{name} - {task}" in shown


@pytest.mark.parametrize("name", NAMES)
def test_nothing_prints(name, blobs, capfd):
    X, _, clues = blobs
    model = model_of(name, n_clusters=3, random_state=0)
    X = adapt_rows(model, X)
    model.fit(X, clues=usable(name, clues))
    if model.card.predicts:
        model.predict(X)
    assert capfd.readouterr() == ("", "")
