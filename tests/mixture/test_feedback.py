"""Naive Bayes with word weights: the worked example, EM against simpler code, feedback that helps, odd documents."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.naive_bayes import MultinomialNB

from cluewise import Clues
from cluewise.core.rows import rows_of
from cluewise.datasets import load
from cluewise.exceptions import NotDescending
from cluewise.mixture import _documents as documents
from cluewise.mixture._documents import Feedback
from cluewise.mixture._feedback import FeedbackNaiveBayes, State, step

# Example [cohn] of the specification of the survey's algorithms.
N = np.array([[3.0, 1.0, 0.0, 1.0], [2.0, 2.0, 0.0, 0.0], [0.0, 1.0, 3.0, 1.0], [0.0, 0.0, 2.0, 3.0]])
FIRST = np.array([[0.8, 0.2], [0.7, 0.3], [0.3, 0.7], [0.1, 0.9]])
SHARES = [0.475, 0.525]
WORDS = [[0.375, 0.273438, 0.164062, 0.1875], [0.15493, 0.176056, 0.34507, 0.323944]]
SECOND = [[0.920214, 0.079786], [0.927464, 0.072536], [0.080386, 0.919614], [0.038145, 0.961855]]


def state_of(memberships, emphasis=None):
    memberships = np.asarray(memberships, dtype=float)
    n, k = memberships.shape
    return State(np.zeros(n, np.int32), memberships, np.full(k, 1 / k), np.empty(0), emphasis)


def one_step(X, memberships, emphasis=None, *, smoothing=1.0, published=False, weight=None):
    emphasis = np.ones(X.shape[1]) if emphasis is None else emphasis
    return step(state_of(memberships, emphasis), rows=rows_of(X, weight), smoothing=smoothing, published=published)


def distance(x, y, emphasis):
    """Eq. 64 to 66, word by word."""
    p, q = x / x.sum(), y / y.sum()
    total = 0.0
    for t in range(len(x)):
        mean = (p[t] + q[t]) / 2
        total += emphasis[t] * (x[t] * np.log(p[t] / mean) if p[t] else 0.0)
        total += emphasis[t] * (y[t] * np.log(q[t] / mean) if q[t] else 0.0)
    return total


@pytest.fixture(params=["dense", "sparse"])
def kind(request):
    return (
        (lambda X: np.asarray(X, dtype=float)) if request.param == "dense" else lambda X: csr_array(np.array(X, float))
    )


# --- the worked example -------------------------------------------------------------------------------------


def test_one_iteration_of_the_worked_example(kind):
    state, _ = one_step(kind(N), FIRST)
    np.testing.assert_allclose(state.shares, SHARES, atol=2e-6)
    np.testing.assert_allclose(state.words, WORDS, atol=2e-6)
    np.testing.assert_allclose(state.words.sum(axis=1), 1)  # erratum E40: as printed 1.796875 and 1.619718
    np.testing.assert_allclose(state.memberships, SECOND, atol=2e-6)
    assert state.labels.tolist() == [0, 0, 1, 1]


def test_distance_and_gradient_of_the_worked_example(kind):
    apart = Feedback(np.array([[0, 2]]), np.array([1.0]))
    slope = documents.gradient(kind(N), apart)
    np.testing.assert_allclose(slope, [2.079442, 0, 2.079442, 0], atol=2e-6)
    np.testing.assert_allclose(slope.sum(), 4.158883, atol=2e-6)  # the distance at weights 1
    emphasis = 1 + 0.1 * slope
    np.testing.assert_allclose(emphasis, [1.207944, 1, 1.207944, 1], atol=2e-6)
    np.testing.assert_allclose(emphasis @ slope, 5.023699, atol=2e-6)
    _, after, _ = documents.memberships(rows_of(kind(N)), np.array(SHARES), np.array(WORDS), emphasis)
    expected = [[0.952425, 0.047575], [0.948631, 0.051369], [0.052108, 0.947892], [0.028287, 0.971713]]
    np.testing.assert_allclose(after, expected, atol=2e-5)


# --- EM -----------------------------------------------------------------------------------------------------


@st.composite
def documents_and_memberships(draw):
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    n, d, k = draw(st.integers(1, 9)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    X = rng.poisson(draw(st.sampled_from([0.3, 2.0, 20.0])), size=(n, d)).astype(float)
    emphasis = rng.gamma(1.0, size=d) * (rng.random(d) < 0.8)
    return X, rng.dirichlet(np.ones(k), size=n), emphasis, draw(st.sampled_from([0.1, 1.0, 5.0]))


@settings(max_examples=60, deadline=None)
@given(case=documents_and_memberships())
def test_em_descends_at_any_weights_of_words(case):
    X, memberships, emphasis, smoothing = case
    before = np.inf
    for _ in range(12):
        state, info = one_step(X, memberships, emphasis, smoothing=smoothing)
        assert np.isfinite(info.objective)
        assert info.objective <= before + 1e-9 * (1 + abs(info.objective))
        np.testing.assert_allclose(state.memberships.sum(axis=1), 1)
        np.testing.assert_allclose(state.words.sum(axis=1), 1)
        before, memberships = info.objective, state.memberships


@pytest.mark.parametrize("shift", [1e6, 1e8, 1e10])
def test_em_descends_at_large_counts(shift):
    """The objective is near 1e11 at 1e8, where one unit in the last place is above the slack of small counts."""
    y = np.repeat([0, 1, 2], 30)
    X = np.random.default_rng(0).poisson(np.array([[1, 9, 5, 2, 3], [9, 1, 2, 5, 3], [4, 4, 1, 1, 9]])[y]) + shift
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotDescending)
        FeedbackNaiveBayes(3, random_state=0).fit(X, clues=Clues.sample(y, pairs=40, random_state=0))


def test_weights_in_the_e_step_alone_do_not_descend():
    """As published; it rises at least once in most of these runs."""
    rose = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, emphasis = rng.poisson(2.0, size=(12, 5)).astype(float), rng.gamma(1.0, size=5)
        memberships, trace = rng.dirichlet(np.ones(3), size=12), []
        for _ in range(30):
            state, info = one_step(X, memberships, emphasis, published=True)
            memberships = state.memberships
            trace.append(info.objective)
        rose += bool((np.diff(trace) > 1e-9).any())
    assert rose >= 10


def test_hard_memberships_give_the_naive_bayes_of_scikit_learn(kind):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.5, size=(30, 8)), rng.permutation(np.arange(30) % 3)
    state, info = one_step(kind(X), np.eye(3)[y], smoothing=0.5)
    oracle = MultinomialNB(alpha=0.5).fit(X, y)
    np.testing.assert_allclose(np.log(state.words), oracle.feature_log_prob_)
    np.testing.assert_allclose(np.log(state.shares), oracle.class_log_prior_)
    np.testing.assert_allclose(state.memberships, oracle.predict_proba(X), atol=1e-12)
    fit = np.logaddexp.reduce(oracle.predict_joint_log_proba(X), axis=1).sum()
    assert info.objective == pytest.approx(-fit - 0.5 * oracle.feature_log_prob_.sum())


def test_weighted_rows_are_repeated_rows():
    rng = np.random.default_rng(1)
    X, weight = rng.poisson(2.0, size=(10, 4)).astype(float), rng.integers(0, 4, size=10).astype(float)
    again = np.repeat(np.arange(10), weight.astype(int))
    memberships = rng.dirichlet(np.ones(2), size=10)
    a, at = one_step(X, memberships, weight=weight)
    b, bt = one_step(X[again], memberships[again])
    assert at.objective == pytest.approx(bt.objective)
    np.testing.assert_allclose(a.words, b.words)
    init = [[1, 2, 3, 4], [4, 3, 2, 1]]
    heavy = FeedbackNaiveBayes(2, init=init).fit(X, sample_weight=weight)
    long = FeedbackNaiveBayes(2, init=init).fit(X[again])
    np.testing.assert_allclose(heavy.word_probability_, long.word_probability_)
    assert (heavy.labels_[again] == long.labels_).all()


def test_labels_are_predictions_and_probabilities_those_of_the_model():
    X, _ = two_subjects(0)
    model = FeedbackNaiveBayes(3, random_state=0).fit(X)
    assert (model.predict(X) == model.labels_).all()
    joint = X @ (model.word_weight_ * np.log(model.word_probability_)).T + np.log(model.weights_)
    np.testing.assert_allclose(model.score_samples(X), np.logaddexp.reduce(joint, axis=1))
    top = np.sort(joint, axis=1)
    np.testing.assert_allclose(model.margin_, top[:, -1] - top[:, -2])
    proba = model.predict_proba(csr_array(X))
    np.testing.assert_allclose(proba, np.exp(joint - model.score_samples(X)[:, None]), atol=1e-12)
    assert model.objective_ == model.trace_[-1] == -model.lower_bound_
    prior = np.log(model.word_probability_).sum()
    assert model.objective_ == pytest.approx(-model.score_samples(X).sum() - prior)


# --- the gradient -------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), sparse=st.booleans(), small=st.booleans())
def test_gradient_is_that_of_the_distances(seed, sparse, small):
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, size=(6, 5)).astype(float)
    X[:, 0] += 1  # no empty document, whose shares are undefined
    pairs = np.array([(0, 1), (2, 3), (1, 4), (0, 5)])
    sign = rng.normal(size=4)
    with pytest.MonkeyPatch.context() as patch:
        if small:
            patch.setattr(documents, "ENTRIES", 10)
        slope = documents.gradient(csr_array(X) if sparse else X, Feedback(pairs, sign))
    for t in range(5):
        up = sum(s * distance(X[i], X[j], np.eye(5)[t]) for (i, j), s in zip(pairs, sign))
        assert slope[t] == pytest.approx(up, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), eta=st.sampled_from([0.1, 1.0, 3.0]))
def test_a_step_moves_the_pair_the_right_way(seed, eta):
    """Erratum E43: a cannot-link never comes closer by its own step, a must-link never drifts apart."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(2.0, size=(2, 6)) + 0.5
    emphasis = rng.gamma(1.0, size=6)
    for sign in (1.0, -1.0):
        slope = documents.gradient(X, Feedback(np.array([[0, 1]]), np.array([sign])))
        raised = np.maximum(emphasis + eta * slope / np.abs(slope).max(), 0)
        change = distance(*X, raised) - distance(*X, emphasis)
        assert change * sign >= -1e-12
        new = documents.move_weights(emphasis, slope, eta)
        if new is not None:
            np.testing.assert_allclose(new, raised / raised.mean())
            assert new.mean() == pytest.approx(1)


def test_of_many_pairs_an_even_selection_counts(monkeypatch):
    many = Feedback(np.arange(40).reshape(20, 2), np.arange(20.0))
    assert many.some() is many
    monkeypatch.setattr(documents, "PAIRS", 7)
    some = many.some()
    assert some.force.tolist() == [0, 3, 6, 9, 12, 15, 18]
    np.testing.assert_array_equal(some.pairs[:, 0], 2 * some.force)


def test_nowhere_to_go():
    assert documents.move_weights(np.ones(3), np.zeros(3), 1.0) is None
    assert documents.move_weights(np.ones(2), np.full(2, -1.0), 1.0) is None  # every word would lose all weight


def test_empty_documents_and_stored_zeros_have_no_gradient():
    X = csr_array((np.array([0.0, 2.0, 1.0]), np.array([0, 1, 0]), np.array([0, 2, 2, 3])), shape=(3, 2))
    slope = documents.gradient(X, Feedback(np.array([[0, 1], [0, 2]]), np.array([1.0, 1.0])))
    np.testing.assert_allclose(slope, [1 * np.log(2), 2 * np.log(2) * 2])


# --- feedback -----------------------------------------------------------------------------------------------


def two_subjects(seed, n=120):
    """Documents with a subject (loud words) and a style (soft words); y is the style."""
    rng = np.random.default_rng(seed)
    subject, style = rng.integers(2, size=n), rng.integers(2, size=n)
    loud = np.array([[6, 6, 6, 1, 1, 1], [1, 1, 1, 6, 6, 6]])[subject]
    soft = np.array([[3, 3, 3, 1, 1, 1], [1, 1, 1, 3, 3, 3]])[style]
    return rng.poisson(np.hstack([loud, soft, np.full((n, 4), 2)])).astype(float), style


def test_feedback_finds_what_is_asked_for():
    plain, helped = [], []
    for seed in range(10):
        X, y = two_subjects(seed)
        clues = Clues.sample(y, pairs=60, random_state=seed)
        plain.append(adjusted_rand_score(y, FeedbackNaiveBayes(2, n_init=4, random_state=seed).fit(X).labels_))
        model = FeedbackNaiveBayes(2, n_init=4, random_state=seed).fit(X, clues=clues)
        helped.append(adjusted_rand_score(y, model.labels_))
        soft, loud = model.word_weight_[6:12].mean(), model.word_weight_[:6].mean()
        assert soft > loud
    assert np.mean(plain) < 0.05
    assert np.mean(helped) > 0.5


@pytest.mark.needs_data
def test_feedback_helps_on_newsgroups():
    data = load("text_pcmac")
    X = csr_array(data.X.astype(float))
    plain, helped = [], []
    for seed in range(3):
        clues = Clues.sample(data.y, pairs=200, random_state=seed)
        for known, out in ((None, plain), (clues, helped)):
            model = FeedbackNaiveBayes(2, n_init=3, random_state=seed).fit(X, clues=known)
            out.append(adjusted_rand_score(data.y, model.labels_))
    assert np.mean(helped) > np.mean(plain) + 0.1


def test_without_rounds_clues_only_choose_the_start():
    X, y = two_subjects(3)
    clues = Clues.sample(y, pairs=40, random_state=0)
    one = FeedbackNaiveBayes(2, rounds=0, n_init=1, random_state=1).fit(X, clues=clues)
    other = FeedbackNaiveBayes(2, n_init=1, random_state=1).fit(X)
    assert (one.labels_ == other.labels_).all()
    assert one.n_rounds_ == other.n_rounds_ == 0
    np.testing.assert_array_equal(one.word_weight_, 1)
    np.testing.assert_array_equal(one.trace_, other.trace_)


def test_the_start_that_breaks_least_wins_and_its_last_useful_round():
    X, y = two_subjects(4)
    clues = Clues.sample(y, pairs=60, random_state=0)
    model = FeedbackNaiveBayes(2, random_state=0).fit(X, clues=clues)
    fewer = FeedbackNaiveBayes(2, random_state=0, n_init=2).fit(X, clues=clues)  # the first two of the same starts
    count = [len(m.broken_.must) + len(m.broken_.cannot) for m in (model, fewer)]
    assert count[0] <= count[1]
    assert 0 < model.n_rounds_ <= 30
    again = FeedbackNaiveBayes(2, random_state=0, rounds=model.n_rounds_).fit(X, clues=clues)
    assert len(again.broken_.must) + len(again.broken_.cannot) == count[0]
    assert len(model.trace_) == model.n_iter_


def test_golden_number():
    X, y = two_subjects(5)
    model = FeedbackNaiveBayes(2, random_state=7).fit(X, clues=Clues.sample(y, pairs=60, random_state=5))
    assert adjusted_rand_score(y, model.labels_) == pytest.approx(0.7784287647854999)


def test_labels_and_groups_act_as_their_pairs():
    X, y = two_subjects(6)
    some = np.where(np.arange(len(y)) < 20, y, -1)
    must, _, cannot, _ = Clues.from_labels(some).pairs(expand=True)
    a = FeedbackNaiveBayes(2, n_init=2, random_state=0).fit(X, clues=some)
    b = FeedbackNaiveBayes(2, n_init=2, random_state=0).fit(X, clues=Clues(len(y), must=must, cannot=cannot))
    assert (a.labels_ == b.labels_).all()
    np.testing.assert_allclose(a.word_weight_, b.word_weight_)


def test_links_without_weight_say_nothing_and_weights_matter():
    X, y = two_subjects(7)
    clues = Clues.sample(y, pairs=40, random_state=0)
    free = FeedbackNaiveBayes(2, n_init=1, random_state=0).fit(X)
    void = Clues(len(y), must=clues.must, cannot=clues.cannot, must_weight=0.0, cannot_weight=0.0)
    unheard = FeedbackNaiveBayes(2, n_init=1, random_state=0).fit(X, clues=void)
    assert (free.labels_ == unheard.labels_).all()
    uneven = Clues(len(y), must=clues.must, cannot=clues.cannot, cannot_weight=5.0)
    weights = [FeedbackNaiveBayes(2, n_init=1, random_state=0).fit(X, clues=c).word_weight_ for c in (clues, uneven)]
    assert np.abs(weights[0] - weights[1]).max() > 1e-3


def test_published_profile_follows_feedback_too():
    X, y = two_subjects(0)
    model = FeedbackNaiveBayes(2, profile="published", random_state=0)
    model.fit(X, clues=Clues.sample(y, pairs=60, random_state=0))
    assert adjusted_rand_score(y, model.labels_) > 0.3


def test_sparse_and_dense_and_single_precision_agree():
    X, y = two_subjects(8)
    clues = Clues.sample(y, pairs=40, random_state=0)
    dense = FeedbackNaiveBayes(2, n_init=2, random_state=0).fit(X, clues=clues)
    for other in (csr_array(X), X.astype(np.float32)):
        model = FeedbackNaiveBayes(2, n_init=2, random_state=0).fit(other, clues=clues)
        assert (model.labels_ == dense.labels_).all()
        np.testing.assert_allclose(model.word_weight_, dense.word_weight_, rtol=1e-5)
        assert model.margin_.dtype == other.dtype


def test_a_callback_ends_the_feedback():
    class Stop:
        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            return context.task_name == "iteration" and context.task_id >= 4

    X, y = two_subjects(0)
    model = FeedbackNaiveBayes(2, random_state=0).set_callbacks(Stop())
    model.fit(X, clues=Clues.sample(y, pairs=60, random_state=0))
    assert model.n_iter_ <= 5


def test_an_interrupted_fit_leaves_a_complete_state():
    class Interrupt:
        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            if context.task_name == "iteration" and context.task_id == 25:  # in a round of feedback
                raise KeyboardInterrupt

    X, y = two_subjects(0)
    model = FeedbackNaiveBayes(2, n_init=1, random_state=0).set_callbacks(Interrupt())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, clues=Clues.sample(y, pairs=60, random_state=0))
    assert model.n_iter_ == 26
    assert model.n_rounds_ > 0
    assert (model.predict(X) == model.labels_).all()


# --- odd documents ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_empty_documents_go_where_most_documents_are(kind):
    X = np.array([[5, 0], [6, 0], [4, 1], [0, 5], [0, 0]])
    model = FeedbackNaiveBayes(2, init=[[3, 0], [0, 3]]).fit(kind(X), clues=Clues(5, cannot=[(0, 4)], must=[(3, 4)]))
    np.testing.assert_allclose(model.predict_proba(kind(X))[4], model.weights_)
    assert model.labels_[4] == model.weights_.argmax()


def test_equal_documents_cannot_be_told_apart():
    X = np.array([[3.0, 1.0], [3.0, 1.0], [0.0, 4.0]])
    model = FeedbackNaiveBayes(2, random_state=0).fit(X, clues=Clues(3, cannot=[(0, 1)]))
    assert model.labels_[0] == model.labels_[1]
    assert model.broken_.cannot.tolist() == [[0, 1]]
    assert model.n_rounds_ == 0


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((4, 3)),
        np.ones((4, 1)),
        np.array([[1e6, 0, 0], [0, 1e6, 0], [1e-6, 0, 1], [5, 5, 5]]),
        np.eye(4, 50),
        np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 3.0]]),
    ],
)
@pytest.mark.parametrize(
    "clues",
    [
        None,
        Clues(4, must=[(0, 1), (1, 2), (2, 3)]),
        Clues(4, cannot=[(0, 1), (1, 2), (2, 3), (0, 3)]),
        Clues(4, must=[(0, 1)], cannot=[(0, 1)]),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_degenerate_documents(X, clues):
    model = FeedbackNaiveBayes(2, n_init=2, random_state=0).fit(X, clues=clues)
    assert np.isfinite(model.trace_).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.word_weight_).all()
    assert not np.isnan(model.margin_).any()
    assert set(model.labels_) <= {0, 1}


def test_one_document_and_one_cluster():
    model = FeedbackNaiveBayes(1).fit([[2, 0, 1]])
    assert model.labels_.tolist() == [0]
    assert model.margin_.tolist() == [np.inf]


def test_empty_clusters_are_said():
    with pytest.warns(ConvergenceWarning, match="only 1 of 3 clusters"):
        FeedbackNaiveBayes(3, random_state=0).fit(np.ones((4, 2)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_negative_counts_are_refused_with_their_place(kind):
    X = np.array([[1, 2, 0], [0, 0, 1], [0, 4, -2]])
    where = r"Negative values in data: FeedbackNaiveBayes expects counts, but X has -2\.0 in row 2, column 2\."
    with pytest.raises(ValueError, match=where):
        FeedbackNaiveBayes(2).fit(kind(X))
    model = FeedbackNaiveBayes(2, random_state=0).fit(kind(np.abs(X)))
    with pytest.raises(ValueError, match=where):
        model.predict(kind(X))


def test_bad_starts():
    with pytest.raises(ValueError, match="init has a negative number"):
        FeedbackNaiveBayes(2, init=[[1, -1], [1, 1]]).fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="init='k-means' is not one of 'random'"):
        FeedbackNaiveBayes(2, init="k-means").fit(np.ones((3, 2)))
