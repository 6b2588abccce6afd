"""The three bottlenecks as estimators: brute force, reductions, two-sided counts, and inputs at the edge."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from cluewise import Clues
from cluewise.alternative._ib.base import Bottleneck
from cluewise.alternative._ib.conditional import ConditionalIB
from cluewise.alternative._ib.coordinated import CoordinatedConditionalIB
from cluewise.alternative._ib.ib import InformationBottleneck
from cluewise.alternative._ib.joint import joint_of
from cluewise.alternative._ib.steps import Pull, begin
from cluewise.datasets._two_sided import make_two_sided
from cluewise.exceptions import ClueWarning, UnusedClueWarning
from cluewise.metrics import ari, nmi, variation_of_information

ALL = [InformationBottleneck, ConditionalIB, CoordinatedConditionalIB]
AWARE = [ConditionalIB, CoordinatedConditionalIB]


def fit(model, X, avoid=None, **more):
    """Fit where clusters may stay empty."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ClueWarning)
        return model.fit(X, clues=None if avoid is None else Clues(len(avoid), avoid=avoid), **more)


def told(X, z, labels, k):
    """I(C;X), I(C;Y) and I(C;Y|Z) of a hard clustering."""
    return begin(
        joint_of(X, None, [] if z is None else [z], k, by_mass=False), Pull(1.0, 0.0), 0.0, np.eye(k)[labels]
    ).information


@pytest.mark.parametrize("seed", range(4))
def test_plain_bottleneck_is_the_best_of_all_clusterings(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(6 * rng.dirichlet(np.ones(4), size=7) + 0.3).astype(float) + 0.1
    best = max(told(X, None, np.array(labels), 3)[1] for labels in itertools.product(range(3), repeat=7))
    model = fit(InformationBottleneck(3, n_init=10, random_state=0), X)
    assert model.information_ >= 0.95 * best
    assert told(X, None, model.labels_, 3)[1] == pytest.approx(model.information_, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_conditional_bottleneck_is_the_best_of_all_clusterings(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(6 * rng.dirichlet(np.ones(4), size=8) + 0.3).astype(float) + 0.1
    z = np.arange(8) % 2
    best = max(told(X, z, np.array(labels), 2)[2] for labels in itertools.product(range(2), repeat=8))
    model = fit(ConditionalIB(2, n_init=10, random_state=0), X, z)
    assert model.conditional_information_ >= 0.97 * best


@pytest.mark.parametrize("cls", AWARE)
@pytest.mark.parametrize("avoid", [None, np.zeros(60, dtype=int), np.full(60, -1)])
def test_nothing_to_avoid_is_the_plain_bottleneck(cls, avoid):
    X, first, _ = make_two_sided("counts", n_samples=60, random_state=0)
    plain = fit(InformationBottleneck(3, random_state=1), X)
    model = fit(cls(3, random_state=1), X, avoid)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.information_ == pytest.approx(plain.information_)
    assert model.conditional_information_ == pytest.approx(plain.information_)
    assert ari(first, plain.labels_) == 1


@pytest.mark.parametrize("dominance", [3.0, 8.0])
@pytest.mark.parametrize("kind", ["counts", "shapes"])
@pytest.mark.parametrize("seed", range(3))
def test_coordinated_clusters_are_the_other_side(kind, seed, dominance):
    """Issue 7: NMI below 0.1 with what is avoided, above 0.8 with the other truth, whichever side is avoided."""
    X, first, second = make_two_sided(kind, dominance=dominance, random_state=seed)
    for avoid, other in ((first, second), (second, first)):
        model = fit(CoordinatedConditionalIB(3, random_state=seed), X, avoid)
        assert nmi(avoid, model.labels_) < 0.1
        assert nmi(other, model.labels_) > 0.8
        assert model.variation_.tolist() == [variation_of_information(avoid, model.labels_)]


def test_the_plain_bottleneck_finds_the_side_that_dominates():
    for seed in range(3):
        X, first, second = make_two_sided("counts", random_state=seed)
        model = fit(InformationBottleneck(3, random_state=seed), X)
        assert nmi(first, model.labels_) > 0.95
        assert nmi(second, model.labels_) < 0.1


def test_conditional_clusters_are_the_other_side_inside_each_group():
    """Not all together: names of clusters may differ from group to group, and nothing in the objective minds."""
    together = []
    for seed in range(4):
        X, first, second = make_two_sided("counts", random_state=seed)
        model = fit(ConditionalIB(3, n_init=10, random_state=seed), X, first)
        assert nmi(first, model.labels_) < 0.1
        for group in range(3):
            assert nmi(second[first == group], model.labels_[first == group]) > 0.95
        together.append(nmi(second, model.labels_))
    assert min(together) < 0.8


def test_several_clusterings_to_avoid():
    """Three sides; knowing the two stronger ones leaves the third."""
    rng = np.random.default_rng(0)
    sides = [rng.permutation(np.arange(360) % 2) for _ in range(3)]
    words = [m * (1 + 5 * (np.arange(10) // 5 == side[:, None])) for m, side in zip((8, 4, 2), sides)]
    X = rng.poisson(np.hstack(words)).astype(float)
    strongest = fit(InformationBottleneck(2, random_state=0), X)
    assert ari(sides[0], strongest.labels_) == 1
    one = fit(CoordinatedConditionalIB(2, random_state=0), X, sides[0])
    assert nmi(sides[1], one.labels_) > 0.8
    clues = Clues(360, avoid=sides[:2])
    both = CoordinatedConditionalIB(2, random_state=0).fit(X, clues=clues)
    assert nmi(sides[2], both.labels_) > 0.8
    assert both.variation_.shape == (2,)
    assert (both.variation_ > 1.3).all()  # at most 2 log 2


def test_partial_knowledge_is_enough():
    X, first, second = make_two_sided("counts", random_state=0)
    hidden = np.random.default_rng(0).random(300) < 0.3
    avoid = np.where(hidden, -1, first)
    model = fit(CoordinatedConditionalIB(3, random_state=0), X, avoid)
    assert nmi(second, model.labels_) > 0.8
    known = variation_of_information(first[~hidden], model.labels_[~hidden])
    assert model.variation_.tolist() == [pytest.approx(known)]


def test_half_of_plain_information_would_bring_the_known_clustering_back():
    """Why the constraint of the survey is no default: where the known side dominates, no other side tells so much."""
    X, first, _ = make_two_sided("counts", dominance=8, random_state=0)
    plain = fit(InformationBottleneck(3, random_state=0), X)
    free = fit(CoordinatedConditionalIB(3, random_state=0), X, first)
    assert free.information_ < 0.5 * plain.information_
    bound = fit(CoordinatedConditionalIB(3, least_information=0.5 * plain.information_, random_state=0), X, first)
    assert bound.information_ >= 0.5 * plain.information_
    assert bound.coordination_ > free.coordination_
    assert nmi(first, bound.labels_) > 0.5
    modest = fit(CoordinatedConditionalIB(3, least_information=0.5 * free.information_, random_state=0), X, first)
    np.testing.assert_array_equal(modest.labels_, free.labels_)


def test_information_that_cannot_be_had_is_said():
    X, first, _ = make_two_sided("counts", n_samples=60, random_state=0)
    model = CoordinatedConditionalIB(3, coordination=0.1, least_information=9.0, n_init=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"no coordination up to 6.4 reaches least_information=9") as said:
        model.fit(X, clues=Clues(60, avoid=first))
    assert said[0].filename == __file__
    assert model.coordination_ <= 6.4


def test_pinned():
    X, first, _ = make_two_sided("counts", n_samples=90, random_state=3)
    model = fit(CoordinatedConditionalIB(3, random_state=0), X, first)
    assert model.objective_ == pytest.approx(-0.113247961, rel=1e-6)


@pytest.mark.parametrize("cls", ALL)
def test_what_is_published_belongs_together(cls):
    X, first, _ = make_two_sided("counts", n_samples=80, random_state=0)
    avoid = None if cls is InformationBottleneck else first
    model = fit(cls(3, random_state=0), X, avoid)
    np.testing.assert_array_equal(model.labels_, model.memberships_.argmax(axis=1))
    np.testing.assert_allclose(model.weights_, model.memberships_.mean(axis=0))
    shares = X / X.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.profiles_, (model.memberships_.T @ shares) / 80 / model.weights_[:, None])
    lam = getattr(model, "coordination_", float(cls is InformationBottleneck))
    mu = float(cls is not InformationBottleneck)
    gain = mu * model.conditional_information_ + lam * model.information_ - model.temperature_ * model.compression_
    assert model.objective_ == pytest.approx(-gain)
    assert model.objective_ == model.trace_[-1]
    assert model.n_iter_ == len(model.trace_)
    assert (model.margin_ > 0).all()
    assert not model.broken_.kinds
    assert len(model.variation_) == (avoid is not None)


@pytest.mark.parametrize("cls", ALL)
def test_weights_are_repetitions_with_their_groups(cls):
    X, first, _ = make_two_sided("counts", n_samples=50, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, size=50)
    rows = np.repeat(np.arange(50), weight)
    avoid, again = (None, None) if cls is InformationBottleneck else (first, first[rows])
    weighted = fit(cls(3, random_state=0), X, avoid, sample_weight=weight.astype(float))
    repeated = fit(cls(3, random_state=0), X[rows], again)
    np.testing.assert_array_equal(weighted.labels_[rows], repeated.labels_)
    assert weighted.objective_ == pytest.approx(repeated.objective_)


@pytest.mark.parametrize("cls", ALL)
def test_sums_of_rows_matter_only_where_they_are_the_prior(cls):
    X, first, _ = make_two_sided("counts", n_samples=50, random_state=0)
    scale = np.random.default_rng(0).uniform(0.5, 20, size=(50, 1))
    avoid = None if cls is InformationBottleneck else first
    plain, scaled = (fit(cls(3, random_state=0), x, avoid) for x in (X, X * scale))
    np.testing.assert_array_equal(plain.labels_, scaled.labels_)
    mass = fit(cls(3, prior="mass", random_state=0), X * scale, avoid)
    total = (X * scale).sum(axis=1)
    weighed = fit(cls(3, random_state=0), X * scale, avoid, sample_weight=total)
    np.testing.assert_array_equal(mass.labels_, weighed.labels_)
    assert mass.objective_ == pytest.approx(weighed.objective_)
    assert mass.objective_ != pytest.approx(scaled.objective_, rel=1e-4)


@pytest.mark.parametrize("make", [np.array, csr_array, np.float32])
def test_new_rows_go_where_rows_like_them_went(make):
    X, _, _ = make_two_sided("counts", n_samples=200, random_state=0)
    model = fit(InformationBottleneck(3, random_state=0), X[:100])
    np.testing.assert_array_equal(model.predict(make(X[:100])), model.labels_)
    every = fit(InformationBottleneck(3, random_state=0), make(X))
    assert ari(model.predict(make(X)), every.labels_) == 1
    nothing = np.zeros((1, X.shape[1]))
    assert model.predict(make(nothing)).tolist() == [np.argmax(model.weights_)]


def test_only_the_plain_bottleneck_predicts():
    assert not any(hasattr(cls, "predict") for cls in AWARE)
    with pytest.raises(ValueError, match=r"InformationBottleneck expects counts, but X has -1\.0 in row 1, column 0"):
        InformationBottleneck(1).fit([[1.0], [2.0]]).predict([[1.0], [-1.0]])


def test_clues_that_the_plain_bottleneck_cannot_use_are_named():
    X, first, _ = make_two_sided("counts", n_samples=30, random_state=0)
    with pytest.warns(UnusedClueWarning, match="avoid"):
        InformationBottleneck(2, random_state=0).fit(X, clues=Clues(30, avoid=first))


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    ("X", "k"),
    [
        (np.ones((5, 3)), 2),
        (np.ones((1, 1)), 1),
        ([[1.0], [2.0], [0.0]], 2),
        ([[1, 0], [1, 0], [0, 1], [0, 1]], 3),
        ([[0, 0], [1, 0], [0, 0], [0, 1]], 2),
        (np.eye(6), 6),
        (1e-50 * np.eye(4) + 1e-60, 2),
        (1e50 * np.eye(4), 2),
    ],
)
def test_data_at_the_edge(cls, X, k):
    n = len(X)
    avoid = None if cls is InformationBottleneck else np.arange(n) % 2
    model = fit(cls(k, random_state=0), X, avoid)
    assert np.isfinite(model.memberships_).all()
    assert np.isfinite(model.objective_)
    assert set(model.labels_) <= set(range(k))
    assert np.isfinite(model.profiles_).all()


@pytest.mark.filterwarnings("ignore:only 1 of 3 clusters")
@pytest.mark.parametrize("cls", AWARE)
@pytest.mark.parametrize("n", [20, 60])
def test_every_row_a_group_of_its_own_leaves_nothing_to_tell(cls, n):
    X, _, _ = make_two_sided("counts", n_samples=n, random_state=0)
    with pytest.warns(ClueWarning, match="no known group has rows that differ") as said:
        model = cls(3, random_state=0).fit(X, clues=Clues(n, avoid=np.arange(n)))
    assert said[0].filename == __file__
    assert model.n_clusters_ == 1
    assert (model.memberships_ == 1 / 3).all()
    assert model.conditional_information_ == pytest.approx(0, abs=1e-9)
    assert getattr(model, "coordination_", 0) == 0


def test_information_can_be_asked_for_where_no_group_holds_any():
    X, first, _ = make_two_sided("counts", n_samples=60, random_state=0)
    with pytest.warns(ClueWarning, match="no known group has rows that differ") as said:
        model = CoordinatedConditionalIB(3, least_information=0.1, random_state=0).fit(
            X, clues=Clues(60, avoid=np.arange(60))
        )
    assert len(said) == 1
    assert model.coordination_ == 0.5
    assert ari(first, model.labels_) == 1


@pytest.mark.parametrize("cls", AWARE)
def test_clusterings_that_never_meet_or_say_nothing_are_told(cls):
    X, first, second = make_two_sided("counts", n_samples=60, random_state=0)
    half = np.arange(60) < 30
    apart = [np.where(half, first, -1), np.where(half, -1, second)]
    with pytest.warns(ClueWarning, match="no row is in all 2 clusterings to avoid"):
        cls(3, n_init=1, random_state=0).fit(X, clues=Clues(60, avoid=apart))
    with pytest.warns(ClueWarning, match=r"avoid\[1\] covers no row"):
        model = cls(3, random_state=0).fit(X, clues=Clues(60, avoid=[first, np.full(60, -1)]))
    np.testing.assert_array_equal(model.labels_, fit(cls(3, random_state=0), X, first).labels_)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("make", [np.array, csr_array])
@pytest.mark.parametrize("size", [1e55, 1e-55])
def test_counts_of_any_size(cls, make, size):
    X, first, _ = make_two_sided("counts", n_samples=60, random_state=0)
    avoid = None if cls is InformationBottleneck else first
    usual, model = (fit(cls(3, random_state=0), make(own), avoid) for own in (X, size * X))
    np.testing.assert_array_equal(model.labels_, usual.labels_)
    assert model.objective_ == pytest.approx(usual.objective_)
    if cls is InformationBottleneck:
        np.testing.assert_array_equal(model.predict(make(size * X)), model.labels_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"temperature": 0}, "temperature"),
        ({"temperature": 1}, "temperature"),
        ({"cooling": 1.0}, "cooling"),
        ({"prior": "rows"}, "prior"),
        ({"coordination": 0}, "coordination"),
        ({"least_information": -1}, "least_information"),
    ],
)
def test_parameters_are_checked(given, message):
    with pytest.raises(ValueError, match=message):
        CoordinatedConditionalIB(2, **given).fit(np.eye(3))


def test_a_bottleneck_says_what_counts():
    class Nameless(Bottleneck):
        card = ConditionalIB.card

    with pytest.raises(TypeError, match="Nameless does not implement _pull"):
        Nameless(2).fit(np.eye(3))


def test_an_interrupted_fit_leaves_the_last_complete_state():
    class Hurry:
        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            if context.task_name == "iteration" and context.task_id == 5:
                raise KeyboardInterrupt

    model = CoordinatedConditionalIB(2, random_state=0).set_callbacks(Hurry())
    with pytest.raises(KeyboardInterrupt):
        model.fit(np.eye(6) + 1, clues=Clues(6, avoid=np.arange(6) % 2))
    assert len(model.trace_) == 6
    assert len(model.labels_) == 6
    assert model.coordination_ > 0


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("rate", [1.0, 0.03])  # most cells filled, and few
def test_sparse_counts_give_the_bits_of_dense_ones(cls, rate):
    """How many cells are filled decides how to compute, and not the type of the matrix."""
    rng = np.random.default_rng(3)
    topics = rng.gamma(1.0, size=(6, 30))[rng.integers(6, size=250)]
    X, avoid = rng.poisson(rate * topics) * rng.random(topics.shape), rng.integers(2, size=250)
    dense = fit(cls(5, n_init=1, random_state=0), X, avoid)
    ordered = csr_array(X)
    halves = csr_array((ordered.data / 2, ordered.indices, ordered.indptr), shape=X.shape)
    halves = csr_array(  # every entry in two pieces, one after all others
        (
            np.concatenate([part for row in range(250) for part in [halves[[row]].data] * 2]),
            np.concatenate([part for row in range(250) for part in [halves[[row]].indices] * 2]),
            2 * halves.indptr,
        ),
        shape=X.shape,
    )
    for table in (ordered, halves, np.asfortranarray(X)):
        other = fit(cls(5, n_init=1, random_state=0), table, avoid)
        np.testing.assert_array_equal(other.memberships_, dense.memberships_)
        assert other.objective_ == dense.objective_
        if cls is InformationBottleneck:
            np.testing.assert_array_equal(other.predict(table), dense.predict(X))
