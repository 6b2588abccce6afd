"""Every learned metric obeys the laws of its card and passes scikit-learn's checks."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from cluewise import Clues, metric_learning
from cluewise.base._metric import MetricLearner
from cluewise.checks import sample_clues
from cluewise.checks._examples import blobs
from cluewise.checks._metric_laws import metric_laws_for
from cluewise.exceptions import ClueWarning
from cluewise.metric_learning._rca import RCA
from cluewise.metric_learning._xing import XingMetric

FAMILY = [getattr(metric_learning, name) for name in metric_learning.__all__]
METRICS = [cls for cls in FAMILY if issubclass(cls, MetricLearner)]
MODELS = [cls() for cls in METRICS] + [XingMetric(shape="diagonal")]
# Laws that fit many times over see fewer examples.
FEW = {"law_fewer_components": 2, "law_poor_input_gives_a_result": 2}
PAIRS = [
    pytest.param(model, law, id=f"{type(model).__name__}{getattr(model, 'shape', '')}-{law.__name__}")
    for model in MODELS
    for law in metric_laws_for(model)
]


@pytest.mark.parametrize(("model", "law"), PAIRS)
def test_law(model, law):
    @settings(max_examples=FEW.get(law.__name__, 4))
    @given(st.integers(0, 2**16))
    def obeys(seed):
        rng = np.random.default_rng(seed)
        X, y = blobs(30, int(rng.integers(2, 6)), 3, rng)
        law(model, X, sample_clues(y, model.card.accepts, rng), rng)

    obeys()


_everything = parametrize_with_checks([cls() for cls in METRICS])
CHECKS = [case for case in _everything.args[1] if "array_api" not in str(getattr(case, "values", case))]


@pytest.mark.filterwarnings("ignore::cluewise.exceptions.ClueWarning")  # the checks give no clues
@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=_everything.kwargs["ids"])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class Liar(RCA):
    """A metric that breaks one law after the other."""

    def __init__(self, n_components=None, *, shrinkage="auto", lie=""):
        super().__init__(n_components, shrinkage=shrinkage)
        self.lie = lie

    def fit(self, X, y=None, *, clues=None):
        if self.lie == "writes":
            X[0, 0] += 1
        if self.lie == "quiet" and clues is not None:
            clues = clues.only(self.card.accepts)
        super().fit(X, clues=y % 2 if self.lie == "reads y" and y is not None else clues)
        if self.lie == "rank":
            self.components_ = np.vstack([self.components_, self.components_[:1]])
            self.n_components_ += 1
        if self.lie == "count":
            self.components_ = np.eye(X.shape[1])[:2]
            self.n_components_ = len(self.components_)
        if self.lie == "double":
            self.components_ = self.components_.astype(np.float64)
        if self.lie == "order" and X[0, 0] > X[1, 0]:
            self.components_ = self.components_ * np.arange(1, 1 + X.shape[1])
        if self.lie == "place":
            self.components_ = self.components_ * np.abs(X[0])
        if self.lie == "closure" and clues is not None:
            self.components_ = self.components_ * len(clues.must)
        if self.lie == "moody":
            self.components_ = self.components_ + np.random.random()  # noqa: NPY002
        if self.lie == "nan" and not np.ptp(X, axis=0).all():
            self.components_ = np.full_like(self.components_, np.nan)
        if self.lie == "trace":
            self.trace_ = np.array([1.0, 2.0])
        return self

    def transform(self, X):
        return super().transform(X) * (2 if self.lie == "transform" else 1)

    def __getstate__(self):
        state = super().__getstate__()
        return state | {"components_": -state["components_"]} if self.lie == "pickle" else state


LIES = {
    "rank": "law_matrix_is_positive",
    "transform": "law_distances_agree",
    "count": "law_fewer_components",
    "order": "law_permuted_rows",
    "place": "law_shifted_rows",
    "closure": "law_entailed_clues_change_nothing",
    "double": "law_float32_stays_float32",
    "pickle": "law_pickle_and_clone",
    "writes": "law_inputs_stay_untouched",
    "reads y": "law_inputs_stay_untouched",
    "moody": "law_threads_change_nothing",
    "quiet": "law_unused_kinds_warn",
    "nan": "law_poor_input_gives_a_result",
}


@pytest.mark.parametrize(("lie", "law"), LIES.items())
def test_laws_catch_liars(lie, law):
    laws = {found.__name__: found for found in metric_laws_for(Liar)}
    caught = 0
    for seed in range(4):  # a liar may be lucky once
        rng = np.random.default_rng(seed)
        X, y = blobs(30, 3, 3, rng)
        try:
            laws[law](Liar(lie=lie), X, sample_clues(y, ["must", "together"], rng), rng)
        except AssertionError:
            caught += 1
    assert caught


def test_a_rising_trace_is_caught():
    laws = {found.__name__: found for found in metric_laws_for(XingMetric)}
    rng = np.random.default_rng(0)
    X, y = blobs(30, 3, 3, rng)
    with pytest.raises(AssertionError, match="the objective rose by 1"):
        laws["law_objective_never_rises"](Liar(lie="trace"), X, sample_clues(y, ["must"], rng), rng)


def test_a_metric_that_is_silent_about_its_end_is_caught():
    class Calm(XingMetric):
        def _warn_unless_converged(self, result, progress): ...

    rng = np.random.default_rng(0)
    X, y = blobs(30, 3, 3, rng)
    law = {found.__name__: found for found in metric_laws_for(Calm)}["law_unfinished_fits_warn"]
    clues = sample_clues(y, ["must", "cannot"], rng)
    law(XingMetric(), X, clues, rng)
    with pytest.raises(AssertionError, match="max_iter=1 ended the fit without a warning"):
        law(Calm(), X, clues, rng)


@pytest.mark.parametrize("cls", METRICS)
def test_pairs_of_unequal_number_are_refused(cls):
    rng = np.random.default_rng(0)
    X, y = blobs(30, 3, 3, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClueWarning)
        model = cls().fit(X, clues=y)
    with pytest.raises(ValueError, match="A has 2 rows and B has 3"):
        model.pair_distance(X[:2], X[:3])
    assert model.pair_distance(X[:2].astype(np.float32), X[2:4].astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("cls", METRICS)
def test_more_components_than_columns_are_refused(cls):
    with pytest.raises(ValueError, match="n_components=4 is larger than the number of columns, 3"):
        cls(n_components=4).fit(np.eye(3), clues=Clues(3, must=[(0, 1)]))


def test_a_base_without_learning_says_so():
    class Empty(MetricLearner):
        card = RCA.card

        def __init__(self, n_components=None):
            self.n_components = n_components

    with pytest.raises(TypeError, match="Empty does not implement _learn"):
        Empty().fit([[0.0], [1.0]])
