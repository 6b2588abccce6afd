"""RDP-means: worked examples, errata, a plain second implementation, laws, and the table of the paper."""

import csv
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from cluewise import Clues, metrics
from cluewise.centroid._dp.dp import DPMeans
from cluewise.centroid._dp.rdp import RDPMeans
from cluewise.checks import laws_for
from strategies import cases

TOY8 = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]], dtype=float)
LINKS = Clues(8, must=[(2, 3), (4, 6)], cannot=[(3, 5)])


@pytest.mark.parametrize("parameters", [{"gain_rate": 1.0, "link_gain": 2.0}, {"profile": "published"}], ids=str)
@pytest.mark.parametrize(
    "law",
    [law for law in laws_for(RDPMeans) if law.__name__ in ("law_groups_are_their_pairs", "law_same_seed_same_result")],
    ids=lambda law: law.__name__,
)
def test_laws_of_other_parameters(law, parameters):
    @settings(max_examples=5)
    @given(cases(noise=0.25))
    def obeys(case):
        law(RDPMeans(case.k, random_state=0, **parameters), case.X, case.clues, case.rng)

    obeys()


def plain(X, clues, cost, gain, rate, patience):
    """Algorithm 1 word for word (with its errata): lists, one row and one pair at a time."""
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    E = np.zeros((len(X), len(X)))
    for pairs, weight in ((must, must_weight), (cannot, -cannot_weight)):
        np.add.at(E, (pairs[:, 0], pairs[:, 1]), weight)
        np.add.at(E, (pairs[:, 1], pairs[:, 0]), weight)
    centers, z, idle, sweeps = [X.mean(axis=0)], np.zeros(len(X), int), 0, 0
    while idle < patience or sweeps < 2:
        before = z.copy()
        for i in range(len(X)):
            aug = [((X[i] - c) ** 2).sum() - gain * E[i, z == h].sum() for h, c in enumerate(centers)]
            z[i] = int(np.argmin(aug))
            if not min(aug) < cost:
                centers.append(X[i])
                z[i] = len(centers) - 1
        idle = idle + 1 if (z == before).all() else 0
        kept = np.unique(z)
        z = np.searchsorted(kept, z)
        centers = [X[z == h].mean(axis=0) for h in range(len(kept))]
        gain, sweeps = gain * rate, sweeps + 1
    return z, np.array(centers), sweeps


@settings(max_examples=40)
@given(cases(noise=0.25, max_rows=25), st.floats(1, 400), st.sampled_from([0.25, 8.0]), st.sampled_from([1.0, 2.0]))
def test_it_is_the_algorithm(case, cost, gain, rate):
    """Gains are powers of two and weights small whole numbers, so both round alike."""
    patience = 1 if rate == 1 or not len(case.clues.tied) else 4
    z, centers, sweeps = plain(case.X, case.clues, cost, gain, rate, patience)
    model = RDPMeans(cluster_cost=cost, link_gain=gain, gain_rate=rate, patience=4).fit(case.X, clues=case.clues)
    assert model.labels_.tolist() == z.tolist()
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-9)
    assert model.n_iter_ == sweeps


def test_worked_example_at_constant_gain():
    model = RDPMeans(cluster_cost=6, link_gain=4, gain_rate=1).fit(TOY8, clues=LINKS)
    assert model.labels_.tolist() == [1, 1, 1, 1, 0, 0, 2, 2]
    np.testing.assert_allclose(model.trace_, [77 / 3, 22.25, 22.25])
    np.testing.assert_allclose(model.cluster_centers_, [(4, 0.5), (1, 0.25), (7.5, 0.5)])
    assert model.objective_ == pytest.approx(22.25)
    assert model.link_gain_ == 4
    assert model.broken_ == Clues(8, must=[(4, 6)])
    first = RDPMeans(cluster_cost=6, link_gain=4, gain_rate=1, max_iter=1).fit(TOY8, clues=LINKS)
    assert first.labels_.tolist() == [1, 1, 1, 0, 0, 0, 2, 2]


def test_worked_example_of_the_schedule():
    """Labels change in sweeps 12 and 14, counted from 0; twenty idle ones follow."""
    found = [RDPMeans(cluster_cost=6, max_iter=t + 1).fit(TOY8, clues=LINKS) for t in range(36)]
    labels = [model.labels_.tolist() for model in found]
    assert labels[:12] == [[1, 1, 1, 0, 0, 0, 2, 2]] * 12
    assert labels[12:14] == [[1, 1, 1, 1, 0, 0, 2, 2]] * 2
    assert labels[14:] == [[1, 1, 1, 1, 2, 0, 2, 2]] * 22
    assert [found[t].link_gain_ for t in (12, 14)] == pytest.approx([4.096, 16.384])
    last = found[-1]
    assert last.n_iter_ == 35
    assert last.link_gain_ == pytest.approx(17179869.184)
    np.testing.assert_allclose(last.cluster_centers_, [(4, 0), (1, 0.25), (19 / 3, 2 / 3)])
    assert not last.broken_.kinds


def test_numbers_of_the_specification(spec_folder):
    expected = json.loads((spec_folder / "seeds-worked-examples.json").read_text())
    X, rdp = np.array(expected["TOY8"]), expected["rdp_means"]
    pairs = np.array(rdp["pairs"])
    clues = Clues(8, must=pairs[pairs[:, 2] > 0, :2], cannot=pairs[pairs[:, 2] < 0, :2])
    constant = RDPMeans(cluster_cost=rdp["lam"], link_gain=4, gain_rate=1).fit(X, clues=clues)
    assert constant.labels_.tolist() == rdp["constant_xi4"]["labels"]
    np.testing.assert_allclose(constant.trace_, [m for _, m in rdp["constant_xi4"]["J_sweep_then_means"]], atol=1e-9)
    schedule = rdp["schedule"]
    model = RDPMeans(
        cluster_cost=rdp["lam"],
        link_gain=schedule["xi0"],
        gain_rate=schedule["rate"],
        patience=schedule["patience"],
    ).fit(X, clues=clues)
    assert model.labels_.tolist() == schedule["labels"]
    assert model.n_iter_ == schedule["n_sweeps"]
    assert model.link_gain_ == pytest.approx(schedule["last_xi"])
    np.testing.assert_allclose(model.cluster_centers_, schedule["centers"], atol=1e-9)


@given(cases(noise=0.25), st.sampled_from(["no clues", "no gain"]))
def test_without_links_it_is_dp_means(case, how):
    """Sweep by sweep."""
    clues, gain = (Clues(len(case.X)), 0.001) if how == "no clues" else (case.clues, 0.0)
    dp = DPMeans(case.k).fit(case.X)
    rdp = RDPMeans(case.k, link_gain=gain).fit(case.X, clues=clues)
    np.testing.assert_array_equal(rdp.labels_, dp.labels_)
    np.testing.assert_array_equal(rdp.cluster_centers_, dp.cluster_centers_)
    np.testing.assert_allclose(rdp.trace_, dp.trace_)
    assert rdp.cluster_cost_ == dp.cluster_cost_


@given(cases(noise=0.25), st.sampled_from([0.1, 3.0, 1e4]), st.booleans())
def test_the_objective_never_rises_at_constant_gain(case, gain, weighted):
    weight = case.rng.uniform(0, 3, size=len(case.X)) if weighted else None
    model = RDPMeans(case.k, link_gain=gain, gain_rate=1).fit(case.X, clues=case.clues, sample_weight=weight)
    assert (np.diff(model.trace_) <= 1e-9 * (1 + np.abs(model.trace_).max())).all()


def test_erratum_each_pair_counts_once():
    """The literal Eq. (20) counts each pair twice, and that sum rises on the way; the corrected one does not."""
    rises = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(25, 2))
        clues = Clues.sample(rng.integers(3, size=25), pairs=60, random_state=seed)
        fits = [
            RDPMeans(cluster_cost=2.0, link_gain=0.5, gain_rate=1, max_iter=t).fit(X, clues=clues) for t in range(1, 7)
        ]
        corrected = np.array([model.objective_ for model in fits])
        pairs = [
            (m.labels_[clues.cannot[:, 0]] == m.labels_[clues.cannot[:, 1]]).sum()
            - (m.labels_[clues.must[:, 0]] == m.labels_[clues.must[:, 1]]).sum()
            for m in fits
        ]
        assert (np.diff(corrected) <= 1e-9).all()
        rises += bool((np.diff(corrected + 0.5 * np.array(pairs)) > 1e-9).any())
    assert rises > 0


def test_erratum_a_row_belongs_to_the_cluster_that_it_opens():
    model = RDPMeans(cluster_cost=5.0, max_iter=1).fit([[0.0], [1], [30]])
    assert np.count_nonzero(model.labels_ == model.labels_[2]) == 1


@given(cases(noise=0.25))
def test_doubling_everything_changes_nothing(case):
    d = case.X.shape[1]
    one = RDPMeans(cluster_cost=16.0, link_gain=0.5, divergence=np.eye(d)).fit(case.X, clues=case.clues)
    two = RDPMeans(cluster_cost=64.0, link_gain=2.0, divergence=4 * np.eye(d)).fit(case.X, clues=case.clues)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_allclose(4 * one.trace_, two.trace_)


def test_weights_are_gains_of_their_own():
    """Twice the weight is twice the gain; contradictory links cancel."""
    heavy = Clues(8, must=LINKS.must, cannot=LINKS.cannot, must_weight=2.0, cannot_weight=2.0)
    a = RDPMeans(cluster_cost=6, link_gain=2, gain_rate=1).fit(TOY8, clues=heavy)
    b = RDPMeans(cluster_cost=6, link_gain=4, gain_rate=1).fit(TOY8, clues=LINKS)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_allclose(a.trace_, b.trace_)
    both = Clues(8, must=LINKS.must, cannot=LINKS.must)
    c = RDPMeans(cluster_cost=6, link_gain=4, gain_rate=1).fit(TOY8, clues=both)
    np.testing.assert_array_equal(c.labels_, DPMeans(cluster_cost=6).fit(TOY8).labels_)


def test_turning_links_round_is_no_small_thing():
    turned = Clues(8, must=LINKS.cannot, cannot=LINKS.must)
    given, other = (RDPMeans(cluster_cost=6).fit(TOY8, clues=c).labels_ for c in (LINKS, turned))
    assert metrics.ari(given, other) < 1


def test_strangers_all_live_alone():
    clues = Clues(8, apart=np.zeros(8, dtype=int))
    model = RDPMeans(cluster_cost=6).fit(TOY8, clues=clues)
    assert model.n_clusters_ == 8
    assert not model.broken_.kinds


def test_the_gain_is_capped():
    model = RDPMeans(cluster_cost=6, gain_rate=1e9).fit(TOY8, clues=LINKS)
    assert model.link_gain_ == 1e12
    assert np.isfinite(model.trace_).all()


def test_links_with_another_divergence():
    X = np.array([[1, 2], [2, 1], [8, 9], [9, 8]], dtype=float)
    clues = Clues(4, cannot=[(0, 1)])
    for name in ("itakura_saito", "generalized_i"):
        model = RDPMeans(cluster_cost=1.0, divergence=name).fit(X, clues=clues)
        assert model.labels_[0] != model.labels_[1]
        assert model.labels_[2] == model.labels_[3]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"link_gain": -1.0}, "link_gain"),
        ({"gain_rate": 0.5}, "gain_rate"),
        ({"patience": 0}, "patience"),
        ({"profile": "paper"}, "profile"),
        ({"order": "degeneracy"}, "order"),
        ({"profile": "published", "divergence": "generalized_i"}, "profile='published' requires"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        RDPMeans(**parameters).fit(TOY8)


def test_published_profile():
    """Unsquared distances, cost from the mean, links from the second sweep on, twenty idle sweeps at the end."""
    model = RDPMeans(3, profile="published", random_state=0).fit(TOY8, clues=LINKS)
    assert model.cluster_cost_ == pytest.approx(3.432383, abs=1e-6)
    first = RDPMeans(3, profile="published", random_state=0, max_iter=1).fit(TOY8, clues=LINKS)
    assert first.link_gain_ == 0
    second = RDPMeans(3, profile="published", random_state=0, max_iter=2).fit(TOY8, clues=LINKS)
    assert second.link_gain_ == 0.002
    without = RDPMeans(3, profile="published", random_state=0, max_iter=1).fit(TOY8)
    np.testing.assert_array_equal(first.labels_, without.labels_)
    assert model.n_iter_ > 20
    np.testing.assert_allclose(
        model.transform(TOY8), np.sqrt(((TOY8[:, None] - model.cluster_centers_) ** 2).sum(axis=2))
    )
    labels = {tuple(RDPMeans(3, profile="published", random_state=s).fit(TOY8).labels_) for s in range(10)}
    assert len(labels) > 1  # start and order are drawn
    steady = RDPMeans(3, profile="published", order="index", random_state=0).fit(TOY8)
    assert steady.n_iter_ < 20  # nothing is drawn and nothing grows, so one idle sweep is enough


def measures(y, z):
    return np.array([metrics.pairwise_f(y, z), metrics.ari(y, z), metrics.nmi(y, z)])


def told(y, rate, right, rng):
    """The paper's sampler: ordered pairs without repetition, some told wrong, the last word counts."""
    n = len(y)
    flat = rng.choice(n * (n - 1), size=int(rate * n * n), replace=False)
    i, j = flat // (n - 1), flat % (n - 1)
    j = j + (j >= i)
    same = (y[i] == y[j]) == (rng.random(len(i)) < right)
    said = {(min(a, b), max(a, b)): s for a, b, s in zip(i.tolist(), j.tolist(), same.tolist())}
    return Clues(n, must=[p for p, s in said.items() if s], cannot=[p for p, s in said.items() if not s])


def box_kmeans(X, k, rng):
    """The paper's K-means: centers uniform in the bounding box, 50 iterations, empty clusters drawn again."""
    low, high = X.min(axis=0), X.max(axis=0)
    centers = rng.uniform(low, high, size=(k, X.shape[1]))
    for _ in range(50):
        z = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        old = centers
        centers = np.array([X[z == h].mean(axis=0) if (z == h).any() else rng.uniform(low, high) for h in range(k)])
        if (centers == old).all():
            break
    return z


@pytest.fixture(scope="module")
def table(spec_folder):
    with (spec_folder / "published" / "seed001_table1_uci.csv").open() as file:
        return {(r["dataset"], r["method"], r["metric"]): float(r["mean"]) for r in csv.DictReader(file) if r["mean"]}


# DP-means is said to visit rows in the order of the file. That fits iris, wine and glass; ecoli (ARI .65, not .61) and
# balance (F .25, not .31) are fitted by random orders, which fit the other three as well.
ORDERS = {"iris": "index", "wine": "index", "glass": "index", "ecoli": None, "balance": None}


@pytest.mark.needs_data
@pytest.mark.parametrize("name", ORDERS)
def test_table_of_the_paper(name, table, data_folder, sweep):
    """Table 1 in the published profile: K-means and DP-means within .05, RDP-means within .06, every measure."""
    with np.load(data_folder / f"{name}.npz") as file:
        X, y = file["X"].astype(float), file["y"]
        if name == "glass":  # the printed numbers saw the row id
            X = np.column_stack([file["row_id"], X])
    k = {"ecoli": 8, "glass": 7}.get(name, 3)
    runs, trials = sweep(40, 200), sweep(2, 5)
    plain_runs = [measures(y, box_kmeans(X, k, np.random.default_rng(s))) for s in range(runs)]
    dp = [
        measures(y, RDPMeans(k, profile="published", order=ORDERS[name], max_iter=100, random_state=s).fit(X).labels_)
        for s in range(runs)
    ]
    rdp = [
        measures(
            y,
            RDPMeans(k, profile="published", random_state=t)
            .fit(X, clues=told(y, rate, right, np.random.default_rng([t, int(1000 * rate), int(100 * right)])))
            .labels_,
        )
        for rate in (0.01, 0.03, 0.05)
        for right in (1, 0.95, 0.9, 0.8)
        for t in range(trials)
    ]
    for method, found, tolerance in (("K-means", plain_runs, 0.05), ("DP-means", dp, 0.05), ("RDP-means", rdp, 0.06)):
        printed = [table[name, method, measure] for measure in ("F", "AdjRnd", "NMI")]
        np.testing.assert_allclose(np.mean(found, axis=0), printed, atol=tolerance, rtol=0, err_msg=method)


def test_golden():
    X, y = load_iris(return_X_y=True)
    model = RDPMeans(3).fit(X, clues=Clues.sample(y, pairs=100, noise=0.1, random_state=0))
    assert (model.n_clusters_, model.n_iter_) == (6, 37)
    assert metrics.ari(y, model.labels_) == pytest.approx(0.507237098, abs=1e-6)
