"""A metric, then a clusterer: as one estimator and as a pipeline, with metadata routing on and off."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from cluewise import Clues, COPKMeans, PCKMeans, SeededKMeans
from cluewise.base._then import MetricThen
from cluewise.exceptions import ClueError, UnusedClueWarning
from cluewise.metric_learning._dca import DCA
from cluewise.metric_learning._rca import RCA
from cluewise.metric_learning._xing import XingMetric
from cluewise.metrics import ari, clue_score

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.arange(120) % 3)
# Two columns tell the classes; the third is as wide as ten of them and tells nothing.
X = np.column_stack([6 * np.eye(3)[Y][:, :2] + RNG.normal(size=(120, 2)), 30 * RNG.normal(size=120)])
CLUES = Clues.sample(Y, pairs=60, random_state=0)
LABELS = np.where(np.arange(120) % 4, -1, Y)


def kmeans(k=3):
    return KMeans(k, n_init=5, random_state=0)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


METRICS = [RCA(), DCA(), XingMetric()]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("clusterer", [kmeans(), PCKMeans(3, random_state=0)])
@pytest.mark.parametrize("on", [False, True])
def test_a_learned_metric_helps_any_clusterer(metric, clusterer, on):
    with sklearn.config_context(enable_metadata_routing=on):
        assert ari(Y, kmeans().fit(X).labels_) < 0.2
        model = metric.then(clusterer).fit(X, clues=LABELS)
        assert ari(Y, model.labels_) > 0.8
        assert (model.predict(X) == model.labels_).all()
        assert not hasattr(metric, "components_")  # copies are fitted
        assert model.metric_.n_components_ <= 3
        assert (model.fit_predict(X, clues=LABELS) == model.labels_).all()


@pytest.mark.parametrize("clusterer", [kmeans(), PCKMeans(3, random_state=0)])
def test_the_pipeline_gives_the_same(clusterer, routing):
    pipe = make_pipeline(DCA(), clone(clusterer)).fit(X, clues=CLUES)
    model = DCA().then(clusterer).fit(X, clues=CLUES)
    assert (pipe[-1].labels_ == model.labels_).all()
    assert (pipe.predict(X) == model.predict(X)).all()


def test_the_pipeline_without_routing_names_the_step():
    pipe = make_pipeline(DCA(), PCKMeans(3, random_state=0)).fit(X, dca__clues=CLUES, pckmeans__clues=CLUES)
    model = DCA().then(PCKMeans(3, random_state=0)).fit(X, clues=CLUES)
    assert (pipe[-1].labels_ == model.labels_).all()
    alone = make_pipeline(RCA(), kmeans()).fit(X, rca__clues=LABELS)
    assert (alone[-1].labels_ == RCA().then(kmeans()).fit(X, clues=LABELS).labels_).all()


def test_both_steps_are_searched(routing):
    """One parameter of each step, with held-out clues as the judge; and the same in a pipeline."""
    grid = {"metric__shrinkage": [0.0, 0.5], "clusterer__n_clusters": [2, 3]}
    search = GridSearchCV(DCA().then(PCKMeans(2, random_state=0)), grid, scoring=clue_score, cv=3, error_score="raise")
    search.fit(X, clues=LABELS)
    assert search.best_params_["clusterer__n_clusters"] == 3
    steps = {"dca__shrinkage": [0.0, 0.5], "kmeans__n_clusters": [2, 3]}
    pipe = GridSearchCV(make_pipeline(DCA(), kmeans()), steps, scoring="adjusted_rand_score", cv=3, error_score="raise")
    pipe.fit(X, Y, clues=LABELS)
    assert pipe.best_params_["kmeans__n_clusters"] == 3


def test_both_steps_are_searched_without_routing():
    grid = {"metric__n_components": [1, 2], "clusterer__n_clusters": [2, 3]}
    search = GridSearchCV(
        RCA().then(kmeans()), grid, scoring="adjusted_rand_score", cv=3, error_score="raise", refit=False
    )
    search.fit(X, Y, clues=LABELS)
    assert search.best_params_ == {"metric__n_components": 2, "clusterer__n_clusters": 3}
    scores = cross_val_score(
        RCA().then(kmeans()), X, Y, params={"clues": LABELS}, scoring="adjusted_rand_score", cv=3, error_score="raise"
    )
    assert scores.mean() > 0.8


def test_each_step_is_told_what_it_uses():
    """Cannot-links say nothing to RCA, but the clusterer hears them: nobody is warned."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RCA().then(PCKMeans(3, random_state=0)).fit(X, clues=CLUES)
    assert model.broken_ == model.clusterer_.broken_
    with pytest.warns(
        UnusedClueWarning, match="neither RCA nor KMeans uses clues of the kind cannot; they are ignored"
    ):
        RCA().then(kmeans()).fit(X, clues=CLUES)
    with pytest.warns(UnusedClueWarning, match="of the kind sizes") as caught:
        RCA().then(PCKMeans(3, random_state=0)).fit(X, clues=CLUES | Clues(120, sizes=(10, 90)))
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_broken_speaks_of_all_clues_even_after_kmeans():
    model = DCA().then(kmeans()).fit(X, clues=Clues(120, labels=LABELS) | CLUES)
    same = model.labels_[CLUES.must[:, 0]] == model.labels_[CLUES.must[:, 1]]
    assert len(model.broken_.must) == np.count_nonzero(~same)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not RCA().then(kmeans()).fit(X).broken_.kinds


def test_broken_speaks_of_clues_that_only_the_metric_was_told():
    line = np.array([[0.0], [1], [2], [8], [9], [10]])
    clues = Clues(6, labels=[0, -1, -1, -1, -1, 1], must=[(1, 4)])
    model = RCA().then(SeededKMeans(2)).fit(line, clues=clues)
    assert model.labels_[1] != model.labels_[4]
    assert model.broken_.must.tolist() == [[1, 4]]
    assert model.broken_.kinds == {"must"}
    assert model.fit(line, clues=Clues(6, must=[(1, 2)], labels=[0, -1, -1, -1, -1, 1])).broken_.kinds == set()


@pytest.mark.parametrize(
    "clusterer",
    [
        GaussianMixture(3, n_init=5, random_state=0),
        make_pipeline(StandardScaler(), kmeans()),
        make_pipeline(StandardScaler(), AgglomerativeClustering(3)),
    ],
)
def test_clusterers_that_keep_no_labels(clusterer):
    model = DCA().then(clusterer).fit(X, clues=LABELS)
    assert not hasattr(model.clusterer_, "labels_")
    assert ari(Y, model.labels_) > 0.8
    assert (model.fit_predict(X, clues=LABELS) == model.labels_).all()


def test_what_is_no_clusterer_is_refused_before_any_work():
    with pytest.raises(TypeError, match=r"clusterer=StandardScaler\(\) has no fit_predict"):
        RCA().then(StandardScaler()).fit(None, clues=LABELS)


@pytest.mark.parametrize("nothing", [None, 5, np.array(3.0)])
def test_data_without_rows(nothing):
    with pytest.raises(ValueError, match="X must have rows and columns; it is "):
        RCA().then(kmeans()).fit(nothing, clues=LABELS)


def test_a_second_fit_leaves_nothing_of_the_first():
    model = RCA().then(PCKMeans(3, random_state=0))
    model.fit(pd.DataFrame(X, columns=["length", "width", "noise"]), clues=LABELS)
    assert model.n_clusters_ == 3
    model.set_params(clusterer=kmeans()).fit(X, clues=LABELS)
    assert not hasattr(model, "n_clusters_")
    assert not hasattr(model, "feature_names_in_")


def test_a_hard_clusterer_keeps_its_word():
    model = DCA().then(COPKMeans(3, random_state=0)).fit(X, clues=CLUES)
    assert not model.broken_.kinds
    assert model.n_clusters_ == 3


def test_sample_weight_goes_to_the_clusterer():
    weight = RNG.uniform(1, 3, size=120)
    model = RCA().then(kmeans()).fit(X, clues=LABELS, sample_weight=weight)
    expected = kmeans().fit(RCA().fit(X, clues=LABELS).transform(X), sample_weight=weight)
    np.testing.assert_allclose(model.clusterer_.cluster_centers_, expected.cluster_centers_)
    with pytest.raises(ValueError, match="AgglomerativeClustering does not accept sample_weight"):
        RCA().then(AgglomerativeClustering(3)).fit(X, clues=LABELS, sample_weight=weight)


def test_a_clusterer_without_predict_has_none_here():
    model = RCA().then(AgglomerativeClustering(3))
    assert not hasattr(model, "predict")
    assert ari(Y, model.fit(X, clues=LABELS).labels_) > 0.8
    with pytest.raises(NotFittedError):
        RCA().then(kmeans()).predict(X)


def test_frames_parameters_and_pickle():
    frame = pd.DataFrame(X, columns=["length", "width", "noise"])
    model = RCA(2).then(kmeans()).fit(frame, clues=LABELS)
    assert model.feature_names_in_.tolist() == ["length", "width", "noise"]
    assert model.n_features_in_ == 3
    assert (pickle.loads(pickle.dumps(model)).predict(frame) == model.predict(frame)).all()
    assert clone(model).get_params()["metric__n_components"] == 2
    seen = model.metric_.set_output(transform="pandas").transform(frame)
    assert list(seen.columns) == ["rca0", "rca1"]


def test_clues_about_other_rows_are_refused():
    with pytest.raises(ClueError, match="the clues are for 120 rows, but X has 50"):
        RCA().then(kmeans()).fit(X[:50], clues=CLUES)
    with pytest.raises(ClueError, match="the clues are for 120 rows, but X has 3"):
        RCA().then(kmeans()).fit(X[:3].tolist(), clues=CLUES)


# As for the clusterer alone.
WEIGHTS = {f"check_sample_weight_equivalence_on_{kind}_data": "another random start" for kind in ("dense", "sparse")}
_checks = parametrize_with_checks(
    [MetricThen(RCA(), PCKMeans(2, random_state=0))], expected_failed_checks=lambda model: WEIGHTS
)
CHECKS = [case for case in _checks.args[1] if "array_api" not in str(getattr(case, "values", case))]


@pytest.mark.filterwarnings("ignore::cluewise.exceptions.ClueWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_one_seed_for_both_steps():
    chain = RCA().then(make_pipeline(StandardScaler(), KMeans(3, init="random", n_init=1)), random_state=3)
    first, again = (clone(chain).fit(X, clues=CLUES) for _ in range(2))
    np.testing.assert_array_equal(first.labels_, again.labels_)
    seeds = [clone(chain).set_params(random_state=s).fit(X, clues=CLUES) for s in range(2)]
    drawn = {one.clusterer_[-1].random_state for one in seeds}
    assert len(drawn) == 2
    assert chain.clusterer[-1].random_state is None
    assert RCA().then(kmeans()).fit(X, clues=CLUES).clusterer_.random_state == 0
