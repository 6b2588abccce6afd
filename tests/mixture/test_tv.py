"""TVClust: what it publishes, both engines, recovery of wrong clues, published numbers, degenerate input."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.mixture import BayesianGaussianMixture
from sklearn.preprocessing import StandardScaler

from cluewise import Clues
from cluewise.datasets import load
from cluewise.exceptions import NotDescending
from cluewise.mixture._tvclust.priors import DirichletMultinomial, NormalInverseWishart
from cluewise.mixture._tvclust.tvclust import TVClust

QUICK = {"sweeps": 40, "burn_in": 20}


def groups(n=40, d=2, apart=5.0, seed=0, k=2):
    """Rows around k centers, far from each other, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n // k)
    return rng.normal(size=(len(y), d)) + apart * y[:, None], y


def wrong_clues(clues, y):
    """Which links are wrong: must, then cannot."""
    must, cannot = clues.must, clues.cannot
    return np.concatenate([y[must[:, 0]] != y[must[:, 1]], y[cannot[:, 0]] == y[cannot[:, 1]]])


@pytest.mark.parametrize("engine", ["variational", "gibbs"])
def test_wrong_clues_are_found_and_counted(engine):
    """Clusters that nobody can mistake: doubts are 0 or 1, reliabilities are the shares of right clues."""
    X, y = groups(n=60, apart=9.0)
    clues = Clues.sample(y, pairs=300, noise=0.2, random_state=1)
    model = TVClust(engine=engine, random_state=0, **QUICK).fit(X, clues=clues)
    lies = wrong_clues(clues, y)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert (model.doubt_ > 0.5).tolist() == lies.tolist()
    assert model.clues_ == clues
    m = len(clues.must)
    near = np.concatenate([~lies[:m], lies[m:]])  # pairs that are together
    p = (10 + (near & (np.arange(len(lies)) < m)).sum()) / (11 + near.sum())
    q = (10 + (~near & (np.arange(len(lies)) >= m)).sum()) / (11 + (~near).sum())
    assert model.report_rates_ == pytest.approx((p, q), abs=1e-3)
    assert model.must_reliability_ == pytest.approx(1 - lies[:m].mean(), abs=0.03)
    assert model.cannot_reliability_ == pytest.approx(1 - lies[m:].mean(), abs=0.03)
    h = near.mean()
    assert model.must_reliability_ == pytest.approx(p * h / (p * h + (1 - q) * (1 - h)), abs=2e-3)
    assert model.broken_.must.tolist() == clues.must[lies[:m]].tolist()
    assert model.broken_.cannot.tolist() == clues.cannot[lies[m:]].tolist()


@pytest.mark.parametrize("engine", ["variational", "gibbs"])
def test_what_is_published_belongs_together(engine):
    X, y = groups(k=3, n=45)
    clues = Clues.sample(y, pairs=60, noise=0.1, random_state=0)
    model = TVClust(6, engine=engine, random_state=0, **QUICK).fit(X, clues=clues)
    k = model.n_clusters_
    assert k == 3
    assert sorted(set(model.labels_)) == list(range(k))
    assert model.membership_.shape == (45, k)
    assert model.membership_.sum(axis=1) == pytest.approx(np.ones(45))
    assert model.n_clusters_probability_.sum() == pytest.approx(1)
    assert model.n_clusters_probability_.argmax() == k
    assert model.means_.shape == (k, 2)
    for h in range(k):
        assert model.means_[h] == pytest.approx(X[model.labels_ == h].mean(axis=0), abs=0.2)
    assert model.weights_ == pytest.approx(np.bincount(model.labels_) / 45, abs=0.03)
    assert model.lower_bound_ == -model.objective_
    assert len(model.trace_) == model.n_iter_
    assert model.objective_ == (model.trace_[-1] if engine == "variational" else model.trace_.min())
    probability = model.predict_proba(X)
    assert probability.sum(axis=1) == pytest.approx(np.ones(45))
    assert (probability.argmax(axis=1) == model.predict(X)).all()
    assert (model.predict(X) == model.labels_).mean() > 0.9
    assert np.isfinite(model.score_samples(X)).all()


def test_density_of_new_rows_integrates_to_one():
    X, _ = groups(d=1)
    model = TVClust(3, random_state=0).fit(X)
    grid = np.linspace(-60, 70, 20001)[:, None]
    assert np.trapezoid(np.exp(model.score_samples(grid)), grid[:, 0]) == pytest.approx(1, abs=0.02)


def test_doubt_follows_its_clue():
    X, _ = groups()
    X[5] = X[30]  # row 5 sits in the other group
    clues = Clues(40, must=[(5, 1), (2, 3)], cannot=[(30, 5), (0, 39)], labels=np.where(np.arange(40) < 4, 0, -1))
    model = TVClust(random_state=0).fit(X, clues=clues)
    turned = Clues(40, must=[(3, 2), (1, 5)], cannot=[(39, 0), (5, 30)], labels=clues.labels)
    again = TVClust(random_state=0).fit(X, clues=turned)
    expected = {(1, 5, True): True, (2, 3, True): False, (5, 30, False): True, (0, 39, False): False}
    for fitted in (model, again):
        links = [(*p, True) for p in fitted.clues_.must.tolist()] + [(*p, False) for p in fitted.clues_.cannot.tolist()]
        found = dict(zip([(min(a, b), max(a, b), m) for a, b, m in links], fitted.doubt_ > 0.5, strict=True))
        assert found == expected


def test_a_heavy_clue_weighs_more():
    """A row between two groups follows its must-link, the sooner the more reports the link stands for."""
    X, _ = groups(n=40, apart=8.0)
    X = np.vstack([X, [[4.6, 4.6]]])
    near = []
    for weight in (0.2, 1.0, 5.0):
        clues = Clues(41, must=[(40, 0)], cannot=[(0, 39), (1, 38)], must_weight=[weight])
        model = TVClust(4, random_state=0, init="k-means").fit(X, clues=clues)
        near.append(float(model.membership_[40] @ model.membership_[0]))
    assert near[0] < near[1] < near[2]


def test_without_clues_like_scikit_learn():
    """The same mixture but for the last stick, which scikit-learn does not close: equal where that is empty."""
    X, _ = groups(n=120, apart=6.0)
    prior = NormalInverseWishart.from_data(X)
    model = TVClust(4, base=prior, random_state=0, tol=1e-12).fit(X)
    theirs = BayesianGaussianMixture(
        n_components=4,
        weight_concentration_prior_type="dirichlet_process",
        weight_concentration_prior=1.0,
        mean_prior=prior.mean,
        mean_precision_prior=prior.strength,
        degrees_of_freedom_prior=prior.degrees,
        covariance_prior=prior.scatter,
        reg_covar=0.0,
        tol=1e-10,
        max_iter=2000,
        n_init=5,
        random_state=0,
    ).fit(X)
    big = np.argsort(-theirs.weights_)[:2]
    assert model.n_clusters_ == 2
    mine = np.argsort(-model.weights_)
    assert model.weights_[mine] == pytest.approx(theirs.weights_[big], abs=5e-3)
    assert np.sort(model.means_, axis=0) == pytest.approx(np.sort(theirs.means_[big], axis=0), abs=5e-3)
    assert adjusted_rand_score(model.labels_, theirs.predict(X)) == 1


def test_words():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = np.array([rng.multinomial(12, [0.6, 0.3, 0.1] if c else [0.1, 0.3, 0.6]) for c in y])
    clues = Clues.sample(y, pairs=80, noise=0.15, random_state=0)
    model = TVClust(6, base="multinomial", random_state=0).fit(X, clues=clues)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.means_.sum(axis=1) == pytest.approx(np.ones(model.n_clusters_))
    assert roc_auc_score(wrong_clues(clues, y), model.doubt_) > 0.95
    same = TVClust(6, base=DirichletMultinomial(np.full(3, 0.5)), random_state=0).fit(X, clues=clues)
    assert same.lower_bound_ == model.lower_bound_


def test_wide_rows_are_seen_along_their_principal_axes():
    X, y = groups(n=30, d=80, apart=3.0)
    model = TVClust(4, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.means_.shape == (2, 80)
    assert model.means_[model.labels_[0]].mean() == pytest.approx(0, abs=0.3)
    assert (model.predict(X) == model.labels_).all()
    start = TVClust(2, n_components=1, init=X[[0, 29]], random_state=0).fit(X)
    assert adjusted_rand_score(y, start.labels_) == 1


def test_golden_number():
    X = StandardScaler().fit_transform(load_iris().data)
    y = load_iris().target
    clues = Clues.sample(y, pairs=300, noise=0.1, random_state=0)
    model = TVClust(random_state=0).fit(X, clues=clues)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.lower_bound_ == pytest.approx(GOLDEN, abs=1e-3)


GOLDEN = -739.4745666765394


@pytest.mark.parametrize("init", ["auto", "k-means", "random"])
def test_starts(init):
    X, y = groups(n=60, k=3)
    model = TVClust(5, init=init, n_init=3, random_state=0).fit(X, clues=Clues.sample(y, pairs=90, random_state=0))
    assert adjusted_rand_score(y, model.labels_) == 1
    with pytest.raises(ValueError, match="init='k-mean' is not one of"):
        TVClust(5, init="k-mean").fit(X)


def test_starts_leave_the_reports_alone():
    """A pair that is told both ways is two reports; SciPy would make one of them, in place."""
    from cluewise.mixture._tvclust.pair_evidence import gather_evidence
    from cluewise.mixture._tvclust.starts import views_of

    X, _ = groups()
    clues = Clues(40, must=[(0, 1), (2, 3)], cannot=[(0, 1), (5, 30)])
    pairs, untouched = gather_evidence(clues), gather_evidence(clues)
    views_of(X, NormalInverseWishart.from_data(X), pairs, np.random.default_rng(0))
    for mine, before in zip(pairs, untouched, strict=True):
        assert np.array_equal(mine, before)


def test_samples_of_many_rows_start_k_means(monkeypatch):
    from cluewise.mixture._tvclust import starts as _tv_starts

    monkeypatch.setattr(_tv_starts, "SAMPLE", 20)
    X, y = groups(n=60, k=3)
    assert adjusted_rand_score(y, TVClust(5, random_state=0).fit(X).labels_) == 1


def test_few_iterations_are_kept_to():
    X, _ = groups(n=60, k=3, apart=2.0)
    for most in (1, 2):
        assert TVClust(5, max_iter=most, random_state=0).fit(X).n_iter_ == most
    assert TVClust(5, tol=1e-3, random_state=0).fit(X).n_iter_ < 50


def test_callbacks_and_interrupts_leave_a_state():
    class Stop:
        def __init__(self, error=None):
            self.error, self.count = error, 0

        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def teardown(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            if context.task_name != "iteration":
                return False
            self.count += 1
            if self.error is not None and self.count == 3:
                raise self.error
            return self.error is None

    X, y = groups(n=60, k=3, apart=2.0)
    clues = Clues.sample(y, pairs=60, random_state=0)
    for engine in ("variational", "gibbs"):
        model = TVClust(5, engine=engine, n_init=1, random_state=0, **QUICK)
        assert clone(model).set_callbacks(Stop()).fit(X, clues=clues).n_iter_ == 1
        model.set_callbacks(Stop(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, clues=clues)
        assert model.n_iter_ == 3
        assert model.doubt_.shape == (60,)


def test_uncollapsed_sampler():
    X, y = groups(n=30)
    model = TVClust(engine="gibbs", collapsed=False, random_state=0, **QUICK).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.doubt_.shape == (0,)


FINITE = ("labels_", "membership_", "doubt_", "n_clusters_probability_", "weights_", "means_", "trace_")


def finite(model, X):
    """Nothing that is published is nan or infinite, and new rows can be judged."""
    for name in FINITE:
        assert np.isfinite(getattr(model, name)).all(), name
    for name in ("must_reliability_", "cannot_reliability_", "lower_bound_", "objective_"):
        assert 0 <= getattr(model, name) <= 1 or "reliability" not in name
        assert np.isfinite(getattr(model, name)), name
    assert np.isfinite(model.predict_proba(X)).all()
    return model


DEGENERATE = {
    "one row": (np.array([[1.0, 2.0]]), {}),
    "equal rows": (np.ones((6, 2)), {"must": [(0, 1)], "cannot": [(2, 3)]}),
    "constant columns": (np.column_stack([np.arange(8.0), np.full(8, 3.0)]), {"cannot": [(0, 7)]}),
    "more columns than rows": (np.random.default_rng(0).normal(size=(5, 90)), {"must": [(0, 1)]}),
    "contradictory": (np.arange(8.0)[:, None], {"must": [(0, 1), (1, 2)], "cannot": [(0, 2), (0, 1)]}),
    "far away": (np.arange(8.0)[:, None] * 1e-3 + 1e8, {"must": [(0, 1)]}),
    "tiny": (np.arange(8.0)[:, None] * 1e-50, {"must": [(0, 1)]}),
}


@pytest.mark.parametrize("engine", ["variational", "gibbs"])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_input_gives_a_result(name, engine):
    X, clues = DEGENERATE[name]
    finite(TVClust(engine=engine, random_state=0, sweeps=5, burn_in=2).fit(X, clues=Clues(len(X), **clues)), X)


@pytest.mark.parametrize("engine", ["variational", "gibbs"])
def test_only_one_kind_or_only_wrong_clues(engine):
    X, y = groups(n=30)
    right = Clues.sample(y, pairs=60, random_state=0)
    wrong = Clues(30, must=right.cannot, cannot=right.must)
    for clues in (right.only(["must"]), right.only(["cannot"]), wrong):
        finite(TVClust(engine=engine, random_state=0, sweeps=5, burn_in=2).fit(X, clues=clues), X)


def test_clues_that_are_all_wrong_are_turned_around():
    """Rows that leave no doubt, and enough clues: p and q are learnt to be small.

    But links that contradict the clusters throughout may as well speak of other clusters: none is called wrong.
    """
    X, y = groups(n=60, apart=9.0)
    right = Clues.sample(y, pairs=400, random_state=0)
    model = TVClust(random_state=0, init="k-means").fit(X, clues=Clues(60, must=right.cannot, cannot=right.must))
    assert adjusted_rand_score(y, model.labels_) == 1
    assert max(model.must_reliability_, model.cannot_reliability_) < 0.1
    assert model.doubt_.max() < 0.5


def test_large_counts_descend():
    """The bound is near 1e12, where one unit in the last place is above the slack of a bound near zero."""
    rng, y = np.random.default_rng(4), np.arange(120) % 4
    X = np.round(1e6 * (rng.random((4, 6))[y] + rng.random((120, 6)))) + 1e8
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotDescending)
        TVClust(4, base="multinomial", random_state=0, n_init=2).fit(X)


def test_rows_without_words():
    X = np.array([[0, 0, 0], [3, 0, 0], [0, 4, 1], [0, 0, 0], [2, 0, 0], [0, 5, 0]])
    for engine in ("variational", "gibbs"):
        model = TVClust(3, base="multinomial", engine=engine, random_state=0, sweeps=5, burn_in=2)
        finite(model.fit(X, clues=Clues(6, must=[(0, 1)], cannot=[(1, 2)])), X)
    finite(TVClust(3, base="multinomial", random_state=0).fit(np.zeros((4, 2))), np.zeros((4, 2)))


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        ({"base": "multinomial"}, [[1.0, 2], [-3, 4]], "needs counts, but X has -3.0 in row 1, column 0"),
        ({"base": DirichletMultinomial(np.ones(3))}, [[1.0, 2], [3, 4]], "prior for 3 columns, but X has 2"),
        ({"must_prior": (1.0, -1.0)}, [[1.0, 2], [3, 4]], "must_prior must be two positive numbers"),
        ({"cannot_prior": (1.0,)}, [[1.0, 2], [3, 4]], "cannot_prior must be two positive numbers"),
        ({"profile": "published", "base": "multinomial"}, [[1.0, 2], [3, 4]], "defined for base='gaussian'"),
    ],
)
def test_what_is_refused(params, X, message):
    with pytest.raises(ValueError, match=message):
        TVClust(**params).fit(X)


@pytest.mark.needs_data
@pytest.mark.parametrize("name", ["wine", "ecoli"])
def test_recovery_on_real_data(name):
    """One seed of the table in benchmarks/tvclust.py: 20 % of the pairs are wrong."""
    data = load(name, standardize=True)
    clues = Clues.sample(data.y, pairs=0.05, noise=0.2, profile="ordered", random_state=0)
    model = TVClust(random_state=0).fit(data.X, clues=clues)
    lies, m = wrong_clues(clues, data.y), len(clues.must)
    assert roc_auc_score(lies, model.doubt_) > 0.9
    assert model.must_reliability_ == pytest.approx(1 - lies[:m].mean(), abs=0.05)
    assert model.cannot_reliability_ == pytest.approx(1 - lies[m:].mean(), abs=0.05)
    assert model.report_rates_ == pytest.approx((0.8, 0.8), abs=0.05)
    plain = TVClust(random_state=0).fit(data.X)
    assert adjusted_rand_score(data.y, model.labels_) > adjusted_rand_score(data.y, plain.labels_) - 0.02


@pytest.mark.needs_data
@pytest.mark.parametrize(("name", "printed"), [("iris", 0.85), ("ecoli", 0.79)])
def test_published_profile(name, printed):
    """Adjusted Rand indices of table 1, which are means over p and r; here p = .9, two trials at each r."""
    data = load(name)
    scores = []
    for rate in (0.01, 0.03, 0.05):
        for trial in range(2):
            clues = Clues.sample(data.y, pairs=rate, noise=0.1, profile="ordered", random_state=trial)
            model = TVClust(profile="published", random_state=trial).fit(data.X, clues=clues)
            assert model.n_iter_ <= 30
            scores.append(adjusted_rand_score(data.y, model.labels_))
    assert np.mean(scores) > printed - 0.06
